"""Profiles: heights inside edges, sampled along their shapes.

Between its junctions an edge takes heights every `SPACING_M` or so, from the rasters of the
network or from the z of SUMO's shapes. Its deviation d from the straight line between its ends is
smoothed as the heights of junctions are (`elevation`): over the inner points, with d = 0 at both
ends, it minimises

    sum of (h / WEIGHT_M) (d - d0)² + s · sum of (change of d)² / h,

h the distance of the points. So the smoothing does not depend on the spacing. The strength s is
that of the junctions, for rasters times (cell / `FINE_M`)², at least 1: the smoothing reaches about
1.4 cells. With that, SRTM of 3 arc-seconds agrees best with the z of the roads of Monaco
(docs/figures/terrain.md).

Where d0 is unknown the road is straight. Bridges and tunnels stay straight. A deviation is scaled
down until no piece is steeper than `STEEP`, or than the edge itself.

Rasters with cells above `COARSEST_M` show no terrain inside edges and are not sampled.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.linalg import solveh_banded

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.errors import UnknownNameError, require
from evroute.network.elevation import STEEP
from evroute.network.heights import raster
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork

SPACING_M = 30.0
"""Distance of the heights inside edges, about a third of a cell of 3 arc-seconds."""
WEIGHT_M = 60.0
"""Metres of road that weigh as much as one junction in the smoothing."""
FINE_M = 30.0
"""Largest cells that need no further smoothing, m: those of 1 arc-second."""
COARSEST_M = 120.0
"""Largest cells that are sampled; those of 3 arc-seconds measure 93 m."""
LEAST_M = 1e-6
"""Least strength, m; it keeps the road straight where no height is known."""
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
    require(
        terrain in (None, "edge", "profile"),
        f"unknown terrain '{terrain}'; there are edge, profile",
        UnknownNameError,
    )
    require(
        terrain != "profile" or network.pieces is not None,
        f"network '{network.name}' has no profile, so each edge has one slope; build it with "
        f"heights whose cells measure {COARSEST_M:g} m or less (--elevation)",
    )
    if terrain != "edge" or network.pieces is None:
        return network
    one_slope = network.with_tables({})
    vars(one_slope)["pieces"] = None
    return one_slope


def carried(network: RoadNetwork, origin: RoadNetwork) -> dict[str, Table]:
    """Return the table ``profile`` of another network for those of its edges that are left."""
    if "profile" not in origin.tables:
        return {}
    start, height_m = (np.asarray(origin.tables["profile"][c]) for c in ("start", "height_m"))
    rows = [origin.row_of[edge_id] for edge_id in network.edge_id]
    offsets = np.concatenate([[0], np.cumsum(np.diff(start)[rows])])
    inner = [height_m[start[row] : start[row + 1]] for row in rows]
    return {"profile": {"start": offsets, "height_m": np.concatenate(inner)}}


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
        The network as its reader returned it; the table ``shape``, with the heights ``z_m`` (p,)
        of its shape points, counts where there are no rasters.
    rasters
        Files of heights; the first with a value at a place counts.
    smoothing_m
        Strength of the smoothing of the junctions, >= 0, m.
    spacing_m
        Distance of the heights inside edges, m; edges are cut into pieces of equal length.

    Raises
    ------
    EvrouteError
        If the spacing is not from 5 to 1,000 m.
    NetworkFormatError
        If a raster cannot be read.
    """
    require(
        5.0 <= spacing_m <= 1000.0, f"the spacing is {spacing_m:g} m; it must be from 5 to 1,000 m"
    )
    n, tail_m = network.n_edges, network.elevation_m[network.tail]
    pieces = np.maximum(np.rint(network.length_m / spacing_m), 1.0).astype(np.int64)
    pieces[network.structure != 0] = 1
    # one row per point: the inner points of each edge between its two ends
    edge = np.repeat(np.arange(n), pieces + 1)
    end = np.cumsum(pieces + 1) - 1
    begin = end - pieces
    share = (np.arange(len(edge)) - begin[edge]) / pieces[edge]
    if rasters:
        height_m, notes, cell_m = _of_rasters(network, rasters, edge, share)
        smoothing_m *= max(1.0, cell_m / FINE_M) ** 2
    elif "shape" in read.tables:
        height_m, notes = _of_shapes(network, read, edge, share)
    else:
        return {}, ()
    if np.isnan(height_m).all():
        return {}, notes
    low_m, high_m = (  # an end in a hole has the height of its junction
        np.where(np.isnan(height_m[at]), network.elevation_m[junction], height_m[at])
        for at, junction in ((begin, network.tail), (end, network.head))
    )
    apart_m = height_m - low_m[edge] - share * (high_m - low_m)[edge]
    inside, step_m = (share > 0.0) & (share < 1.0), network.length_m / pieces
    unknown = int((np.isnan(apart_m) & inside).sum())
    apart_m = _smoothed(apart_m, inside, step_m[edge], smoothing_m)
    # the slope of a piece is that of its edge plus the change of apart_m
    slope, of = network.climb_m / network.length_m, np.repeat(np.arange(n), pieces)
    change = np.delete(np.diff(apart_m), end[:-1]) / step_m[of]
    room = np.maximum(STEEP, np.abs(slope))[of] - np.sign(change) * slope[of]
    share_kept = np.minimum.reduceat(room / np.maximum(np.abs(change), 1e-9), begin - np.arange(n))
    height_m = tail_m[edge] + share * network.climb_m[edge]
    height_m += np.minimum(share_kept, 1.0)[edge] * apart_m
    steep = int((share_kept < 1.0).sum())
    notes += (
        f"profile: a height every {spacing_m:g} m inside edges, smoothed by {smoothing_m:.0f} m; "
        f"{int((pieces > 1).sum()):,} of {n:,} edges have several slopes",
        *[
            f"profile: {unknown:,} of {int(inside.sum()):,} heights inside edges are unknown; the "
            "road is straight there"
        ][: bool(unknown)],
        *[f"profile: {steep:,} edges are held at {STEEP:.0%} inside"][: bool(steep)],
    )
    start = np.concatenate([[0], np.cumsum(pieces - 1)])
    return {"profile": {"start": start, "height_m": height_m[inside].astype(np.float32)}}, notes


def _of_rasters(
    network: RoadNetwork, rasters: Sequence[Path], edge: IntArray, share: FloatArray
) -> tuple[FloatArray, tuple[str, ...], float]:
    """Return the heights at shares of edges, (k,) m, nan where unknown, notes, and the cells, m."""
    x_m, y_m = (_along(network, of, edge, share) for of in (network.shape_x_m, network.shape_y_m))
    height_m, notes, cell_m = np.full(len(edge), np.nan), [], 0.0
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
    network: RoadNetwork, read: RoadNetwork, edge: IntArray, share: FloatArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the reader's heights at shares of edges, (k,) m, nan where not trusted, and notes."""
    row = np.array([read.row_of[edge_id] for edge_id in network.edge_id])
    z_m = np.asarray(read.tables["shape"]["z_m"])
    off_m = np.abs(z_m[read.shape_start[:-1]] - read.elevation_m[read.tail])
    off_m = np.fmax(off_m, np.abs(z_m[read.shape_start[1:] - 1] - read.elevation_m[read.head]))
    wrong = (off_m > APART_M)[row]
    height_m = np.where(wrong[edge], np.nan, _along(read, z_m, row[edge], share))
    note = f"profile: the shapes of {int(wrong.sum()):,} edges end over {APART_M:g} m off junctions"
    return height_m, (note,) * bool(wrong.any())


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
