"""Order in which the edges of a network are contracted (extra ``cch``).

The contraction hierarchy of the line graph depends on this order and on the turns alone, not on
costs (Dibbelt, Strasser & Wagner 2016, *Customizable contraction hierarchies*). Optional table
``cch`` of a network, column ``order``: (n,) rows of the edges, the first contracted first.
"""

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from evroute.arrays import IntArray
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork


def contraction_installed() -> bool:
    """Return True if RoutingKit is installed."""
    return find_spec("routingkit_cch") is not None


def order_tables(network: RoadNetwork) -> dict[str, Table]:
    """Return the table ``cch`` of a network, or none if RoutingKit is not installed."""
    return {"cch": {"order": _new_order(network)}} if contraction_installed() else {}


def stored_order(network: RoadNetwork) -> IntArray | None:
    """Return the order of a network's table, (n,), or None if it has none that fits its edges."""
    order = np.asarray(network.tables.get("cch", {}).get("order", ()))
    fits = np.array_equal(np.sort(order), np.arange(network.n_edges))
    return order.astype(np.int64) if fits else None


@lru_cache(maxsize=4)
def hierarchy(network: RoadNetwork) -> Any:
    """Return the contraction hierarchy of the line graph, a ``routingkit_cch.CCH``."""
    from routingkit_cch import CCH

    order, (left, entered) = stored_order(network), network.turns.T.tolist()
    return CCH((_new_order(network) if order is None else order).tolist(), left, entered, False)


def _new_order(network: RoadNetwork) -> IntArray:
    """Return an order by nested dissection along the coordinates of the ends of edges."""
    from routingkit_cch import compute_order_inertial

    ends = (each[network.head].tolist() for each in (network.y_m, network.x_m))
    return np.array(compute_order_inertial(network.n_edges, *network.turns.T.tolist(), *ends))
