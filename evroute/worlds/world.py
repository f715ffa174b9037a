"""Worlds by name: a kind of world and its options, from a TOML table.

A world file looks like this::

    kind = "physics"
    wind_mps = 8
    wind_from_deg = 200

``data/worlds`` has examples. A world may be named by its file there, by another file, or by its
kind alone.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar

from numpy.random import SeedSequence
from pydantic import Field, ValidationError

from evroute.errors import EvrouteError, UnknownNameError
from evroute.limits import read_toml
from evroute.methods.setting import Setting
from evroute.plugins import is_part, named
from evroute.resources import data_path
from evroute.validation.invalid import first_problem
from evroute.validation.options import Options
from evroute.worlds.demand.trips import Trips
from evroute.worlds.environment import Environment

WORLDS = {
    "sampled-gp": "evroute.worlds.sampled_gp:SampledWorld",
    "physics": "evroute.worlds.conditions:Conditions",
    "rough": "evroute.worlds.congestion:Rough",
    "drift": "evroute.worlds.congestion:Drift",
    "daily": "evroute.worlds.congestion:Daily",
    "year": "evroute.worlds.year:Year",
    "sumo": "evroute.worlds.sumo_options:SumoOptions",
    "replay": "evroute.worlds.replay:ReplayWorld",
}
"""Classes of the options, by kind."""
DEFAULT = "sampled-gp"


class World(Options):
    """The options of one kind of world. One class for each kind.

    Parameters
    ----------
    kind
        Kind, a key of `WORLDS`.
    name
        Name in run names. By default composed of the options.
    """

    several_vehicles: ClassVar[bool] = False
    """Whether trips may name vehicles, each with separate true energies."""

    environment: ClassVar[str]
    """``module:name`` of the environment. It is built of options, setting, trips and seeds."""

    kind: str
    name: str = Field("", pattern=r"^[\w.-]*$")

    def build(self, setting: Setting, trips: Trips, seeds: SeedSequence) -> Environment:
        """Return the environment of these options.

        Parameters
        ----------
        setting
            Network, vehicle and prior of the learner, over the edges.
        trips
            Trips to drive.
        seeds
            Seeds of all draws of the world.

        Raises
        ------
        EvrouteError
            If the options do not fit the network or the vehicle.
        """
        return resolve_name(self.environment)(self, setting, trips, seeds)

    @property
    def tells_temperature(self) -> bool:
        """Whether the contexts include the temperature."""
        return False

    def files(self, setting: Setting) -> dict[str, Path]:
        """Return the paths of the files that the environment reads, by their names there.

        It reads them by `given.located`, so that a worker may have copies.
        """
        return {}

    def provenance(self, setting: Setting) -> dict[str, Any]:
        """Return further sources of the results, and optionally a ``note`` for readers.

        Raises
        ------
        EvrouteError
            If a file of the world cannot be read.
        """
        return {}

    @property
    def label(self) -> str:
        """Name in runs and tables: ``wind``, ``physics-windmps8``."""
        if self.name:
            return self.name
        options = self.model_dump(mode="json", exclude_defaults=True, exclude={"kind"})
        parts = [key.replace("_", "") + _brief(value) for key, value in options.items()]
        return "-".join([self.kind.replace(":", "."), *parts])


def load_world(world: "str | Path | Mapping[str, Any] | World") -> World:
    """Return a world by the name of its kind or of a shipped file, from a file, or from a table.

    Raises
    ------
    UnknownNameError
        If the name or kind is unknown. The message lists the known ones.
    EvrouteError
        If a file is missing or not TOML, or an option is unknown or out of its range.
    """
    if isinstance(world, World):
        return world
    if isinstance(world, Mapping):
        return _validated(world, "world")
    if not isinstance(world, str | Path):
        raise EvrouteError(f"world {world} is neither a name nor a file nor a table")
    if isinstance(world, Path) or world.endswith(".toml"):
        return _read(Path(world))
    if world in WORLDS or is_part(world):
        return _validated({"kind": world}, "world")
    if world in shipped_worlds():
        return _read(data_path("worlds", f"{world}.toml"))
    try:
        named(WORLDS, "world", world)
    except UnknownNameError:
        raise UnknownNameError(
            f"unknown world '{world}'. There are {', '.join([*WORLDS, *shipped_worlds()])}, or "
            "give a .toml file"
        ) from None
    return _validated({"kind": world}, "world")


def shipped_worlds() -> list[str]:
    """List the names of the world files that ship with evroute."""
    return sorted(path.stem for path in data_path("worlds").glob("*.toml"))


def _read(path: Path) -> World:
    return _validated(
        {"name": re.sub(r"[^\w.-]+", "_", path.stem)} | read_toml(path, "world file"),
        f"world file {path}",
    )


def _validated(table: Mapping[str, Any], what: str) -> World:
    kind = table.get("kind")
    if kind is None:
        raise EvrouteError(f"{what} names no kind. There are {', '.join(WORLDS)}")
    try:
        options: type[World] = named(WORLDS, "world", str(kind))
    except UnknownNameError as error:
        message = str(error).replace("unknown world", "unknown kind")
        raise UnknownNameError(f"{what}: {message}") from None
    if not (isinstance(options, type) and issubclass(options, World)):
        raise UnknownNameError(f"{what}: '{kind}' is no class of World")
    if unknown := sorted(table.keys() - options.model_fields.keys()):
        there = [field for field in options.model_fields if field not in {"kind", "name"}]
        raise UnknownNameError(
            f"{what}: kind '{kind}' has no option '{unknown[0]}'. It has {', '.join(there)}"
        )
    try:
        return options.model_validate(table)
    except ValidationError as error:
        raise EvrouteError(f"{what}: {first_problem(error)}") from None


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is True else re.sub(r"[^\w.-]+", "_", str(value)).strip("_")
