"""Save and load a RoadNetwork: one compressed ``.npz`` without pickles, an exact round trip.

The numeric columns are arrays under their own names. Names, ids, the source and the digest of all
of them are one JSON document of bytes. Optional tables (`optional_tables`) are further arrays.
"""

import json
import re
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evroute import limits
from evroute.checked import DAMAGE
from evroute.errors import NetworkFormatError, require
from evroute.files import replacing
from evroute.network.invariants import RULES
from evroute.network.optional_tables import StoredTables, to_arrays
from evroute.network.road_network import RoadNetwork, unchecked
from evroute.network.source import Source

FORMAT = 3
"""Format of written files. Files of format 2, without digest and tables, are read too."""
_READ = (2, FORMAT)
LARGE = 50_000
"""Number of edges from which checks take longer than asking whether they were made."""
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
    """Write a network to ``path``. A failure leaves an older file unchanged.

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


def load(path: Path, checked: Path | None = None) -> RoadNetwork:
    """Read a network written by `save`.

    Parameters
    ----------
    path
        The file.
    checked
        Folder of the digests of large networks that this user has checked. Texts and invariants of
        equal networks are not checked again. None checks all.

    Raises
    ------
    NetworkFormatError
        If the file is missing, damaged, of another format, or breaks an invariant of RoadNetwork.
    LimitError
        If it is too large once unpacked.
    """
    require(path.is_file(), f"there is no stored network at {path}", NetworkFormatError)
    try:
        limits.check_archive(path)
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
            document = limits.parse_json(stored["document"].tobytes(), str(path))
            require(
                document["format"] in _READ,
                f"{path} has format {document['format']}, this evroute reads {FORMAT}. Build "
                "the network again",
                NetworkFormatError,
            )
            source: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in document["source"].items()
            }
            columns: dict[str, Any] = {column: tuple(document[column]) for column in _STRINGS}
            columns |= {column: stored[column] for column in _ARRAYS}
            columns["control"] = stored.get("control")
        named = {"name": document["name"], "crs": document["crs"], "source": Source(**source)}
        mark = None
        if document["format"] == FORMAT and len(columns["edge_id"]) >= LARGE:
            mark = _mark(checked, document["sha256"])
        known = mark is not None and mark.is_file()
        try:
            network = (unchecked if known else RoadNetwork)(**named, **columns)
        except NetworkFormatError as error:
            raise ValueError(str(error)) from error
        require(
            document["format"] != FORMAT or document["sha256"] == network.content_digest,
            "its digest differs",
            ValueError,
        )
        if mark is not None and not known:
            with suppress(OSError):  # a cache that cannot be written: checked again next time
                mark.parent.mkdir(exist_ok=True)
                mark.touch()
        return network.with_tables(StoredTables(path, document.get("tables", {})))
    except DAMAGE as error:
        raise NetworkFormatError(
            f"{path} is not a stored network, or is damaged ({error}). Build it again"
        ) from error


def _mark(checked: Path | None, digest: str) -> Path | None:
    """Return the empty file that marks a network as checked by this version's rules."""
    if checked is None or not re.fullmatch("[0-9a-f]{64}", digest):
        return None
    return checked / f"{RULES}-{digest}"
