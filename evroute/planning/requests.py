"""Requests of a batch: the rows of a CSV or Parquet table, as texts by column.

A CSV file is separated by commas, semicolons or tabulators. Where it is not separated by commas,
its numbers may have a decimal comma.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evroute import limits
from evroute.errors import EvrouteError

Rows = Iterator[Mapping[str, str | None]]
SEPARATORS = ",;\t"


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Rows of a table by the columns that are read, and the names of its other columns."""

    rows: Rows
    ignored: Sequence[str]


@contextmanager
def read_requests(
    path: Path, columns: Sequence[str], numbers: Sequence[str] = ()
) -> Iterator[Requests]:
    """Yield the requests of a table; the rows of a CSV file are read one by one.

    Parameters
    ----------
    path
        CSV or Parquet file.
    columns
        Names of the columns that are read.
    numbers
        Those of them that hold numbers.

    Raises
    ------
    EvrouteError
        If a CSV file is empty or damaged, or a Parquet file cannot be read.
    """
    if path.suffix.lower() == ".parquet":
        names, rows = _parquet(path)
        yield _requests(names, rows, columns, ())
        return
    try:
        with path.open(newline="", encoding="utf-8-sig") as handle:
            lines = limits.lines(handle, str(path))
            header = next(lines, None)
            if header is None:
                raise EvrouteError(
                    f"{path} is empty; its first line names the columns, such as from,to"
                )
            separator = max(SEPARATORS, key=header.count)
            table = csv.DictReader(chain([header], lines), strict=True, delimiter=separator)
            yield _requests(
                table.fieldnames or [], table, columns, () if separator == "," else numbers
            )
    except (UnicodeDecodeError, csv.Error) as error:
        raise EvrouteError(f"{path} is not a CSV table in UTF-8: {error}") from None


def _requests(
    names: Sequence[str], rows: Rows, columns: Sequence[str], numbers: Sequence[str]
) -> Requests:
    """Return rows of the known columns; commas in ``numbers`` become decimal points."""
    kept = [name for name in names if name in columns]

    def known() -> Rows:
        for row in rows:
            if None in row:  # kept, for the row's own error
                yield row
                continue
            cells = {name: row[name] for name in kept}
            for name in numbers:
                if text := cells.get(name):
                    cells[name] = text.replace(",", ".")
            yield cells

    return Requests(known(), [name for name in names if name not in columns])


def _parquet(path: Path) -> tuple[Sequence[str], Rows]:
    """Return names of columns, and rows."""
    from pyarrow import ArrowException

    from evroute.tables import read_foreign

    try:
        table = read_foreign(path)
    except ArrowException as error:
        raise EvrouteError(f"{path} is not a Parquet table: {error}") from None
    columns = [column.to_pylist() for column in table.columns]
    texts = (
        tuple(None if cell is None else str(cell) for cell in cells)
        for cells in zip(*columns, strict=True)
    )
    return table.column_names, (dict(zip(table.column_names, row, strict=True)) for row in texts)
