"""Heating and cooling of a trip, by the outside temperature, its duration and the time parked.

A trip has four terms, each with a coefficient of the car:

.. code-block:: text

    heating        f * max(T0 - T, 0) * minutes
    warm-up        f * max(T0 - T, 0) * min(1, minutes/8)   of the whole trip, after a long stand
    cooling        max(T - T1, 0) * minutes
    early warm-up  (E(max(r, c)) - E(r)) / w                of the whole trip

with ``r = min(1, minutes/8)`` after a long stand, else 0, and ``c = 1 - exp(-parked/40)``, the
share by which a parked cabin has cooled down. ``E(x)`` is the energy by physics of heating and of a
warm-up ``x * max(T0 - T, 0)``, at most `HVAC_MAX_W` over the trip, and w the coefficient of the
warm-up. So the early warm-up stands for a cabin that cools down gradually and warms up at once. It
is 0 after a long stand on trips of 8 minutes and more.

The factor f is at most 1. With the coefficients of physics, heating and warm-up together then cost
at most `HVAC_MAX_W` over the trip, also with an early warm-up as large as the warm-up. A belief of
trips learns the coefficients, from `PRIOR_WH` with the deviations `PRIOR_STD_WH`. Plans without a
belief use `PRIOR_WH`, without an early warm-up.
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
COOLED_MINUTES = 40.0
"""Time in which a parked cabin cools down by two thirds, in the early warm-up."""
HVAC_MAX_W = 5_000.0
"""Power of the heater of a Nissan Leaf (Lohse-Busch et al. 2013, SAE 2013-01-1462), W."""

PRIOR_WH = (2.0, 20.0, 1.7, 0.0)
"""Coefficients of physics: heating, Wh per K and minute; warm-up, Wh per K; cooling as heating;
early warm-up as warm-up.

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
PRIOR_STD_WH = (0.7, 10.0, 1.0, 10.0)
"""Spread of the cars above around `PRIOR_WH`. An early warm-up has the spread of the warm-up."""
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
    """Return the coefficients of the terms by physics, (4,) Wh."""
    saved = HEAT_PUMP if vehicle.heat_pump else 1.0
    return np.array(PRIOR_WH) * [saved, saved, 1.0, saved]


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
    def cooled(self) -> float:
        """Share by which the cabin has cooled down, 1 after a long time."""
        if self.parked_minutes is None:
            return 1.0
        return float(-np.expm1(-self.parked_minutes / COOLED_MINUTES))

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
        """(4,) terms of one minute of a long trip, both warm-ups 0."""
        heating_w = 60.0 * float(heating_coefficients(self.vehicle)[0]) * self.below_k
        limit = min(1.0, HVAC_MAX_W / max(heating_w, 1.0))
        return np.array([limit * self.below_k, 0.0, self.above_k, 0.0])

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
            (..., 4) terms of heating, warm-up, cooling and early warm-up.
        """
        minutes = np.asarray(minutes, dtype=np.float64)
        heating = self.below_k * minutes
        begun = self.cold * np.minimum(1.0, minutes / WARM_UP_MINUTES)
        warm_up = self.below_k * begun
        by_heating, by_warm_up = heating_coefficients(self.vehicle)[:2]
        wanted_wh = by_heating * heating + by_warm_up * warm_up
        limit_wh = HVAC_MAX_W / 60.0 * minutes
        factor = np.minimum(1.0, limit_wh / np.maximum(wanted_wh, 1e-9))
        sooner_wh = by_warm_up * self.below_k * np.maximum(self.cooled - begun, 0.0)
        left_wh = np.maximum(limit_wh - wanted_wh, 0.0)
        early = np.minimum(sooner_wh, left_wh) / by_warm_up
        return np.stack(
            [factor * heating, factor * warm_up, self.above_k * minutes, early], axis=-1
        )

    def departure_wh(self, minutes: FloatArray | float, coefficients: FloatArray) -> FloatArray:
        """Return the energy of the warm-up, which trips take beyond `per_minute`, (...) Wh.

        Parameters
        ----------
        minutes
            (...) duration of the trips.
        coefficients
            (4,) Wh per unit of the terms.
        """
        beyond = self.of_trip(minutes) - np.multiply.outer(minutes, self.per_minute)
        return np.asarray(beyond @ coefficients)


def _season() -> FloatArray:
    """Return the covariance of the terms of one minute over the temperatures of a year, (4, 4)."""
    mean_c, std_c = SEASON_C
    at_c = mean_c + std_c * np.linspace(-3.0, 3.0, 121)
    weights = np.exp(-0.5 * ((at_c - mean_c) / std_c) ** 2)
    terms = np.stack(
        [np.maximum(HEATED_BELOW_C - at_c, 0.0), np.maximum(at_c - COOLED_ABOVE_C, 0.0)]
    )
    covariance = np.zeros((4, 4))
    covariance[:3:2, :3:2] = np.cov(terms, aweights=weights, ddof=0)
    return covariance


SEASON = _season()


def season_wh2(minutes: float, coefficients: FloatArray) -> float:
    """Return the variance of heating and cooling at an unknown temperature, Wh².

    Parameters
    ----------
    minutes
        Duration of the trip.
    coefficients
        (4,) Wh per unit of the terms.
    """
    return float(coefficients @ SEASON @ coefficients) * minutes**2
