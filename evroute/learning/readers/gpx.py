"""GPX tracks with energy from their points or from a table beside the file.

GPX has no element for energy. An extension of a track point counts if its name is one of
`points.COLUMNS` (or a logger's name for it), in any namespace. Without one, a table with the same
name (``drive.csv`` in the folder of ``drive.gpx``) gives the readings by time.
"""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

import numpy as np
import pyarrow as pa

from evroute import limits
from evroute.errors import EvrouteError, require
from evroute.learning.readers.base import NONE_GIVEN, TEXT, Reader
from evroute.learning.readers.clocks import seconds
from evroute.learning.readers.headers import recognised
from evroute.learning.readers.meters import READINGS
from evroute.learning.readers.points import COLUMNS, read_points
from evroute.learning.readers.table import Log, check_columns, numbers, read_log

NUMBERS = tuple(name for name in COLUMNS if name not in TEXT)


def read_gpx(path: Path, given: Mapping[str, str] = NONE_GIVEN) -> Log:
    """Return the track points of a GPX file and their readings. Each track is a trip.

    Raises
    ------
    EvrouteError
        As `read_tracks`, or if nothing gives the energy.
    LimitError
        If it is beyond a limit of `evroute.limits`.
    """
    log = read_tracks(path, given)
    return log if set(READINGS) & set(log.columns) else _with_companion(log)


def read_tracks(path: Path, given: Mapping[str, str] = NONE_GIVEN) -> Log:
    """Return the track points of a GPX file. They may lack readings of energy.

    Raises
    ------
    EvrouteError
        If the file is no GPX, or has no point with a time.
    LimitError
        If it is beyond a limit of `evroute.limits`.
    """
    rows = _points(path)
    columns = recognised(list(dict.fromkeys(name for row in rows for name in row)), COLUMNS, given)
    values = {name: [row.get(column.header) for row in rows] for name, column in columns.items()}
    try:
        for name in set(NUMBERS) & set(values):
            values[name] = [np.nan if each is None else float(each) for each in values[name]]
    except ValueError as error:
        raise EvrouteError(f"GPX file {path}, an extension: {error}") from None
    require(
        rows and any(values["time"]),
        f"GPX file {path} has no track point with a time. Record a track",
    )
    return Log(path, pa.table(values), columns)


def _points(path: Path) -> list[dict[str, Any]]:
    """Return the track points of a file: name of the track, time, position and extensions."""
    rows: list[dict[str, Any]] = []
    tracks = _tracks(path)
    for number, track in enumerate(tracks, 1):
        name = track.name or (path.stem if len(tracks) == 1 else f"{path.stem} {number}")
        for point in track.walk(only_points=True):
            row = {"trip": name, "time": point.time and point.time.isoformat()}
            row |= {"lat": point.latitude, "lon": point.longitude}
            rows.append(row | _extensions(point.extensions))
    return rows


def _tracks(path: Path) -> list[Any]:
    import gpxpy

    try:
        limits.check_xml(path)
        return list(gpxpy.parse(path.read_text(encoding="utf-8-sig")).tracks)
    except (
        EOFError,
        OSError,
        ValueError,
        zlib.error,
        ExpatError,
        gpxpy.gpx.GPXException,
    ) as error:
        raise EvrouteError(
            f"GPX file {path} cannot be read: {str(error).splitlines()[0]}"
        ) from None


def _extensions(elements: list[Any]) -> dict[str, str]:
    """Return the texts of a point's extensions by their names without namespaces."""
    inner = [each for element in elements for each in element.iter() if isinstance(each.tag, str)]
    texts = {each.tag.rpartition("}")[2]: (each.text or "").strip() for each in inner}
    return {name: text for name, text in texts.items() if text}


def _with_companion(log: Log) -> Log:
    """Return a log with the readings of the table beside its file, interpolated by time."""
    path = log.path.with_suffix(".csv")
    require(
        path.is_file(),
        f"GPX file {log.path} has no energy. Add the extension <energy_wh> (read so far) or "
        f"<soc_percent> to its points, or give a table {path.name} with the columns time "
        "and energy_wh in the same folder",
    )
    other = read_log(path, ("time",), NUMBERS)
    check_columns(path, other.table.column_names, ("time",))
    table, columns = log.table, dict(log.columns)
    n = table.num_rows
    time_s = seconds(path, [*table["time"].to_pylist(), *other.table["time"].to_pylist()])
    for name in set(NUMBERS) & set(other.columns) - {"lat", "lon"}:
        values = numbers(other.table, name)
        read = np.isfinite(values) & np.isfinite(time_s[n:])
        if not read.any():
            continue
        table = table.append_column(
            name, pa.array(np.interp(time_s[:n], time_s[n:][read], values[read], np.nan, np.nan))
        )
        columns[name] = other.columns[name]
    return Log(log.path, table, columns)


READER = Reader(
    about="A GPX file, whose tracks are trips.",
    log=read_gpx,
    trips=read_points,
    suffixes=(".gpx",),
)
