"""The measured trips of a folder of ``evroute learn``: one file per call, never changed.

``measured/0001.parquet`` and so on have a row per edge driven with the fields of `MeasuredTrip`,
and the digest of their columns in their metadata. Each is a trip table that ``evroute learn``
reads. Numbers that are unknown are NaN; in files of earlier versions the departure is then 0.
"""

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
from evroute.errors import DamagedFileError, require
from evroute.files import replacing
from evroute.learning.measured import MeasuredTrip
from evroute.network.road_network import RoadNetwork
from evroute.tables import read_columns

_BY_EDGE = {field.name for field in fields(MeasuredTrip) if get_origin(field.type) is np.ndarray}
_DIGEST, _UNKNOWN = b"sha256", b"unknown"
_DERIVED = ("beliefs", "routes", "trips.parquet")


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
    for path in _paths(folder):
        try:
            table = read_columns(path)
            columns = {name: table[name].to_pylist() for name in table.column_names}
            if digest_of(columns) != table.schema.metadata[_DIGEST].decode():
                raise ValueError("its digest differs")
            columns["edge"] = [network.row_of[edge] for edge in columns["edge"]]
            columns["departed_s"] = _departures(columns["departed_s"], table.schema.metadata)
            for trip in _trips(columns):
                trips.setdefault(trip.trip, trip)
        except (OSError, pa.ArrowException, LookupError, TypeError, ValueError) as error:
            raise DamagedFileError(
                f"{path} is damaged ({str(error).splitlines()[0]}); move it away and learn the "
                f"table of its trips again: evroute learn TABLE --out {folder}"
            ) from None
    return trips


def append_part(folder: Path, trips: Sequence[MeasuredTrip], network: RoadNetwork) -> None:
    """Record trips in a new file; it is on the disk when this returns.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    trips
        At least one measured trip; no other file of the folder has a trip of the same name.
    network
        The network whose rows the trips name.

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
    metadata = {_DIGEST: digest_of(columns), _UNKNOWN: "NaN"}
    table = pa.table(columns).replace_schema_metadata(metadata)
    last = max((int(path.stem) for path in _paths(folder)), default=0)
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
    measured = _paths(folder)[-1:] if last else [folder / "measured"]
    names = [path.relative_to(folder) for path in measured]
    names = [name for name in (*map(Path, _DERIVED), *names) if (folder / name).exists()]
    if not names:
        return None
    aside = folder / f"reset-{datetime.now():%Y%m%d-%H%M%S-%f}"
    aside.mkdir()
    with replacing(aside / "manifest.json") as temporary:
        temporary.write_bytes((folder / "manifest.json").read_bytes())
    for name in names:
        (aside / name).parent.mkdir(exist_ok=True)
        (folder / name).rename(aside / name)
    return aside


def _paths(folder: Path) -> list[Path]:
    return sorted(
        (folder / "measured").glob("[0-9]*.parquet"), key=lambda path: (len(path.stem), path.stem)
    )


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
