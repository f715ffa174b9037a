"""A drive so far: its fixes with what a meter showed, and where they lie along a planned route.

A fix belongs to the route if it lies within `BESIDE_M` of it. The route is followed onwards only,
so a road that it takes twice is told apart by what was driven before. `OFF_FIXES` fixes in a row
beside the route are off it, and so is a car that took a turn that the route does not: it drives
`TURN_M`, comes less than half as far along the route, and no nearer to it. A single odd fix changes
nothing: turns are told by medians of three fixes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evroute.arrays import BoolArray, FloatArray, freeze
from evroute.errors import require

BESIDE_M = 50.0
"""Distance from the route up to which a fix lies on it, m."""
OFF_FIXES = 3
ALIKE_M, BACK_M = 1.0, 5.0
"""Difference up to which two passages of a place are as near, and noise of fixes backwards, m."""
TURN_M, ALONG, NOISE_M = 25.0, 0.5, 5.0
"""A turn off the route: over so many metres the car comes less than this share along it, and nearer
to it by the noise of fixes at most."""
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
    apart = np.append(True, np.any(np.diff(line, axis=0) != 0.0, axis=1))
    line, along_m = line[apart], along_m[apart]
    points_m = (line - line[0]) * scale
    begins_m, steps_m = points_m[:-1], np.diff(points_m, axis=0)
    squares = np.maximum((steps_m**2).sum(axis=1), 1e-12)
    found_m, on = np.zeros(len(track.lat)), np.zeros(len(track.lat), dtype=np.bool_)

    def feet(point_m: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return where each step is nearest to a point, m, how near, and which pass it there."""
        share = ((point_m - begins_m) * steps_m).sum(axis=1) / squares
        share = np.clip(share, 0.0, 1.0)
        apart_m = np.hypot(*(point_m - begins_m - share[:, np.newaxis] * steps_m).T)
        corner = (share == 1.0) & (np.append(share[1:], 0.0) == 0.0)
        passing = corner | (share > 0.0) & (share < 1.0)
        passing[:1] |= share[:1] == 0.0
        return along_m[:-1] + share * np.diff(along_m), apart_m, passing

    reached_m, since_m = 0.0, np.inf  # the first fix may lie anywhere
    fixes_m = (np.column_stack([track.lon, track.lat]) - line[0]) * scale
    for number, fix in enumerate(fixes_m):
        at_m, apart_m, _ = feet(fix)
        since_m += track.moved_m[number]
        possible = (at_m >= reached_m - BESIDE_M) & (at_m <= reached_m + REACH_M + REACH * since_m)
        near = np.flatnonzero(possible & (apart_m <= BESIDE_M))
        if len(near):
            best = near[apart_m[near].argmin()]
            alike = near[apart_m[near] <= apart_m[best] + ALIKE_M]
            ahead = alike[at_m[alike] >= reached_m - BACK_M]
            if len(ahead):  # of passages alike the next one
                best = ahead[0]
            reached_m, since_m, on[number] = max(reached_m, float(at_m[best])), 0.0, True
        found_m[number] = reached_m
    turn = _turn(fixes_m, found_m, feet)
    if turn is not None and on[:turn].any():
        on[turn:] = False
        found_m[turn:] = found_m[turn - 1]
    return Progress(found_m, on)


def _turn(
    fixes_m: FloatArray,
    found_m: FloatArray,
    feet: Callable[[FloatArray], tuple[FloatArray, FloatArray, BoolArray]],
) -> int | None:
    """Return the first fix after a turn that the route does not take, or None without one.

    Of passages that lie about as near, the car is taken to be on the best one. Fixes more than
    `BESIDE_M` apart tell no turn.

    Parameters
    ----------
    fixes_m
        (n, 2) positions in a plane, m.
    found_m
        (n,) metres reached along the route.
    feet
        Of a point in the plane: the nearest metres of each step of the route, how far these are,
        and which of them are passages, nearer than those beside them.
    """
    if len(fixes_m) < OFF_FIXES:
        return None
    steady_m = np.median(np.stack([fixes_m[2:], fixes_m[1:-1], fixes_m[:-2]]), axis=0)
    far_m = np.hypot(*(steady_m - steady_m[-1]).T)
    before = np.flatnonzero(far_m[: 1 - OFF_FIXES] >= TURN_M)
    if not len(before) or np.hypot(*np.diff(fixes_m[before[-1] :], axis=0).T).max() > BESIDE_M:
        return None
    first = int(before[-1])
    low_m, high_m = found_m[first] - 2 * BESIDE_M, found_m[-1] + REACH_M

    def passages(point_m: FloatArray) -> tuple[FloatArray, float]:
        at_m, apart_m, passing = feet(point_m)
        possible = passing & (at_m >= low_m) & (at_m <= high_m)
        best_m = float(apart_m[possible].min(initial=np.inf))
        return at_m[possible & (apart_m <= best_m + NOISE_M)], best_m

    (begin_m, beside_m), (end_m, apart_m) = passages(steady_m[first]), passages(steady_m[-1])
    if not len(begin_m) or not len(end_m):
        return None
    away = apart_m > beside_m - NOISE_M
    turned = away and end_m.max() - begin_m.min() < ALONG * far_m[first]
    return first + 2 if turned else None
