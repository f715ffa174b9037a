"""Invariants of a network's columns: unique ids, finite numbers, edges and turns that meet."""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from evroute.errors import NetworkFormatError, require
from evroute.network import controls

LONGEST_EDGE_M = 500_000.0
RULES = 1
"""Number of the rules that columns and texts keep. A change of them raises it, so that networks are
checked again."""


def check_columns(network: Any) -> None:
    """Refuse columns of a network that break an invariant.

    Parameters
    ----------
    network
        A `RoadNetwork`, which imports this module.

    Raises
    ------
    NetworkFormatError
        If a column breaks one. The message names the edge.
    """
    n, v = network.n_edges, network.n_junctions
    check = partial(require, error=NetworkFormatError)
    check(n > 0, f"network '{network.name}' has no road that a passenger car may drive")
    require(
        len(network.street) == len(network.road_class) == n,
        f"street and road_class need {n} entries",
        ValueError,
    )
    for what, ids in (("edge", network.edge_id), ("junction", network.junction_id)):
        if len(set(ids)) != len(ids):
            twice = Counter(ids).most_common(1)[0][0]
            raise NetworkFormatError(f"duplicate {what} id '{twice}'. Ids must be unique")
    for column in ("x_m", "y_m", "elevation_m", "shape_x_m", "shape_y_m"):
        if n_bad := np.count_nonzero(~np.isfinite(getattr(network, column))):
            raise NetworkFormatError(f"{column} holds {n_bad} values that are not finite")
    for column in ("length_m", "speed_mps"):
        values = getattr(network, column)
        bad = ~(np.isfinite(values) & (values > 0))
        e = int(bad.argmax())
        check(
            not bad[e],
            f"{column} of edge '{network.edge_id[e]}' is {values[e]}. It must be a positive "
            f"number ({int(bad.sum())} such edges)",
        )
    longest = int(network.length_m.argmax())
    check(
        network.length_m[longest] <= LONGEST_EDGE_M,
        f"edge '{network.edge_id[longest]}' is {network.length_m[longest] / 1000:,.0f} km long, "
        f"above {LONGEST_EDGE_M / 1000:,.0f} km. Check the positions of its junctions",
    )
    check(
        min(network.tail.min(), network.head.min()) >= 0
        and max(network.tail.max(), network.head.max()) < v,
        "an edge names a junction that is not there",
    )
    check(
        not (
            np.any(np.diff(network.shape_start) < 2)
            or network.shape_start[0] != 0
            or network.shape_start[-1] != len(network.shape_x_m)
        ),
        "every edge needs a shape of at least two points",
    )
    e = int(np.argmax(np.abs(network.climb_m) > network.length_m))
    check(
        abs(network.climb_m[e]) <= network.length_m[e],
        f"edge '{network.edge_id[e]}' climbs {network.climb_m[e]:.1f} m over "
        f"{network.length_m[e]:.1f} m of road. Set heights with evroute.network.heights.elevation, "
        "which lengthens such edges",
    )
    if len(network.turns):
        check(
            network.turns.min() >= 0 and network.turns.max() < n,
            "a turn names an edge that is not there",
        )
        left, entered = network.turns.T
        a, b = network.turns[np.argmax(network.head[left] != network.tail[entered])]
        check(
            network.head[a] == network.tail[b],
            f"a turn joins edge '{network.edge_id[a]}' to edge '{network.edge_id[b]}', which do "
            "not meet. Rebuild the network from its source",
        )
        check(np.all(np.diff(left * n + entered) > 0), "turns must be sorted and unique")
    check(
        network.control is None or np.isin(network.control, range(len(controls.NAMES))).all(),
        f"the control of turns must be 0 to {len(controls.NAMES) - 1}",
    )
