"""Heights of junctions: read from rasters, filled along the roads, and smoothed.

One height per junction makes inclines conservative: every closed walk climbs as much as it
descends. Heights are noisy (65 % grades on raw Monaco), so they are smoothed by minimising, over
the junctions' heights z,

    sum over junctions (z - z0)² + s · sum over edges (dz² / length),

one sparse solve. Afterwards no edge is shorter than the straight line in space between its two
junctions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csc_matrix, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.network.heights import height_checks, raster
from evroute.network.road_network import RoadNetwork

DEFAULT_SMOOTHING_M = 30.0
GREATEST_SMOOTHING_M = 1e6
"""Greatest strength of the smoothing of heights, m. It leaves no hill."""
# Largest share of junctions without a height that is filled from their neighbours.
GREATEST_MISSING_SHARE = 0.1
# Few streets are as steep as this; more often a bridge or tunnel is mapped on the ground.
STEEP = 0.25


def sample(
    network: RoadNetwork, rasters: Sequence[Path], *, checked: bool = True
) -> tuple[FloatArray, str, tuple[str, ...]]:
    """Return the heights of the junctions, interpolated bilinearly from rasters, and their origin.

    The first raster with a value at a place gives its height. Junctions in a hole or outside, and
    those on a bridge or in a tunnel, take heights that change evenly along the roads between
    junctions of known height.

    Parameters
    ----------
    network
        The network.
    rasters
        Files of heights.
    checked
        Whether rasters and extrapolations that cannot be true are refused (`height_checks`).

    Returns
    -------
    elevation_m
        (v,) heights, m.
    described, notes
        For ``Source.elevation`` and ``Source.notes``: the rasters, and the numbers of junctions
        outside them, in their holes, and on bridges and in tunnels.

    Raises
    ------
    NetworkFormatError
        If a raster cannot be read, has no coordinate system, or heights not in metres.
    EvrouteError
        If no raster overlaps the network, more than 10 % of the junctions get no height, or a check
        fails.
    """
    names = [path.name for path in rasters]
    found = [raster.heights_at(path, network.crs, network.x_m, network.y_m) for path in rasters]
    inside = np.any([here.inside for here in found], axis=0)
    if not inside.any():
        raise EvrouteError(
            f"the elevation ({', '.join(names)}) does not overlap network '{network.name}'"
        )
    elevation_m, source = _first_heights(found)
    gaps = height_checks.Gaps(
        known=source >= 0, inside=inside, off_ground=carried_junctions(network)
    )
    _check_share(gaps)
    notes = [
        f"{name} does not overlap the network"
        for name, here in zip(names, found, strict=True)
        if not here.inside.any()
    ]
    notes += _gap_notes(gaps)
    if checked:
        height_checks.check_rasters(network, names, found, source)
        notes += height_checks.check_extrapolation(network, gaps)
    described = f"bilinear from {', '.join(names)}"
    return fill(network, elevation_m, gaps.grounded), described, tuple(notes)


def _first_heights(found: Sequence[raster.RasterHeights]) -> tuple[FloatArray, IntArray]:
    """Return the height of the first raster that has one, (v,) m, and its number, -1 for none."""
    all_m = np.stack([here.height_m for here in found])
    known = np.isfinite(all_m)
    first = known.argmax(axis=0)
    elevation_m = all_m[first, np.arange(all_m.shape[1])]
    return elevation_m, np.where(known.any(axis=0), first, -1)


def _check_share(gaps: height_checks.Gaps) -> None:
    """Refuse rasters that leave too many junctions without a height."""
    v = len(gaps.known)
    outside, holes = int(gaps.outside.sum()), int(gaps.in_holes.sum())
    if outside + holes > GREATEST_MISSING_SHARE * v:
        raise EvrouteError(
            f"{(outside + holes) / v:.1%} of the {v} junctions have no height: {outside} lie "
            f"outside the rasters and {holes} in their holes. Add the rasters that are missing"
        )


def _gap_notes(gaps: height_checks.Gaps) -> Iterator[str]:
    """Yield sentences on the junctions without a height of their own."""
    v = len(gaps.known)
    if outside := int(gaps.outside.sum()):
        yield (
            f"{outside} junctions ({outside / v:.1%}) lie outside the rasters, filled along the "
            "roads"
        )
    if holes := int(gaps.in_holes.sum()):
        yield (
            f"{holes} junctions ({holes / v:.1%}) lie in holes of the rasters, filled along the "
            "roads"
        )
    if off_ground := int(gaps.off_ground.sum()):
        yield (
            f"{off_ground} junctions on bridges and in tunnels lie on the straight grade between "
            "ends"
        )


def set_heights(
    network: RoadNetwork,
    elevation_m: FloatArray,
    *,
    smoothing_m: float,
    described: str,
    notes: tuple[str, ...] = (),
    straight: bool = True,
) -> RoadNetwork:
    """Return the network with smoothed heights and with lengths that allow them.

    No edge is shorter than the straight line in space, or at least than its climb.

    Parameters
    ----------
    network
        The network without these heights.
    elevation_m
        (v,) heights of the junctions, m.
    smoothing_m
        Strength s >= 0, m. 0 keeps the heights.
    described, notes
        Origin of the heights, and missing ones; for ``Source``.
    straight
        Whether the line between the centres of the junctions counts, and not the climb alone.
    """
    smooth_m = smooth(network, elevation_m, smoothing_m)
    tail, head = network.tail, network.head
    across_m = np.hypot(
        network.x_m[head] - network.x_m[tail], network.y_m[head] - network.y_m[tail]
    )
    least_m = np.hypot(straight * across_m, smooth_m[head] - smooth_m[tail])
    source, length_m = network.source, np.maximum(network.length_m, least_m)
    if steep := int((np.abs(smooth_m[head] - smooth_m[tail]) > STEEP * length_m).sum()):
        notes = (
            *notes,
            f"{steep} edges are steeper than {STEEP:.0%}: check their heights",
        )
    return network.changed(
        elevation_m=smooth_m,
        length_m=length_m,
        source=replace(
            source, elevation=described, smoothing_m=smoothing_m, notes=source.notes + notes
        ),
    )


def smooth(network: RoadNetwork, elevation_m: FloatArray, smoothing_m: float) -> FloatArray:
    """Return smoothed heights, (v,) m.

    They minimise the squared changes plus ``smoothing_m`` times the squared climbs per length.

    Parameters
    ----------
    network
        The roads.
    elevation_m
        (v,) heights of the junctions, m.
    smoothing_m
        Strength >= 0, m.

    Raises
    ------
    ValueError
        If the strength is negative or not finite.
    """
    require(
        0 <= smoothing_m <= GREATEST_SMOOTHING_M,
        f"smoothing_m is {smoothing_m:g}. It must be from 0 to {GREATEST_SMOOTHING_M:,.0f} m",
        ValueError,
    )
    system = eye_array(network.n_junctions) + smoothing_m * _laplacian(network)
    return _solve(csc_matrix(system), elevation_m)


def fill(network: RoadNetwork, elevation_m: FloatArray, known: BoolArray) -> FloatArray:
    """Return the heights with unknown ones filled by even grades, (v,) m.

    The filled heights minimise the sum of dz² / length.

    Parameters
    ----------
    network
        The roads.
    elevation_m
        (v,) heights of the junctions, m, not read where unknown.
    known
        (v,) True at known heights.

    Raises
    ------
    EvrouteError
        If a connected part of the network has no known height.
    """
    free, fixed = np.flatnonzero(~known), np.flatnonzero(known)
    if lost := int((~_parts_with(network, known)).sum()):
        raise EvrouteError(
            f"{lost} junctions lie in a part of network '{network.name}' without any known height"
        )
    if len(free) == 0:
        return elevation_m
    rows = _laplacian(network)[free]
    filled = elevation_m.copy()
    filled[free] = _solve(csc_matrix(rows[:, free]), -(rows[:, fixed] @ elevation_m[fixed]))
    return filled


def carried_junctions(network: RoadNetwork) -> BoolArray:
    """Return a mask (v,) of the junctions that only bridges and tunnels meet.

    The height of the ground is not theirs. In a connected part that never touches the ground no
    junction is carried.
    """
    grounded = np.zeros(network.n_junctions, dtype=bool)
    on_ground = network.structure == 0
    grounded[network.tail[on_ground]] = True
    grounded[network.head[on_ground]] = True
    return ~grounded & _parts_with(network, grounded)


def _parts_with(network: RoadNetwork, marked: BoolArray) -> BoolArray:
    """Return a mask (v,) of the junctions in a connected part with a ``marked`` (v,) junction."""
    n_parts, part = connected_components(_laplacian(network), directed=False)
    holds = np.zeros(n_parts, dtype=bool)
    holds[part[marked]] = True
    return holds[part]


def _laplacian(network: RoadNetwork) -> csc_matrix:
    """Return (v, v) L with z'Lz = sum over edges dz² / length."""
    v, conductance = network.n_junctions, 1.0 / network.length_m
    one_way = csc_matrix((conductance, (network.tail, network.head)), shape=(v, v))
    weights = one_way + one_way.T
    weights.setdiag(0.0)
    return csc_matrix(diags_array(np.asarray(weights.sum(axis=0)).ravel()) - weights)


def _solve(system: csc_matrix, right: FloatArray) -> FloatArray:
    return splu(
        system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    ).solve(right)
