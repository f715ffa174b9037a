"""Formats of measured trips, recognised by their suffix or by their columns."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.learning.fleet.cars_table import CAR, CarTypes, cars_note, with_cars
from evroute.learning.measured import Measured, MeasuredTrip
from evroute.learning.readers import edges, notebook, points
from evroute.learning.readers.base import NONE_GIVEN, Reader
from evroute.learning.readers.explained import explained
from evroute.learning.readers.table import Log, MissingColumnError, headers_of
from evroute.methods.setting import Setting
from evroute.plugins import named
from evroute.text import counted

READERS = {
    "gpx": "evroute.learning.readers.gpx:READER",
    "tesla": "evroute.learning.readers.tesla:READER",
    "tesla_drives": "evroute.learning.readers.tesla_drives:READER",
    "stops": "evroute.learning.readers.stops:READER",
    "points": "evroute.learning.readers.points:READER",
    "notebook": "evroute.learning.readers.notebook:READER",
    "edges": "evroute.learning.readers.edges:READER",
}
"""The first reader that accepts a table reads it. The last accepts all, and names what it lacks."""

TOTALS = "totals"
BY_NAME = {TOTALS: "evroute.learning.readers.totals:READER"}
"""Readers that a user names. They choose no file by themselves."""

NAMED = frozenset({*edges.COLUMNS, *points.COLUMNS, *notebook.COLUMNS})
"""Columns that a user may name by their headers."""

TABLE_SUFFIXES = (".csv", ".parquet", ".txt")
"""Suffixes that a dashboard offers for tables. The command line reads tables of any suffix."""


def named_headers(texts: Iterable[str]) -> dict[str, str]:
    """Return the headers of ``NAME=HEADER`` texts, by the name of the column.

    Raises
    ------
    EvrouteError
        If a text has another form, or names no column.
    """
    found = {}
    for text in texts:
        name, sign, header = text.partition("=")
        require(sign and header, f"--column is '{text}'. Give NAME=HEADER, such as lat=gps_lat")
        require(
            name in NAMED,
            f"--column: unknown column '{name}'. Known are {', '.join(sorted(NAMED))}",
        )
        found[name] = header
    return found


def suffixes() -> list[str]:
    """Return the suffixes of the files of all readers."""
    of_readers = [suffix for name in READERS for suffix in named(READERS, "reader", name).suffixes]
    return [*TABLE_SUFFIXES, *of_readers]


def reader_of(path: Path, columns: Mapping[str, str] = NONE_GIVEN) -> Reader:
    """Return the reader of a file, by its suffix or, of a table, by its columns.

    Parameters
    ----------
    path
        The file.
    columns
        Headers of the file that the user names, by the column here.
    """
    readers: list[Reader] = [named(READERS, "reader", name) for name in READERS]
    suffix = path.suffix.lower()
    for reader in readers:
        if suffix in reader.suffixes:
            return reader
    given = {header: name for name, header in columns.items()}
    headers = [given.get(header, header) for header in headers_of(path)]
    tables = [reader for reader in readers if not reader.suffixes]
    return next((reader for reader in tables if reader.accepts(headers)), tables[-1])


def reader_named(name: str) -> Reader:
    """Return a reader by its name.

    Raises
    ------
    UnknownNameError
        If there is no such reader. The message lists the names.
    """
    found = named({**READERS, **BY_NAME}, "reader", name)
    if not isinstance(found, Reader):
        raise UnknownNameError(f"reader '{name}' is no Reader")
    return found


def read_measured(
    path: Path,
    setting: Setting,
    names: Iterable[str],
    *,
    with_routes: bool = False,
    reader: str | None = None,
    cars: CarTypes | None = None,
    columns: Mapping[str, str] = NONE_GIVEN,
) -> Measured:
    """Read the trips of a file in one of the formats of `READERS`.

    `edges.COLUMNS`, `points.COLUMNS` and `notebook.COLUMNS` are the columns of tables.

    Parameters
    ----------
    path
        CSV, Parquet or GPX file.
    setting
        Network and vehicle of the trips.
    names
        Names of the vehicle in the table.
    with_routes
        Whether the trips need routes. A notebook has none.
    reader
        Name of the reader. By default the file's suffix or columns choose one of `READERS`.
    cars
        Types of the cars. Trips of cars of other types than the setting's are set aside.
        None for one type.
    columns
        Headers of the file that the user names, by the column here.

    Raises
    ------
    UnknownNameError
        If there is no such reader.
    EvrouteError
        If the file cannot be read, it is a notebook and trips need routes, or no trip of it can be
        used.
    """
    chosen = reader_of(path, columns) if reader is None else reader_named(reader)
    try:
        log, measured = _read(chosen, path, setting, sorted(names), with_routes, cars, columns)
    except MissingColumnError as error:
        again = partial(_again, path, setting, sorted(names))
        raise explained(error, path, columns, again) from None
    _keep_first(measured)
    if not measured.trips:
        trip, reason = next(iter(measured.skipped.items()))
        raise EvrouteError(
            f"trip table {path}: none of {len(measured.skipped)} trips can be used; "
            f"'{trip}': {reason}"
        )
    measured.notes[:0] = [*cars_note(measured), *_notes(log, measured, setting)]
    measured.notes.extend(measured.unknown_notes({trip.trip for trip in measured.trips}))
    return measured


def cars_in(
    path: Path,
    cars: CarTypes,
    reader: str | None = None,
    columns: Mapping[str, str] = NONE_GIVEN,
) -> list[tuple[str, str]]:
    """Return the trip, or else the row, and the car of each row of a trip table.

    Parameters
    ----------
    path, reader, columns
        As in `read_measured`.
    cars
        Types of the cars.

    Raises
    ------
    EvrouteError
        If the file cannot be read, or names no cars.
    """
    chosen = reader_of(path, columns) if reader is None else reader_named(reader)
    log = chosen.log(path, columns) if columns else chosen.log(path)
    log = with_cars(log, set(cars.types.values()))
    require(
        CAR in log.columns,
        f"trip table {path} names no cars, which {cars.path} needs. Name them in a column 'car'",
    )
    driven = log.table[CAR].to_pylist()
    rows = [f"row {row}" for row in range(1, len(driven) + 1)]
    trips = log.table["trip"].to_pylist() if "trip" in log.columns else rows
    return [(str(trip), car or "") for trip, car in zip(trips, driven, strict=True)]


def _read(
    chosen: Reader,
    path: Path,
    setting: Setting,
    names: Sequence[str],
    with_routes: bool,
    cars: CarTypes | None,
    columns: Mapping[str, str],
) -> tuple[Log, Measured]:
    """Return the rows and the trips of a file, as `read_measured` does."""
    log = with_cars(chosen.log(path, columns) if columns else chosen.log(path), names)
    if with_routes and not chosen.has_routes:
        raise EvrouteError(
            f"trip table {path} has no routes, which this model and replays need. Give a log by "
            "edges or points, or learn with model trips, exact or physics+gp"
        )
    measured = chosen.trips(log, setting, names)
    return log, measured if cars is None else cars.of_type(measured, names)


def _again(
    path: Path,
    setting: Setting,
    names: Sequence[str],
    columns: Mapping[str, str],
    reader: str | None = None,
) -> Measured:
    """Return the trips of a file with further columns named, or by another reader."""
    chosen = reader_of(path, columns) if reader is None else reader_named(reader)
    return _read(chosen, path, setting, names, False, None, columns)[1]


def _keep_first(measured: Measured) -> None:
    """Keep the first trip of each name. A folder knows its trips by their names."""
    first: dict[str, MeasuredTrip] = {}
    repeated = [
        trip.trip for trip in measured.trips if first.setdefault(trip.trip, trip) is not trip
    ]
    if repeated:
        measured.trips[:] = first.values()
        measured.notes.append(
            f"{counted(len(repeated), 'trip')} left out, '{repeated[0]}' first: an earlier trip of "
            "the table has the same name"
        )


def _notes(log: Log, measured: Measured, setting: Setting) -> list[str]:
    """Return notes on columns that were not read and on energies of the wrong sign."""
    notes = [f"columns not read: {', '.join(log.ignored)}"] if log.ignored else []
    notes.extend(log.notes)
    taken_wh = sum(float(trip.energy_wh.sum()) for trip in measured.trips)
    if taken_wh < 0 <= sum(float(setting.potential_wh[trip.edge].sum()) for trip in measured.trips):
        notes.append(
            f"the trips return {-taken_wh:,.0f} Wh in total but do not descend. "
            "Check the sign of their energies"
        )
    return notes
