"""Conditions of a day: how temperature, wind, payload and traffic change eq. 8."""

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3
from evroute.energy.heating import Heating, is_long_stand
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.text import one_line
from evroute.validation.forms import Date, Number, Truth
from evroute.validation.invalid import first_problem

PRESSURE_PA = 101_325.0
GAS_CONSTANT_JPKGK = 287.05
ZERO_C_K = 273.15

LEAST_C = -50.0
MOST_C = 60.0
"""Range of outside temperatures, °C."""
COMFORT_C = 21.0
TEMPERATURE_UNIT_K = 10.0


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class DrivingConditions:
    """Conditions of a trip. The defaults follow eq. 8.

    Parameters
    ----------
    temperature_c
        Air temperature, °C, which sets the air density and the power of heating or cooling
        (`energy.heating`), or None for the density of eq. 8 and no heating.
    wind_mps, wind_from_deg
        A steady wind, m/s, and the bearing it blows from, clockwise from north.
    speed_factor
        Driven speed divided by the speed of the network.
    payload_kg
        Load on top of the mass of the vehicle, kg.
    auxiliary_w
        Power of heating, cooling and other loads at departure, W. None for the load of the vehicle
        with heating or cooling by the temperature.
    departed_s
        Time of departure since a midnight, s, by which learned speeds differ. None for the mean of
        the day.
    parked_minutes
        Time since the trip before, minutes, or None for a cold start.
    date
        Day of the trip as ``YYYY-MM-DD``, for the time since the last learned trip, or None for its
        day.
    preheated
        Whether the cabin was heated from the mains.

    Raises
    ------
    pydantic.ValidationError
        If a number is not finite or out of its range.
    """

    temperature_c: Annotated[
        float | None,
        Number(
            "Outside temperature, °C: changes air density, heating and cooling.",
            name="temperature",
            metavar="C",
            unit="°C",
            least=LEAST_C,
            most=MOST_C,
        ),
    ] = None
    wind_mps: Annotated[
        float, Number("Steady wind, m/s.", name="wind", metavar="M/S", unit="m/s", least=0, most=40)
    ] = 0.0
    wind_from_deg: Annotated[
        float,
        Number(
            "Origin of the wind: 0 north, 90 east, 180 south, 270 west.",
            name="wind_from",
            metavar="DEGREES",
            unit="degrees",
            least=0,
            most=360,
        ),
    ] = 0.0
    speed_factor: Annotated[
        float,
        Number("Driven speeds as a share of the speeds of the network.", least=0.1, most=1.5),
    ] = 1.0
    payload_kg: Annotated[
        float,
        Number(
            "Load on top of the mass of the vehicle, kg.",
            name="payload",
            metavar="KG",
            unit="kg",
            least=0,
            most=20_000,
        ),
    ] = 0.0
    auxiliary_w: Annotated[
        float | None,
        Number(
            "Auxiliary power at departure (heating, cooling and others), W.",
            name="aux",
            metavar="W",
            unit="W",
            least=0,
            most=50_000,
        ),
    ] = None
    departed_s: float | None = Field(default=None, ge=0)
    parked_minutes: Annotated[
        float | None,
        Number(
            "Time that the car has stood, minutes: after more than 60 the cabin is cold. [cold]",
            name="parked",
            metavar="MINUTES",
            unit="minutes",
            least=0,
            most=5_256_000,
        ),
    ] = None
    date: Annotated[
        str | None,
        Date(
            "Day of the trip, YYYY-MM-DD: the longer after the last learned trip, the wider the "
            "forecast. [the day of the last trip]",
            metavar="DATE",
        ),
    ] = None
    preheated: Annotated[bool, Truth("The cabin was heated from the mains: no warm-up.")] = False

    def __repr__(self) -> str:
        """Return the values that are not the defaults, in one line."""
        usual = DrivingConditions()
        fields = [(name, getattr(self, name)) for name in self.__dataclass_fields__]
        changed = [(name, value) for name, value in fields if value != getattr(usual, name)]
        return one_line("DrivingConditions", changed)

    @property
    def air_density_kgpm3(self) -> float:
        """Density of the air, kg/m³."""
        return (
            AIR_DENSITY_KGPM3
            if self.temperature_c is None
            else air_density_kgpm3(self.temperature_c)
        )

    @property
    def cold_start(self) -> bool:
        """Whether the cabin is cold at departure."""
        return is_long_stand(self.parked_minutes) and not self.preheated

    def heating(self, vehicle: Vehicle) -> Heating:
        """Return heating and cooling at the temperature of the day."""
        stood = 0.0 if self.preheated else self.parked_minutes
        known = self.auxiliary_w is not None
        return Heating(vehicle, self.temperature_c, stood, in_power=known)

    @property
    def season_unknown(self) -> bool:
        """Whether neither the temperature nor a power is known."""
        return self.temperature_c is None and self.auxiliary_w is None

    def load(self, vehicle: Vehicle) -> Vehicle:
        """Return the vehicle with its payload and with heating or cooling on.

        Raises
        ------
        EvrouteError
            If its mass or auxiliary power exceeds the limits of a vehicle.
        """
        auxiliary_w = self.auxiliary_w
        if auxiliary_w is None:
            auxiliary_w = vehicle.auxiliary_w + self.heating(vehicle).power_w
        try:
            return replace(
                vehicle, mass_kg=vehicle.mass_kg + self.payload_kg, auxiliary_w=auxiliary_w
            )
        except ValidationError as error:
            raise EvrouteError(
                f"vehicle '{vehicle.name}' as loaded: {first_problem(error)}"
            ) from None

    def headwind_mps(self, network: RoadNetwork) -> FloatArray:
        """Return the headwind of every edge, (n,) m/s."""
        return headwind_mps(network, self.wind_mps, self.wind_from_deg)


def conditions(**fields: Any) -> DrivingConditions:
    """Return validated driving conditions.

    Raises
    ------
    EvrouteError
        If a number is out of its range.
    """
    try:
        return DrivingConditions(**fields)
    except ValidationError as error:
        raise EvrouteError(first_problem(error)) from None


def air_density_kgpm3(temperature_c: float) -> float:
    """Return the density of dry air at 1,013.25 hPa (ideal gas; ISO 2533), kg/m³."""
    return PRESSURE_PA / (GAS_CONSTANT_JPKGK * (temperature_c + ZERO_C_K))


def temperature_feature(temperature_c: float) -> float:
    """Return the context feature of a temperature, its distance from 21 °C in units of 10 K."""
    return (temperature_c - COMFORT_C) / TEMPERATURE_UNIT_K


def headwind_mps(network: RoadNetwork, wind_mps: float, wind_from_deg: float) -> FloatArray:
    """Return the headwind of each edge, (n,) m/s, negative for a tail wind.

    Parameters
    ----------
    network
        The roads. The direction of an edge is that from its tail to its head. A closed edge has no
        headwind.
    wind_mps
        Wind speed, m/s.
    wind_from_deg
        Bearing it blows from, degrees clockwise from the map's north.
    """
    if wind_mps == 0.0:
        return np.zeros(network.n_edges)
    east_m = network.x_m[network.head] - network.x_m[network.tail]
    north_m = network.y_m[network.head] - network.y_m[network.tail]
    distance_m = np.hypot(east_m, north_m)
    from_rad = np.deg2rad(wind_from_deg)
    towards_m = east_m * np.sin(from_rad) + north_m * np.cos(from_rad)
    return wind_mps * towards_m / np.where(distance_m > 0, distance_m, 1.0)
