"""Requests of a batch: the rows of a CSV or Parquet table, as texts by column."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evroute import limits
from evroute.errors import EvrouteError

Rows = Iterator[Mapping[str, str | None]]


@contextmanager
def read_requests(path: Path) -> Iterator[Rows]:
    """Yield the rows of a table; those of a CSV file are read one by one.

    Raises
    ------
    EvrouteError
        If a CSV file is empty, or a Parquet file cannot be read.
    """
    if path.suffix.lower() == ".parquet":
        yield _parquet(path)
        return
    with path.open(newline="", encoding="utf-8-sig") as handle:
        rows = csv.DictReader(limits.lines(handle, str(path)), strict=True)
        if rows.fieldnames is None:
            raise EvrouteError(
                f"{path} is empty; its first line names the columns, such as from,to"
            )
        yield rows


def _parquet(path: Path) -> Rows:
    from pyarrow import ArrowException

    from evroute.tables import read_foreign

    try:
        table = read_foreign(path)
    except ArrowException as error:
        raise EvrouteError(f"{path} is not a Parquet table: {error}") from None
    columns = [column.to_pylist() for column in table.columns]
    for cells in zip(*columns, strict=True):
        texts = (None if cell is None else str(cell) for cell in cells)
        yield dict(zip(table.column_names, texts, strict=True))
