"""Reader: a format of measured trips as a value, and how tables of measurements are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from evroute.learning.measured import Measured
from evroute.learning.readers.headers import Column
from evroute.learning.readers.table import Log, read_log, read_table
from evroute.methods.setting import Setting

TEXT = ("trip", "edge", "vehicle", "car", "date", "time", "from", "to", "departed")
"""Columns of text. All others hold numbers."""
NONE_GIVEN: Mapping[str, str] = MappingProxyType({})


class LogOf(Protocol):
    """Reads the rows of a file."""

    def __call__(self, path: Path, given: Mapping[str, str] = NONE_GIVEN, /) -> Log:
        """Return the rows, with the headers ``given`` by the user for columns here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A format of measured trips.

    Parameters
    ----------
    about
        The format in one sentence.
    log
        Returns the rows of a file. Its second argument has the headers that a user names, by
        column. It raises an `EvrouteError` if the file cannot be read.
    trips
        Returns the trips of a log, of a vehicle with one of these names on the network of a
        setting. Trips of other vehicles and impossible ones are set aside (`Measured.skipped`). It
        raises an `EvrouteError` if a column is missing.
    suffixes
        Suffixes of its files in lower case, or none for CSV and Parquet tables.
    accepts
        Returns whether a table with these headers has this format.
    has_routes
        Whether its trips have routes.
    """

    about: str
    log: LogOf
    trips: Callable[[Log, Setting, Sequence[str]], Measured]
    suffixes: Sequence[str] = ()
    accepts: Callable[[Sequence[str]], bool] = lambda headers: False
    has_routes: bool = True


def columns_reader(columns: Sequence[str]) -> LogOf:
    """Return the function that reads CSV and Parquet files with columns of these names.

    The names that loggers write for a column are read as well (`headers.recognised`).
    """
    text = [name for name in columns if name in TEXT]
    numbers = [name for name in columns if name not in TEXT]

    def log(path: Path, given: Mapping[str, str] = NONE_GIVEN) -> Log:
        return read_log(path, text, numbers, given)

    return log


def headers_reader(columns: Mapping[str, Column]) -> LogOf:
    """Return the function that reads CSV and Parquet files under other headers.

    Parameters
    ----------
    columns
        Header and unit factor of each column, by its name here. A file may lack some of them.
    """
    text = [name for name in columns if name in TEXT]
    numbers = [name for name in columns if name not in TEXT]
    renamed = {column.header: name for name, column in columns.items()}

    def log(path: Path, given: Mapping[str, str] = NONE_GIVEN) -> Log:
        own = dict(columns) | {name: Column(header) for name, header in given.items()}
        to_names = renamed | {header: name for name, header in given.items()}
        table = read_table(path, text, numbers, to_names)
        read = {name: column for name, column in own.items() if name in table.column_names}
        return Log(path, table, read)

    return log
