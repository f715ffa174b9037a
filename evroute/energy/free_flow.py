"""Free flow: how cars alone on the road stop, brake for turns and keep to speed limits.

Shares of SUMO's drives of random routes in Luxembourg and Monaco, fitted on half of the routes and
judged on the others (docs/figures/cars.md). Stop signs, which these networks lack, always stop.
Turns without a known control never do.
"""

from functools import lru_cache

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.controls import GIVES_WAY, LIGHT, RIGHT_OF_WAY, STOP, UNKNOWN
from evroute.network.road_network import RoadNetwork

STOPPING = {UNKNOWN: 0.0, RIGHT_OF_WAY: 0.0, GIVES_WAY: 0.0, STOP: 1.0, LIGHT: 0.45}
"""Probability of stopping at a turn by its control."""
BRAKING = 0.63
"""Share of the braking for turns from the limits of both edges that cars do."""
SPEED_FACTORS = {
    "motorway": 0.9,
    "primary": 0.64,
    "secondary": 0.74,
    "tertiary": 0.75,
    "residential": 0.79,
}
"""Mean speed over the limit by road class, stops included."""
OTHER_ROADS = 0.74


@lru_cache(maxsize=4)
def speed_factors(network: RoadNetwork) -> FloatArray:
    """Return the mean speed over the limit of each edge, (n,)."""
    of_class = {
        name: SPEED_FACTORS.get(name.removeprefix("highway.").split("_")[0], OTHER_ROADS)
        for name in set(network.road_class)
    }
    factors: FloatArray = np.array([of_class[name] for name in network.road_class])
    factors.setflags(write=False)
    return factors


def stop_probability(control: IntArray | None, n_rows: int) -> FloatArray:
    """Return the probability of stopping at each turn and start, (a,).

    Parameters
    ----------
    control
        (a,) control of each row of a table of turns, or None if the network has none.
    n_rows
        Number a of rows.
    """
    if control is None:
        return np.zeros(n_rows)
    return np.array([STOPPING[kind] for kind in sorted(STOPPING)])[control]
