"""Logs with a row for each GPS point and a meter: cut into trips and matched to the roads.

Columns: time, lat, lon (degrees, WGS 84), and a meter (`meters.READINGS`). Optional are trip,
vehicle, car and `AT_DEPARTURE`. Rows may lack a reading.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.learning.gate import WH_PER_KWH, admit, mean_reading, readings
from evroute.learning.measured import (
    AT_DEPARTURE,
    ImpossibleTripError,
    Measured,
    car_of,
    check_times,
)
from evroute.learning.readers.base import Reader, columns_reader
from evroute.learning.readers.clocks import times_of
from evroute.learning.readers.cuts import Piece, cut, rise
from evroute.learning.readers.drives import FEWEST_READINGS, Drive, trip_of, with_end
from evroute.learning.readers.headers import recognised
from evroute.learning.readers.meter_noise import meter_std_wh
from evroute.learning.readers.meters import (
    READINGS,
    Meter,
    by_catalogue,
    meters_of,
)
from evroute.learning.readers.raw.degrees import without_minutes
from evroute.learning.readers.raw.doubts import clock_doubt, energy_doubt
from evroute.learning.readers.table import Log, check_columns, trips_of
from evroute.methods.setting import Setting
from evroute.network.places.map_matching import FARTHEST_M, MapMatcher
from evroute.network.road_network import RoadNetwork

COLUMNS = (
    "trip",
    "date",
    "time",
    "lat",
    "lon",
    *READINGS,
    "speed_mps",
    "vehicle",
    "car",
    *AT_DEPARTURE,
    "auxiliary_mean_w",
)
GAP_S = 1800.0
POWER_GAP_S = 60.0
"""Longest time between two rows of one trip, s. Power is not integrated over longer ones."""
SIGN_CHANGED = (
    "the battery's power is negative while it discharges in this log: its sign was changed"
)
UNITS = "Check the units"
"""Part of the reason for which an impossible energy sets a trip aside."""


def read_points(log: Log, setting: Setting, vehicle_names: Sequence[str]) -> Measured:
    """Return the trips of a log with a row for each GPS point, matched to the roads.

    Parameters
    ----------
    log
        Table with `COLUMNS`.
    setting
        Network and vehicle of the trips.
    vehicle_names
        Names of the setting's vehicle in the column ``vehicle``. Trips of others are set aside.

    Raises
    ------
    EvrouteError
        If a column is missing, or a position is not on the earth.
    """
    check_columns(log.path, log.table.column_names, ("time", "lat", "lon"))
    time_s, notes = times_of(log, setting.network)
    doubts, tried = list[str](), list[Measured]()
    for meter in meters_of(log):
        measured = _by_meter(log, time_s, meter, setting, vehicle_names)
        tried.append(measured)
        doubt = _doubt(meter, measured, setting)
        if not doubt and measured.trips:
            break
        if not doubt:
            continue
        headers = " and ".join(f"'{log.columns[name].header}'" for name in meter.columns)
        doubts.append(f"{headers} left out: {doubt}")
        measured.skipped.update({trip.trip: doubts[-1] for trip in measured.trips})
        measured.trips.clear()
    measured = next((each for each in tried if each.trips), tried[0])
    measured.notes[:0] = [*notes, *doubts]
    return measured


def _by_meter(
    log: Log, time_s: FloatArray, meter: Meter, setting: Setting, vehicle_names: Sequence[str]
) -> Measured:
    """Return the trips of a log by one of its meters."""
    measured = Measured(notes=list(meter.notes))
    if meter.kind == "charge":
        measured.notes.append(by_catalogue(setting.vehicle))
    drives = _drives(log, time_s, meter, setting, vehicle_names, measured)
    if meter.kind == "power":
        drives = _discharging(log, drives, setting, measured)
        measured.notes.extend(_unknown(meter, drives))
    of_day = {name: log.numbers(name) for name in (*AT_DEPARTURE, "auxiliary_mean_w")}
    for drive in drives:
        inside = drive.rows[drive.match.position[0] :]
        read = readings(of_day, inside)
        if np.isnan(read.values["auxiliary_mean_w"]):
            read.values["auxiliary_mean_w"] = mean_reading(of_day["auxiliary_w"][inside])
        try:
            driven = trip_of(drive, meter, setting, read.values)
            if meter.kind != "charge":
                driven = with_end(driven, drive, of_day["soc_percent"][drive.rows])
        except ImpossibleTripError as error:
            measured.skipped[drive.name] = str(error)
        else:
            admit(measured, driven, setting, read.ignored)
    return measured


def _doubt(meter: Meter, measured: Measured, setting: Setting) -> str:
    """Return why a meter cannot be the battery's, in words, or empty."""
    if meter.kind == "charge":
        return ""
    if not measured.trips:
        return next((why for why in measured.skipped.values() if UNITS in why), "")
    length_m = setting.network.length_m
    lengths_m = [
        float((each.share(length_m) * length_m[each.edge]).sum()) for each in measured.trips
    ]
    falls = np.array([each.soc_percent - each.soc_end_percent for each in measured.trips])
    known = np.isfinite(falls)
    fall = float(falls[known].sum()) if known.all() else np.nan
    fall_wh = fall / 100 * setting.vehicle.battery_kwh * WH_PER_KWH
    energies_wh = [each.energy_wh for each in measured.trips]
    return energy_doubt(energies_wh, lengths_m, fall_wh, fall)


def _positions(log: Log) -> tuple[FloatArray, FloatArray]:
    """Return latitudes and longitudes, (rows,) degrees, or NaN where unknown.

    Raises
    ------
    EvrouteError
        If a position is not on the earth.
    """
    lat, lon = log.numbers("lat"), log.numbers("lon")
    lat, lon = without_minutes(lat, lon) or (lat, lon)
    without_fix = (lat == 0.0) & (lon == 0.0)
    lat, lon = (np.where(without_fix, np.nan, each) for each in (lat, lon))
    row = int(((np.abs(lat) > 90) | (np.abs(lon) > 180)).argmax())
    require(
        not (abs(lat[row]) > 90 or abs(lon[row]) > 180),
        f"trip table {log.path}, row {row + 1}: lat {lat[row]:g}, lon {lon[row]:g} is no place on "
        f"the earth. Lat is from -90 to 90, lon from -180 to 180",
    )
    return lat, lon


def _drives(
    log: Log,
    time_s: FloatArray,
    meter: Meter,
    setting: Setting,
    vehicle_names: Sequence[str],
    measured: Measured,
) -> list[Drive]:
    """Return the drives of a log: its trips, cut at stops and gaps, on the roads.

    Parameters
    ----------
    log, time_s, meter
        Table, its times, and a meter of it.
    setting, vehicle_names
        Network and vehicle of the trips.
    measured
        Gets the trips that are set aside, and notes.
    """
    lat, lon = _positions(log)
    speed_mps = log.numbers("speed_mps")
    battery_wh = setting.vehicle.battery_kwh * WH_PER_KWH
    matcher = _matcher(setting.network)
    drives: list[Drive] = []
    for trip, rows in trips_of(log.path, log.table):
        try:
            car = car_of(log.table, rows, vehicle_names)
            check_times(time_s[rows])
            doubt = clock_doubt(time_s[rows], lat[rows], lon[rows], speed_mps[rows])
            require(not doubt, doubt, ImpossibleTripError)
            used_wh = meter.used_wh(rows, time_s[rows], battery_wh)
        except ImpossibleTripError as error:
            measured.skipped[trip] = str(error)
            continue
        pieces = cut(
            time_s[rows],
            lat[rows],
            lon[rows],
            used_wh,
            battery_wh=battery_wh,
            gap_s=POWER_GAP_S if meter.kind == "power" else GAP_S,
        )
        found: list[Drive] = []
        for piece in pieces:
            its = rows[piece.rows]
            for match in matcher.match(lat[its], lon[its]):
                name = f"{trip}/{len(found) + 1}" if found else trip
                used = used_wh[piece.rows]
                found.append(Drive(name, its, match, time_s[its], used, car))
        if not found:
            measured.skipped[trip] = (
                f"no two points lie within {FARTHEST_M:.0f} m of the roads with a way between "
                f"them. Check that the trip is in network '{setting.network.name}', and that lat "
                "and lon are not exchanged"
            )
        measured.notes.extend(_notes(trip, pieces, found))
        drives += found
    return drives


@lru_cache(maxsize=2)
def _matcher(network: RoadNetwork) -> MapMatcher:
    """Return the matcher of a network, which the files of a call share."""
    return MapMatcher(network)


def _discharging(
    log: Log, drives: list[Drive], setting: Setting, measured: Measured
) -> list[Drive]:
    """Return drives whose power is positive while the battery discharges. Note a changed sign."""
    if not _reversed(log, drives, setting):
        return drives
    measured.notes.append(SIGN_CHANGED)
    return [replace(drive, used_wh=-drive.used_wh) for drive in drives]


def _notes(trip: str, pieces: Sequence[Piece], drives: Sequence[Drive]) -> list[str]:
    """Return one sentence for the cuts of a trip, and one for its points that are off the roads."""
    reasons = [piece.reason for piece in pieces if piece.reason]
    notes = [f"{trip}: cut where there were {'; '.join(reasons)}"] if reasons else []
    rows = sum(len(piece.rows) for piece in pieces)
    matched = sum(int(each.match.position[-1] - each.match.position[0]) + 1 for each in drives)
    if drives and matched < rows:
        notes.append(
            f"{trip}: {rows - matched} of {rows} points lie more than {FARTHEST_M:.0f} m from any "
            f"road, or no way leads to them. Parts left: {len(drives)}"
        )
    return notes


def _unknown(meter: Meter, drives: Sequence[Drive]) -> list[str]:
    """Return a sentence on the energy that readings of power leave unknown, if there are enough."""
    readings = [
        (drive.time_s[read], meter.reading[drive.rows[read]])
        for drive in drives
        for read in [np.flatnonzero(np.isfinite(drive.used_wh))]
        if len(read) >= FEWEST_READINGS
    ]
    if not readings:
        return []
    time_s, power_w = zip(*readings, strict=True)
    step_s = np.median(np.concatenate([np.diff(each) for each in time_s]))
    return [
        f"power read every {step_s:.3g} s leaves ± {abs(meter_std_wh(time_s, power_w)):.0f} Wh of "
        "a trip unknown"
    ]


def _reversed(log: Log, drives: Sequence[Drive], setting: Setting) -> bool:
    """Return whether the fall of the charge, or else eq. 8, contradicts the sign of the power."""
    evidence, charge = 0.0, log.numbers("soc_percent")
    for drive in drives:
        read = np.isfinite(drive.used_wh) & np.isfinite(charge[drive.rows])
        evidence -= rise(charge[drive.rows][read]) * rise(drive.used_wh[read])
    if not evidence:
        spent_wh = sum(rise(drive.used_wh) for drive in drives)
        edges = [setting.prior.mean_wh[drive.match.edges] for drive in drives]
        evidence = spent_wh * sum(float(mean_wh.sum()) for mean_wh in edges)
    return evidence < 0


def _has_positions(headers: Sequence[str]) -> bool:
    """Return whether a table has positions and no edges."""
    names = recognised(headers, (*COLUMNS, "edge")).keys()
    return "edge" not in names and bool({"lat", "lon"} & names)


READER = Reader(
    about="A row for each GPS point, with a reading of a meter.",
    log=columns_reader(COLUMNS),
    trips=read_points,
    accepts=_has_positions,
)
