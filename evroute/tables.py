"""Tables: own Parquet with checksums, foreign Parquet within limits, and CSV without formulas."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from evroute import limits
from evroute.errors import EvrouteError
from evroute.files import replacing
from evroute.text import cell, text_of_cell

if TYPE_CHECKING:
    import pandas as pd


def write_columns(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length as Parquet with a checksum for every page."""
    with replacing(path) as temporary:
        pq.write_table(pa.table(columns), temporary, write_page_checksum=True)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table to a user's path as CSV or Parquet, by its end. In CSV no text is a formula."""
    with replacing(path, follow=True) as temporary:
        if path.suffix == ".parquet":
            pq.write_table(table, temporary)
        else:
            # an empty first chunk would repeat the header in versions of pyarrow before 23
            pyarrow.csv.write_csv(_as_cells(table).combine_chunks(), temporary)


def csv_of(frame: "pd.DataFrame", float_format: str | None = None) -> str:
    """Return a data frame without its index as CSV in which no text is a formula.

    Parameters
    ----------
    frame
        The table.
    float_format
        Format of its numbers, such as ``%.4g``.
    """
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime"])
    cells = texts.map(lambda value: cell(value) if isinstance(value, str) else value)
    # Python 3.11 quotes the line ends within cells that end its lines too
    return frame.assign(**cells).to_csv(
        index=False, float_format=float_format, lineterminator="\r\n"
    )


def _as_cells(table: pa.Table) -> pa.Table:
    """Return a table whose texts are cells of CSV."""
    for k, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if _is_text(kind):
            texts = pa.array([each and cell(each) for each in column.to_pylist()], kind)
            table = table.set_column(k, name, texts)
    return table


def texts_of_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of texts, as read from CSV, without the apostrophes before formulas."""
    if not pc.any(pc.starts_with(column, "'")).as_py():
        return column
    texts = [each and text_of_cell(each) for each in column.to_pylist()]
    return pa.chunked_array([texts], column.type)


def is_readable(path: Path) -> bool:
    """Return True if a table of `write_columns` exists and is readable from end to end."""
    try:
        read_columns(path)
    except (OSError, pa.ArrowException):
        return False
    return True


def read_columns(path: Path) -> pa.Table:
    """Read a table of `write_columns`, and check it.

    Raises
    ------
    LimitError
        If it is too large.
    OSError, pyarrow.ArrowException
        If it is missing, cut off or was changed.
    """
    check_size(path)
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read(use_threads=False)


def check_size(path: Path) -> None:
    """Refuse a Parquet file whose metadata announce too many columns, rows or bytes.

    Raises
    ------
    LimitError
        If the file announces more than a limit allows.
    OSError, pyarrow.ArrowException
        If it is missing or no Parquet file.
    """
    about = pq.read_metadata(path)
    limits.check("columns", about.num_columns, f"table {path} has {{}} columns")
    limits.check("rows", about.num_rows, f"table {path} has {{}} rows")
    groups = (about.row_group(k) for k in range(about.num_row_groups))
    limits.check_unpacked(path, path.stat().st_size, sum(group.total_byte_size for group in groups))


def read_foreign(path: Path) -> pa.Table:
    """Read a Parquet file of any origin. Texts are checked before they are copied to each row.

    Raises
    ------
    LimitError
        If it has too many columns or rows, too long texts, or is too large in memory.
    OSError, pyarrow.ArrowException
        If it cannot be read.
    """
    check_size(path)
    schema = pq.read_schema(path)
    texts = [column.name for column in schema if _is_text(column.type)]
    if nested := [column.name for column in schema if pa.types.is_nested(column.type)]:
        raise EvrouteError(f"table {path}, column '{nested[0]}': it holds lists or structures")
    table = pq.read_table(path, read_dictionary=texts)
    check_texts(path, table)
    text_bytes = sum(pc.sum(lengths).as_py() or 0 for lengths in _text_bytes(table))
    limits.check_unpacked(
        path, path.stat().st_size, text_bytes + (8 * table.num_columns * table.num_rows)
    )
    return table


def check_texts(path: Path, table: pa.Table) -> None:
    """Refuse a table with too long texts, names of columns included.

    Raises
    ------
    LimitError
        If a text or the name of a column is too long.
    """
    longest = [pc.max(lengths).as_py() or 0 for lengths in _text_bytes(table)]
    longest += map(len, table.column_names)
    limits.check("characters", max(longest, default=0), f"a text of table {path} has {{}} bytes")


def _text_bytes(table: pa.Table) -> Iterator[pa.Array]:
    """Yield the lengths of the texts of each part of each column, (rows,) bytes."""
    for part in (part for column in table.columns for part in column.chunks):
        values = part.dictionary if pa.types.is_dictionary(part.type) else part
        if _is_text(values.type):
            lengths = pc.binary_length(values)
            yield lengths if values is part else lengths.take(part.indices)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
