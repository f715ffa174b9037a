"""Forecasts of whole trips: energy with intervals, charge along the way, and travel time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from evroute.arrays import FloatArray
from evroute.learning.intervals import TripPrediction
from evroute.planning.battery import Battery, ChargeTrace
from evroute.planning.forecasts.first_passage import first_passage
from evroute.planning.forecasts.forecast import INTERVAL_LEVEL, ChargeForecast


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """Energy of one trip along a route of k arms, by one belief.

    Parameters
    ----------
    row
        (p,) terms of the whole trip.
    mean_wh
        (k,) expected energy up to the end of each arm, Wh.
    variance_wh2
        Predictive variance of the energy of the whole trip, noise included, Wh².
    unknown_wh2
        Part of it that no column explains, Wh².
    faded_wh
        Expected energy that a full battery does not take back, Wh.
    covariance
        Function that returns the (k, k) predictive covariance of the energies up to the end of each
        arm, noise included, Wh².
    """

    row: FloatArray
    mean_wh: FloatArray
    variance_wh2: float
    unknown_wh2: float
    faded_wh: float
    covariance: Callable[[], FloatArray]


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
    battery_share
        Deviation of the size of the battery as a share of it, which moves the charge used.
    """

    prediction: TripPrediction
    covariance: Callable[[], FloatArray]
    time: Callable[[], Mapping[str, float]]
    battery_share: float = 0.0

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
        """Half-width of the 90 % interval in multiples of that of a normal distribution."""
        return self.prediction.spread.half_width(INTERVAL_LEVEL) / float(
            ndtri(0.5 + INTERVAL_LEVEL / 2)
        )

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

    def charge(self, battery: Battery, expected: ChargeTrace) -> ChargeForecast:
        """Forecast the charge along the route; regeneration is lost as on the expected trip.

        Parameters
        ----------
        battery
            Capacity, charge at the start and reserve.
        expected
            Charge along the route by expected energies.
        """
        spread = self.prediction.spread
        used_wh = self.battery_share * (battery.start_wh - expected.charge_wh[1:])
        reached_wh2 = self.reached_wh2 + np.outer(used_wh, used_wh)
        sd_wh = np.append(0.0, np.sqrt(reached_wh2.diagonal()))
        low, high = spread.interval(INTERVAL_LEVEL)
        band_wh = expected.charge_wh[:, np.newaxis] - np.outer(sd_wh, [high, low])
        band_percent = np.minimum(band_wh / battery.capacity_wh * 100, 100.0)
        room_wh = expected.low_wh[1:] - battery.reserve_wh
        left_wh = float(expected.charge_wh[-1]) - battery.reserve_wh
        below = first_passage(room_wh, spread.scale**2 * reached_wh2, spread.nu)
        return ChargeForecast(
            arrival_percent=battery.percent(float(expected.charge_wh[-1])),
            arrival_interval_percent=(float(band_percent[-1, 0]), float(band_percent[-1, 1])),
            arrives_above_reserve=spread.below(left_wh / float(sd_wh[-1])),
            never_below_reserve=1.0 - spread.passage(below),
            band_percent=band_percent,
            supported_risk=spread.supported_risk,
        )
