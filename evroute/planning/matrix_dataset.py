"""Matrices that do not fit into memory: a folder of Parquet files, written block by block.

A block has the pairs of some successive origins with all destinations, and is one file. Its columns
are ``from`` and ``to``, as dictionaries of the ids, and energy, time and length as float32. So the
memory in use does not depend on the number of origins.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.planning.matrix import AIMS, VALUES, Stop, energy_matrix
from evroute.planning.planner import Planner

BLOCK_PAIRS = 1_000_000
"""Pairs of one file, or those of one origin if they are more."""


def check_folder(path: Path) -> None:
    """Refuse a folder that has contents, or whose place is a file.

    Raises
    ------
    EvrouteError
        If it is no new or empty folder.
    """
    empty = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    require(empty, f"--out {path} is not empty; name a new folder, or a .csv or .parquet file")


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
        Number of pairs without a route; their values are null.

    Raises
    ------
    EvrouteError
        If the folder has contents.
    OSError
        If it cannot be written, as on a full disk.
    """
    check_folder(path)
    step = max(1, BLOCK_PAIRS // len(destinations))
    missing = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as place:
        made = Path(place) / path.name
        made.mkdir()
        for number, first in enumerate(range(0, len(origins), step)):
            block = origins[first : first + step]
            matrix = energy_matrix(planner, block, destinations, by)
            missing += int(np.isnan(matrix[0]).sum())
            _write_block(made / f"part-{number:05d}.parquet", matrix, block, destinations)
            on_block((first + len(block)) * len(destinations))
        if path.is_dir():
            path.rmdir()
        made.rename(path)
    return missing


def _write_block(
    path: Path, matrix: FloatArray, origins: Sequence[Stop], destinations: Sequence[Stop]
) -> None:
    """Write the pairs of a block, (3, o, d)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    o, d = matrix.shape[1:]
    numbers = (
        ("from", np.repeat(np.arange(o, dtype=np.int32), d), origins),
        ("to", np.tile(np.arange(d, dtype=np.int32), o), destinations),
    )
    columns = {
        column: pa.DictionaryArray.from_arrays(index, [stop.id for stop in stops])
        for column, index, stops in numbers
    }
    for column, values in zip(VALUES, matrix, strict=True):
        columns[column] = pa.array(values.ravel().astype(np.float32), from_pandas=True)
    # numbers hardly repeat: a dictionary of them is larger than they are
    pq.write_table(pa.table(columns), path, use_dictionary=["from", "to"], compression="zstd")
