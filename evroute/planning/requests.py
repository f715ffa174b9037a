"""Requests of a batch: the rows of a CSV table, as texts by column.

It is separated by commas, semicolons or tabulators. Where it is not separated by commas,
its numbers may have a decimal comma.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TextIO

from evroute import limits
from evroute.errors import EvrouteError, require
from evroute.text import text_of_cell

Rows = Iterator[Mapping[str, str | None]]
SEPARATORS = ",;\t"
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Requests of a table.

    Parameters
    ----------
    path
        The table.
    rows
        Its rows by the columns that are read.
    ignored
        Names of its other columns.
    end
        Function that returns the number of bytes of the table up to the end of the last row that
        was taken.
    """

    path: Path
    rows: Rows
    ignored: Sequence[str]
    end: Callable[[], int]


@contextmanager
def read_requests(
    path: Path,
    columns: Sequence[str],
    numbers: Sequence[str] = (),
    part: range | None = None,
) -> Iterator[Requests]:
    """Yield the requests of a table, whose rows are read one by one.

    Parameters
    ----------
    path
        CSV file.
    columns
        Names of the columns that are read.
    numbers
        Names of the columns that hold numbers.
    part
        Bytes of the table whose rows are read, each from the end of a row to the end of another, or
        None for all rows.

    Raises
    ------
    EvrouteError
        If the file is empty, damaged or of another kind.
    """
    try:
        with path.open(newline="", encoding="utf-8") as handle:
            lines = _Counted(handle, str(path))
            header = next(lines, "").removeprefix(BYTE_ORDER_MARK)
            require(
                header,
                f"{path} is empty. Its first line must name columns of {', '.join(columns)}",
            )
            separator = max(SEPARATORS, key=header.count)
            table = csv.DictReader(chain([header], lines), strict=True, delimiter=separator)
            names = table.fieldnames or []
            if part is not None:
                some = _lines_of(path, part)
                table = csv.DictReader(some, names, strict=True, delimiter=separator)
            rows, ignored = _known(names, table, columns, () if separator == "," else numbers)
            yield Requests(path, rows, ignored, lambda: lines.end)
    except (UnicodeDecodeError, csv.Error) as error:
        raise EvrouteError(f"{path} is not a CSV table in UTF-8: {error}") from None


class _Counted:
    """Lines of an open table, with the number of its bytes up to the end of the last one."""

    def __init__(self, handle: TextIO, name: str) -> None:
        self.end = 0
        self._lines = limits.lines(handle, name)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.end += len(line.encode())
        return line


def _lines_of(path: Path, part: range) -> Iterator[str]:
    """Return the lines of some bytes of a table."""
    with path.open("rb") as handle:
        handle.seek(part.start)
        content = handle.read(len(part))
    return limits.lines(io.StringIO(content.decode(), newline=""), str(path))


def _known(
    names: Sequence[str], rows: Rows, columns: Sequence[str], numbers: Sequence[str]
) -> tuple[Rows, list[str]]:
    """Return rows of the known columns, and the names of the others.

    Commas in ``numbers`` become decimal points.
    """
    kept = [name for name in names if name in columns]

    def content(name: str, cell: str | None) -> str | None:
        text = cell and text_of_cell(cell)
        return text.replace(",", ".") if text and name in numbers else text

    known = (
        # a row with too many cells is kept for its own error
        row if None in row else {name: content(name, row[name]) for name in kept}
        for row in rows
    )
    return known, [name for name in names if name not in columns]
