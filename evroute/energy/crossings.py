"""Crossings: where drivers stop, the speeds of turns, and where drivers slow down besides.

The speed of a turn by angle theta is the speed on an arc that leaves either road `CORNER_M` before
the corner, radius ``CORNER_M / tan(theta / 2)``, at a lateral acceleration of `LATERAL_MPS2`, the
limit that SUMO's netconvert sets (``junctions.limit-turn-speed``).

Drivers who have to give way slow down to 60 % of their speed between crossings, and to 50 % where
nobody has the right of way, even if no other car is near: field observations of NCHRP Report 383
(Harwood and others, Intersection Sight Distance, 1996), taken over by AASHTO, A Policy on Geometric
Design of Highways and Streets, for crossings with yield signs (case C) and without control (case
A).

Maps mostly lack these signs. Where the control of a turn is unknown, the road of the highest class
has the right of way. If more than two of the edges into a crossing have this class, nobody has it.
Motorways and trunk roads have no crossings. Where the class is unknown too, nobody slows down.

Stops at lights were counted in SUMO's drives of random routes in Luxembourg and Monaco, where the
programs of the lights decide (docs/results/real-trips.md). Stop signs always stop.
"""

from functools import lru_cache

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.controls import GIVES_WAY, LIGHT, RIGHT_OF_WAY, STOP, UNKNOWN
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable

CORNER_M = 8.0
LATERAL_MPS2 = 5.5
STOPPING = {UNKNOWN: 0.0, RIGHT_OF_WAY: 0.0, GIVES_WAY: 0.0, STOP: 1.0, LIGHT: 0.45}
"""Probability of stopping at a turn by its control."""
YIELDING = 0.6
"""Speed where drivers give way over the speed between crossings."""
UNCONTROLLED = 0.5
"""Speed where nobody has the right of way over the speed between crossings."""
CLASSES = ("tertiary", "secondary", "primary", "trunk", "motorway")
"""Classes of roads with the right of way over those before them, and over all others."""


def main_class(road_class: str) -> str:
    """Return the class of a road without the prefix of SUMO's types and without "_link"."""
    return road_class.removeprefix("highway.").split("_")[0]


def turn_speed_mps(angle_rad: FloatArray) -> FloatArray:
    """Return the speed of turns by angles (a,), m/s. Infinite straight on."""
    with np.errstate(divide="ignore"):
        radius_m = CORNER_M / np.tan(angle_rad / 2)
    return np.sqrt(LATERAL_MPS2 * np.maximum(radius_m, 0.0))


def stop_probability(table: TurnTable) -> FloatArray:
    """Return the probability of stopping at each turn and start, (a,)."""
    if table.control is None:
        return np.zeros(len(table))
    return np.array([STOPPING[kind] for kind in sorted(STOPPING)])[table.control]


@lru_cache(maxsize=4)
def speed_kept(network: RoadNetwork, table: TurnTable) -> FloatArray:
    """Return the speed at each turn and start over the speed before and after, (a,).

    Parameters
    ----------
    network
        The roads.
    table
        Its turns and starts.
    """
    kept = np.ones(len(table))
    turns = slice(0, table.n_turns)
    control = np.full(len(table), UNKNOWN) if table.control is None else table.control
    kept[control == GIVES_WAY] = YIELDING
    unknown = np.flatnonzero(control[turns] == UNKNOWN)
    left = table.left[unknown]
    rank = _ranks(network)
    highest = np.full(network.n_junctions, -1)
    np.maximum.at(highest, network.head, rank)
    is_highest = rank == highest[network.head]
    rivals = np.bincount(network.head[is_highest], minlength=network.n_junctions)
    junction = network.head[left]
    slower = np.where(is_highest[left], UNCONTROLLED, YIELDING)
    passes = is_highest[left] & (rivals[junction] <= 2)
    free = rank > CLASSES.index("primary") + 1
    passes |= (rank[left] < 0) | free[left] | free[table.entered[unknown]]
    kept[unknown] = np.where(passes, 1.0, slower)
    kept.setflags(write=False)
    return kept


def _ranks(network: RoadNetwork) -> IntArray:
    """Return the rank of the class of each edge, (n,), -1 where it is unknown."""
    ranks = {name: i + 1 for i, name in enumerate(CLASSES)} | {"": -1}
    of_class = {name: ranks.get(main_class(name), 0) for name in set(network.road_class)}
    return np.array([of_class[name] for name in network.road_class], dtype=np.int64)
