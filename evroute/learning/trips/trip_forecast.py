"""Forecasts of whole trips: energy with intervals, charge along the way, and travel time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil

import numpy as np
from scipy.special import ndtri

from evroute.arrays import FloatArray
from evroute.learning.intervals import TripPrediction
from evroute.planning.battery import Battery, ChargeTrace
from evroute.planning.forecasts.first_passage import first_passage
from evroute.planning.forecasts.forecast import (
    INTERVAL_LEVEL,
    TIME_NOISE_S,
    ChargeForecast,
    Legs,
)
from evroute.planning.forecasts.rest import DrivenPart, Left, rest


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """Energy of one trip along a route of k arms, by one belief.

    Parameters
    ----------
    row
        (p,) terms of the whole trip, by the columns of the belief.
    mean_wh
        (k,) expected energy up to the end of each arm, Wh.
    variance_wh2
        Predictive variance of the energy of the whole trip, noise included, Wh².
    unknown_wh2
        Part of it that no column explains, Wh².
    faded_wh
        Expected energy that a full battery does not take back, Wh.
    spread
        Function that returns the deviations of the energies up to the end of each arm that the
        belief shares between trips of a day, by r independent causes, (k, r) Wh.
    own
        Function that returns the (k, k) covariance of the energies up to the end of each arm that
        is of this trip alone, Wh².
    """

    row: FloatArray
    mean_wh: FloatArray
    variance_wh2: float
    unknown_wh2: float
    faded_wh: float
    spread: Callable[[], FloatArray]
    own: Callable[[], FloatArray]

    def covariance(self) -> FloatArray:
        """Return the covariance of the energies up to the end of each arm, (k, k) Wh²."""
        spread_wh = self.spread()
        covariance: FloatArray = spread_wh @ spread_wh.T + self.own()
        return covariance


def joined(trips: Sequence[Along]) -> Along:
    """Return the energy of trips that follow each other, by one belief.

    What the belief shares between trips adds up, and what concerns one trip alone is independent
    between trips.

    Parameters
    ----------
    trips
        The trips in driving order.
    """
    if len(trips) == 1:
        return trips[0]

    def spread() -> FloatArray:
        return _in_turn([each.spread() for each in trips])

    def own() -> FloatArray:
        total = np.zeros((0, 0))
        for each in trips:
            known, further = len(total), each.own()
            # the ends of all later trips have the whole energy of the earlier ones
            grown = np.pad(total, (0, len(further)), mode="edge" if known else "constant")
            grown[known:, known:] += further
            total = grown
        return total

    ends_wh = np.array([each.spread()[-1] for each in trips])
    own_wh2 = [
        each.variance_wh2 - float(end @ end) for each, end in zip(trips, ends_wh, strict=True)
    ]
    shared_wh = ends_wh.sum(axis=0)
    return Along(
        row=np.sum([each.row for each in trips], axis=0),
        mean_wh=_in_turn([each.mean_wh for each in trips]),
        variance_wh2=float(shared_wh @ shared_wh) + sum(own_wh2),
        unknown_wh2=sum(each.unknown_wh2 for each in trips),
        faded_wh=sum(each.faded_wh for each in trips),
        spread=spread,
        own=own,
    )


def _in_turn(sums: Sequence[FloatArray]) -> FloatArray:
    """Return cumulative sums of trips, (k, ...) each, as cumulative sums of all of them."""
    before = accumulate((each[-1] for each in sums[:-1]), initial=np.zeros_like(sums[0][-1]))
    return np.concatenate([each + offset for each, offset in zip(sums, before, strict=True)])


@dataclass(frozen=True, slots=True, eq=False)
class TripForecast:
    """Forecast of one trip along a route.

    Parameters
    ----------
    prediction
        Of the energy of the whole trip.
    covariance
        Function that returns the (k, k) predictive covariance of the energies up to the ends of the
        k edges, noise included, Wh². Only charges along the way need it.
    time
        Function that returns the travel time of the whole trip by name (`TripTimes.expect`), s.
        Empty for several trips.
    battery_share
        Deviation of the size of the battery as a share of it, which moves the charge used.
    shared_wh2
        Function that returns the part of the variance that trips of a car share, Wh².
    trip_wh2
        Variance of the reading of any trip, which each element of the covariance includes, Wh².
    time_noise_s
        Noise of travel times, s: of a trip, of the root of a kilometre, and of a kilometre.
    """

    prediction: TripPrediction
    covariance: Callable[[], FloatArray]
    time: Callable[[], Mapping[str, float]] = dict
    battery_share: float = 0.0
    shared_wh2: Callable[[], float] = float
    trip_wh2: float = 0.0
    time_noise_s: tuple[float, float, float] = TIME_NOISE_S

    @property
    def mean_wh(self) -> float:
        """Expected energy of the trip, Wh."""
        return self.prediction.mean_wh

    @property
    def std_wh(self) -> float:
        """Standard deviation of the trip's energy, Wh."""
        return self.prediction.sd_wh

    @property
    def reached_wh2(self) -> FloatArray:
        """(k, k) predictive covariance of the energies up to the ends of the edges, Wh²."""
        return self.covariance()

    @property
    def inflation(self) -> float:
        """Half-width of the 90 % interval in multiples of a normal distribution's."""
        return self.prediction.spread.half_width(INTERVAL_LEVEL) / float(
            ndtri(0.5 + INTERVAL_LEVEL / 2)
        )

    @property
    def halving_trips(self) -> int | None:
        """Number of such trips that halve the deviation that trips share, None if unknown.

        After n trips of own variance v a shared variance s is ``s / (1 + n s / v)``.
        """
        shared_wh2 = self.shared_wh2()
        if not shared_wh2:
            return None
        return max(ceil(3.0 * (self.std_wh**2 - shared_wh2) / shared_wh2), 1)

    def beyond(self, deviates: float) -> float:
        """Return the probability of more energy than this many deviations above the mean."""
        return self.prediction.spread.beyond(deviates)

    def ever_beyond(self, deviates: float) -> float:
        """Return a bound of the probability that it is ever more than this along the trip."""
        return self.prediction.spread.ever_beyond(deviates)

    def interval_wh(self, level: float = INTERVAL_LEVEL) -> tuple[float, float]:
        """Return the central interval of a level in (0, 1), Wh."""
        return self.prediction.interval(level)

    def numbers(self) -> Mapping[str, float]:
        """Return the predictions of energy and travel time by name."""
        return {**self.prediction.numbers(), **self.time()}

    def rest(self, part: DrivenPart, arm_wh: FloatArray) -> tuple["TripForecast", Left]:
        """Return the forecast of the rest of the trip, with the spread of past errors.

        Parameters
        ----------
        part, arm_wh
            As in `EnergyForecast.rest`.
        """
        left = rest(np.cumsum(arm_wh), self.reached_wh2, self.trip_wh2, part)
        sd_wh = float(np.sqrt(left.covariance[-1, -1]))
        prediction = replace(self.prediction, mean_wh=float(left.mean[-1]), sd_wh=sd_wh)
        return replace(self, prediction=prediction, covariance=lambda: left.covariance), left

    def charge(
        self, battery: Battery, expected: ChargeTrace, legs: Legs | None = None
    ) -> ChargeForecast:
        """Forecast the charge along the route. Regeneration is lost as on the expected trip.

        Parameters
        ----------
        battery
            Capacity, charge at the start and reserve.
        expected
            Charge along the route by expected energies.
        legs
            Legs between stops to charge, or None for one leg.
        """
        spread, k = self.prediction.spread, len(expected.charge_wh) - 1
        legs = Legs.of(battery, k) if legs is None else legs
        used_wh = self.battery_share * (legs.started_wh - expected.charge_wh[1:])
        reached_wh2 = legs.since(self.reached_wh2) + np.outer(used_wh, used_wh)
        sd_wh = np.append(0.0, np.sqrt(reached_wh2.diagonal()))
        low, high = spread.interval(INTERVAL_LEVEL)
        band_wh = expected.charge_wh[:, np.newaxis] - np.outer(sd_wh, [high, low])
        band_percent = np.minimum(band_wh / battery.capacity_wh * 100, 100.0)
        end_wh = float(expected.charge_wh[-1])
        room_wh = legs.room_wh(expected.low_wh[1:], end_wh, battery)
        left_wh = end_wh - battery.reserve_wh
        below = first_passage(room_wh, spread.scale**2 * reached_wh2, spread.nu)
        return ChargeForecast(
            arrival_percent=battery.percent(float(expected.charge_wh[-1])),
            arrival_interval_percent=(float(band_percent[-1, 0]), float(band_percent[-1, 1])),
            arrives_above_reserve=spread.below(left_wh / float(sd_wh[-1])),
            never_below_reserve=1.0 - spread.passage(below),
            band_percent=band_percent,
            supported_risk=spread.supported_risk,
        )
