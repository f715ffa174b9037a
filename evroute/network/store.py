"""Save and load a RoadNetwork: one compressed ``.npz`` without pickles, an exact round trip.

The numeric columns are arrays under their own names. Names, ids, the source and the digest of all
of them are one JSON document of bytes. Optional tables (`optional_tables`) are further arrays.
"""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evroute.checked import DAMAGE
from evroute.errors import NetworkFormatError
from evroute.files import replacing
from evroute.network.optional_tables import StoredTables, to_arrays
from evroute.network.road_network import RoadNetwork, Source

FORMAT = 3
"""Format of written files; files of format 2, without digest and tables, are read too."""
_READ = (2, FORMAT)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Pattern of network names: each is a valid file name."""
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
_STRINGS = ("edge_id", "street", "road_class", "junction_id")


def save(network: RoadNetwork, path: Path) -> None:
    """Write a network to ``path``; a failure leaves an older file unchanged.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full.
    """
    tables, described = to_arrays(network.tables)
    document = {
        "format": FORMAT,
        "name": network.name,
        "crs": network.crs,
        "source": asdict(network.source),
        "sha256": network.content_digest,
        "tables": described,
    }
    document |= {column: getattr(network, column) for column in _STRINGS}
    columns: dict[str, Any] = {column: getattr(network, column) for column in _ARRAYS}
    if network.control is not None:
        columns["control"] = network.control
    columns["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    with replacing(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **columns, **tables)


def load(path: Path) -> RoadNetwork:
    """Read a network written by `save`.

    Raises
    ------
    NetworkFormatError
        If the file is missing, damaged, of another format, or breaks an invariant of RoadNetwork.
    """
    if not path.is_file():
        raise NetworkFormatError(f"there is no stored network at {path}")
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
            document = json.loads(stored["document"].tobytes())
            if document["format"] not in _READ:
                raise NetworkFormatError(
                    f"{path} has format {document['format']}, this evroute reads {FORMAT}; build "
                    "the network again"
                )
            _check(document)
            source: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in document["source"].items()
            }
            columns: dict[str, Any] = {column: tuple(document[column]) for column in _STRINGS}
            columns |= {column: stored[column] for column in _ARRAYS}
            columns["control"] = stored.get("control")
        try:
            network = RoadNetwork(
                name=document["name"], crs=document["crs"], source=Source(**source), **columns
            )
        except NetworkFormatError as error:
            raise ValueError(str(error)) from error
        if document["format"] == FORMAT and document["sha256"] != network.content_digest:
            raise ValueError("its digest differs")
        return network.with_tables(StoredTables(path, document.get("tables", {})))
    except DAMAGE as error:
        raise NetworkFormatError(
            f"{path} is not a stored network, or is damaged ({error}); build it again"
        ) from error


def _check(document: dict[str, Any]) -> None:
    """Check the names, texts and reference system of a stored network."""
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    source = document["source"]
    texts = [document["name"], document["crs"], source["kind"], source["attribution"]]
    for listed in (*(document[column] for column in _STRINGS), source["files"], source["notes"]):
        texts += listed
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name, id or note is no text")
    if not NAME.fullmatch(document["name"]):
        raise ValueError(f"'{document['name']}' cannot name a network")
    try:
        crs = CRS.from_user_input(document["crs"])
    except CRSError:
        raise ValueError(f"its coordinate system '{document['crs']}' is not known") from None
    if not crs.is_projected or crs.axis_info[0].unit_name != "metre":
        raise ValueError(f"its coordinate system '{document['crs']}' is not in metres")
