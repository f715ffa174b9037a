"""The consumption of a car on its usual trips, by temperature and speed, in a driver's numbers.

Coefficients of length, minutes, drag and stops trade with each other: a log of one kind of trips
determines their sum, not each of them. So the sum is stated, for a kilometre of the usual trip: the
mean of the newest trips, as many metres up as down, with no heating, no known power and a battery
that is not full.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3
from evroute.energy.driving import air_density_kgpm3
from evroute.energy.heating import Heating
from evroute.energy.vehicle import Vehicle
from evroute.learning.trips.kept_trips import KM
from evroute.learning.trips.terms import (
    AUXILIARY,
    BY_TEMPERATURE,
    DOWN,
    DRAG,
    FADE,
    HEATING,
    MINUTES,
    UP,
    WARM_UP,
    with_level,
)
from evroute.learning.trips.trip_belief import TripBelief

NEWEST = 100
"""Newest trips that count as usual."""
FEWEST = 3
"""Fewest trips that make a usual one."""
MILD_C = 20.0
COLD_C = 0.0
LEARNED_SHARE = 0.2
"""Share by which the deviation of a learned coefficient has fallen at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Consumption:
    """Mean and standard deviation of the energy of a kilometre, (k,) Wh each."""

    mean_wh: FloatArray
    std_wh: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """The usual trip of a car.

    Parameters
    ----------
    belief
        Belief of its trips.
    vehicle
        The car.
    km, minutes
        Length and duration of the usual trip.
    row
        (p,) terms of a kilometre of it.
    trips, measured_wh
        Number of the trips that it is the mean of, and their measured energy a kilometre, Wh.
    """

    belief: TripBelief
    vehicle: Vehicle
    km: float
    minutes: float
    row: FloatArray = field(repr=False)
    trips: int
    measured_wh: float

    @property
    def speed_kmh(self) -> float:
        """Mean speed of the usual trip, stops included, km/h."""
        return 60.0 * self.km / self.minutes

    def by_temperature(self, temperature_c: Sequence[float]) -> Consumption:
        """Return the consumption at outside temperatures (k,) °C, after a cold start."""
        return self._consumption([self._at(celsius, self.speed_kmh) for celsius in temperature_c])

    def by_speed(self, speed_kmh: Sequence[float]) -> Consumption:
        """Return the consumption at mean speeds (k,) km/h, without heating and cooling.

        Drag goes with the square of the speed and time with its inverse. Stops stay as they are.
        """
        return self._consumption([self._at(MILD_C, speed) for speed in speed_kmh])

    @property
    def words(self) -> str:
        """Consumption at the usual speed, its change in the cold, and as measured, in words."""
        mild = self.by_temperature([MILD_C])
        cold = self.by_temperature([COLD_C])
        more = float(cold.mean_wh[0] / mild.mean_wh[0]) - 1.0
        usual = (
            f"{mild.mean_wh[0]:.0f} ± {mild.std_wh[0]:.0f} Wh/km at your usual speed of "
            f"{self.speed_kmh:.0f} km/h, on the level at {MILD_C:.0f} °C"
        )
        measured = (
            f"Your last {self.trips} trips took {self.measured_wh:.0f} Wh/km, with their hills, "
            "weather and known power"
        )
        if self.vehicle.heater == "none":
            return f"{usual}. {measured}"
        in_cold = f"{more:+.0%} at {COLD_C:.0f} °C after a cold start"
        if any(is_learned(self.belief, k) for k in (HEATING, WARM_UP)):
            return f"{usual}, {in_cold}. {measured}"
        return f"{usual}, by physics {in_cold}, not learned yet. {measured}"

    def _at(self, temperature_c: float, speed_kmh: float) -> FloatArray:
        """Return the terms of a kilometre, (p,)."""
        faster = speed_kmh / self.speed_kmh
        heating = Heating(self.vehicle, temperature_c).of_trip(self.minutes / faster) / self.km
        thinner = air_density_kgpm3(temperature_c) / AIR_DENSITY_KGPM3
        changed = self.row.copy()
        changed[MINUTES] /= faster
        changed[DRAG] *= faster**2 * thinner
        changed[BY_TEMPERATURE] = heating
        return with_level(changed[np.newaxis], self.belief.prior)[0]

    def _consumption(self, rows: Sequence[FloatArray]) -> Consumption:
        """Return mean and deviation for rows of terms, (p,) each."""
        variance = [self.belief.regression.variance(row) for row in rows]
        return Consumption(np.array(rows) @ self.belief.coefficients, np.sqrt(variance))


def usual_trip(belief: TripBelief, vehicle: Vehicle) -> Usual | None:
    """Return the usual trip by the newest trips, or None if they are fewer than `FEWEST`.

    Parameters
    ----------
    belief
        Belief of the trips.
    vehicle
        The car.
    """
    kept = belief.kept.rows[-NEWEST:]
    if len(kept) < FEWEST:
        return None
    usual = kept.mean(axis=0)
    per_km = usual / usual[KM]
    climb_m = (per_km[UP] - per_km[DOWN]) / 2.0
    row = np.zeros(len(usual))
    own = slice(0, len(belief.prior.mean))
    row[own] = per_km[own]
    row[[AUXILIARY, FADE]] = 0.0
    row[BY_TEMPERATURE] = 0.0
    row[UP] = climb_m
    row[DOWN] = -climb_m
    energy_wh = belief.kept.energy_wh[-NEWEST:]
    measured_wh = float(energy_wh.sum() / kept[:, KM].sum())
    lengths = float(usual[KM]), float(usual[MINUTES])
    return Usual(belief, vehicle, *lengths, row, len(energy_wh), measured_wh)


def is_learned(belief: TripBelief, k: int) -> bool:
    """Return whether the deviation of coefficient k fell by at least `LEARNED_SHARE`."""
    if k >= len(belief.prior.std):
        return False
    std = float(np.sqrt(belief.regression.covariance[k, k]))
    return std <= (1.0 - LEARNED_SHARE) * float(belief.prior.std[k])
