"""Heating and cooling of planned trips: energy, the warm-up at the start, and words for them."""

from dataclasses import dataclass, replace

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.heating import HEATED_BELOW_C, Heating, WarmUp, heating_coefficients
from evroute.energy.vehicle import Vehicle
from evroute.planning.batch import Energies
from evroute.planning.battery import Battery
from evroute.planning.forecasts.learned import Day
from evroute.planning.plan import PlannedRoute

WARM_UP = "warm-up"
"""Name of the warm-up among the parts of a route's energy."""
UNDATED = "no date is given: as if on the day of the last learned trip"
"""The assumption of plans by a belief, whose doubt grows with the time since the last trip."""
UNDATED_TRIPS = "the learned trips have no date, so the date given counts for nothing"


@dataclass(frozen=True, slots=True, eq=False)
class TripHeating:
    """Energy of heating and cooling on trips.

    Parameters
    ----------
    total_wh
        (...) all of it, Wh. 0 where a known power includes it.
    warm_up_wh
        (...) the part that the energies of the arms do not include, Wh.
    """

    total_wh: FloatArray
    warm_up_wh: FloatArray


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

    def at(self, minutes: FloatArray | float) -> TripHeating:
        """Return the energy of heating and cooling on trips of (...) minutes."""
        return TripHeating(
            np.asarray(self.heating.of_trip(minutes) @ self.coefficients)
            * (not self.heating.in_power),
            self.warm_up.after(60.0 * np.asarray(minutes)),
        )

    def added(self, sums: Energies) -> Energies:
        """Return the energies of routes, each with its warm-up."""
        warm_up_wh = self.at(sums.time_s / 60.0).warm_up_wh
        return replace(sums, energy_wh=sums.energy_wh + warm_up_wh)

    def departing(self, battery: Battery, minutes: float) -> Battery:
        """Return a battery less the warm-up of a trip, at least with its reserve.

        A search takes the duration of the fastest route for all routes.

        Parameters
        ----------
        battery
            Charge at the start, and the reserve.
        minutes
            Duration of the trip.
        """
        warm_up_wh = float(self.at(minutes).warm_up_wh)
        left_wh = min(max(battery.start_wh - warm_up_wh, battery.reserve_wh), battery.capacity_wh)
        return replace(battery, start_wh=left_wh, warm_up_wh=warm_up_wh, parked_wh=battery.start_wh)

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


def with_departure(
    route: PlannedRoute, heating: TripHeating, battery: Battery | None
) -> PlannedRoute:
    """Return a described route with its warm-up, which is on its first edge.

    Parameters
    ----------
    route
        Numbers of the arms. The charge begins after the warm-up.
    heating
        Heating and cooling of the trip.
    battery
        Charge before the warm-up, or None for no charge.
    """
    described = replace(route, heating_wh=float(heating.total_wh))
    warm_up_wh = float(heating.warm_up_wh)
    if warm_up_wh == 0.0:
        return described
    edge_wh = route.edge_wh.copy()
    edge_wh[0] += warm_up_wh
    charge = route.charge
    if charge is not None and battery is not None:
        charge_wh, low_wh = charge.charge_wh.copy(), charge.low_wh.copy()
        charge_wh[0] = low_wh[0] = battery.start_wh
        charge = replace(charge, charge_wh=charge_wh, low_wh=low_wh)
    return replace(
        described,
        edge_wh=edge_wh,
        energy_wh=route.energy_wh + warm_up_wh,
        parts_wh={**route.parts_wh, WARM_UP: warm_up_wh},
        charge=charge,
    )
