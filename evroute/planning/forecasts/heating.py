"""Heating and cooling of planned trips: energy, the warm-up over the time driven, and words."""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.heating import HEATED_BELOW_C, Heating, WarmUp, heating_coefficients
from evroute.energy.vehicle import Vehicle
from evroute.planning.forecasts.learned import Day

UNDATED = "no date is given: as if on the day of the last learned trip"
"""The assumption of plans by a belief, whose doubt grows with the time since the last trip."""
UNDATED_TRIPS = "the learned trips have no date, so the date given counts for nothing"


@dataclass(frozen=True, slots=True, eq=False)
class DayHeating:
    """Heating and cooling of a day.

    Parameters
    ----------
    conditions
        Conditions of the day.
    heating
        Terms by the duration of a trip.
    coefficients
        (3,) of heating, warm-up and cooling, Wh.
    learned
        Whether a belief learned the coefficients.
    undated
        Whether the trips that it learned have no date.
    """

    conditions: DrivingConditions
    heating: Heating
    coefficients: FloatArray
    learned: bool
    undated: bool = False

    @classmethod
    def of(cls, vehicle: Vehicle, conditions: DrivingConditions, day: Day | None) -> "DayHeating":
        """Return heating and cooling of a day.

        Parameters
        ----------
        vehicle, conditions
            Car and conditions.
        day
            Energies of the day by a belief, or None for physics.
        """
        heating = conditions.heating(vehicle)
        if day is not None:
            return cls(conditions, heating, day.heating_wh, True, day.undated)
        coefficients = heating_coefficients(vehicle) * (not heating.in_power)
        return cls(conditions, heating, coefficients, False)

    @property
    def warm_up(self) -> WarmUp:
        """Energy of warming up over the time driven."""
        return self.heating.warm_up(self.coefficients)

    @property
    def of_tours(self) -> str:
        """The warm-up of a tour in words, which no cell of a reduced matrix has. Empty for none."""
        warm_up = self.warm_up
        if not warm_up:
            return ""
        return (
            f"each tour takes {warm_up.whole_wh:.1f} Wh more to warm up, over its first "
            f"{warm_up.whole_s / 60:.1f} minutes"
        )

    def total_wh(self, minutes: FloatArray | float) -> FloatArray:
        """Return the energy of heating and cooling on trips of (...) minutes, (...) Wh.

        It is 0 where a known power includes it.
        """
        total_wh = np.asarray(self.heating.of_trip(minutes) @ self.coefficients)
        return total_wh * (not self.heating.in_power)

    def assumed(self, heating_wh: float) -> str:
        """Return start, heating and day of a trip in words. Empty if nothing is assumed.

        Parameters
        ----------
        heating_wh
            Energy of heating or cooling, Wh.
        """
        return "; ".join(part for part in (self._start(heating_wh), self._day()) if part)

    def _day(self) -> str:
        """Return the day of the belief in words, or empty where it counts as it was given."""
        drifts = self.learned and bool(self.coefficients.any())
        if not drifts:
            return ""
        if self.conditions.date is None:
            return UNDATED
        return UNDATED_TRIPS if self.undated else ""

    def _start(self, heating_wh: float) -> str:
        """Return the start and the heating of a trip in words."""
        if self.learned and self.conditions.season_unknown:
            return "no temperature is given: heating and cooling are left out, and in doubt"
        temperature_c = self.heating.temperature_c
        if temperature_c is None or heating_wh == 0.0:
            return ""
        kwh = f"{heating_wh / 1000.0:.2f} kWh"
        if temperature_c >= HEATED_BELOW_C:
            return f"at {temperature_c:g} °C: cooling {kwh}"
        start = "cold start" if self.heating.cold else "warm start"
        return f"{start} at {temperature_c:g} °C: heating {kwh}"
