"""A drive so far: its fixes with what a meter showed, and where they lie along a planned route.

A fix belongs to the route if it lies within `BESIDE_M` of it. The route is followed onwards only,
so a road that it takes twice is told apart by what was driven before. `OFF_FIXES` fixes in a row
beside the route are off it. A single odd one changes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evroute.arrays import BoolArray, FloatArray, freeze
from evroute.errors import require

BESIDE_M = 50.0
"""Distance from the route up to which a fix lies on it, m."""
OFF_FIXES = 3
REACH_M, REACH = 200.0, 1.5
"""How far ahead of the last fix a fix may lie: m, and times the distance between both."""
STILL_M, STILL_S = 20.0, 120.0
"""A car that moves less than this for this long halts. Its minutes are not those of the roads."""
M_PER_DEGREE = 111_195.0
ONE_STEP = 1.0
"""Step of a display of charge of which a single reading is known, %."""


@dataclass(frozen=True, eq=False)
class Track:
    """A drive so far.

    Parameters
    ----------
    lat, lon
        (n,) positions, degrees (WGS 84), in driving order.
    time_s
        (n,) times, s. NaN where unknown.
    used_wh
        (n,) energy used up to each fix, Wh, by any count that rises with it. NaN where not read.
    percent
        (n,) charge, % of the usable battery. NaN where not read.
    step_percent
        Step of the display of the charge, %.

    Raises
    ------
    EvrouteError
        If there is no position, one is not on the earth, or a charge is not from 0 to 100 %.
    """

    lat: FloatArray
    lon: FloatArray
    time_s: FloatArray
    used_wh: FloatArray
    percent: FloatArray
    step_percent: float = ONE_STEP

    def __post_init__(self) -> None:
        names = ("lat", "lon", "time_s", "used_wh", "percent")
        shape = (len(self.lat),)
        freeze(self, **{name: (getattr(self, name), np.float64, shape) for name in names})
        require(len(self.lat) > 0, "a drive so far has no position")
        require(
            np.all((np.abs(self.lat) <= 90) & (np.abs(self.lon) <= 180)),
            "a position of the drive is not on the earth: lat is from -90 to 90, lon from -180 to "
            "180",
        )
        known = self.percent[np.isfinite(self.percent)]
        require(
            np.all((known >= 0) & (known <= 100)),
            f"charges of the drive are from {known.min(initial=100):g} to "
            f"{known.max(initial=0):g} %, expected 0 to 100",
        )

    @classmethod
    def at(
        cls,
        lat: float,
        lon: float,
        *,
        percent: float | None = None,
        energy_wh: float | None = None,
        elapsed_s: float | None = None,
        step_percent: float = ONE_STEP,
    ) -> "Track":
        """Return the drive of one reading on the way.

        Parameters
        ----------
        lat, lon
            Position now, degrees (WGS 84).
        percent
            Charge now, %, or None.
        energy_wh
            Energy used since the departure, Wh, or None.
        elapsed_s
            Seconds of driving since the departure, or None.
        step_percent
            Step of the display of the charge, %.
        """

        def one(number: float | None) -> FloatArray:
            return np.array([np.nan if number is None else number])

        numbers = one(elapsed_s), one(energy_wh), one(percent)
        return cls(one(lat), one(lon), *numbers, step_percent)

    @classmethod
    def of_fixes(cls, fixes: Iterable[Mapping[str, float | None]]) -> "Track":
        """Return the drive of some fixes.

        Parameters
        ----------
        fixes
            ``lat`` and ``lon`` of each, degrees, and ``time_s``, ``energy_wh`` used so far and
            ``percent`` of charge where they are known. A single fix counts from the departure.
        """
        names = ("lat", "lon", "time_s", "energy_wh", "percent")
        known = [[fix.get(name) for name in names] for fix in fixes]
        rows = [[np.nan if value is None else value for value in row] for row in known]
        columns = np.array(rows, dtype=np.float64).reshape(len(rows), len(names)).T
        steps = np.diff(np.unique(np.round(columns[4][np.isfinite(columns[4])], 6)))
        lat, lon, time_s, used_wh, percent = columns
        step_percent = float(steps.min()) if len(steps) else ONE_STEP
        return cls(lat, lon, time_s, used_wh, percent, step_percent)

    @property
    def single(self) -> bool:
        """Whether it is one reading, which counts from the departure."""
        return len(self.lat) == 1

    def until(self, last: int) -> "Track":
        """Return the drive up to a fix."""
        some = slice(0, last + 1)
        return Track(
            self.lat[some],
            self.lon[some],
            self.time_s[some],
            self.used_wh[some],
            self.percent[some],
            self.step_percent,
        )

    @cached_property
    def moved_m(self) -> FloatArray:
        """(n,) metres from the fix before, 0 for the first."""
        x_m = self.lon * np.cos(np.radians(self.lat)) * M_PER_DEGREE
        return np.hypot(
            np.diff(x_m, prepend=x_m[0]), np.diff(self.lat, prepend=self.lat[0]) * M_PER_DEGREE
        )

    def driving_s(self, first: int, last: int) -> float:
        """Return the seconds between two fixes without halts, or NaN where times are unknown.

        Parameters
        ----------
        first, last
            Numbers of the fixes.
        """
        time_s = self.time_s[first : last + 1]
        if self.single:
            return float(time_s[-1])
        if not np.isfinite(time_s).all():
            return float("nan")
        along_m = np.cumsum(self.moved_m[first : last + 1])
        halted_s, at = 0.0, 0
        while at < len(time_s):
            end = int(np.searchsorted(along_m, along_m[at] + STILL_M)) - 1
            if time_s[end] - time_s[at] >= STILL_S:
                halted_s += time_s[end] - time_s[at]
                at = end
            at += 1
        return float(time_s[-1] - time_s[0] - halted_s)


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """Where the fixes of a drive lie along a route.

    Parameters
    ----------
    along_m
        (n,) metres along the route, those of the last fix on it for fixes beside it. They never
        fall.
    on
        (n,) whether a fix lies on the route.
    """

    along_m: FloatArray
    on: BoolArray

    @property
    def off_since(self) -> int | None:
        """Number of the first fix after the route was left, None while the car is on it."""
        last = np.flatnonzero(self.on)
        beside = len(self.on) - 1 - (int(last[-1]) if len(last) else -1)
        return len(self.on) - beside if beside >= OFF_FIXES or not len(last) else None


def progress(track: Track, line: FloatArray, along_m: FloatArray) -> Progress:
    """Return where the fixes of a drive lie along a route.

    Parameters
    ----------
    track
        The drive.
    line
        (j, 2) longitudes and latitudes of the route.
    along_m
        (j,) metres along it.
    """
    scale = np.array([np.cos(np.radians(line[0, 1])), 1.0]) * M_PER_DEGREE
    points_m = (line - line[0]) * scale
    begins_m, steps_m = points_m[:-1], np.diff(points_m, axis=0)
    squares = np.maximum((steps_m**2).sum(axis=1), 1e-12)
    found_m, on = np.zeros(len(track.lat)), np.zeros(len(track.lat), dtype=np.bool_)
    reached_m, since_m = 0.0, np.inf  # the first fix may lie anywhere
    for number, fix in enumerate((np.column_stack([track.lon, track.lat]) - line[0]) * scale):
        share = np.clip(((fix - begins_m) * steps_m).sum(axis=1) / squares, 0.0, 1.0)
        apart_m = np.hypot(*(fix - begins_m - share[:, np.newaxis] * steps_m).T)
        at_m = along_m[:-1] + share * np.diff(along_m)
        since_m += track.moved_m[number]
        possible = (at_m >= reached_m - BESIDE_M) & (at_m <= reached_m + REACH_M + REACH * since_m)
        near = np.flatnonzero(possible & (apart_m <= BESIDE_M))
        if len(near):
            best = near[apart_m[near].argmin()]
            if not np.isfinite(since_m):  # of equal ones the first passage
                best = near[np.flatnonzero(apart_m[near] <= apart_m[best] + 1.0)[0]]
            reached_m, since_m, on[number] = max(reached_m, float(at_m[best])), 0.0, True
        found_m[number] = reached_m
    return Progress(found_m, on)
