"""Vehicles: the parameters of eq. 8, from the shipped catalogue or from a user's TOML file.

A vehicle file holds the fields of `Vehicle` and optionally a ``[sources]`` table with the origin of
each number. A table of consumption at steady speeds may replace ``rolling`` and ``drag``::

    name = "my van"
    mass_kg = 2400
    consumption = [[50, 190], [80, 240], [110, 330]]  # km/h, Wh/km
    ...

A file may begin with a car of the catalogue, whose fields it keeps or replaces::

    like = "nissan-leaf-40"
    heater = "heat-pump"

Files of earlier versions have ``heat_pump = true`` instead, as have folders of beliefs.

The catalogue has files of this form, and one table of cars, ``cars.csv``, with the numbers that
they share, and the cars that have a heat pump, in ``cars.toml``.
"""

import csv
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from pydantic_core import ArgsKwargs

from evroute.energy import defaults
from evroute.energy.road_load import road_load_of
from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.given import located
from evroute.limits import read_toml
from evroute.ranking import Ranking, words_of
from evroute.resources import data_path
from evroute.text import check_printable
from evroute.validation.invalid import first_problem

ROAD_LOADS = ("stated", "measured", "fitted", "table")
"""Origins of rolling resistance and drag: the file; one measured force; class; speed table."""
OPTIONAL_NUMBERS: dict[str, float | str] = {
    "full_battery_percent": 85.0,
    "full_battery_fade": 0.0,
    "heater": "resistive",
}
"""Optional fields, and their values where a file lacks them."""
HEATERS = {True: "heat-pump", False: "resistive"}
"""Heater by the field ``heat_pump`` of earlier versions."""


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class Vehicle:
    """One vehicle with the parameters of eq. 8.

    mass_kg: as driven.  rolling, drag: coefficients.  front_m2: frontal area.
    propulsion_efficiency: battery to wheel, and recuperation_efficiency: wheel to battery, at most
    1.  auxiliary_w: constant load besides the powertrain, W.  battery_kwh: usable capacity.
    full_battery_percent: charge above which recuperation fades, %.  full_battery_fade: share of it
    lost per 10 % above. The prior mean of a belief of trips, which learns the share.
    heater: of the cabin, ``resistive``, ``heat-pump``, or ``none`` of a vehicle that neither heats
    nor cools one.
    title: name as people write it, empty for that of the file.
    sources: origin of each number, by field.  car_class: size, empty if unknown.  road_load: one of
    `ROAD_LOADS`.  ac_kw, dc_kw: largest charging powers, kW, or None if unknown or impossible.
    charging_curve: (charge in %, DC power in kW) in rising order. Empty if unknown.  dc_plug: its
    plug for DC.

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
    full_battery_percent: float = Field(default=85.0, ge=0, le=100)
    full_battery_fade: float = Field(default=0.0, ge=0, le=10)
    heater: Literal["resistive", "heat-pump", "none"] = "resistive"
    title: str = ""
    sources: dict[str, str] = field(default_factory=dict, hash=False)
    car_class: str = ""
    road_load: Literal["stated", "measured", "fitted", "table"] = "stated"
    ac_kw: float | None = Field(default=None, gt=0, le=1_000)
    dc_kw: float | None = Field(default=None, gt=0, le=5_000)
    charging_curve: tuple[tuple[float, float], ...] = ()
    dc_plug: Literal["ccs", "chademo", "tesla"] = "ccs"

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_versions(cls, given: Any) -> Any:
        """Return fields with ``heater`` in place of ``heat_pump``."""
        if isinstance(given, ArgsKwargs):
            return ArgsKwargs(given.args, with_heater(given.kwargs or {}))
        return with_heater(given) if isinstance(given, dict) else given

    def __repr__(self) -> str:
        """Return name, mass and battery in one line."""
        return f"Vehicle({self.name!r}, {self.mass_kg:,.0f} kg, {self.battery_kwh:g} kWh)"


def with_heater(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a vehicle with ``heater`` in place of ``heat_pump``, and its source.

    Raises
    ------
    ValueError
        If ``heat_pump`` is neither true nor false.
    """
    found = dict(fields)
    if "heat_pump" in found:
        given = found.pop("heat_pump")
        if not isinstance(given, bool):
            raise ValueError("heat_pump must be true or false")
        found["heater"] = HEATERS[given]
    sources = found.get("sources")
    if isinstance(sources, dict) and "heat_pump" in sources:
        found["sources"] = {("heater" if k == "heat_pump" else k): v for k, v in sources.items()}
    return found


_VEHICLE = TypeAdapter(Vehicle)
log = logging.getLogger(__name__)
HOUSEHOLD_KW = 3.7
MOST_AC_PER_KWH, MOST_DC_PER_KWH = 1.5, 6.0
"""Largest plausible charging powers, kW per kWh of the battery."""
LIGHTEST_CABIN_KG = 400.0
"""Lightest vehicle, as driven, whose cabin may have a heater."""
LISTED = 3
"""Number of names in the message on an unknown one."""
CHARGING = ("ac_kw", "dc_kw", "charging_curve", "dc_plug")
DESCRIPTIVE = ("title", "sources", "car_class", "road_load", *CHARGING)
"""Fields on which no energy of driving depends."""


def charging_of(vehicle: Vehicle) -> dict[str, Any]:
    """Return the fields of charging of a vehicle, as JSON holds them."""
    return _VEHICLE.dump_python(vehicle, mode="json", include=set(CHARGING))


def numbers_of(vehicle: Vehicle) -> dict[str, Any]:
    """Return the fields of a vehicle on which beliefs depend: all but the descriptive ones.

    Optional numbers are left out at their defaults: earlier vehicles lack them.
    """
    numbers = {
        name: getattr(vehicle, name)
        for name in Vehicle.__dataclass_fields__
        if name not in DESCRIPTIVE
    }
    found = {name: value for name, value in numbers.items() if OPTIONAL_NUMBERS.get(name) != value}
    if found.get("heater") == HEATERS[True]:  # as earlier versions wrote it
        del found["heater"]
        found["heat_pump"] = True
    return found


def load_vehicle(name_or_path: str | Path = defaults.VEHICLE) -> Vehicle:
    """Load a vehicle of the catalogue by name, or a user's vehicle from a ``.toml`` file.

    A text that is no name, such as "Zoe" or "Tesla Model Y", means the vehicle with its words,
    if there is exactly one with the same words, or else one with these and further ones.

    Raises
    ------
    UnknownNameError
        If the catalogue does not have the name. The message has the nearest names.
    EvrouteError
        If a file is missing, is not TOML, lacks a field, has one that is unknown or out of range,
        or has both a table of consumption and a road load.
    """
    if isinstance(name_or_path, Path) or name_or_path.endswith(".toml"):
        return _read(Path(name_or_path))
    found = catalogue().get(name_or_path) or _with_words(name_or_path)
    if found is None:
        near = find_vehicles(name_or_path)[:LISTED] or [defaults.VEHICLE]
        raise UnknownNameError(
            f"unknown vehicle '{name_or_path}'. Near are {', '.join(near)}. Choose one of 'evroute "
            "vehicle list', or give a .toml file of your own"
        )
    return found


def find_vehicles(text: str, own: Sequence[str] = ()) -> list[str]:
    """Return the names of the catalogue that a text may mean, the likeliest first.

    Parameters
    ----------
    text
        As a driver writes it, with typing errors: "tesla model 3", "Zoe". Without words it has all
        names.
    own
        Names of a driver's own vehicles. Those that fit come first.
    """
    names = vehicle_names()
    ranking = _ranking()
    rows = ranking.best(text, 2 * len(names)) if words_of(text) else range(len(names))
    found = dict.fromkeys(names[row % len(names)] for row in rows)
    return sorted(found, key=lambda name: name not in own)


@cache
def _ranking() -> Ranking:
    """Return the ranking of the names of the catalogue, and of their titles after them."""
    names = vehicle_names()
    return Ranking.of([*names, *(catalogue()[name].title for name in names)])


def _with_words(text: str) -> Vehicle | None:
    """Return the only vehicle whose name has the words of a text. None for none and for several."""
    words = set(words_of(text))
    having = [name for name in vehicle_names() if words and words <= set(words_of(name))]
    same = [name for name in having if words == set(words_of(name))]
    found = same if len(same) == 1 else having
    return catalogue()[found[0]] if len(found) == 1 else None


def vehicle_names() -> list[str]:
    """List the names of the catalogue, the default first."""
    return sorted(catalogue(), key=lambda name: (name != defaults.VEHICLE, name))


@cache
def catalogue() -> dict[str, Vehicle]:
    """Return the shipped vehicles by name."""
    folder = data_path("vehicles")
    files = {path.stem: _read(path) for path in folder.glob("*.toml") if path.stem != "cars"}
    return files | _cars(folder)


def _cars(folder: Path) -> dict[str, Vehicle]:
    """Return the cars of the table by key. Drag is for an area of 1 m²."""
    common = read_toml(folder / "cars.toml", "table of cars")
    cars = {}
    for row in csv.DictReader((folder / "cars.csv").read_text(encoding="utf-8").splitlines()):
        entries = {name: row.pop(name) for name in ("road_load_entry", "battery_entry")}
        curve = [point.split(":") for point in row.pop("charging_curve").split()]
        numbers = {name: _cell(text) for name, text in row.items() if text}
        sources = common["sources"]["all"] | common["sources"][row["road_load"]]
        sources = {field: text.format(**entries) for field, text in sources.items()}
        if (pump := common["heat_pump"].get(row["name"])) is not None:
            sources["heater"] = pump
        cars[row["name"]] = _VEHICLE.validate_python(
            common["numbers"]
            | numbers
            | {"charging_curve": [(float(charge), float(kw)) for charge, kw in curve]}
            | {"heater": HEATERS[pump is not None], "sources": sources}
        )
    return cars


def _cell(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _read(path: Path) -> Vehicle:
    where = f"vehicle file {path}:"
    try:
        table = with_heater(read_toml(located(path), "vehicle file"))
    except ValueError as error:
        raise EvrouteError(f"{where} {error}") from None
    if (like := table.pop("like", None)) is not None:
        table = _like(like, table, where)
    if (consumption := table.pop("consumption", None)) is not None:
        if given := [name for name in ("rolling", "drag") if name in table]:
            raise EvrouteError(
                f"{where} it has {' and '.join(given)} and a table of consumption, which contradict"
                ". Keep one of them"
            )
        rolling, drag = road_load_of(consumption, table, where)
        table |= {"rolling": rolling, "drag": drag, "road_load": "table"}
    try:
        vehicle = _VEHICLE.validate_python({"name": path.stem} | table)
    except ValidationError as error:
        problem = first_problem(error, Vehicle.__dataclass_fields__)
        raise EvrouteError(f"{where} {problem}") from None
    if unknown := [field for field in vehicle.sources if field not in table]:
        raise EvrouteError(f"{where} sources: it has no field '{unknown[0]}'")
    named = (vehicle.name, vehicle.title, vehicle.car_class)
    check_printable(where, (*named, *vehicle.sources.values()))
    require(
        vehicle.road_load != "measured" or {"rolling", "drag"} <= set(vehicle.sources),
        f"{where} a measured road load needs the [sources] of rolling and drag. Add them",
    )
    if vehicle.charging_curve:
        check_curve(where, vehicle.charging_curve)
    for pair in implausible_pairs(vehicle):
        log.warning("%s %s", where, pair)
    return vehicle


def implausible_pairs(vehicle: Vehicle) -> list[str]:
    """Return pairs of numbers that no vehicle is known to have, in words, as after ``like``."""
    found = []
    if vehicle.ac_kw and vehicle.ac_kw > MOST_AC_PER_KWH * vehicle.battery_kwh:
        found.append(
            f"ac_kw is {vehicle.ac_kw:g} kW for a battery of {vehicle.battery_kwh:g} kWh. A "
            f"household socket gives {HOUSEHOLD_KW:g} kW at most. Correct one of them"
        )
    if vehicle.dc_kw and vehicle.dc_kw > MOST_DC_PER_KWH * vehicle.battery_kwh:
        found.append(
            f"dc_kw is {vehicle.dc_kw:g} kW for a battery of {vehicle.battery_kwh:g} kWh. Leave "
            "dc_kw out of a vehicle that charges by AC alone"
        )
    if vehicle.heater != "none" and vehicle.mass_kg < LIGHTEST_CABIN_KG:
        found.append(
            f"heater is {vehicle.heater} in a vehicle of {vehicle.mass_kg:g} kg. A vehicle without "
            'a heated cabin has heater = "none"'
        )
    return found


def _like(name: Any, table: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the fields of a vehicle file that begins with a car of the catalogue.

    Parameters
    ----------
    name
        The car, as the file names it.
    table
        Fields of the file, which replace the car's fields and their sources.
    where
        Beginning of the messages of errors.
    """
    require(isinstance(name, str), f"{where} like is {name!r}. Give a name of the catalogue")
    car = catalogue().get(name) or _with_words(name)
    if car is None:
        near = find_vehicles(name)[:LISTED] or [defaults.VEHICLE]
        raise EvrouteError(
            f"{where} like: unknown vehicle '{name}'. Near are {', '.join(near)}. Choose one of "
            "'evroute vehicle list'"
        )
    given = {"rolling", "drag"} if "consumption" in table else set()
    given |= set(table)
    if given & {"rolling", "drag"}:
        given |= {"road_load"}
    own_names = given | {"name", "title"}
    fields = {key: value for key, value in asdict(car).items() if key not in own_names}
    sources = {key: text for key, text in car.sources.items() if key not in given}
    own = table.get("sources", {})
    return fields | table | {"sources": sources | own if isinstance(own, dict) else own}


def check_curve(where: str, curve: tuple[tuple[float, float], ...]) -> None:
    """Refuse a charging curve (%, kW) that does not rise from 0 to 100 %, or has no power."""
    charges = [charge for charge, _ in curve]
    covers = charges == sorted(set(charges)) and charges[0] == 0 and charges[-1] == 100
    weakest = min(curve, key=lambda point: point[1])
    require(
        covers and weakest[1] > 0,
        f"{where} charging_curve: charges (%) must rise from 0 to 100 and powers (kW) be above "
        f"0. It has {weakest[1]:g} kW at {weakest[0]:g} %, from {charges[0]:g} to "
        f"{charges[-1]:g} %",
    )
