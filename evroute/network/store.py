"""Save and load a RoadNetwork: one compressed ``.npz`` without pickles, an exact round trip.

The numeric columns are arrays under their own names; names, ids and the source are one JSON
document of bytes.
"""

import json
import struct
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evroute import limits
from evroute.errors import NetworkFormatError
from evroute.files import replacing
from evroute.network.road_network import RoadNetwork, Source

FORMAT = 2
_ARRAYS = (
    "tail",
    "head",
    "length_m",
    "speed_mps",
    "structure",
    "turns",
    "x_m",
    "y_m",
    "elevation_m",
    "shape_start",
    "shape_x_m",
    "shape_y_m",
)
# What numpy, zipfile, zlib and json raise on damaged bytes.
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
_STRINGS = ("edge_id", "street", "road_class", "junction_id")


def save(network: RoadNetwork, path: Path) -> None:
    """Write a network to ``path``; a failure or an interruption leaves an older file of that name as it was.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full.
    """
    document = {
        "format": FORMAT,
        "name": network.name,
        "crs": network.crs,
        "source": asdict(network.source),
    }
    document |= {column: getattr(network, column) for column in _STRINGS}
    columns: dict[str, Any] = {column: getattr(network, column) for column in _ARRAYS}
    if network.control is not None:
        columns["control"] = network.control
    columns["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    with replacing(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **columns)


def load(path: Path) -> RoadNetwork:
    """Read a network that ``save`` wrote.

    Raises
    ------
    NetworkFormatError
        If the file is missing, damaged, of another format, or breaks an invariant of RoadNetwork.
    LimitError
        If it is too large once unpacked.
    """
    if not path.is_file():
        raise NetworkFormatError(f"there is no stored network at {path}")
    try:
        limits.check_archive(path)
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
            document = limits.parse_json(stored["document"].tobytes(), str(path))
            if document["format"] != FORMAT:
                raise NetworkFormatError(
                    f"{path} has format {document['format']}, this evroute reads {FORMAT}; build the network again"
                )
            source: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in document["source"].items()
            }
            columns: dict[str, Any] = {column: tuple(document[column]) for column in _STRINGS}
            columns |= {column: stored[column] for column in _ARRAYS}
            columns["control"] = stored.get("control")
            return RoadNetwork(
                name=document["name"], crs=document["crs"], source=Source(**source), **columns
            )
    except _DAMAGE as error:
        raise NetworkFormatError(
            f"{path} is not a stored network, or is damaged ({error}); build it again"
        ) from error
