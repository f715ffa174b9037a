"""Matrices that do not fit into memory: a folder of Parquet files, written block by block.

A block has the pairs of some successive origins with all destinations, and is one file. Its columns
are ``from`` and ``to``, as dictionaries of the ids, and energy, time and length as float32. So the
memory in use does not depend on the number of origins.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.planning.matrix import AIMS, ENDS, VALUES, Exits, Stop
from evroute.planning.planner import Planner

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
    require(empty, f"--out {path} is not empty; name a new folder, or a .csv or .parquet file")


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


def write_dataset(
    path: Path,
    planner: Planner,
    origins: Sequence[Stop],
    destinations: Sequence[Stop],
    on_block: Callable[[int], None] = lambda pairs: None,
    *,
    by: str = AIMS[0],
) -> int:
    """Write energies, times and lengths of all pairs as a folder of Parquet files.

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
    by
        Aim of the routes, as in `energy_matrix`.

    Returns
    -------
    missing
        Number of pairs without a route. Their values are null.

    Raises
    ------
    EvrouteError
        If the folder has contents.
    OSError
        If it cannot be written, as on a full disk.
    """
    exits = Exits(planner, destinations, by)
    found = (
        part_of(exits.matrix(origins[block.start : block.stop]), origins, destinations, block)
        for block in blocks(len(origins), len(destinations))
    )
    return write_parts(path, found, on_block)


def write_parts(
    path: Path, parts: Iterator[bytes], on_block: Callable[[int], None] = lambda pairs: None
) -> int:
    """Write files of `part_of` as a folder, and return the number of pairs without a route.

    Parameters
    ----------
    path
        The folder, new or empty.
    parts
        The content of the files, in their order.
    on_block
        Called with the number of pairs written so far.

    Raises
    ------
    EvrouteError, OSError
        As `new_folder`.
    """
    import pyarrow.parquet as pq

    missing = pairs = 0
    with new_folder(path) as folder:
        for number, part in enumerate(parts):
            (folder / f"part-{number:05d}.parquet").write_bytes(part)
            about = pq.read_metadata(io.BytesIO(part))
            pairs += about.num_rows
            groups = (about.row_group(each) for each in range(about.num_row_groups))
            missing += sum(each.column(len(ENDS)).statistics.null_count for each in groups)
            on_block(pairs)
    return missing


def part_of(
    matrix: FloatArray, origins: Sequence[Stop], destinations: Sequence[Stop], block: range
) -> bytes:
    """Return a Parquet file of the pairs of a block.

    Parameters
    ----------
    matrix
        (3, b, d) energies, times and lengths of the b origins of the block.
    origins, destinations
        All places.
    block
        Rows of the origins of the block.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    o, d = matrix.shape[1:]
    numbers = (
        (np.repeat(np.arange(o, dtype=np.int32), d), origins[block.start : block.stop]),
        (np.tile(np.arange(d, dtype=np.int32), o), destinations),
    )
    columns = {
        column: pa.DictionaryArray.from_arrays(index, [stop.id for stop in stops])
        for column, (index, stops) in zip(ENDS, numbers, strict=True)
    }
    for column, values in zip(VALUES, matrix, strict=True):
        columns[column] = pa.array(values.ravel().astype(np.float32), from_pandas=True)
    content = io.BytesIO()
    # numbers hardly repeat: a dictionary of them is larger than they are
    pq.write_table(pa.table(columns), content, use_dictionary=list(ENDS), compression="zstd")
    return content.getvalue()
