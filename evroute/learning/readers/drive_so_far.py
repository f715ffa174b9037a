"""A drive so far from a file: the rows of a log of points, or of the track of a GPX file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import Vehicle
from evroute.errors import require
from evroute.learning.gate import WH_PER_KWH
from evroute.learning.readers import gpx, points
from evroute.learning.readers.base import NONE_GIVEN
from evroute.learning.readers.clocks import times_of
from evroute.learning.readers.meters import READINGS, display_step, meters_of
from evroute.learning.readers.table import Log, check_columns, trips_of
from evroute.network.road_network import RoadNetwork
from evroute.planning.track import ONE_STEP, Track


def read_drive(
    path: Path,
    network: RoadNetwork,
    vehicle: Vehicle,
    columns: Mapping[str, str] = NONE_GIVEN,
) -> Track:
    """Return the drive so far that a file holds, its last trip.

    Parameters
    ----------
    path
        CSV, Parquet or GPX file with times and positions, and a meter of energy, power or charge if
        there is one (`points.COLUMNS`).
    network, vehicle
        Roads, whose zone local times are in, and the car.
    columns
        Headers of the file that the user names, by the column here.

    Raises
    ------
    EvrouteError
        If the file cannot be read, or has no row with a time and a position.
    """
    log = _log(path, columns)
    check_columns(path, log.table.column_names, ("time", "lat", "lon"))
    time_s, _ = times_of(log, network)
    *_, (_, rows) = trips_of(path, log.table)
    lat, lon, time_s = log.numbers("lat")[rows], log.numbers("lon")[rows], time_s[rows]
    fixed = np.isfinite(lat) & np.isfinite(lon) & np.isfinite(time_s) & ((lat != 0) | (lon != 0))
    require(
        fixed.any(), f"trip table {path} has no row with a time and a position. The drive needs one"
    )
    timed = np.flatnonzero(np.isfinite(time_s))
    timed = timed[np.argsort(time_s[timed], kind="stable")]
    known = timed[fixed[timed]]
    lat, lon = (np.interp(time_s[timed], time_s[known], each[known]) for each in (lat, lon))
    used_wh, percent = _readings(log, rows[timed], time_s[timed], vehicle)
    shown = percent[np.isfinite(percent)]
    step = display_step(shown) if len(np.unique(shown)) > 1 else ONE_STEP
    return Track(lat, lon, time_s[timed], used_wh, percent, step)


def _log(path: Path, columns: Mapping[str, str]) -> Log:
    if path.suffix.lower() != ".gpx":
        return points.READER.log(path, columns)
    if path.with_suffix(".csv").is_file():
        return gpx.read_gpx(path, columns)
    return gpx.read_tracks(path, columns)


def _readings(
    log: Log, rows: IntArray, time_s: FloatArray, vehicle: Vehicle
) -> tuple[FloatArray, FloatArray]:
    """Return energy used up to some rows, (n,) Wh, and charge, (n,) %, or NaN where not read."""
    percent, used_wh = log.numbers("soc_percent")[rows], np.full(len(rows), np.nan)
    if not set(READINGS) & set(log.columns):
        return used_wh, percent
    meter = next((each for each in meters_of(log) if each.kind != "charge"), None)
    if meter is None:
        return used_wh, percent
    used_wh = meter.used_wh(rows, time_s, vehicle.battery_kwh * WH_PER_KWH)
    read = np.flatnonzero(np.isfinite(used_wh))
    shown = np.flatnonzero(np.isfinite(percent))
    if meter.kind == "power" and len(read) and len(shown):
        fallen = percent[shown[0]] - percent[shown[-1]]
        if fallen * (used_wh[read[-1]] - used_wh[read[0]]) < 0.0:  # counted the other way round
            used_wh = -used_wh
    return used_wh, percent
