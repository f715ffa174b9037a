"""Learning of a fleet: the trips of each type of car go into the folder of the type.

All names of cars are checked before a trip is learned. An interrupted call is continued by the same
call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError, require
from evroute.folder import Folder
from evroute.learning.fleet.cars_table import CarTypes
from evroute.learning.fleet.type_folders import TABLE, add_types, type_folder, types_in
from evroute.learning.learned import REASONS, Learned
from evroute.learning.readers.files import Given, files_of
from evroute.learning.readers.formats import cars_in


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet as a call names it.

    folder: of the fleet.  cars: table of cars of the call, or None.  vehicle: the only type to
    learn, or None for all.  reader, columns: of the tables of trips, as in `learn.learn`.
    """

    folder: Path
    cars: CarTypes | None
    vehicle: Vehicle | str | None
    reader: str | None
    columns: Mapping[str, str]

    @property
    def types(self) -> CarTypes:
        """Types of the cars of the table and of the folder."""
        given = self.cars or CarTypes(self.folder / TABLE, {}, {})
        types = given.beside(self.folder, types_in(self.folder))
        return types if self.vehicle is None else replace(types, apart=False)


def learn_types(fleet: Fleet, table: Given | None, learn: Callable[..., Learned]) -> Learned:
    """Learn the trips of each type of car into its folder.

    Parameters
    ----------
    fleet
        The fleet.
    table
        As in `learn.learn`.
    learn
        `learn.learn` of the table. It takes ``out``, ``vehicle`` and ``cars``.

    Raises
    ------
    EvrouteError
        If the table names a car that is in no table of cars, or a type cannot be learned. The
        message has the types that were learned before.
    """
    _check(fleet.folder)
    types, found = fleet.types, dict[str, Learned]()
    for name, vehicle in _wanted(fleet, types, table).items():
        out = type_folder(fleet.folder, name)
        given = None if Folder(out).has_manifest and name not in types.vehicles else vehicle
        try:
            found[name] = learn(out=out, vehicle=given, cars=None if table is None else types)
        except EvrouteError as error:
            done = f". The trips of {', '.join(found)} are learned" if found else ""
            raise type(error)(f"{error}{done}") from None
        add_types(fleet.folder, types.types)
    return _joined(fleet.folder, found)


def _check(folder: Path) -> None:
    """Check that a folder is new, or holds folders of types alone."""
    there = [each for each in folder.iterdir() if each.name[0] != "."] if folder.exists() else []
    own = (TABLE, REASONS)
    foreign = [each for each in there if each.name not in own and not Folder(each).has_manifest]
    require(
        folder.is_dir() or not folder.exists(),
        f"{folder} is not a folder. Name another one with --out",
    )
    require(
        not foreign,
        f"{folder} holds '{foreign[0].name if foreign else ''}', so it is not the folder of a "
        "fleet. Name another one with --out",
    )


def _wanted(
    fleet: Fleet, types: CarTypes, table: Given | None
) -> Mapping[str, Vehicle | str | None]:
    """Return the vehicles of the types that a call learns by name, None for a folder's own."""
    if fleet.vehicle is not None:
        given = fleet.vehicle
        name = given.name if isinstance(given, Vehicle) else load_vehicle(given).name
        return {name: given}
    driven = set(types.types)
    if table is not None:
        driven = _driven(fleet, types, table)
    names = dict.fromkeys(name for car, name in types.types.items() if car in driven)
    if table is None:  # a type whose cars have no trips has no folder
        folders = {name: Folder(type_folder(fleet.folder, name)) for name in names}
        names = dict.fromkeys(name for name in names if folders[name].has_manifest)
    return {name: types.vehicles.get(name) for name in names}


def _driven(fleet: Fleet, types: CarTypes, table: Given) -> set[str]:
    """Return the cars of the trips of a table, or of many. Of many, bad ones are left out."""
    with files_of(table) as (paths, many):
        driven = set[str]()
        for path in paths:
            try:
                rows = cars_in(path, types, fleet.reader, fleet.columns)
            except EvrouteError:
                if not many:
                    raise
                continue
            types.check(rows)
            driven |= {car for _, car in rows}
    return driven


def _joined(folder: Path, found: Mapping[str, Learned]) -> Learned:
    """Return the results of all types as one. A trip that one of them learned is not set aside."""
    learned = {trip for each in found.values() for trip in each.trips["trip"].to_pylist()}
    skipped: dict[str, str] = {}
    by_type = {}
    for name, each in found.items():
        known = learned | skipped.keys()
        own = {trip: why for trip, why in each.skipped.items() if trip not in known}
        skipped |= own
        by_type[name] = replace(each, skipped=own)
    before = [each.trips.slice(0, len(each.trips) - each.new) for each in found.values()]
    new = [each.trips.slice(len(each.trips) - each.new) for each in found.values()]
    return Learned(
        folder=folder,
        trips=pa.concat_tables([*before, *new], promote_options="permissive"),
        new=sum(each.new for each in found.values()),
        known=sum(each.known for each in found.values()),
        conflicts=[trip for each in found.values() for trip in each.conflicts],
        skipped=skipped,
        notes=[f"{name}: {note}" for name, each in by_type.items() for note in each.notes],
        aside=None,
        findings=[f"{name}: {line}" for name, each in by_type.items() for line in each.findings],
        by_type=by_type,
    )
