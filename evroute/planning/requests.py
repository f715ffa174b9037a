"""Requests of a batch: the rows of a CSV table, as texts by column.

It is separated by commas, semicolons or tabulators. Where it is not separated by commas,
its numbers may have a decimal comma.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evroute import limits
from evroute.errors import EvrouteError, require
from evroute.text import text_of_cell

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
    """Yield the requests of a table, whose rows are read one by one.

    Parameters
    ----------
    path
        CSV file.
    columns
        Names of the columns that are read.
    numbers
        Those of them that hold numbers.

    Raises
    ------
    EvrouteError
        If the file is empty, damaged or of another kind.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as handle:
            lines = limits.lines(handle, str(path))
            header = next(lines, "")
            require(
                header,
                f"{path} is empty; its first line must name columns of {', '.join(columns)}",
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
    """Return rows of the known columns. Commas in ``numbers`` become decimal points."""
    kept = [name for name in names if name in columns]

    def content(name: str, cell: str | None) -> str | None:
        text = cell and text_of_cell(cell)
        return text.replace(",", ".") if text and name in numbers else text

    known = (
        # a row with too many cells is kept for its own error
        row if None in row else {name: content(name, row[name]) for name in kept}
        for row in rows
    )
    return Requests(known, [name for name in names if name not in columns])
