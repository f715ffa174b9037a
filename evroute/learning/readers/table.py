"""CSV and Parquet files as logs: a table under the names used here, and the columns it left out.

A CSV file is separated by commas, semicolons or tabulators. Its numbers have a decimal point or a
decimal comma.
"""

import csv
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.learning.readers.degrees import in_degrees
from evroute.learning.readers.headers import Column, recognised
from evroute.text import check_printable

SEPARATORS = ",;\t"
POSITIONS = ("lat", "lon")


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """A file of measurements.

    path: the file, named in messages.  table: its columns under their names here.  columns: the
    header and unit factor of each recognised column.
    """

    path: Path
    table: pa.Table
    columns: Mapping[str, Column]

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


def read_log(path: Path, text: Sequence[str], number: Sequence[str]) -> Log:
    """Read a CSV or Parquet file of measurements, whose columns may have a logger's names.

    Parameters
    ----------
    path
        CSV or Parquet file.
    text, number
        Names of the columns here that hold text and numbers. Others are left as they are.

    Raises
    ------
    EvrouteError
        As `read_table`.
    """
    columns = recognised(headers_of(path), (*text, *number))
    renamed = {column.header: name for name, column in columns.items()}
    added = [header for column in columns.values() for header, _ in column.more]
    return Log(path, read_table(path, text, [*number, *added], renamed), columns)


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
    from evroute.tables import check_texts, read_foreign, texts_of_cells

    headers = headers_of(path)
    try:
        if path.suffix == ".parquet":
            table = read_foreign(path)
        else:
            table = _read_csv(path, [each for each in headers if renamed.get(each, each) in text])
            check_texts(path, table)
            limits.check("rows", table.num_rows, f"trip table {path} has {{}} rows")
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise EvrouteError(
            f"trip table {path} is neither CSV nor Parquet: {str(error).splitlines()[0]}"
        ) from None
    require(table.num_rows, f"trip table {path} has no rows")
    table = table.rename_columns([renamed.get(each, each) for each in table.column_names])
    for name in table.column_names:
        require(table.column_names.count(name) == 1, f"trip table {path} has two columns '{name}'")
        if name not in {*text, *number}:
            continue
        column = table[name]
        try:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if name in POSITIONS:
                column = in_degrees(column)
            if name in number:
                column = _numbers(column)
            elif path.suffix != ".parquet":
                column = texts_of_cells(column)
            column = column.cast(pa.string() if name in text else pa.float64())
        except pa.ArrowException as error:
            header = next((each for each in headers if renamed.get(each) == name), name)
            raise EvrouteError(
                f"trip table {path}, column '{header}': {str(error).splitlines()[0]}"
            ) from None
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _read_csv(path: Path, texts: Sequence[str]) -> pa.Table:
    """Read a CSV file, with the columns ``texts`` as text, in which a quoted "NA" is a text."""
    options = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(texts, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with limits.unpacked(path) as stream:
        return pyarrow.csv.read_csv(
            stream,
            # its threads can abort the process at exit (apache/arrow issue 34314)
            pyarrow.csv.ReadOptions(use_threads=False),
            pyarrow.csv.ParseOptions(delimiter=_separator(path), newlines_in_values=True),
            options,
        )


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of numbers, of which texts may have a decimal comma or be empty."""
    if not pa.types.is_string(column.type):
        return column
    texts = pc.replace_substring(pc.utf8_trim_whitespace(column), ",", ".")
    empty = pc.is_in(texts, pa.array(pyarrow.csv.ConvertOptions().null_values))
    return pc.if_else(empty, pa.scalar(None, pa.string()), texts)


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
        with limits.unpacked(path) as stream:
            lines = limits.lines(_decoded(stream, "strict"), f"trip table {path}")
            return next(csv.reader(lines, delimiter=_separator(path)), [])
    except (pa.ArrowException, OSError, EOFError, ValueError, csv.Error, zlib.error):
        return []


def _separator(path: Path) -> str:
    """Return the separator of the columns, by the first line."""
    with limits.unpacked(path) as stream:
        line = next(limits.lines(_decoded(stream, "replace"), f"trip table {path}"), "")
    separator = max(SEPARATORS, key=line.count)
    columns = line.count(separator) + 1
    limits.check("columns", columns, f"trip table {path} has {{}} columns or more")
    return separator


def _decoded(stream: io.BufferedReader, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, encoding="utf-8-sig", errors=errors, newline="")


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
    EvrouteError
        If a column is missing or unknown. The message names it.
    """
    for name in needed:
        require(
            name in names, f"trip table {path} has no column '{name}'. It has {', '.join(names)}"
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
