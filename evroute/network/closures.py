"""Roadworks: a network without the edges that are closed."""

import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from evroute.arrays import BoolArray
from evroute.errors import UnknownNameError, require
from evroute.network.controls import UNKNOWN
from evroute.network.geo import shapely
from evroute.network.places.names import add_tables
from evroute.network.road_network import RoadNetwork

_NUMBER = re.compile(r"-?\d+(\.\d*)?")


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

    Raises
    ------
    EvrouteError
        If no edge, or every edge, is closed.
    """
    n_closed = int(closed.sum())
    require(n_closed > 0, f"no edge of network '{network.name}' is closed")
    require(n_closed < network.n_edges, f"every edge of network '{network.name}' is closed")
    left = _with_u_turns(network, closed).subset(~closed).strongest_component()
    ids = [network.edge_id[e] for e in np.flatnonzero(closed)[:5]]
    listed = "; ".join(ids) + ("; ..." if n_closed > len(ids) else "")
    cut_off = network.n_edges - n_closed - left.n_edges
    note = f"closed in '{network.name}': {n_closed} edges ({listed}), {cut_off} more are cut off"
    source = replace(left.source, notes=(*left.source.notes, note))
    return add_tables(left.changed(name=name, source=source), network)


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
    """Return a mask (n,) of the edges with some ids.

    Raises
    ------
    UnknownNameError
        If an id is not in the network.
    """
    for edge_id in ids:
        if edge_id not in network.row_of:
            raise UnknownNameError(
                f"network '{network.name}' has no edge '{edge_id}'. Give each --edges one id of "
                "those that 'evroute network export' writes"
            )
    return np.isin(np.arange(network.n_edges), [network.row_of[edge_id] for edge_id in ids])


def within(network: RoadNetwork, area: str) -> BoolArray:
    """Return a mask (n,) of the edges that touch an area.

    area: ``lat,lon,lat,lon`` of two opposite corners, degrees.

    Raises
    ------
    EvrouteError
        If the area is not four numbers.
    """
    corners = area.split(",")
    require(
        len(corners) == 4 and all(_NUMBER.fullmatch(corner.strip()) for corner in corners),
        f"the area '{area}' is not two corners: lat,lon,lat,lon",
    )
    south, west, north, east = map(float, corners)
    box = shapely.box(min(west, east), min(south, north), max(west, east), max(south, north))
    return shapely.intersects(network.lines(*network.lon_lat), box)
