"""The measured trips of a folder of ``evroute learn``: one file per call, never changed.

``measured/0001.parquet`` and so on have a row per edge driven with the fields of `MeasuredTrip`.
Their metadata have the digest of these columns, and the manifest of the folder. Each is a trip
table that ``evroute learn`` reads. Numbers that are unknown are NaN; in files of earlier versions
the departure is then 0.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, get_origin

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evroute.checked import digest_of
from evroute.errors import DamagedFileError, EvrouteError, require
from evroute.files import replacing
from evroute.learning.measured import MeasuredTrip
from evroute.network.road_network import RoadNetwork
from evroute.tables import read_columns

_BY_EDGE = {field.name for field in fields(MeasuredTrip) if get_origin(field.type) is np.ndarray}
_DIGEST = b"sha256"
_UNKNOWN = b"unknown"
_MANIFEST = b"manifest"


def read_parts(folder: Path, network: RoadNetwork) -> dict[str, MeasuredTrip]:
    """Return the measured trips of a folder by name, in the order of recording.

    Raises
    ------
    DamagedFileError
        If a file is cut off or was changed, or an earlier version wrote the folder; the message
        names the remedy.
    """
    require(
        (folder / "measured").exists() or not (folder / "trips.parquet").exists(),
        f"{folder} was written by an earlier version, without the trips as measured; learn its "
        "tables again into an empty folder: evroute learn TABLE --out EMPTY_FOLDER",
        DamagedFileError,
    )
    trips: dict[str, MeasuredTrip] = {}
    for path in part_paths(folder):
        for trip in read_part(path, network):
            trips.setdefault(trip.trip, trip)
    return trips


def read_part(path: Path, network: RoadNetwork) -> list[MeasuredTrip]:
    """Return the measured trips of one file.

    Raises
    ------
    DamagedFileError
        If the file is cut off or was changed; the message names the remedy.
    EvrouteError
        If the network does not have an edge of the file.
    """
    folder = path.parents[1]
    try:
        table = read_columns(path)
        columns = {name: table[name].to_pylist() for name in table.column_names}
        if digest_of(columns) != table.schema.metadata[_DIGEST].decode():
            raise ValueError("its digest differs")
        edge_id = columns["edge"]
        columns["edge"] = [network.row_of.get(edge, -1) for edge in edge_id]
        columns["departed_s"] = _departures(columns["departed_s"], table.schema.metadata)
        trips = list(_trips(columns))
    except (OSError, pa.ArrowException, LookupError, TypeError, ValueError) as error:
        raise DamagedFileError(
            f"{path} is damaged ({_line(error)}); set it aside by 'evroute learn --repair "
            f"{folder}', and learn the table of its trips again: evroute learn TABLE --out {folder}"
        ) from None
    if -1 in columns["edge"]:
        unknown = edge_id[columns["edge"].index(-1)]
        raise EvrouteError(
            f"{path} has edge '{unknown}', which network '{network.name}' does not have; name the "
            "network of its trips with --network"
        )
    return trips


def manifest_of(path: Path) -> dict[str, Any] | None:
    """Return the manifest in the metadata of a file; None if there is none."""
    try:
        metadata = pq.read_schema(path).metadata or {}
        manifest = json.loads(metadata[_MANIFEST])
    except (OSError, pa.ArrowException, LookupError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def _line(error: Exception) -> str:
    """Return the first line of an error."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def append_part(
    folder: Path,
    trips: Sequence[MeasuredTrip],
    network: RoadNetwork,
    manifest: Mapping[str, Any],
) -> None:
    """Record trips in a new file; it is on the disk when this returns.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    trips
        At least one measured trip; no other file of the folder has a trip of the same name.
    network
        The network whose rows the trips name.
    manifest
        Manifest of the folder.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full.
    """
    columns: dict[str, list[Any]] = {field.name: [] for field in fields(MeasuredTrip)}
    for trip in trips:
        for name, column in columns.items():
            value = getattr(trip, name)
            if value is None:
                value = np.nan
            column += value.tolist() if name in _BY_EDGE else [value] * len(trip.edge)
    columns["edge"] = [network.edge_id[edge] for edge in columns["edge"]]
    metadata = {_DIGEST: digest_of(columns), _UNKNOWN: "NaN", _MANIFEST: json.dumps(manifest)}
    table = pa.table(columns).replace_schema_metadata(metadata)
    last = max((int(path.stem) for path in part_paths(folder)), default=0)
    with replacing(folder / "measured" / f"{last + 1:04d}.parquet") as temporary:
        pq.write_table(table, temporary, write_page_checksum=True)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())


def set_aside(folder: Path, *, last: bool = False) -> Path | None:
    """Move the belief and the measured trips of a folder into ``reset-DATE``; return that folder.

    The measured trips are moved last, so that an interruption leaves trips that can be learned
    again. With ``last``, only the newest file of them is moved. Return None if there is nothing to
    move.
    """
    measured = part_paths(folder)[-1:] if last else [folder / "measured"]
    paths = [path for path in (*derived(folder), *measured) if path.exists()]
    if not paths:
        return None
    aside = new_aside(folder, "reset")
    move(paths, folder, aside)
    return aside


def new_aside(folder: Path, why: str) -> Path:
    """Return a new folder ``WHY-DATE`` in a folder, with a copy of its manifest."""
    aside = folder / f"{why}-{datetime.now():%Y%m%d-%H%M%S-%f}"
    aside.mkdir()
    manifest = folder / "manifest.json"
    if manifest.is_file():
        with replacing(aside / manifest.name) as temporary:
            temporary.write_bytes(manifest.read_bytes())
    return aside


def move(paths: Iterable[Path], folder: Path, to: Path) -> None:
    """Move files and folders of one folder to the same places of another.

    Parameters
    ----------
    paths
        Files and folders, moved in this order.
    folder
        Folder that holds them.
    to
        Folder that they are moved to.
    """
    for path in paths:
        target = to / path.relative_to(folder)
        target.parent.mkdir(exist_ok=True)
        path.rename(target)


def derived(folder: Path) -> list[Path]:
    """Return the files and folders that follow from the measured trips, as far as they exist."""
    paths = (folder / name for name in ("beliefs", "routes", "trips.parquet"))
    return [path for path in paths if path.exists()]


def part_paths(folder: Path) -> list[Path]:
    """Return the files of measured trips of a folder, in the order of recording."""
    paths = (folder / "measured").glob("*.parquet")
    return sorted((path for path in paths if path.stem.isdecimal()), key=lambda p: int(p.stem))


def _departures(departed_s: list[float], metadata: Mapping[bytes, bytes]) -> list[float | None]:
    """Return departures, None where unknown: 0 in a file of an earlier version."""
    unknown = np.nan if _UNKNOWN in metadata else 0.0
    return [None if np.isnan(each) or each == unknown else each for each in departed_s]


def _trips(columns: dict[str, list[Any]]) -> Iterable[MeasuredTrip]:
    for _, its in groupby(range(len(columns["trip"])), key=columns["trip"].__getitem__):
        rows = list(its)
        values: dict[str, Any] = {
            name: np.array(column[rows[0] : rows[-1] + 1]) if name in _BY_EDGE else column[rows[0]]
            for name, column in columns.items()
        }
        yield MeasuredTrip(**values)
