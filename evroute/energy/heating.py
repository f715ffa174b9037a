"""Heating and cooling of a trip, by the outside temperature, its duration and the time parked.

A trip has three terms, each with a coefficient of the car:

.. code-block:: text

    heating   f * max(T0 - T, 0) * minutes
    warm-up   f * max(T0 - T, 0) * min(1, minutes/8)   of the whole trip, after a long stand
    cooling   max(T - T1, 0) * minutes

The factor f is at most 1. With the coefficients of physics, heating and warm-up together then cost
at most `HVAC_MAX_W` over the trip. A belief of trips learns the coefficients, from `PRIOR_WH` with
the deviations `PRIOR_STD_WH`. Plans without a belief use `PRIOR_WH`.
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

PRIOR_WH = (2.0, 20.0, 1.7)
"""Coefficients of physics: heating, Wh per K and minute; warm-up, Wh per K; cooling as heating.

Heating, W/K below 18 °C. Argonne's Nissan Leaf at -6.7 °C takes 40 % more on the highway cycle, 10
of them without the heater (Lohse-Busch et al. 2013): 137 W/K at 145 Wh/km. Five cars at -6.7 °C
lose 12 % of range without and 41 % with heating (AAA, *Electric Vehicle Range Testing*, 2019):
170 W/K at 170 Wh/km and 45 km/h. The mean car of Geotab's trips has 54 % of its rated range at
-15 °C and 115 % at 21.5 °C: about 112 W/K beside a warm-up. 20 cars lose 18.5 % around 0 °C on long
trips (NAF, *El Prix*, 2020): 76 W/K. The mean, 120 W/K, is 2.0 Wh per K and minute.

Warm-up: the same Leaf takes nearly twice as much in the city cycle, 12 km in 23 minutes from a cold
start, 10 % of it without the heater: 1.6 kWh, 0.5 kWh more than 120 W/K, or 20 Wh/K.

Cooling: the five cars of AAA lose 4 % without and 17 % with air conditioning at 35 °C: 104 W/K
above 23 °C, 1.7 Wh per K and minute.

The 18.5 % of NAF and the 4 % of AAA are quoted from reports about these tests.
"""
PRIOR_STD_WH = (0.7, 10.0, 1.0)
"""Spread of the cars above around `PRIOR_WH`."""
HEAT_PUMP = 0.6
"""Energy of a heat pump in the cold over the energy of a resistance heater.

Around 0 °C cars with a heat pump keep 83 % of their range, cars without 75 % (Recurrent, winter
2024/25: 18,000 cars of 20 models): they take 20 and 33 % more, of which about 6 are the denser air
and a cold battery. A Tesla Model 3 with a heat pump keeps 87 %, one without 79 %.
"""
SEASON_C = (10.0, 9.0)
"""Mean and standard deviation of an unknown temperature, °C: a temperate climate over a year."""


def heating_coefficients(vehicle: Vehicle) -> FloatArray:
    """Return the coefficients of heating, warm-up and cooling by physics, (3,) Wh."""
    saved = HEAT_PUMP if vehicle.heat_pump else 1.0
    return np.array(PRIOR_WH) * [saved, saved, 1.0]


@dataclass(frozen=True, slots=True)
class Heating:
    """Heating and cooling of trips at one temperature.

    Parameters
    ----------
    vehicle
        The car.
    temperature_c
        Outside temperature, °C, or None for no heating and no cooling.
    cold
        Whether the cabin is cold at departure.
    in_power
        Whether a known auxiliary power includes it.
    """

    vehicle: Vehicle
    temperature_c: float | None
    cold: bool = True
    in_power: bool = False

    @property
    def below_k(self) -> float:
        """Kelvins below the comfort band."""
        if self.temperature_c is None:
            return 0.0
        return max(HEATED_BELOW_C - self.temperature_c, 0.0)

    @property
    def above_k(self) -> float:
        """Kelvins above the comfort band."""
        if self.temperature_c is None:
            return 0.0
        return max(self.temperature_c - COOLED_ABOVE_C, 0.0)

    @property
    def per_minute(self) -> FloatArray:
        """(3,) terms of one minute of a long trip, the warm-up 0."""
        heating_w = 60.0 * float(heating_coefficients(self.vehicle)[0]) * self.below_k
        limit = min(1.0, HVAC_MAX_W / max(heating_w, 1.0))
        return np.array([limit * self.below_k, 0.0, self.above_k])

    @property
    def power_w(self) -> float:
        """Power by physics once the cabin is warm, W."""
        return 60.0 * float(self.per_minute @ heating_coefficients(self.vehicle))

    def of_trip(self, minutes: FloatArray | float) -> FloatArray:
        """Return the terms of whole trips.

        Parameters
        ----------
        minutes
            (...) duration of the trips.

        Returns
        -------
        FloatArray
            (..., 3) terms of heating, warm-up and cooling.
        """
        minutes = np.asarray(minutes, dtype=np.float64)
        heating = self.below_k * minutes
        warm_up = self.cold * self.below_k * np.minimum(1.0, minutes / WARM_UP_MINUTES)
        by_heating, by_warm_up, _ = heating_coefficients(self.vehicle)
        wanted_wh = by_heating * heating + by_warm_up * warm_up
        limit_wh = HVAC_MAX_W / 60.0 * minutes
        factor = np.minimum(1.0, limit_wh / np.maximum(wanted_wh, 1e-9))
        return np.stack([factor * heating, factor * warm_up, self.above_k * minutes], axis=-1)

    def departure_wh(self, minutes: FloatArray | float, coefficients: FloatArray) -> FloatArray:
        """Return the energy of the warm-up, which trips take beyond `per_minute`, (...) Wh.

        Parameters
        ----------
        minutes
            (...) duration of the trips.
        coefficients
            (3,) Wh per unit of the terms.
        """
        beyond = self.of_trip(minutes) - np.multiply.outer(minutes, self.per_minute)
        return np.asarray(beyond @ coefficients)


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
