"""Profiles: heights inside edges, sampled along their shapes.

Between its junctions an edge takes heights every `SPACING_M` or so, from the rasters of the
network or from the z of SUMO's shapes. Its deviation d from the straight line between its ends is
smoothed as the heights of junctions are (`elevation`): over the inner points, with d = 0 at both
ends, it minimises

    sum of (h / WEIGHT_M) (d - d0)² + s · sum of (change of d)² / h,

h the distance of the points. So the smoothing does not depend on the spacing. The strength s equals
the junctions' strength, for rasters times (cell / `FINE_M`)², at least 1: the smoothing reaches
about 1.4 cells. With that, SRTM of 3 arc-seconds agrees best with the z of the roads of Monaco
(docs/results/search.md).

Where d0 is unknown the road is straight. Bridges and tunnels stay straight. A deviation is scaled
down until no piece is steeper than `STEEP`, or than the edge itself. Rasters with cells above
`COARSEST_M` show no terrain inside edges and are not sampled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import solveh_banded

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.errors import EvrouteError, UnknownNameError
from evroute.network.heights import raster
from evroute.network.heights.elevation import STEEP
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork

SPACING_M = 30.0
"""Distance of the heights inside edges, about a third of a cell of 3 arc-seconds."""
WEIGHT_M = 60.0
"""Metres of road that weigh as much as one junction in the smoothing."""
FINE_M = 30.0
"""Largest cells that need no further smoothing, m: cells of 1 arc-second."""
COARSEST_M = 120.0
"""Largest cells that are sampled. Cells of 3 arc-seconds measure 93 m."""
LEAST_M = 1e-6
"""Least strength, m. It keeps the road straight where no height is known."""
APART_M = 3.0
"""An edge's own heights are not trusted if an end lies farther than this from its junction."""


def on_terrain(network: RoadNetwork, terrain: str | None) -> RoadNetwork:
    """Return a network with one slope per edge (``"edge"``), or with its ``"profile"``.

    None is the profile where the network has one.

    Raises
    ------
    EvrouteError
        If the name is neither, or the network has no profile.
    """
    if terrain not in (None, "edge", "profile"):
        raise UnknownNameError(f"unknown terrain '{terrain}'. There are edge, profile")
    if terrain == "profile" and network.pieces is None:
        raise EvrouteError(
            f"network '{network.name}' has no profile, so each edge has one slope. Build it with "
            f"heights whose cells measure {COARSEST_M:g} m or less (--elevation)"
        )
    if terrain != "edge" or network.pieces is None:
        return network
    return network.without_table("profile")


def same_profile(network: RoadNetwork, other: RoadNetwork) -> bool:
    """Return whether two networks have equal heights inside their edges, or both have none."""
    if network is other:
        return True
    profiles = [roads.pieces and roads.pieces.digest for roads in (network, other)]
    return profiles[0] == profiles[1]


def sampled(
    network: RoadNetwork,
    read: RoadNetwork,
    rasters: Sequence[Path],
    *,
    smoothing_m: float,
    spacing_m: float = SPACING_M,
) -> tuple[dict[str, Table], tuple[str, ...]]:
    """Return the table ``profile`` of a network by name, or none, and notes for its source.

    Parameters
    ----------
    network
        The network with the heights of its junctions.
    read
        The network as its reader returned it. The table ``shape``, with the heights ``z_m`` (p,)
        of its shape points, counts where there are no rasters.
    rasters
        Files of heights. The first with a value at a place counts.
    smoothing_m
        Strength of the smoothing of the junctions, >= 0, m.
    spacing_m
        Distance of the heights inside edges, m. Edges are cut into pieces of equal length.

    Raises
    ------
    EvrouteError
        If the spacing is not from 5 to 1,000 m.
    NetworkFormatError
        If a raster cannot be read.
    """
    if not 5.0 <= spacing_m <= 1000.0:
        raise EvrouteError(f"the spacing is {spacing_m:g} m. It must be from 5 to 1,000 m")
    points = _Points.along(network, spacing_m)
    if rasters:
        height_m, notes, cell_m = _of_rasters(network, rasters, points)
        smoothing_m *= max(1.0, cell_m / FINE_M) ** 2
    elif "shape" in read.tables:
        height_m, notes = _of_shapes(network, read, points)
    else:
        return {}, ()
    if np.isnan(height_m).all():
        return {}, notes
    apart_m = _apart_m(network, points, height_m)
    unknown = int((np.isnan(apart_m) & points.inside).sum())
    apart_m = _smoothed(apart_m, points.inside, points.step_m[points.edge], smoothing_m)
    kept = _share_kept(network, points, apart_m)
    height_m = network.elevation_m[network.tail][points.edge]
    height_m = height_m + points.share * network.climb_m[points.edge]
    height_m += np.minimum(kept, 1.0)[points.edge] * apart_m
    several, n = int((points.pieces > 1).sum()), network.n_edges
    more = [
        f"profile: a height every {spacing_m:g} m inside edges, smoothed by {smoothing_m:.0f} m, "
        f"{several:,} of {n:,} edges have several slopes"
    ]
    if unknown:
        more.append(
            f"profile: {unknown:,} of {int(points.inside.sum()):,} heights inside edges are "
            "unknown. The road is straight there"
        )
    if steep := int((kept < 1.0).sum()):
        more.append(f"profile: {steep:,} edges are held at {STEEP:.0%} inside")
    inner_m = height_m[points.inside].astype(np.float32)
    start = np.concatenate([[0], np.cumsum(points.pieces - 1)])
    return {"profile": {"start": start, "height_m": inner_m}}, (*notes, *more)


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """The k points between pieces of n edges: the inner points of each edge between its two ends.

    pieces: (n,) pieces of each edge.  step_m: (n,) their length.  begin, end: (n,) rows of the
    ends.  edge: (k,) edge of each point.  share: (k,) of the length of its edge, from 0 to 1.
    """

    pieces: IntArray
    step_m: FloatArray
    begin: IntArray
    end: IntArray
    edge: IntArray
    share: FloatArray

    @classmethod
    def along(cls, network: RoadNetwork, spacing_m: float) -> "_Points":
        """Return points about ``spacing_m`` apart. Bridges and tunnels are one piece."""
        pieces = np.maximum(np.rint(network.length_m / spacing_m), 1.0).astype(np.int64)
        pieces[network.structure != 0] = 1
        edge = np.repeat(np.arange(network.n_edges), pieces + 1)
        end = np.cumsum(pieces + 1) - 1
        begin = end - pieces
        share = (np.arange(len(edge)) - begin[edge]) / pieces[edge]
        return cls(pieces, network.length_m / pieces, begin, end, edge, share)

    @property
    def inside(self) -> BoolArray:
        """(k,) True at inner points."""
        return (self.share > 0.0) & (self.share < 1.0)


def _apart_m(network: RoadNetwork, points: _Points, height_m: FloatArray) -> FloatArray:
    """Return the heights (k,) above the straight lines between the ends of the edges, (k,) m.

    An end in a hole has the height of its junction.
    """
    low_m, high_m = (
        np.where(np.isnan(height_m[at]), network.elevation_m[junction], height_m[at])
        for at, junction in ((points.begin, network.tail), (points.end, network.head))
    )
    return height_m - low_m[points.edge] - points.share * (high_m - low_m)[points.edge]


def _share_kept(network: RoadNetwork, points: _Points, apart_m: FloatArray) -> FloatArray:
    """Return the share of the deviations of each edge that keeps its pieces below `STEEP`, (n,).

    The slope of a piece is the slope of its edge plus the change of the deviation.
    """
    n = network.n_edges
    slope, of = network.climb_m / network.length_m, np.repeat(np.arange(n), points.pieces)
    change = np.delete(np.diff(apart_m), points.end[:-1]) / points.step_m[of]
    room = np.maximum(STEEP, np.abs(slope))[of] - np.sign(change) * slope[of]
    shares = room / np.maximum(np.abs(change), 1e-9)
    return np.minimum.reduceat(shares, points.begin - np.arange(n))


def _of_rasters(
    network: RoadNetwork, rasters: Sequence[Path], points: _Points
) -> tuple[FloatArray, tuple[str, ...], float]:
    """Return the heights at points (k,) m, nan where unknown, notes, and the largest cell, m."""
    edge, share = points.edge, points.share
    x_m, y_m = (_along(network, of, edge, share) for of in (network.shape_x_m, network.shape_y_m))
    height_m = np.full(len(edge), np.nan)
    notes, cell_m = [], 0.0
    for path in rasters:
        here = raster.heights_at(path, network.crs, x_m, y_m)
        if here.cell_m > COARSEST_M:
            notes.append(
                f"profile: cells of {here.cell_m:,.0f} m ({path.name}) show no terrain inside edges"
            )
            continue
        sound = np.isnan(height_m) & ~here.in_pit
        height_m, cell_m = np.where(sound, here.height_m, height_m), max(cell_m, here.cell_m)
    return height_m, tuple(notes), cell_m


def _of_shapes(
    network: RoadNetwork, read: RoadNetwork, points: _Points
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the reader's heights at points, (k,) m, nan where not trusted, and notes."""
    edge, share = points.edge, points.share
    row = np.array([read.row_of[edge_id] for edge_id in network.edge_id])
    z_m = np.asarray(read.tables["shape"]["z_m"])
    off_m = np.abs(z_m[read.shape_start[:-1]] - read.elevation_m[read.tail])
    off_m = np.fmax(off_m, np.abs(z_m[read.shape_start[1:] - 1] - read.elevation_m[read.head]))
    wrong = (off_m > APART_M)[row]
    height_m = np.where(wrong[edge], np.nan, _along(read, z_m, row[edge], share))
    n_wrong = int(wrong.sum())
    note = f"profile: the shapes of {n_wrong:,} edges end over {APART_M:g} m off junctions"
    return height_m, (note,) if n_wrong else ()


def _along(
    network: RoadNetwork, values: FloatArray, edge: IntArray, share: FloatArray
) -> FloatArray:
    """Return values (p,) of the shape points at shares (k,) of the lengths of edges (k,), (k,)."""
    start = network.shape_start
    row = np.repeat(np.arange(network.n_edges), np.diff(start))
    step_m = np.hypot(
        np.diff(network.shape_x_m, prepend=0.0), np.diff(network.shape_y_m, prepend=0)
    )
    step_m[start[:-1]] = 0.0
    along_m = np.cumsum(step_m)
    along_m -= along_m[start[:-1]][row]
    whole_m = along_m[start[1:] - 1][row]
    points = (np.arange(len(row)) - start[:-1][row]) / (np.diff(start) - 1)[row]
    of_points = np.where(whole_m > 0, along_m / np.where(whole_m > 0, whole_m, 1.0), points)
    # the ends lie just below 1, for the next edge begins there
    ends = 1.0 - 1e-9
    return np.interp(edge + np.minimum(share, ends), row + np.minimum(of_points, ends), values)


def _smoothed(
    apart_m: FloatArray, inside: BoolArray, step_m: FloatArray, smoothing_m: float
) -> FloatArray:
    """Return the smoothed deviations (k,), m, 0 at points that are not ``inside`` (k,)."""
    known = inside & np.isfinite(apart_m)
    pull = max(smoothing_m, LEAST_M) / step_m
    band = np.zeros((2, len(apart_m)))
    band[1] = np.where(inside, known * step_m / WEIGHT_M + 2.0 * pull, 1.0)
    band[0, 1:] = np.where(inside[1:] & inside[:-1], -pull[1:], 0.0)
    return solveh_banded(band, np.where(known, apart_m * step_m / WEIGHT_M, 0.0))
