"""Heating and cooling of a trip, by the outside temperature, its duration and the time parked.

A trip has three terms, each with a coefficient of the car:

.. code-block:: text

    heating   k * minutes
    warm-up   min(K, r * minutes)            of the whole trip, after a long stand
    cooling   max(T - T1, 0) * minutes

with ``K = max(T0 - T, 0)`` and the rate of the warm-up ``r = min(K/8, left/w)``. By physics heating
and warm-up together take at most `HVAC_MAX_W`: ``left`` is the energy of a minute at that power
beyond heating, and w the coefficient of the warm-up by physics. So the warm-up is shared out over 8
minutes, or over more where the heater has less power left. k is K, or less where heating alone
would take more than that power.

A belief of trips learns the coefficients, from `PRIOR_WH` with the deviations `PRIOR_STD_WH`, and
holds them at 0 or more. So the warm-up is a rate times the time driven, until it is whole, for
every car (`WarmUp`).
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.vehicle import Vehicle

HEATED_BELOW_C = 18.0
COOLED_ABOVE_C = 23.0
"""Band of outside temperatures without heating or cooling, °C.

Electric cars have their greatest range between 15 and 24 °C (FleetCarma, *Real-world range
ramifications: heating and air conditioning*) and at 21.5 °C (Geotab, *To what degree does
temperature impact EV range?*, 2020: 5.2 million trips of 4,200 cars).
"""
WARM_UP_MINUTES = 8.0
SHORT_STAND_MINUTES = 60.0
"""Longest stand after which the cabin is still warm, minutes."""
HVAC_MAX_W = 5_000.0
"""Power of the heater of a Nissan Leaf (Lohse-Busch et al. 2013, SAE 2013-01-1462), W."""

PRIOR_WH = (1.5, 10.0, 1.7)
"""Coefficients of physics: heating, Wh per K and minute; warm-up, Wh per K; cooling as heating.

Heating, W/K below 18 °C:

====  ============================================================================================
137   a Nissan Leaf at -6.7 °C on the highway cycle in the laboratory: 40 % more, 10 of them without
      the heater (Lohse-Busch et al. 2013), at 145 Wh/km
170   five cars at -6.7 °C in the laboratory: range less by 12 % without and 41 % with heating (AAA,
      *Electric Vehicle Range Testing*, 2019), at 170 Wh/km and 45 km/h
153   winter drives of a BMW i3, by the power of its heater
112   the mean car of Geotab's trips, beside a warm-up: 54 % of its rated range at -15 °C and 115 %
      at 21.5 °C
79    3,331 records of e-Golf drivers: in winter, 16.5 K below, 152 Wh more on trips below 10 km and
      733 Wh on all. Tyres and air are in it
76    20 cars lose 18.5 % around 0 °C on long trips (NAF, *El Prix*, 2020)
20    a Hyundai Ioniq 5, by its own meter in winter: 4.3 Wh a minute and 55 Wh a trip, regressed
      over 30 days at about 5 °C. It may have a heat pump
====  ============================================================================================

Laboratories cool a car out and hold 22 °C. The mean of the five of real drives is 88 W/K, here 90:
1.5 Wh per K and minute.

Warm-up, Wh/K: the same Leaf takes nearly twice as much in the city cycle, 12 km in 23 minutes from
a cold start, 10 % of it without the heater: 20. The i3: 26. The records of the e-Golf, of all and
of short trips: none. The Ioniq 5: 4. The mean is 12, here 10, as most cars are behind the least.

Cooling: the five cars of AAA lose 4 % without and 17 % with air conditioning at 35 °C: 104 W/K
above 23 °C, 1.7 Wh per K and minute.

The 18.5 % of NAF and the 4 % of AAA are quoted from reports about these tests.
"""
PRIOR_STD_WH = (0.8, 12.0, 1.0)
"""Spread of the cars above around `PRIOR_WH`: 49 W/K of the real drives, and 12 Wh/K."""
HEAT_PUMP = 0.6
"""Energy of a heat pump in the cold over the energy of a resistance heater.

Around 0 °C cars with a heat pump keep 83 % of their range, cars without 75 % (Recurrent, winter
2024/25: 18,000 cars of 20 models): they take 20 and 33 % more, of which about 6 are the denser air
and a cold battery. A Tesla Model 3 with a heat pump keeps 87 %, one without 79 %.
"""
SEASON_C = (10.0, 9.0)
"""Mean and standard deviation of an unknown temperature, °C: a temperate climate over a year."""


def is_long_stand(parked_minutes: float | None) -> bool:
    """Return whether a stand of some minutes, or None for a long time, makes the cabin cold."""
    return parked_minutes is None or parked_minutes > SHORT_STAND_MINUTES


def heating_coefficients(vehicle: Vehicle) -> FloatArray:
    """Return the coefficients of the terms by physics, (3,) Wh."""
    return (vehicle.heater != "none") * np.array(PRIOR_WH) * _saved(vehicle)


def heating_deviations(vehicle: Vehicle) -> FloatArray:
    """Return the prior deviations of the coefficients, (3,) Wh, in proportion to the heater."""
    return np.array(PRIOR_STD_WH) * _saved(vehicle)


def _saved(vehicle: Vehicle) -> FloatArray:
    """Return the energy of each term over that with a resistance heater, (3,)."""
    heated = HEAT_PUMP if vehicle.heater == "heat-pump" else 1.0
    return np.array([heated, heated, 1.0])


def heater_max_w(vehicle: Vehicle) -> float:
    """Return the largest power of heating or cooling, W. 0 without a heater."""
    return 0.0 if vehicle.heater == "none" else HVAC_MAX_W


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Energy of warming up over the time driven since the start: a rate until it is whole.

    Time at a stop does not count.

    Parameters
    ----------
    wh_per_s
        Energy of each second until it is whole, Wh/s.
    whole_wh
        Energy of the whole warm-up, Wh.
    """

    wh_per_s: float = 0.0
    whole_wh: float = 0.0

    def __bool__(self) -> bool:
        """Return whether it takes energy."""
        return self.whole_wh > 0.0 and self.wh_per_s > 0.0

    @property
    def whole_s(self) -> float:
        """Time driven until it is whole, s."""
        return self.whole_wh / self.wh_per_s if self.wh_per_s else 0.0

    @property
    def lines(self) -> tuple[tuple[float, float], ...]:
        """Lines of the time driven, Wh/s and Wh, of which the lesser one is the energy."""
        if not self:
            return ((0.0, 0.0),)
        return (0.0, self.whole_wh), (self.wh_per_s, 0.0)

    def after(self, driven_s: FloatArray | float) -> FloatArray:
        """Return the energy taken after driving (...) s, (...) Wh."""
        return self.wh_per_s * np.minimum(np.asarray(driven_s, dtype=np.float64), self.whole_s)

    def along(self, time_s: FloatArray, begun_s: float = 0.0) -> FloatArray:
        """Return the energy of each of successive parts of a trip, (k,) Wh.

        Parameters
        ----------
        time_s
            (k,) time of each, s.
        begun_s
            Time driven before them, s.
        """
        return np.diff(self.after(begun_s + np.append(0.0, np.cumsum(time_s))))


NO_WARM_UP = WarmUp()


@dataclass(frozen=True, slots=True)
class Heating:
    """Heating and cooling of trips at one temperature.

    Parameters
    ----------
    vehicle
        The car.
    temperature_c
        Outside temperature, °C, or None for no heating and no cooling.
    parked_minutes
        Time that the car has stood, minutes, or None for a long time.
    in_power
        Whether a known auxiliary power includes it.
    """

    vehicle: Vehicle
    temperature_c: float | None
    parked_minutes: float | None = None
    in_power: bool = False

    @property
    def cold(self) -> bool:
        """Whether the car has stood for a long time."""
        return is_long_stand(self.parked_minutes)

    @property
    def below_k(self) -> float:
        """Kelvins below the comfort band. 0 without a heater."""
        if self.temperature_c is None or self.vehicle.heater == "none":
            return 0.0
        return max(HEATED_BELOW_C - self.temperature_c, 0.0)

    @property
    def above_k(self) -> float:
        """Kelvins above the comfort band. 0 without a heater."""
        if self.temperature_c is None or self.vehicle.heater == "none":
            return 0.0
        return max(self.temperature_c - COOLED_ABOVE_C, 0.0)

    @property
    def per_minute(self) -> FloatArray:
        """(3,) terms of one minute without a warm-up."""
        heating_w = 60.0 * float(heating_coefficients(self.vehicle)[0]) * self.below_k
        limit = min(1.0, HVAC_MAX_W / max(heating_w, 1.0))
        return np.array([limit * self.below_k, 0.0, self.above_k])

    @property
    def power_w(self) -> float:
        """Power by physics once the cabin is warm, W."""
        return 60.0 * float(self.per_minute @ heating_coefficients(self.vehicle))

    @property
    def warm_up_per_minute(self) -> float:
        """Warm-up of one minute at the start of a trip, K. 0 after a short stand."""
        if not self.below_k:
            return 0.0
        by_heating, by_warm_up = heating_coefficients(self.vehicle)[:2]
        left_wh = HVAC_MAX_W / 60.0 - float(by_heating * self.per_minute[0])
        rate = min(self.below_k / WARM_UP_MINUTES, max(left_wh, 0.0) / float(by_warm_up))
        return self.cold * rate

    def of_trip(self, minutes: FloatArray | float) -> FloatArray:
        """Return the terms of trips up to some durations.

        Parameters
        ----------
        minutes
            (...) duration driven since the start.

        Returns
        -------
        FloatArray
            (..., 3) terms of heating, warm-up and cooling.
        """
        minutes = np.asarray(minutes, dtype=np.float64)
        terms = np.multiply.outer(minutes, self.per_minute)
        terms[..., 1] = np.minimum(self.below_k, self.warm_up_per_minute * minutes)
        return terms

    def warm_up(self, coefficients: FloatArray) -> WarmUp:
        """Return the energy of the warm-up over the time driven.

        Parameters
        ----------
        coefficients
            (3,) Wh per unit of the terms.
        """
        per_k = float(coefficients[1])
        return WarmUp(per_k * self.warm_up_per_minute / 60.0, per_k * self.below_k * self.cold)


def _season() -> FloatArray:
    """Return the covariance of the terms of one minute over the temperatures of a year, (3, 3)."""
    mean_c, std_c = SEASON_C
    at_c = mean_c + std_c * np.linspace(-3.0, 3.0, 121)
    weights = np.exp(-0.5 * ((at_c - mean_c) / std_c) ** 2)
    terms = np.stack(
        [np.maximum(HEATED_BELOW_C - at_c, 0.0), np.maximum(at_c - COOLED_ABOVE_C, 0.0)]
    )
    covariance = np.zeros((3, 3))
    covariance[::2, ::2] = np.cov(terms, aweights=weights, ddof=0)
    return covariance


SEASON = _season()


def season_wh2(minutes: float, coefficients: FloatArray) -> float:
    """Return the variance of heating and cooling at an unknown temperature, Wh².

    Parameters
    ----------
    minutes
        Duration of the trip.
    coefficients
        (3,) Wh per unit of the terms.
    """
    return float(coefficients @ SEASON @ coefficients) * minutes**2
