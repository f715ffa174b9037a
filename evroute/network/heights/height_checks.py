"""Checks of heights: impossible ones are refused, with the figure that shows it.

The thresholds stand between true terrain (Monaco's steep streets in three sources with SRTM and
with heights of their own, Luxembourg, Denver) and faults put into it. ``docs/results/search.md``
has the figures. Networks of fewer than `LEAST_EDGES` edges have their range checked alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.network.heights.raster import HIGHEST_M, LOWEST_M, RasterHeights
from evroute.network.road_network import RoadNetwork

LEAST_EDGES = 50
STEEP = 0.25
STEEP_BEYOND_M = 10.0
GREATEST_STEEP_SHARE = 0.02
"""98 % of the roads climb at most a quarter of their length and, as heights are noisy, 10 m."""
SEAM_M = 10.0
SEAM_SLOPE = 0.15
SEAM_ROADS = 5
"""Roads from one raster to the next climb at most 15 % of their length and 10 m in the median.

For fewer than 5 roads it is a quarter of their length."""
OVERLAP_M = 15.0
OVERLAP_SLOPE = 0.05
OVERLAP_JUNCTIONS = 10
"""Where two rasters overlap at 10 junctions they differ by at most 15 m, or 5 % of a cell, there.

True sources differ less in the median: SRTM and the roads of Monaco by 6 m, and the raster of steep
Monaco from its own means over cells of 0.5 to 2 km by 3 % of such a cell. Heights above the
ellipsoid instead of the sea differ by tens of metres in most countries."""
EXTRAPOLATED_M = 500.0
GREATEST_BARE_SHARE = 0.01
"""At most 1 % of the junctions lie farther than 500 m along the roads from the last known height.

Up to that share the map reaches a little beyond the heights, and a note states it. Above it,
rasters are missing. The rasters of Monaco and Luxembourg were cut off on each side. With 1 % of the
junctions outside, the heights of the network change by at most 6 m (rms), which is less than the 8
m by which SRTM and the roads of Monaco differ. With 5 % they change by up to 11 m."""
AROUND_M, AROUND_TIMES = 500.0, 3.0
"""Known heights on all sides are looked for so far, or 3 times as far as the nearest one."""


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Junctions without a height of their own.

    known: (v,) a raster has a height.  inside: (v,) a raster covers the place.  off_ground: (v,)
    only bridges and tunnels meet there.
    """

    known: BoolArray
    inside: BoolArray
    off_ground: BoolArray

    @property
    def outside(self) -> BoolArray:
        """(v,) True outside all rasters."""
        return ~self.inside

    @property
    def in_holes(self) -> BoolArray:
        """(v,) True inside a raster where none has a height."""
        return self.inside & ~self.known

    @property
    def grounded(self) -> BoolArray:
        """(v,) True at known heights of the ground."""
        return self.known & ~self.off_ground

    @property
    def missing_on_ground(self) -> BoolArray:
        """(v,) True on the ground where no height is known."""
        return ~self.known & ~self.off_ground


def check_heights(network: RoadNetwork, elevation_m: FloatArray) -> None:
    """Refuse heights (v,) that do not exist on earth, or that make too many roads too steep.

    Raises
    ------
    EvrouteError
        If a height is outside of the earth's range, or the roads are too steep.
    """
    wrong = ~((elevation_m >= LOWEST_M) & (elevation_m <= HIGHEST_M))
    if wrong.any():
        j = int(np.flatnonzero(wrong)[0])
        _refuse(f"junction '{network.junction_id[j]}' lies at {elevation_m[j]:,.0f} m")
    ground = (network.structure == 0) & (network.tail != network.head)
    if ground.sum() < LEAST_EDGES:
        return
    climb_m = np.abs(elevation_m[network.head] - elevation_m[network.tail])[ground]
    steep = climb_m - STEEP_BEYOND_M > STEEP * network.length_m[ground]
    if steep.mean() > GREATEST_STEEP_SHARE:
        _refuse(
            f"{steep.mean():.1%} of the roads climb more than {STEEP:.0%} of their length and "
            f"{STEEP_BEYOND_M:.0f} m (true terrain: at most {GREATEST_STEEP_SHARE:.0%}). Are the "
            "heights in metres, at the right place, and their holes marked?"
        )


def check_rasters(
    network: RoadNetwork, names: Sequence[str], rasters: Sequence[RasterHeights], source: IntArray
) -> None:
    """Refuse rasters of one height, with unmarked holes, or that differ where they meet.

    Parameters
    ----------
    network
        The network. v junctions.
    names, rasters
        The rasters' names, and their heights at the junctions.
    source
        (v,) the raster that each junction takes its height from, or -1 for none.

    Raises
    ------
    EvrouteError
        If a raster has one height only or unmarked holes, or two rasters differ where they overlap
        or jump where they meet.
    """
    if network.n_edges < LEAST_EDGES:
        return
    for k, (name, raster) in enumerate(zip(names, rasters, strict=True)):
        used = source == k
        if not used.any():
            continue
        if used.sum() > LEAST_EDGES and np.ptp(raster.height_m[used]) == 0:
            _refuse(f"{name} has {raster.height_m[used][0]:g} m at all junctions")
        if n := int((raster.in_pit & used).sum()):
            _refuse(f"{n} junctions lie in holes of {name} that are written as 0 m")
    _check_overlaps(names, rasters)
    _check_seams(network, names, rasters, source)


def _check_overlaps(names: Sequence[str], rasters: Sequence[RasterHeights]) -> None:
    """Compare the heights of rasters at the junctions that two of them cover."""
    known = np.isfinite([here.height_m for here in rasters])
    shared = known.astype(np.float32) @ known.T.astype(np.float32)
    for first, second in np.argwhere(np.triu(shared, 1) >= OVERLAP_JUNCTIONS).tolist():
        both = known[first] & known[second]
        apart_m = rasters[second].height_m[both] - rasters[first].height_m[both]
        most_m = float(np.median(np.abs(apart_m)))
        cell_m = max(rasters[first].cell_m, rasters[second].cell_m)
        allowed_m = max(OVERLAP_M, OVERLAP_SLOPE * cell_m)
        if most_m > allowed_m:
            _refuse(
                f"{names[first]} and {names[second]} differ by {most_m:,.0f} m in the median at "
                f"the {both.sum():,} junctions that both cover (true heights: at most "
                f"{allowed_m:.0f} m)"
            )


def _check_seams(
    network: RoadNetwork, names: Sequence[str], rasters: Sequence[RasterHeights], source: IntArray
) -> None:
    """Compare junctions across the seam of two rasters, and those at 0 m with their neighbours."""
    all_m = np.stack([raster.height_m for raster in rasters])
    height_m = all_m[np.maximum(source, 0), np.arange(len(source))]
    tail, head = network.tail, network.head
    ground = (network.structure == 0) & (source[tail] >= 0) & (source[head] >= 0)
    for part, reason in (
        (source, f"heights jump between {' and '.join(names)}"),
        (height_m == 0, f"holes of {', '.join(names)} are written as 0 m"),
    ):
        across = ground & (part[tail] != part[head])
        n = int(across.sum())
        slope = SEAM_SLOPE if n >= SEAM_ROADS else STEEP
        climb_m = np.abs(height_m[head] - height_m[tail])[across]
        if n and np.median(climb_m - slope * network.length_m[across]) > SEAM_M:
            _refuse(
                f"{reason}: the {n} roads across climb {np.median(climb_m):,.0f} m in the median"
            )


def check_extrapolation(network: RoadNetwork, gaps: Gaps) -> list[str]:
    """Refuse too many junctions without a height that are far from the known heights.

    They are farther than `EXTRAPOLATED_M` along the roads from the nearest known height, and have
    known heights on one side only.

    Parameters
    ----------
    network
        The network. v junctions.
    gaps
        Its junctions without a height.

    Returns
    -------
    list of str
        A note on such junctions where they are few, or empty where there are none.

    Raises
    ------
    EvrouteError
        If they are more than `GREATEST_BARE_SHARE`.
    """
    missing = gaps.missing_on_ground
    if network.n_edges < LEAST_EDGES or not missing.any():
        return []
    known = np.flatnonzero(gaps.grounded)
    away_m = dijkstra(_shortest_roads(network), directed=False, indices=known, min_only=True)
    places = np.column_stack([network.x_m, network.y_m])
    tree = KDTree(places[known])
    far = np.flatnonzero(missing & (away_m > EXTRAPOLATED_M))
    bare = np.array([j for j in far if not _surrounded(tree, places[j])], dtype=np.int64)
    if len(bare) == 0:
        return []
    n, v = len(bare), network.n_junctions
    holes = int(gaps.in_holes[bare].sum())
    counted = (
        f"{n} junctions ({n / v:.2%}), {_where(n, holes)}, are up to {away_m[bare].max():,.0f} m "
        "along the roads from the last known height"
    )
    if n > GREATEST_BARE_SHARE * v:
        missing_part = "the rasters that are missing" if holes < n else "a raster without holes"
        _refuse(
            f"{counted} (at most {EXTRAPOLATED_M:.0f} m, or {GREATEST_BARE_SHARE:.0%} of the "
            f"junctions, are extrapolated). Add {missing_part}"
        )
    return [f"{counted}. Their heights are extrapolated"]


def _where(bare: int, holes: int) -> str:
    """Return where junctions lie, of which so many are in holes of the rasters."""
    if holes == bare:
        return "in holes of the rasters"
    if holes == 0:
        return "outside the rasters"
    return f"{bare - holes} outside the rasters and {holes} in their holes"


def _shortest_roads(network: RoadNetwork) -> csr_array:
    """Return the lengths (v, v) of the shortest edge between any two junctions, m."""
    v = network.n_junctions
    order = np.lexsort((network.length_m, network.head, network.tail))
    pair = (network.tail * v + network.head)[order]
    first = order[np.append(True, np.diff(pair) != 0)]
    return csr_array(
        (network.length_m[first], (network.tail[first], network.head[first])), shape=(v, v)
    )


def _surrounded(tree: KDTree, place: FloatArray) -> bool:
    """Return whether points of a tree lie in every half-plane around a place."""
    around = tree.query_ball_point(place, max(AROUND_M, AROUND_TIMES * float(tree.query(place)[0])))
    offset = np.asarray(tree.data)[around] - place
    angle = np.sort(np.arctan2(offset[:, 1], offset[:, 0]))
    return bool(np.diff(angle, append=angle[0] + 2 * np.pi).max() < np.pi)


def _refuse(reason: str) -> None:
    raise EvrouteError(
        f"these heights cannot be true: {reason}. "
        "--elevation-unchecked builds the network nevertheless"
    )
