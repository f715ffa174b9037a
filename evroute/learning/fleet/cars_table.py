"""Cars of a fleet and their types: the table ``cars.csv``, and the cars that a log names.

A log names the car of each trip in its column ``car``, or in ``vehicle`` where none of the values
there is a type. The table of cars has the type of each (columns ``car`` and ``vehicle``).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evroute.energy.vehicle import Vehicle, load_vehicle, numbers_of, vehicle_names
from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.learning.fleet.names import check_name
from evroute.learning.measured import Measured
from evroute.learning.readers.headers import Column
from evroute.learning.readers.table import Log, check_columns, read_table
from evroute.text import counted

CAR, VEHICLE = "car", "vehicle"


@dataclass(frozen=True, slots=True)
class CarTypes:
    """Types of the cars of a table.

    Parameters
    ----------
    path
        The table.
    types
        Name of the vehicle of each car.
    vehicles
        Vehicles by name.
    apart
        Whether each type is learned, into a folder of its own.
    """

    path: Path
    types: Mapping[str, str]
    vehicles: Mapping[str, Vehicle]
    apart: bool = False

    def beside(self, folder: Path, known: Mapping[str, str]) -> "CarTypes":
        """Return the types of the cars of the folder of a fleet too, each to be learned apart.

        Parameters
        ----------
        folder
            Folder of the fleet.
        known
            Name of the vehicle of each of its cars.

        Raises
        ------
        EvrouteError
            If a car has another type there.
        """
        for car in sorted(self.types.keys() & known.keys()):
            require(
                self.types[car] == known[car],
                f"car '{car}' is of type '{self.types[car]}' in {self.path}, and of type "
                f"'{known[car]}' in {folder}. Correct the table, or give the car a new name",
            )
        return replace(self, types={**known, **self.types}, apart=True)

    def check(self, cars: Iterable[tuple[str, str]]) -> None:
        """Check that the table has the cars of trips.

        Parameters
        ----------
        cars
            Trip and car, for each trip. The name of a car may be empty.

        Raises
        ------
        UnknownNameError
            If a car is not in the table.
        EvrouteError
            If a trip names no car.
        """
        for trip, car in cars:
            require(
                car,
                f"trip '{trip}' names no car, which {self.path} needs. Name it in a column 'car'",
            )
            require(
                car in self.types,
                f"trip '{trip}' is of car '{car}', which is not in {self.path}. Add its row there",
                UnknownNameError,
            )

    def of_type(self, measured: Measured, names: Collection[str]) -> Measured:
        """Return trips without the trips of cars of other types, which are set aside.

        Parameters
        ----------
        measured
            Trips of a log.
        names
            Names of the vehicle of the belief.

        Raises
        ------
        UnknownNameError
            If a car is not in the table.
        """
        self.check((trip.trip, trip.car) for trip in measured.trips)
        others = {
            trip.trip: f"its car '{trip.car}' is of type '{self.types[trip.car]}'. Learn that type "
            "into another folder"
            for trip in measured.trips
            if self.types[trip.car] not in names
        }
        kept = [trip for trip in measured.trips if trip.trip not in others]
        skipped = {} if self.apart and kept else others
        return replace(measured, trips=kept, skipped=measured.skipped | skipped)


def read_cars(path: Path) -> CarTypes:
    """Return the types of the cars of a CSV or Parquet table with the columns car and vehicle.

    Raises
    ------
    EvrouteError
        If it cannot be read, lacks a column or a cell, or gives a car two types.
    UnknownNameError
        If a type is unknown.
    """
    texts = read_types(path)
    loaded = {text: load_vehicle(text) for text in dict.fromkeys(texts.values())}
    vehicles: dict[str, Vehicle] = {}
    for vehicle in loaded.values():
        first = vehicles.setdefault(vehicle.name, vehicle)
        require(
            numbers_of(first) == numbers_of(vehicle),
            f"table of cars {path}: two types have the name '{vehicle.name}' and other numbers. "
            "Rename one",
        )
    return CarTypes(path, {car: loaded[text].name for car, text in texts.items()}, vehicles)


def read_types(path: Path) -> dict[str, str]:
    """Return the name of the type of each car of a table. Errors as in `read_cars`."""
    table = read_table(path, (CAR, VEHICLE), ())
    check_columns(path, table.column_names, (CAR, VEHICLE))
    types: dict[str, str] = {}
    for row, (car, vehicle) in enumerate(
        zip(table[CAR].to_pylist(), table[VEHICLE].to_pylist(), strict=True), start=1
    ):
        for name, text in ((CAR, car), (VEHICLE, vehicle)):
            require(text, f"table of cars {path}, row {row}: no {name} is named")
        check_name(car)
        before = types.setdefault(car, vehicle)
        require(
            before == vehicle,
            f"table of cars {path}, row {row}: car '{car}' is of type '{vehicle}' here, and of "
            f"'{before}' above",
        )
    require(types, f"table of cars {path} has no cars. Give a row for each: car,vehicle")
    return types


def with_cars(log: Log, names: Collection[str]) -> Log:
    """Return a log with its cars in the column ``car``, or none if it names no cars.

    Parameters
    ----------
    log
        Log as read.
    names
        Names of the vehicle of the belief.

    Raises
    ------
    EvrouteError
        If a car has two types, or a name that cannot be shown.
    """
    for name in (CAR, VEHICLE):
        if name in log.columns and not any(log.table[name].to_pylist()):
            log = _without(log, name)
    has_types = VEHICLE in log.columns and any(
        each in names or each in vehicle_names() for each in set(log.table[VEHICLE].to_pylist())
    )
    if VEHICLE in log.columns and not has_types and CAR not in log.columns:
        log = _renamed(log)
    if CAR not in log.columns:
        return log
    cars = log.table[CAR].to_pylist()
    for car in {car for car in cars if car}:
        check_name(car)
    if has_types:
        _check_types(log.path, zip(cars, log.table[VEHICLE].to_pylist(), strict=True))
    return log


def cars_note(measured: Measured) -> list[str]:
    """Return how many cars drove the trips of a log, in words. None without names."""
    cars = {trip.car for trip in measured.trips if trip.car}
    trips = counted(len(measured.trips), "trip")
    return [f"{trips} of {counted(len(cars), 'car')}"] if cars else []


def check_named(folder: Path, cars: Sequence[str]) -> None:
    """Check that all trips of a folder name their cars, or none.

    Parameters
    ----------
    folder
        Folder of the belief.
    cars
        Car of each trip, those recorded before first.

    Raises
    ------
    EvrouteError
        If some do not.
    """
    named = [bool(car) for car in cars]
    if not any(named) or all(named):
        return
    car = next(car for car in cars if car)
    if named[0]:
        raise EvrouteError(
            f"{folder} is the belief of a fleet with car '{car}', and the table names no cars. "
            "Name the car of each trip in a column 'car'"
        )
    raise EvrouteError(
        f"{folder} is the belief of one car without a name, and the table names car '{car}'. "
        "Learn a fleet into a folder of its own"
    )


def _check_types(path: Path, pairs: Iterator[tuple[str | None, str | None]]) -> None:
    types: dict[str, str] = {}
    for car, vehicle in pairs:
        if not (car and vehicle):
            continue
        before = types.setdefault(car, vehicle)
        require(
            before == vehicle,
            f"trip table {path}: car '{car}' is of type '{before}' and of type '{vehicle}'",
        )


def _without(log: Log, name: str) -> Log:
    columns = {key: column for key, column in log.columns.items() if key != name}
    return replace(log, table=log.table.drop_columns([name]), columns=columns)


def _renamed(log: Log) -> Log:
    """Return a log whose column of vehicles becomes the column of cars."""
    names = [CAR if name == VEHICLE else name for name in log.table.column_names]
    columns = {key: column for key, column in log.columns.items() if key != VEHICLE}
    return replace(log, table=log.table.rename_columns(names), columns=columns | {CAR: Column(CAR)})
