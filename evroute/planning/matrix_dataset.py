"""Matrices that do not fit into memory: a folder of Parquet files, written block by block.

A block has the pairs of some successive origins with all destinations, and is one file. Its columns
are ``from`` and ``to``, as dictionaries of the ids, and numbers as float32. So the memory in use
does not depend on the number of origins. Reduced energies are added at the end, file by file, from
the energies as they stand there.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.planning.dispatch.reduced import potentials_wh, reduced_energies, whole_dwh
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import (
    ENDS,
    LEAST,
    LIMITED,
    REDUCED,
    VALUES,
    Cells,
    Pairs,
    Written,
    matrix_table,
)
from evroute.planning.planner import Planner

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_PAIRS = 1_000_000
"""Most pairs of one file, or the pairs of one origin if they are more."""
LEAST_PAIRS = 10_000
"""Least pairs of one file."""
BLOCKS = 64
"""Files of a matrix whose files have between these numbers of pairs."""


def check_folder(path: Path) -> None:
    """Refuse a folder that has contents, or whose place is a file.

    Raises
    ------
    EvrouteError
        If it is no new or empty folder.
    """
    empty = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    require(empty, f"--out {path} is not empty. Name a new folder, or a .csv or .parquet file")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to write files into, which takes the place of a new folder at the end.

    Parameters
    ----------
    path
        The new folder, missing or empty.

    Raises
    ------
    EvrouteError
        If the folder has contents.
    OSError
        If it cannot be written, as on a full disk.
    """
    check_folder(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as place:
        made = Path(place) / path.name
        made.mkdir()
        yield made
        if path.is_dir():
            path.rmdir()
        made.rename(path)


def blocks(origins: int, destinations: int) -> Iterator[range]:
    """Yield the rows of the origins of each file.

    They do not depend on the number of processes, and neither do the files.

    Parameters
    ----------
    origins, destinations
        Numbers of places.
    """
    least = max(ceil(origins / BLOCKS), ceil(LEAST_PAIRS / destinations))
    step = max(1, min(least, BLOCK_PAIRS // destinations))
    for first in range(0, origins, step):
        yield range(first, min(first + step, origins))


def write_matrix(
    path: Path,
    matrix: FloatArray,
    origins: Sequence[Stop],
    destinations: Sequence[Stop],
    columns: Sequence[str] = VALUES,
    *,
    reduced: bool = False,
) -> Written:
    """Write the table of `matrix.matrix_table` as CSV or Parquet.

    Parameters
    ----------
    path
        Path that ends in ``.csv`` or ``.parquet``.
    matrix, origins, destinations, columns
        As in `matrix_table`.
    reduced
        Whether to add reduced energies, where the destinations are the origins in their order.

    Raises
    ------
    EvrouteError
        If reduced energies are wanted, and a closed tour returns energy.
    """
    from evroute.tables import write_table

    whole = reduced_energies(matrix[0]) if reduced else None
    table = matrix_table(matrix, origins, destinations, columns, whole)
    write_table(path, table)
    limited = limited_of(table) if LIMITED in columns else None
    return Written(matrix[0].size, int(np.isnan(matrix[0]).sum()), limited)


def write_dataset(
    path: Path,
    planner: Planner,
    origins: Sequence[Stop],
    destinations: Sequence[Stop],
    on_block: Callable[[int], None] = lambda pairs: None,
    *,
    cells: Cells = LEAST,
    reduced: bool = False,
) -> Written:
    """Write the pairs as a folder of Parquet files.

    The folder appears when all files are written.

    Parameters
    ----------
    path
        The folder, new or empty.
    planner
        Planner of all pairs.
    origins, destinations
        The o origins and the d destinations.
    on_block
        Called with the number of pairs written so far.
    cells
        What the cells have.
    reduced
        Whether to add reduced energies, where the destinations are the origins in their order.

    Raises
    ------
    EvrouteError
        If the folder has contents, or a closed tour returns energy.
    OSError
        If it cannot be written, as on a full disk.
    """
    pairs = Pairs(planner, destinations, cells)
    found = (
        part_of(pairs.matrix(origins[block.start : block.stop]), pairs, origins, block)
        for block in blocks(len(origins), len(destinations))
    )
    return write_parts(path, found, on_block, square=len(origins) if reduced else None)


def write_parts(
    path: Path,
    parts: Iterator[bytes],
    on_block: Callable[[int], None] = lambda pairs: None,
    *,
    square: int | None = None,
) -> Written:
    """Write files of `part_of` as a folder.

    Parameters
    ----------
    path
        The folder, new or empty.
    parts
        The content of the files, in their order.
    on_block
        Called with the number of pairs written so far.
    square
        Number of the origins, which are the destinations too, for reduced energies. None without.

    Raises
    ------
    EvrouteError, OSError
        As `write_dataset`.
    """
    import pyarrow.parquet as pq

    missing = pairs = 0
    limited: int | None = None
    with new_folder(path) as folder:
        for number, part in enumerate(parts):
            (folder / f"part-{number:05d}.parquet").write_bytes(part)
            about = pq.ParquetFile(io.BytesIO(part))
            pairs += about.metadata.num_rows
            groups = (about.metadata.row_group(each) for each in range(about.num_row_groups))
            missing += sum(each.column(len(ENDS)).statistics.null_count for each in groups)
            if LIMITED in about.schema_arrow.names:
                limited = (limited or 0) + limited_of(about.read([LIMITED]))
            on_block(pairs)
        if square is not None:
            _add_reduced(sorted(folder.iterdir()), square)
    return Written(pairs, missing, limited)


def limited_of(table: "pa.Table") -> int:
    """Return the number of pairs of a table that were planned singly."""
    return int(np.count_nonzero(table[LIMITED]))


def _add_reduced(parts: Sequence[Path], n: int) -> None:
    """Add reduced energies to the files of a matrix of n places, one file at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def energies() -> Iterator[FloatArray]:
        for part in parts:
            column = pq.read_table(part, columns=[VALUES[0]])[VALUES[0]]
            yield column.to_numpy().astype(np.float64).reshape(-1, n)

    potential_wh, first = potentials_wh(energies, n), 0
    for part, energy_wh in zip(parts, energies(), strict=True):
        of_origins = potential_wh[first : first + len(energy_wh), np.newaxis]
        whole = whole_dwh(energy_wh + of_origins - potential_wh)
        first += len(energy_wh)
        column = pa.array(whole.ravel(), mask=np.isnan(energy_wh).ravel())
        part.write_bytes(_packed(pq.read_table(part).append_column(REDUCED, column)))


def part_of(matrix: FloatArray, pairs: Pairs, origins: Sequence[Stop], block: range) -> bytes:
    """Return a Parquet file of the pairs of a block.

    Parameters
    ----------
    matrix
        (c, b, d) numbers of the b origins of the block.
    pairs
        The pairs, with their destinations and columns.
    origins
        All origins.
    block
        Rows of the origins of the block.
    """
    of_block = origins[block.start : block.stop]
    ends = of_block, pairs.destinations
    return _packed(matrix_table(matrix, *ends, pairs.cells.columns, dtype=np.float32))


def _packed(table: "pa.Table") -> bytes:
    """Return a table as a Parquet file."""
    import pyarrow.parquet as pq

    content = io.BytesIO()
    # numbers hardly repeat: a dictionary of them is larger than they are
    pq.write_table(table, content, use_dictionary=list(ENDS), compression="zstd")
    return content.getvalue()
