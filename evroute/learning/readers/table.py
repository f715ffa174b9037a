"""CSV and Parquet files as logs: a table under the names used here, and the columns it left out.

A CSV file is separated by commas, semicolons or tabulators; its numbers have a decimal point or a
decimal comma.

Names of columns: the names that loggers write for a quantity, and the units in them.

LeafSpy's columns are recognised by their names; https://github.com/strowger/hm
(``bin/leafspy-process.pl``) lists them with their units.

Times in tables: seconds, seconds since 1970, ISO 8601, and LeafSpy's dates.
"""

import csv
import io
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
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
from evroute.text import check_printable

OTHER_NAMES = {
    "trip": ("trip id", "journey"),
    "time": ("timestamp", "date/time", "datetime", "date time", "gps time", "device time"),
    "lat": ("latitude", "gps latitude"),
    "lon": ("longitude", "long", "lng", "gps longitude"),
    "volts": ("voltage", "pack volts", "pack voltage", "battery voltage", "hv battery voltage"),
    "amps": ("current", "pack amps", "pack current", "battery current", "hv battery current"),
    "power_w": ("power", "battery power", "pack power", "hv battery power"),
    "soc_percent": ("soc", "state of charge", "battery level"),
}
"""Names in lower case without unit, by the column of `points.COLUMNS` that they stand for."""
IN_KWH = {"energy_kwh": ("energy_wh", 1e3)}
LEAFSPY = {
    "SOC": ("soc_percent", 1e-4),
    "Aux Pwr(100w)": ("auxiliary_w", 100.0),
}
"""LeafSpy's own columns and their factors, where a table has its column ``Gids``."""
PREFIXES = {"mv": 1e-3, "ma": 1e-3, "kv": 1e3, "kw": 1e3, "ft": 0.3048}
_UNIT = re.compile(r"(.*?)[\s_]*(?:[(\[]([^)\]]*)[)\]]|[\s_](m?v|m?a|k?w|m))\s*", re.IGNORECASE)
_CANONICAL = {other: name for name, others in OTHER_NAMES.items() for other in (*others, name)}


@dataclass(frozen=True, slots=True)
class Column:
    """A recognised column: its header in the file, and the factor to its unit here."""

    header: str
    factor: float = 1.0


def recognised(headers: Sequence[str], known: Sequence[str]) -> dict[str, Column]:
    """Return the columns that can be read, by their name here.

    Parameters
    ----------
    headers
        Headers of a file.
    known
        Names of columns here. A header that equals one of them goes before other names.

    Returns
    -------
    dict
        Column of each name that the file has; of two headers for one name, the first.
    """
    found = {name: Column(name) for name in headers if name in known}
    for header in headers:
        if header.lower() in known:
            found.setdefault(header.lower(), Column(header))
    exact = IN_KWH | (LEAFSPY if "Gids" in headers else {})
    for header in headers:
        if header in exact:
            name, factor = exact[header]
        else:
            match = _UNIT.fullmatch(header)
            plain, unit = (match[1], match[2] or match[3] or "") if match else (header, "")
            name = _CANONICAL.get(re.sub(r"[\s_]+", " ", plain).strip().lower(), "")
            factor = PREFIXES.get(unit.lower(), 1.0)
        if name in known:
            found.setdefault(name, Column(header, factor))
    return found


SEPARATORS = ",;\t"


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
        """Return a column in the unit of its name, (rows,); NaN where there is no number."""
        return (
            np.full(self.table.num_rows, np.nan)
            if name not in self.columns
            else numbers(self.table, name) * self.columns[name].factor
        )

    @property
    def ignored(self) -> list[str]:
        """Headers of the columns that are not read."""
        return [name for name in self.table.column_names if name not in self.columns]


def read_log(path: Path, text: Sequence[str], number: Sequence[str]) -> Log:
    """Read a CSV or Parquet file of measurements, whose columns may have a logger's names.

    Parameters
    ----------
    path
        CSV or Parquet file.
    text, number
        Names of the columns here that hold text and numbers; others are left as they are.

    Raises
    ------
    EvrouteError
        As `read_table`.
    """
    columns = recognised(headers_of(path), (*text, *number))
    renamed = {column.header: name for name, column in columns.items()}
    return Log(path, read_table(path, text, number, renamed), columns)


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
    """Return the headers of a CSV or Parquet file; none if it cannot be read.

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
        Columns that it may have; empty for any.

    Raises
    ------
    EvrouteError
        If a column is missing or unknown; the message names it.
    """
    for name in needed:
        require(
            name in names, f"trip table {path} has no column '{name}'; it has {', '.join(names)}"
        )
    for name in names:
        require(
            not known or name in known,
            f"trip table {path}: unknown column '{name}'; known are {', '.join(known)}",
        )


def numbers(table: pa.Table, name: str) -> FloatArray:
    """Return a column of numbers, (k,); NaN where there is none."""
    return np.array(table[name].to_numpy(), dtype=float)


def trips_of(path: Path, table: pa.Table) -> Iterator[tuple[str, IntArray]]:
    """Yield each trip and its rows in their order; the rows of trips may be mixed.

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


EPOCH_S = 1e8
"""Numbers from here on are seconds since 1970 (UTC), from `EPOCH_MS` on milliseconds."""
EPOCH_MS = 1e11
S_PER_DAY = 86_400.0
LEAFSPY_FORMAT = "%m/%d/%Y %H:%M:%S"


def seconds(path: Path, texts: Sequence[str | None]) -> FloatArray:
    """Return times in seconds since the midnight before the first of them, (k,); NaN where empty.

    Small numbers stay as they are. Times without an offset to UTC are local; with an offset, the
    midnight is that of the first time's offset. Seconds and milliseconds since 1970 are UTC.

    Raises
    ------
    EvrouteError
        If a time has none of these forms, or some have an offset to UTC and some have not.
    """
    given = [(row, text) for row, text in enumerate(texts) if text]
    times = np.full(len(texts), np.nan)
    try:
        for row, text in given:
            times[row] = float(text.replace(",", "."))
    except ValueError:
        times[:] = np.nan
    else:
        times[~np.isfinite(times)] = np.nan
        first_s = np.min(times, where=np.isfinite(times), initial=np.inf)
        if EPOCH_S <= first_s < np.inf:
            scale = 1000.0 if first_s >= EPOCH_MS else 1.0
            times = times / scale - first_s / scale // S_PER_DAY * S_PER_DAY
        return times
    moments = [(row, _moment(path, row, text)) for row, text in given]
    try:
        midnight = min(moment for _, moment in moments).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        for row, moment in moments:
            times[row] = (moment - midnight).total_seconds()
    except TypeError:
        raise EvrouteError(
            f"trip table {path}: some times have an offset to UTC and some have not"
        ) from None
    return times


def _moment(path: Path, row: int, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        pass
    try:
        return datetime.strptime(text.strip(), LEAFSPY_FORMAT)
    except ValueError:
        raise EvrouteError(
            f"trip table {path}, row {row + 1}: time '{text}' is neither seconds nor like "
            "2026-05-04T07:30:00"
        ) from None
