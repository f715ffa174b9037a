"""The measured trips of a folder of ``evroute learn``: one file per call, never changed.

``measured/0001.parquet`` and so on have a row per edge driven with the fields of `MeasuredTrip`.
Further columns have the line of each edge and its heights, and the metadata the terms of each trip,
so that trips can be learned on other maps. Files of earlier versions lack them. The metadata have
the digest of the columns and terms, and the manifest of the folder too. Each file is a trip table
that ``evroute learn`` reads. Numbers that are unknown are NaN. In files of earlier versions the
departure is then 0.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, get_origin

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evroute.arrays import IntArray
from evroute.checked import digest_of
from evroute.errors import DamagedFileError, require
from evroute.files import inside, replacing
from evroute.learning.measured import MeasuredTrip
from evroute.learning.records.on_pieces import on_pieces, recorded_m
from evroute.learning.roads.road_lines import LOST
from evroute.learning.roads.trip_record import (
    NO_LINES,
    PREFIX,
    Terms,
    TripRecord,
    has_lines,
    line_columns,
    read_lines,
    record_on,
)
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.tables import read_columns

_FIELDS = [field for field in fields(MeasuredTrip) if field.name != "record"]
_BY_EDGE = {field.name for field in _FIELDS if get_origin(field.type) is np.ndarray}
_DIGEST = b"sha256"
_UNKNOWN = b"unknown"
_MANIFEST = b"manifest"
_CRS = b"crs"
_TERMS = b"terms"


def read_parts(folder: Path, network: RoadNetwork) -> dict[str, MeasuredTrip]:
    """Return the measured trips of a folder by name, in the order of recording.

    Raises
    ------
    DamagedFileError
        If a file is cut off or was changed, or an earlier version wrote the folder. The message
        names the remedy.
    """
    require(
        (folder / "measured").exists() or not (folder / "trips.parquet").exists(),
        f"{folder} was written by an earlier version, without the trips as measured. Learn its "
        "tables again into an empty folder: evroute learn TABLE --out EMPTY_FOLDER",
        DamagedFileError,
    )
    trips: dict[str, MeasuredTrip] = {}
    for path in part_paths(folder):
        for trip in read_part(path, network):
            # repair records trips of earlier versions again, with their lines
            if trip.trip not in trips or is_without_line(trips[trip.trip]):
                trips[trip.trip] = trip
    return trips


def is_without_line(trip: MeasuredTrip) -> bool:
    """Return whether a trip cannot be learned on the network: an earlier version recorded it."""
    return trip.record is not None and not trip.record.terms


def check_on_network(trips: Iterable[MeasuredTrip], network: RoadNetwork) -> None:
    """Check that recorded trips are on a network, as models of edges need it.

    Raises
    ------
    EvrouteError
        If the network does not have all roads of a trip.
    """
    for trip in trips:
        require(
            trip.record is None,
            f"network '{network.name}' does not have all edges of trip '{trip.trip}'. Name the "
            "network of its trips with --network",
        )


def without_lines(folder: Path) -> set[str]:
    """Return the names of trips that only files of earlier versions have, without their lines."""
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for path in part_paths(folder):
        lines = has_lines(pq.read_schema(path).names)
        names[lines] |= set(pq.read_table(path, columns=["trip"])["trip"].to_pylist())
    return names[False] - names[True]


def read_part(path: Path, network: RoadNetwork) -> list[MeasuredTrip]:
    """Return the measured trips of one file.

    Raises
    ------
    DamagedFileError
        If the file is cut off or was changed. The message names the remedy.
    """
    with _reading(path):
        columns, metadata, terms = _contents(path)
        lines = _lines(columns, metadata)
        rows_of = _rows(columns["edge"], lines, network, metadata)
        columns["departed_s"] = _departures(columns["departed_s"], metadata)
        return list(_trips(columns, rows_of, network, lines, terms))


def copy_part(path: Path, to: Path, cars: Collection[str], manifest: Mapping[str, Any]) -> None:
    """Copy the trips of some cars from a file of measured trips, unless it is there or has none.

    Parameters
    ----------
    path, to
        The file, and the file to be written.
    cars
        Names of the cars.
    manifest
        Manifest of the folder of ``to``.

    Raises
    ------
    DamagedFileError
        If the file is cut off or was changed.
    """
    with _reading(path):
        columns, metadata, terms = _contents(path)
    rows = [row for row, car in enumerate(columns["car"]) if car in cars]
    if not rows or to.exists():
        return
    kept = {name: [column[row] for row in rows] for name, column in columns.items()}
    car_of = dict(zip(columns["trip"], columns["car"], strict=True))
    of_trips = zip(dict.fromkeys(columns["trip"]), terms, strict=bool(terms))
    own = {_UNKNOWN: metadata[_UNKNOWN], _CRS: metadata[_CRS], _MANIFEST: json.dumps(manifest)}
    _write(to, kept, own, [each for trip, each in of_trips if car_of[trip] in cars])


def _contents(path: Path) -> tuple[dict[str, list[Any]], Mapping[bytes, bytes], list[Terms]]:
    """Return columns, metadata and terms of a file. ValueError if it was changed."""
    table = read_columns(path)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    metadata = table.schema.metadata or {}
    terms = metadata.get(_TERMS, b"").decode()
    if digest_of(columns | ({"terms": [terms]} if terms else {})) != metadata[_DIGEST].decode():
        raise ValueError("its digest differs")
    return columns, metadata, json.loads(terms or "[]")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Read a file of measured trips in this context. DamagedFileError if it is cut off."""
    try:
        yield
    except (OSError, pa.ArrowException, LookupError, TypeError, ValueError) as error:
        folder = path.parents[1]
        raise DamagedFileError(
            f"{path} is damaged ({_line(error)}). Set it aside by 'evroute learn --repair "
            f"{folder}', and learn the table of its trips again: evroute learn TABLE --out {folder}"
        ) from None


def manifest_of(path: Path) -> dict[str, Any] | None:
    """Return the manifest in the metadata of a file, or None if there is none."""
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
    setting: Setting,
    manifest: Mapping[str, Any],
    terms: Sequence[Terms] = (),
) -> None:
    """Record trips in a new file. It is on the disk when this returns.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    trips
        At least one measured trip, those wholly on the network first, then totals. No other file of
        the folder has a trip of the same name, except one without its line.
    setting
        The network whose rows the trips name, and the vehicle.
    manifest
        Manifest of the folder.
    terms
        Terms of each trip, or empty if the belief has none.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full.
    """
    columns: dict[str, list[Any]] = {field.name: [] for field in _FIELDS}
    for trip in trips:
        for name, column in columns.items():
            value = getattr(trip, name)
            if value is None:
                value = np.nan
            column += value.tolist() if name in _BY_EDGE else [value] * len(trip.edge)
    edge = np.array(columns["edge"], dtype=np.int64)
    placed = [record_on(setting, edge[edge < setting.network.n_edges])]
    columns |= line_columns(placed + [trip.record for trip in trips if trip.record is not None])
    last = max((int(path.stem) for path in part_paths(folder)), default=0)
    about = {_UNKNOWN: "NaN", _MANIFEST: json.dumps(manifest), _CRS: setting.network.crs}
    _write(inside(folder, "measured", f"{last + 1:04d}.parquet"), columns, about, terms)


def _write(
    path: Path,
    columns: Mapping[str, list[Any]],
    about: Mapping[bytes, Any],
    terms: Sequence[Terms],
) -> None:
    """Write columns with their metadata, terms and digest. They are on the disk afterwards."""
    metadata = dict(about)
    digest_columns: dict[str, Any] = dict(columns)
    if any(terms):
        metadata[_TERMS] = json.dumps(list(terms))
        digest_columns["terms"] = [metadata[_TERMS]]
    metadata[_DIGEST] = digest_of(digest_columns)
    table = pa.table(dict(columns)).replace_schema_metadata(metadata)
    with replacing(path) as temporary:
        pq.write_table(table, temporary, write_page_checksum=True)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())


def set_aside(folder: Path, *, last: bool = False) -> Path | None:
    """Move the belief and the measured trips of a folder into ``reset-DATE``. Return that folder.

    The measured trips are moved last, so that an interruption leaves trips that can be learned
    again. With ``last``, only the newest file with further trips is moved, and those that record
    its trips again. Return None if there is nothing to move.
    """
    measured = _last_added(folder) if last else [folder / "measured"]
    paths = [path for path in (*derived(folder), *measured) if path.exists()]
    if not paths:
        return None
    aside = new_aside(folder, "reset")
    move(paths, folder, aside)
    return aside


def _last_added(folder: Path) -> list[Path]:
    """Return the newest file with further trips, and those that record its trips again."""
    paths, first = part_paths(folder), 0
    before: set[str] = set()
    for number, path in enumerate(paths):
        try:
            names = set(pq.read_table(path, columns=["trip"])["trip"].to_pylist())
        except (OSError, pa.ArrowException):
            names = {path.name}  # damaged
        first = first if names <= before else number
        before |= names
    return paths[first:]


def new_aside(folder: Path, why: str) -> Path:
    """Return a new folder ``WHY-DATE`` in a folder, with a copy of its manifest."""
    aside = folder / f"{why}-{datetime.now():%Y%m%d-%H%M%S-%f}"
    aside.mkdir()
    manifest = inside(folder, "manifest.json")
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
    found = (path for path in inside(folder, "measured").glob("*.parquet") if path.stem.isdecimal())
    paths = [inside(folder, "measured", path.name) for path in found]
    return sorted(paths, key=lambda path: int(path.stem))


def _departures(departed_s: list[float], metadata: Mapping[bytes, bytes]) -> list[float | None]:
    """Return departures, None where unknown: 0 in a file of an earlier version."""
    unknown = np.nan if _UNKNOWN in metadata else 0.0
    return [None if np.isnan(each) or each == unknown else each for each in departed_s]


def _lines(columns: dict[str, list[Any]], metadata: Mapping[bytes, bytes]) -> TripRecord | None:
    """Return the roads of all edges of a file, and remove their columns, or None if it has none."""
    if not has_lines(columns):
        return None
    vehicle = json.loads(metadata.get(_MANIFEST, b"{}")).get("vehicle", {})
    lines = read_lines(columns, columns["edge"], metadata[_CRS].decode(), vehicle)
    for name in [name for name in columns if name.startswith(PREFIX)]:
        del columns[name]
    return lines


def _rows(
    edge_id: list[str],
    lines: TripRecord | None,
    network: RoadNetwork,
    metadata: Mapping[bytes, bytes],
) -> list[IntArray]:
    """Return the rows of each of k edges, as `TripRecord.rows_in` does."""
    of_network = json.loads(metadata.get(_MANIFEST, b"{}")).get("networks", {})
    if lines is None or network.digest in of_network.values():
        return [np.array([network.row_of.get(edge, LOST)]) for edge in edge_id]
    return lines.rows_in(network)


def _trips(
    columns: dict[str, list[Any]],
    rows_of: Sequence[IntArray],
    network: RoadNetwork,
    lines: TripRecord | None,
    terms: Sequence[Terms],
) -> Iterable[MeasuredTrip]:
    """Yield the trips of a file. Those that leave the network with their record."""
    names = columns["trip"]
    for number, (_, its) in enumerate(groupby(range(len(names)), key=names.__getitem__)):
        rows = list(its)
        values: dict[str, Any] = {
            name: np.array(column[rows[0] : rows[-1] + 1]) if name in _BY_EDGE else column[rows[0]]
            for name, column in columns.items()
        }
        edges = [rows_of[row] for row in rows]
        if all(LOST not in edge for edge in edges):
            values |= on_pieces(values, edges, network, recorded_m(lines, rows))
        else:  # rows that the network does not have are beyond its last
            first = np.array([edge[0] if len(edge) == 1 else LOST for edge in edges])
            values["edge"] = np.where(first == LOST, network.n_edges, first)
            of_trip = terms[number] if terms else {}
            of_file = lines or NO_LINES
            values["record"] = of_file.take(
                np.array(rows if lines else [], dtype=np.int64), of_trip
            )
        yield MeasuredTrip(**values)
