"""Another network of the same roads: without edges that are closed, and those that they cut off."""

from collections.abc import Collection

import numpy as np

from evroute.arrays import BoolArray
from evroute.network.controls import UNKNOWN
from evroute.network.places.names import add_tables
from evroute.network.road_network import RoadNetwork


def close(network: RoadNetwork, closed: BoolArray, name: str) -> RoadNetwork:
    """Return network ``name`` without the closed edges and those that they cut off.

    Where every way on is closed, cars may turn round, as at any dead end.

    Parameters
    ----------
    network
        The network with all edges.
    closed
        (n,) True at closed edges.
    name
        Name of the new network.

    """
    left = _with_u_turns(network, closed).subset(~closed).strongest_component()
    return add_tables(left.changed(name=name), network)


def _with_u_turns(network: RoadNetwork, closed: BoolArray) -> RoadNetwork:
    """Add U-turns at the end of open edges all of whose turns lead into closed ones."""
    source, target = network.turns.T
    goes_on, went_on = np.zeros_like(closed), np.zeros_like(closed)
    goes_on[source[~closed[target]]] = True
    went_on[source] = True
    back: dict[tuple[int, int], list[int]] = {}
    for edge, ends in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
        back.setdefault(ends, []).append(edge)
    u_turns = [
        (e, r)
        for e in np.flatnonzero(went_on & ~goes_on & ~closed).tolist()
        for r in back.get((int(network.head[e]), int(network.tail[e])), ())
    ]
    both = np.vstack([network.turns, np.array(u_turns, dtype=np.int64).reshape(-1, 2)])
    turns, first = np.unique(both, axis=0, return_index=True)
    control = network.control
    if control is not None:
        control = np.append(control, np.full(len(u_turns), UNKNOWN))[first]
    return network.changed(turns=turns, control=control)


def named(network: RoadNetwork, ids: Collection[str]) -> BoolArray:
    """Return a mask (n,) of the edges with some ids."""
    return np.isin(np.arange(network.n_edges), [network.row_of[edge_id] for edge_id in ids])
