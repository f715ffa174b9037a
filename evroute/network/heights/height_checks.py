"""Checks of heights: impossible ones are refused, with the figure that shows it.

The thresholds stand between true terrain (Monaco's steep streets in three sources with SRTM and
with heights of their own, Luxembourg, Denver) and faults put into it; ``docs/figures/networks.md``
has the figures of both. Networks of fewer than `LEAST_EDGES` edges have their range checked alone.
"""

from collections.abc import Sequence

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
EXTRAPOLATED_M = 500.0
"""Farther along the roads from the last known height none is extrapolated."""
AROUND_M, AROUND_TIMES = 500.0, 3.0
"""Known heights on all sides are looked for so far, or 3 times as far as the nearest one."""


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
            f"{STEEP_BEYOND_M:.0f} m (true terrain: at most {GREATEST_STEEP_SHARE:.0%}); are the "
            "heights in metres, at the right place, and their holes marked?"
        )


def check_rasters(
    network: RoadNetwork, names: Sequence[str], rasters: Sequence[RasterHeights], source: IntArray
) -> None:
    """Refuse rasters of one height, with unmarked holes, or with a jump from one to the next.

    Parameters
    ----------
    network
        The network; v junctions.
    names, rasters
        The rasters' names, and their heights at the junctions.
    source
        (v,) the raster that each junction takes its height from; -1 for none.

    Raises
    ------
    EvrouteError
        If a raster has one height only, unmarked holes, or a jump to its neighbour.
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
    _check_seams(network, names, rasters, source)


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


def check_extrapolation(network: RoadNetwork, known: BoolArray, missing: BoolArray) -> None:
    """Refuse junctions without a height that are far from known heights, and have none on one side.

    Parameters
    ----------
    network
        The network; v junctions.
    known
        (v,) junctions with a height.
    missing
        (v,) junctions that lie outside the rasters or in their holes.

    Raises
    ------
    EvrouteError
        If one is farther than `EXTRAPOLATED_M` along the roads from the nearest known height.
    """
    if network.n_edges < LEAST_EDGES or not missing.any():
        return
    away_m = dijkstra(
        _shortest_roads(network), directed=False, indices=np.flatnonzero(known), min_only=True
    )
    places = np.column_stack([network.x_m, network.y_m])
    tree = KDTree(places[known])
    far = np.flatnonzero(missing & (away_m > EXTRAPOLATED_M))
    bare = [j for j in far if not _surrounded(tree, places[j])]
    if bare:
        _refuse(
            f"{len(bare)} junctions lie beyond the rasters, up to {away_m[bare].max():,.0f} m "
            "along the roads from the last known height (at most "
            f"{EXTRAPOLATED_M:.0f} m are extrapolated); add the rasters that are missing"
        )


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
        f"these heights cannot be true: {reason}; "
        "--elevation-unchecked builds the network nevertheless"
    )
