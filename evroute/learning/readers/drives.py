"""A drive of a log on the roads, and the trip that it measured: edges, energies, times and ends."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.learning.gate import WH_PER_KWH
from evroute.learning.measured import ImpossibleTripError, MeasuredTrip
from evroute.learning.readers.attribution import attributed
from evroute.learning.readers.meters import COARSE_PERCENT, Meter
from evroute.methods.setting import Setting
from evroute.network.places.map_matching import Match
from evroute.network.places.positions import JUNCTION_M

FEWEST_READINGS = 8
"""Readings of a trip whose even and odd ones are compared."""
SHORTEST_M = 300.0
"""Parts of trips below this length on the roads are set aside."""


@dataclass(frozen=True, slots=True, eq=False)
class Drive:
    """A connected part of a trip on the roads. ``match`` counts the (p,) rows of its piece."""

    name: str
    rows: IntArray
    match: Match
    time_s: FloatArray
    used_wh: FloatArray
    car: str


def trip_of(drive: Drive, meter: Meter, setting: Setting, first: dict[str, Any]) -> MeasuredTrip:
    """Return the edges that a drive measured, with their energies.

    Parameters
    ----------
    drive, meter
        The drive, and the kind of its readings of energy.
    setting
        Network and vehicle.
    first
        Values of the first row of the trip.

    Raises
    ------
    ImpossibleTripError
        If too little of it lies on the roads, or too few readings of energy.
    """
    match, used_wh = drive.match, drive.used_wh
    inside = np.arange(match.position[0], match.position[-1] + 1)
    read = inside[np.isfinite(used_wh[inside])]
    if meter.kind == "charge" and meter.step_percent >= COARSE_PERCENT:
        read = read[[0, -1]] if len(read) > 1 else read
    elif meter.kind == "charge":
        # a display is exact where it changes; between two changes the charge may be any value
        read = read[1:][np.diff(used_wh[read]) != 0]
    at_m = np.interp(read, match.position, match.at_m)
    driven_m = match.at_m[-1] - match.at_m[0]
    require(
        driven_m >= SHORTEST_M,
        f"only {driven_m:.0f} m of it lie on the roads in one piece",
        ImpossibleTripError,
    )
    require(
        len(read) > 1 and at_m[-1] > at_m[0],
        "no two readings of energy lie apart on the roads. A trip needs energy at two points",
        ImpossibleTripError,
    )
    edges, energy_wh = attributed(match.edges, at_m, used_wh[read], setting)
    require(len(edges), "its readings of energy lie at one place", ImpossibleTripError)
    kept = slice(edges[0], edges[-1] + 1)
    start_m, end_m = _ends(match.edges, at_m, kept, setting)
    return MeasuredTrip(
        drive.name,
        match.edges[kept],
        energy_wh,
        _times(match, drive.time_s, kept, at_m, setting),
        departed_s=float(drive.time_s[match.position[0]]),
        whole=len(read) == 2,
        start_m=start_m,
        end_m=end_m,
        known_variance_wh2=meter.variance_wh2(setting.vehicle.battery_kwh * WH_PER_KWH),
        car=drive.car,
        **first,
    )


def _ends(edges: IntArray, at_m: FloatArray, kept: slice, setting: Setting) -> tuple[float, float]:
    """Return the metres along the first and the last edge between two readings, or NaN at its end.

    Parameters
    ----------
    edges
        (e,) edges of a route.
    at_m
        (r,) distances of readings along it, m.
    kept
        Edges between the first and the last of them.
    setting
        Network of the trip.
    """
    length_m = setting.network.length_m[edges]
    ends_m = np.cumsum(length_m)
    first, last = kept.start, kept.stop - 1
    start_m = float(at_m[0] - (ends_m[first] - length_m[first]))
    left_m = float(ends_m[last] - at_m[-1])
    start_m = start_m if start_m > JUNCTION_M else 0.0
    return start_m, float(length_m[last]) - left_m if left_m > JUNCTION_M else np.nan


def with_end(trip: MeasuredTrip, drive: Drive, soc_percent: FloatArray) -> MeasuredTrip:
    """Return a trip with the charge at its end, by the fall per energy between two readings.

    Parameters
    ----------
    trip
        Trip of the drive.
    drive
        Rows with energies.
    soc_percent
        (p,) charge at these rows, %, or NaN where there is none.
    """
    inside = np.arange(drive.match.position[0], drive.match.position[-1] + 1)
    read = inside[np.isfinite(drive.used_wh[inside] + soc_percent[inside])]
    if len(read) < FEWEST_READINGS:
        return trip
    used_wh = float(drive.used_wh[read[-1]] - drive.used_wh[read[0]])
    fall = float(soc_percent[read[0]] - soc_percent[read[-1]])
    if used_wh <= 0.0:
        return trip
    end = trip.soc_percent - fall * float(trip.energy_wh.sum()) / used_wh
    possible = 0.0 <= end <= 100.0 and trip.soc_percent <= 100.0
    return replace(trip, soc_end_percent=end) if possible else trip


def _times(
    match: Match, time_s: FloatArray, kept: slice, at_m: FloatArray, setting: Setting
) -> FloatArray:
    """Return the time on each edge between two readings, by interpolation, s.

    The first and the last edge have the times of their parts between the readings.

    Parameters
    ----------
    match
        Matched positions.
    time_s
        (n,) times of all positions, s.
    kept
        The e edges of the trip between the readings.
    at_m
        (r,) distances of the readings, m.
    setting
        Network of the trip.

    Returns
    -------
    FloatArray
        (e,) s.
    """
    length_m = setting.network.length_m[match.edges]
    ends_m = np.cumsum(length_m)[kept]
    begun_m = max(at_m[0], ends_m[0] - length_m[kept.start])
    passed_m = np.concatenate([[begun_m], ends_m[:-1], [min(at_m[-1], ends_m[-1])]])
    return np.diff(np.interp(passed_m, match.at_m, time_s[match.position]))
