"""Vehicles: the parameters of eq. 8, a shipped catalogue, and TOML files of users.

A vehicle file holds the fields of `Vehicle` and optionally a ``[sources]`` table with the origin of
each number::

    name = "my van"
    mass_kg = 2400
    ...
"""

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from evroute.errors import EvrouteError, UnknownNameError
from evroute.files import read_toml
from evroute.invalid import first_problem
from evroute.resources import data_path
from evroute.text import check_printable

DEFAULT = "reference"
FULL_BATTERY = {"full_battery_percent": 85.0, "full_battery_fade": 0.0}
"""Optional fields, and their values where a file lacks them."""


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class Vehicle:
    """One vehicle with the parameters of eq. 8.

    mass_kg: as driven.  rolling, drag: coefficients.  front_m2: frontal area.
    propulsion_efficiency: battery to wheel, and recuperation_efficiency: wheel to battery, at most
    1.  auxiliary_w: constant load besides the powertrain, W.  battery_kwh: usable capacity.
    full_battery_percent: charge above which recuperation fades, %.  full_battery_fade: share of it
    lost per 10 % above; the prior mean of a belief of trips, which learns the share.
    sources: origin of each number, by field.

    Raises
    ------
    pydantic.ValidationError
        If a number is missing, not finite or out of its range.
    """

    name: str
    mass_kg: float = Field(strict=True, gt=0, le=60_000)
    rolling: float = Field(strict=True, gt=0, lt=0.2)
    drag: float = Field(strict=True, gt=0, lt=3)
    front_m2: float = Field(strict=True, gt=0, lt=20)
    propulsion_efficiency: float = Field(strict=True, gt=0, le=1)
    recuperation_efficiency: float = Field(strict=True, ge=0, le=1)
    auxiliary_w: float = Field(strict=True, ge=0, le=50_000)
    battery_kwh: float = Field(strict=True, gt=0, le=2_000)
    full_battery_percent: float = Field(default=FULL_BATTERY["full_battery_percent"], ge=0, le=100)
    full_battery_fade: float = Field(default=FULL_BATTERY["full_battery_fade"], ge=0, le=10)
    sources: dict[str, str] = Field(default_factory=dict)


_VEHICLE = TypeAdapter(Vehicle)


def numbers_of(vehicle: Vehicle) -> dict[str, Any]:
    """Return the fields of a vehicle on which beliefs depend: all but the sources.

    Fields of a full battery are left out at their defaults: earlier vehicles lack them.
    """
    numbers = asdict(vehicle)
    del numbers["sources"]
    return {name: value for name, value in numbers.items() if FULL_BATTERY.get(name) != value}


def load_vehicle(name_or_path: str | Path = DEFAULT) -> Vehicle:
    """Load a vehicle of the catalogue by name, or a user's vehicle from a ``.toml`` file.

    Raises
    ------
    UnknownNameError
        If the catalogue does not have the name; the message lists the names.
    EvrouteError
        If a file is missing, is not TOML, lacks a field, or has one that is unknown or out of
        range.
    """
    if isinstance(name_or_path, Path) or name_or_path.endswith(".toml"):
        return _read(Path(name_or_path))
    if name_or_path not in _catalogue():
        raise UnknownNameError(
            f"unknown vehicle '{name_or_path}'; there are {', '.join(vehicle_names())}, "
            "or give a .toml file of your own"
        )
    return _catalogue()[name_or_path]


def vehicle_names() -> list[str]:
    """List the names of the catalogue, the default first."""
    return sorted(_catalogue(), key=lambda name: (name != DEFAULT, name))


@cache
def _catalogue() -> dict[str, Vehicle]:
    return {path.stem: _read(path) for path in data_path("vehicles").glob("*.toml")}


def _read(path: Path) -> Vehicle:
    table = read_toml(path, "vehicle file")
    try:
        vehicle = _VEHICLE.validate_python({"name": path.stem} | table)
    except ValidationError as error:
        raise EvrouteError(f"vehicle file {path}: {first_problem(error)}") from None
    if unknown := [field for field in vehicle.sources if field not in table]:
        raise EvrouteError(f"vehicle file {path}: sources: it has no field '{unknown[0]}'")
    check_printable(f"vehicle file {path}:", (vehicle.name, *vehicle.sources.values()))
    return vehicle
