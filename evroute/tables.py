"""Parquet tables with checksums."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

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
    OSError, pyarrow.ArrowException
        If it is missing, cut off or was changed.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read(use_threads=False)
