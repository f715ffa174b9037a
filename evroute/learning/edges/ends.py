"""Trips that begin or end inside edges, as models of single edges learn them.

An edge counts where at least `COUNTED_SHARE` of it was driven, and then as if it were driven whole.
The energy of a whole trip is expected from all its parts.
"""

from dataclasses import replace

import numpy as np

from evroute.arrays import FloatArray
from evroute.learning.measured import MeasuredTrip
from evroute.network.road_network import RoadNetwork
from evroute.planning.spaces.arm_space import SearchSpace

COUNTED_SHARE = 0.5
"""Share of an edge from which a trip over a part of it counts as a passage."""


def counted(trip: MeasuredTrip, network: RoadNetwork) -> MeasuredTrip:
    """Return a trip over whole edges: the edges of which at least a half was driven.

    The edge with the greatest share counts in any case.

    Parameters
    ----------
    trip
        Measured trip on the network.
    network
        The roads.
    """
    if not trip.cut:
        return trip
    share = trip.share(network.length_m)
    kept = share >= min(COUNTED_SHARE, share.max())
    return replace(
        trip,
        edge=trip.edge[kept],
        energy_wh=(trip.energy_wh / share)[kept],
        travel_s=np.where(share < 1.0, np.nan, trip.travel_s)[kept],  # it stood still inside
        start_m=0.0,
        end_m=np.nan,
    )


def beside_wh(space: SearchSpace, trip: MeasuredTrip) -> float:
    """Return the energy by physics of a trip beyond the shares of its edges, Wh.

    The parts of an edge are not equally steep, and a turn counts whole.

    Parameters
    ----------
    space
        The arms.
    trip
        Measured trip on the network.
    """
    network = space.edges.network
    stretches = trip.stretches(network)
    if stretches is None:
        return 0.0
    arms = space.arms_of_routes(trip.edge, np.zeros(1, dtype=np.int64))
    share: FloatArray = trip.share(network.length_m)
    return float((space.stretch_wh(arms, stretches) - share * space.whole_wh[arms]).sum())
