"""Parquet tables: own ones with checksums, foreign ones within the limits of `evroute.limits`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evroute import limits
from evroute.errors import EvrouteError
from evroute.files import replacing


def write_columns(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length as Parquet with a checksum for every page."""
    with replacing(path) as temporary:
        pq.write_table(pa.table(columns), temporary, write_page_checksum=True)


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
    """Read a Parquet file of any origin; texts are checked before they are copied to each row.

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
