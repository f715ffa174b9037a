"""Congested zones: round areas of a network, drawn around its edges."""

import numpy as np

from evroute.arrays import BoolArray
from evroute.network.road_network import RoadNetwork


def edges_in_zones(
    network: RoadNetwork, zones: int, radius_m: float, rng: np.random.Generator
) -> BoolArray:
    """Return whether the middle of each edge lies in a zone around a random edge, (n,).

    The middle is that of the line between the edge's two junctions.

    Parameters
    ----------
    network
        Road network of n edges.
    zones
        Number of zones.
    radius_m
        Radius of the zones, m.
    rng
        Draws the centres.
    """
    middle_m = network.middle_m
    inside = np.zeros(network.n_edges, dtype=bool)
    for centre in rng.integers(network.n_edges, size=zones):
        inside |= np.hypot(*(middle_m - middle_m[centre]).T) <= radius_m
    return inside
