"""CSV and Parquet files as logs: a table under the names used here, and the columns it left out.

Headers are read without blanks around them. Rows that repeat an earlier row are left out of logs
with times.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.learning.readers.headers import Column, forms_of, recognised, scale_of
from evroute.learning.readers.raw import csv_files
from evroute.learning.readers.raw.degrees import in_degrees
from evroute.learning.readers.raw.number_texts import numbers_of
from evroute.text import check_printable, counted

POSITIONS = ("lat", "lon")
SHOWN = 8
"""Headers of a table that a message shows."""
_CLOCKS = ("time", "departed")


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """A file of measurements.

    path: the file, named in messages.  table: its columns under their names here.  columns: the
    header and unit factor of each recognised column.  notes: how it differs from a plain table, one
    sentence each.
    """

    path: Path
    table: pa.Table
    columns: Mapping[str, Column]
    notes: tuple[str, ...] = ()

    def numbers(self, name: str) -> FloatArray:
        """Return a column in the unit of its name, (rows,), or NaN where there is no number."""
        if name not in self.columns:
            return np.full(self.table.num_rows, np.nan)
        column = self.columns[name]
        values = numbers(self.table, name) * column.factor + column.offset
        for header, factor in column.more:
            values += factor * numbers(self.table, header)
        return values

    @property
    def ignored(self) -> list[str]:
        """Headers of the columns that are not read."""
        read = {header for column in self.columns.values() for header, _ in column.more}
        return [name for name in self.table.column_names if name not in {*self.columns, *read}]


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """A file as a table, with a unit that stands after all numbers of a column, by header."""

    table: pa.Table
    units: Mapping[str, str]
    notes: tuple[str, ...]


def read_log(
    path: Path,
    text: Sequence[str],
    number: Sequence[str],
    given: Mapping[str, str] = MappingProxyType({}),
) -> Log:
    """Read a CSV or Parquet file of measurements, whose columns may have a logger's names.

    Parameters
    ----------
    path
        CSV or Parquet file.
    text, number
        Names of the columns here that hold text and numbers. Others are left as they are.
    given
        Headers that the user names, by the column here.

    Raises
    ------
    EvrouteError
        As `read_table`, or if the user names a header that the file lacks.
    """
    headers = headers_of(path)
    for name, header in given.items():
        require(
            not headers or header in headers,
            f"trip table {path} has no column '{header}', which --column {name} names. It has "
            f"{', '.join(headers)}",
        )
    columns = recognised(headers, (*text, *number), given)
    renamed = {column.header: name for name, column in columns.items()}
    added = [header for column in columns.values() for header, _ in column.more]
    raw = _read(path, text, [*number, *added], renamed)
    table, repeats = raw.table, tuple[str, ...]()
    if set(_CLOCKS) & columns.keys():
        table, repeats = _without_repeats(raw.table)
    scaled = {
        name: _in_unit(name, column, raw.units.get(column.header, ""))
        for name, column in columns.items()
    }
    return Log(path, table, scaled, (*raw.notes, *repeats))


def _in_unit(name: str, column: Column, unit: str) -> Column:
    """Return a column whose cells have a unit and whose header has none."""
    if any(of_header for _, of_header in forms_of(column.header)) or column.factor != 1.0:
        return column
    scale = scale_of(name, unit)
    return column if scale is None else replace(column, factor=scale[0], offset=scale[1])


def _without_repeats(table: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """Return a table without rows that equal an earlier one, and their number in words."""
    clock = next(name for name in _CLOCKS if name in table.column_names)
    if len(pc.unique(table[clock])) == table.num_rows:
        return table, ()  # by far the fastest test
    kept = first_rows(table)
    if len(kept) == table.num_rows:
        return table, ()
    return table.take(kept), (repeats_note(table.num_rows - len(kept)),)


def first_rows(table: pa.Table) -> IntArray:
    """Return the rows of a table that equal no earlier row, in their order, (rows,)."""
    columns = {name: _decoded(table[name]) for name in table.column_names}
    told = {name: each for name, each in columns.items() if not pa.types.is_null(each.type)}
    row = "row"
    while row in told:
        row += "_"
    numbered = pa.table(told | {row: np.arange(table.num_rows)})
    first = numbered.group_by(list(told), use_threads=False).aggregate([(row, "min")])
    return np.sort(first[f"{row}_min"].to_numpy())


def repeats_note(rows: int) -> str:
    """Return a note on a number of rows that were left out."""
    return f"{counted(rows, 'row')} left out that repeat an earlier row"


def read_table(
    path: Path,
    text: Sequence[str],
    number: Sequence[str],
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> pa.Table:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path
        CSV or Parquet file.
    text, number
        Names of the columns that become text and numbers.
    renamed
        New name of each header to rename.

    Raises
    ------
    EvrouteError
        If the file is missing, cannot be read, is empty, or holds text where numbers belong.
    LimitError
        If it is beyond a limit of `evroute.limits`.
    """
    return _read(path, text, number, renamed).table


def _read(
    path: Path, text: Sequence[str], number: Sequence[str], renamed: Mapping[str, str]
) -> Raw:
    is_csv = path.suffix != ".parquet"
    texts = [each for each in headers_of(path) if renamed.get(each, each) in text]
    table, notes = _opened(path, texts)
    table = table.rename_columns([renamed.get(each, each) for each in table.column_names])
    table = _without_unused_doubles(path, table, {*text, *number})
    headers = {name: header for header, name in renamed.items()}
    found = _Numbers(csv_files.separator_of(path) if is_csv else "", {}, notes)
    for name in table.column_names:
        if name not in {*text, *number}:
            continue
        header = headers.get(name, name)
        try:
            column = _decoded(table[name])
            if name in POSITIONS:
                column = in_degrees(column)
            if name in number:
                column = found.of(column, header)
            elif is_csv:
                column = _texts(column)
            column = column.cast(pa.string() if name in text else pa.float64())
        except pa.ArrowException as error:
            raise EvrouteError(
                f"trip table {path}, column '{header}': {str(error).splitlines()[0]}"
            ) from None
        table = table.set_column(table.column_names.index(name), name, column)
    if found.comma:
        notes.append("numbers are read with a decimal comma")
    return Raw(table, found.units, tuple(notes))


@dataclass(slots=True)
class _Numbers:
    """Numbers of a file: units by header, notes, and whether one has a decimal comma."""

    separator: str
    units: dict[str, str]
    notes: list[str]
    comma: bool = False

    def of(self, column: pa.ChunkedArray, header: str) -> pa.ChunkedArray:
        """Return a column as it is cast to numbers."""
        if not pa.types.is_string(column.type):
            return column
        column, self.units[header], comma, odd = numbers_of(column, self.separator)
        self.comma = self.comma or comma
        if odd:
            self.notes.append(f"{counted(odd, 'value')} of '{header}' left out: no numbers")
        return column


def _opened(path: Path, texts: Sequence[str]) -> tuple[pa.Table, list[str]]:
    """Return a file as a table with its own headers, and notes on it."""
    from evroute.tables import check_texts, read_foreign

    notes = list[str]()
    try:
        if path.suffix == ".parquet":
            table = read_foreign(path)
        else:
            table, notes = csv_files.read_csv(path, texts)
            table = _with_headers(table)
            check_texts(path, table)
            limits.check("rows", table.num_rows, f"trip table {path} has {{}} rows")
    except csv_files.DAMAGED as error:
        raise EvrouteError(
            f"trip table {path} is neither CSV nor Parquet: {str(error).splitlines()[0]}"
        ) from None
    require(table.num_rows, f"trip table {path} has no rows")
    return table, notes


def _with_headers(table: pa.Table) -> pa.Table:
    """Return a table whose headers have no blanks around them, without columns of no header."""
    table = table.rename_columns(csv_files.stripped(table.column_names))
    kept = [k for k, name in enumerate(table.column_names) if name]
    return table.select(kept) if len(kept) < table.num_columns else table


def _without_unused_doubles(path: Path, table: pa.Table, used: set[str]) -> pa.Table:
    """Return a table without the second of two unused columns of one name.

    Raises
    ------
    EvrouteError
        If two columns have a name that is used.
    """
    names = table.column_names
    for name in used.intersection(names):
        require(names.count(name) == 1, f"trip table {path} has two columns '{name}'")
    first = [k for k, name in enumerate(names) if names.index(name) == k]
    return table.select(first) if len(first) < len(names) else table


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    from evroute.tables import texts_of_cells

    return texts_of_cells(column)


def headers_of(path: Path) -> list[str]:
    """Return the headers of a CSV or Parquet file, or none if it cannot be read.

    Raises
    ------
    EvrouteError
        If the file does not exist.
    LimitError
        If a line or the number of columns is beyond a limit of `evroute.limits`.
    """
    require(path.is_file(), f"trip table {path} does not exist")
    try:
        if path.suffix == ".parquet":
            return list(pyarrow.parquet.read_schema(path).names)
        return [header for header in csv_files.header_of(path) if header]
    except (*csv_files.DAMAGED, ValueError):
        return []


class MissingColumnError(EvrouteError):
    """A table that lacks a column which its format needs."""


def names_of(headers: Sequence[str]) -> str:
    """Return the first headers of a table, and the number of the others, in words."""
    more = len(headers) - SHOWN
    return ", ".join(headers[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def check_columns(
    path: Path, names: Sequence[str], needed: Sequence[str], known: Sequence[str] = ()
) -> None:
    """Refuse a table that lacks a column or has an unknown one.

    Parameters
    ----------
    path
        The file, named in the message.
    names
        Columns of the table.
    needed
        Columns that it must have.
    known
        Columns that it may have, or empty for any.

    Raises
    ------
    MissingColumnError
        If a column is missing. The message names it.
    EvrouteError
        If a column is unknown.
    """
    for name in needed:
        require(
            name in names,
            f"trip table {path} has no column '{name}'. It has {names_of(names)}",
            MissingColumnError,
        )
    for name in names:
        require(
            not known or name in known,
            f"trip table {path}: unknown column '{name}'. Known are {', '.join(known)}",
        )


def numbers(table: pa.Table, name: str) -> FloatArray:
    """Return a column of numbers, (k,), or NaN where there is none."""
    return np.array(table[name].to_numpy(), dtype=float)


def trips_of(path: Path, table: pa.Table) -> Iterator[tuple[str, IntArray]]:
    """Yield each trip and its rows in their order. The rows of trips may be mixed.

    A table without the column ``trip`` is one trip, named by the file.

    Raises
    ------
    EvrouteError
        If a row names no trip, or a name holds signs that cannot be shown.
    """
    if "trip" not in table.column_names:
        yield path.stem, np.arange(table.num_rows)
        return
    rows: dict[str, list[int]] = {}
    for row, trip in enumerate(table["trip"].to_pylist()):
        if not trip:
            raise EvrouteError(f"trip table {path}, row {row + 1}: no trip is named")
        rows.setdefault(trip, []).append(row)
    check_printable(f"trip table {path}: trip", rows)
    for trip, its in rows.items():
        yield trip, np.array(its)
