"""Forecasts of whole trips: energy with intervals, charge along the way, and travel time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
        Part of the variance that trips of a car share, Wh².
    trip_wh2
        Variance of the reading of any trip, which each element of the covariance includes, Wh².
    time_noise_s
        Noise of travel times, s: of a trip, of the root of a kilometre, and of a kilometre.
    """

    prediction: TripPrediction
    covariance: Callable[[], FloatArray]
    time: Callable[[], Mapping[str, float]] = dict
    battery_share: float = 0.0
    shared_wh2: float = 0.0
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
        if not self.shared_wh2:
            return None
        return max(ceil(3.0 * (self.std_wh**2 - self.shared_wh2) / self.shared_wh2), 1)

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
