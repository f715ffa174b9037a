"""Tables of trips measured as GPS points with a meter of energy or the state of charge: reading and map matching.

Columns: trip, time (ISO 8601 or seconds), lat, lon (degrees, WGS 84), and one of energy_wh and
energy_kwh (read so far, cumulative) or soc_percent (of the vehicle's usable battery); if wanted
vehicle. Rows may lack a reading.

What is measured between two readings is a sum over the edges between them, of which the first and
last are driven in part. It is shared out as eq. 8 would: each edge gets its climb, and of the rest
a share that goes with what eq. 8 says it dissipates. So totals are kept, and roads between the same
readings are as much better or worse than eq. 8. An edge counts where at least half of it was
driven, and then as a whole.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.learning.measured import (
    FACTOR,
    JAM_WH,
    WH_PER_KWH,
    ImpossibleTripError,
    Measured,
    MeasuredTrip,
    check_columns,
    check_times,
    check_trip,
    check_vehicle,
    numbers,
    seconds,
    trips_of,
)
from evroute.methods.setting import Setting
from evroute.network.map_matching import FARTHEST_M, MapMatcher, Match

if TYPE_CHECKING:
    import pyarrow as pa

READINGS = ("energy_wh", "energy_kwh", "soc_percent")
COLUMNS = ("trip", "time", "lat", "lon", *READINGS, "vehicle")
CHARGED_PERCENT = 1.0
STANDING_M = 100.0
"""A charge that rises by more than `CHARGED_PERCENT` within so little way was filled up."""
COUNTED_SHARE = 0.5


def read_points(
    path: Path, table: "pa.Table", setting: Setting, vehicle_names: Sequence[str]
) -> Measured:
    """Return the trips of a table with a row per GPS point, matched to the roads.

    vehicle_names: as in `measured.read_edges`.

    Raises
    ------
    EvrouteError
        If columns are missing, unknown or given twice.
    """
    names = table.column_names
    check_columns(path, names, COLUMNS, ("trip", "time", "lat", "lon"))
    readings = [name for name in READINGS if name in names]
    if len(readings) != 1:
        raise EvrouteError(f"trip table {path} needs one of the columns {', '.join(READINGS)}")
    lat, lon, reading = (numbers(table, name) for name in ("lat", "lon", readings[0]))
    if np.any(np.abs(lat) > 90) or np.any(np.abs(lon) > 180):
        row = int(np.flatnonzero((np.abs(lat) > 90) | (np.abs(lon) > 180))[0])
        raise EvrouteError(
            f"trip table {path}, row {row + 1}: {lat[row]},{lon[row]} is no place on the earth"
        )
    time_s = seconds(path, table["time"].to_pylist())
    matcher = MapMatcher(setting.network)
    measured = Measured()
    for trip, rows in trips_of(path, table):
        try:
            check_vehicle(table, rows, vehicle_names)
            check_times(time_s[rows])
            matches = matcher.match(lat[rows], lon[rows])
            used_wh = _used_wh(readings[0], reading[rows], matches, setting)
            parts = _parts(trip, time_s[rows], used_wh, matches, setting)
            for part in parts:
                check_trip(part, setting)
        except ImpossibleTripError as error:
            measured.skipped[trip] = str(error)
            continue
        measured.trips.extend(parts)
        if off := len(rows) - _held(matches):
            measured.notes.append(
                f"{trip}: {off} of {len(rows)} points lie more than {FARTHEST_M:.0f} m from any road, or no way "
                f"leads to them; what is left are {len(parts)} parts"
            )
    return measured


def _held(matches: Sequence[Match]) -> int:
    """Count the points between the ends of the parts; those left out as too near the last are held."""
    return sum(int(match.position[-1] - match.position[0]) + 1 for match in matches)


def _used_wh(
    kind: str, reading: FloatArray, matches: Sequence[Match], setting: Setting
) -> FloatArray:
    """Return what was used up to each point, (p,) Wh; NaN where that is not known."""
    if kind == "energy_wh":
        return reading
    if kind == "energy_kwh":
        return reading * WH_PER_KWH
    if np.nanmin(reading, initial=0) < 0 or np.nanmax(reading, initial=0) > 100:
        raise ImpossibleTripError("a charge that is not within 0..100 %")
    read = np.flatnonzero(np.isfinite(reading))
    # a charge is known best where it changes: between two changes of the display it may be any
    # value
    changed = read[1:][np.diff(reading[read]) != 0]
    known = np.full(len(reading), np.nan)
    known[changed] = reading[changed]
    for match in matches:
        inside = np.isin(match.position, read)
        at_m, percent = match.at_m[inside], reading[match.position[inside]]
        if np.any((np.diff(percent) > CHARGED_PERCENT) & (np.diff(at_m) < STANDING_M)):
            raise ImpossibleTripError(
                "its charge rises while standing: it was charged; make two trips of it"
            )
    used_wh: FloatArray = -known / 100 * setting.vehicle.battery_kwh * WH_PER_KWH
    return used_wh


def _parts(
    trip: str, time_s: FloatArray, used_wh: FloatArray, matches: Sequence[Match], setting: Setting
) -> list[MeasuredTrip]:
    """Return the connected parts of a trip that were measured, told apart as ``TRIP/2`` and so on.

    Raises
    ------
    ImpossibleTripError
        If there is none.
    """
    parts: list[MeasuredTrip] = []
    for match in matches:
        at_m, place = _at(match, np.flatnonzero(np.isfinite(used_wh)))
        if len(place) < 2 or at_m[-1] <= at_m[0]:
            continue
        edges, energy_wh = _attributed(match.edges, at_m, used_wh[place], setting)
        if not len(edges):
            continue
        name = f"{trip}/{len(parts) + 1}" if parts else trip
        times = _times(match, time_s, setting)
        kept = slice(edges[0], edges[-1] + 1)
        parts.append(
            MeasuredTrip(
                name,
                match.edges[kept],
                energy_wh,
                times[kept],
                departed_s=float(time_s[match.position[0]]),
            )
        )
    if not parts:
        raise ImpossibleTripError(
            "no two readings of energy lie apart on the roads"
            if matches
            else f"no two points lie within {FARTHEST_M:.0f} m of the roads and a way between them"
        )
    return parts


def _at(match: Match, points: IntArray) -> tuple[FloatArray, IntArray]:
    """Return where the given points of the track lie on the route, m, and which of them lie within its part."""
    inside = points[(points >= match.position[0]) & (points <= match.position[-1])]
    at_m: FloatArray = np.interp(inside, match.position, match.at_m)
    return at_m, inside


def _attributed(
    edges: IntArray, at_m: FloatArray, used_wh: FloatArray, setting: Setting
) -> tuple[IntArray, FloatArray]:
    """Return the places (k,) of the edges that count, which follow each other, and the energy of each, (k,) Wh."""
    length_m = setting.network.length_m[edges]
    ends_m = np.cumsum(length_m)
    starts_m = ends_m - length_m
    dissipated_wh, climb_wh = setting.prior.dissipated_wh[edges], setting.potential_wh[edges]
    energy_wh, driven = np.zeros(len(edges)), np.zeros(len(edges))
    waiting_wh = 0.0
    for (from_m, to_m), spent_wh in zip(pairwise(at_m), np.diff(used_wh), strict=True):
        waiting_wh += spent_wh
        share = np.clip((np.minimum(ends_m, to_m) - np.maximum(starts_m, from_m)) / length_m, 0, 1)
        expected_wh = float(share @ dissipated_wh)
        if expected_wh <= 0:  # standing: it belongs to where it goes on
            continue
        climbed_wh = float(share @ climb_wh)
        if abs(waiting_wh) > JAM_WH + FACTOR * (expected_wh + abs(climbed_wh)):
            raise ImpossibleTripError(
                f"{waiting_wh / WH_PER_KWH:,.3g} kWh within {to_m - from_m:.0f} m, which cannot be; "
                "are the units right, and is it read cumulatively?"
            )
        factor = (waiting_wh - climbed_wh) / expected_wh
        energy_wh += share * (climb_wh + factor * dissipated_wh)
        driven += share
        waiting_wh = 0.0
    if waiting_wh and driven.any():
        energy_wh[np.flatnonzero(driven)[-1]] += waiting_wh
    counted = np.flatnonzero(driven >= COUNTED_SHARE)
    return counted, energy_wh[counted] / driven[counted]  # the ends alone can be driven in part


def _times(match: Match, time_s: FloatArray, setting: Setting) -> FloatArray:
    """Return the time spent on each edge, interpolated by way; NaN on the first and last, driven in part."""
    ends_m = np.cumsum(setting.network.length_m[match.edges])
    passed_s = np.interp(ends_m[:-1], match.at_m, time_s[match.position])
    travel_s: FloatArray = np.concatenate([[np.nan], np.diff(passed_s), [np.nan]])[
        : len(match.edges)
    ]
    return travel_s
