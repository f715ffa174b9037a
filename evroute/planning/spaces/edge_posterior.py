"""Posterior of edges from the posterior of the turns and starts that enter them."""

import numpy as np

from evroute.arms import Belief
from evroute.arrays import FloatArray
from evroute.network.turn_table import TurnTable


def over_edges(
    table: TurnTable, belief: Belief, edge_prior_wh: FloatArray, turn_prior_wh: FloatArray
) -> Belief:
    """Return the posterior of each edge from the posterior of all turns and starts.

    The mean is eq. 8 plus the mean learned deviation of the turns into the edge. The standard
    deviation is the root mean square of theirs. An edge that no turn enters has its start.

    Parameters
    ----------
    table
        The a turns and starts of n edges.
    belief
        Posterior of the turns and starts.
    edge_prior_wh
        (n,) eq. 8 of the edges, Wh.
    turn_prior_wh
        (a,) prior means of the turns and starts, Wh.
    """
    turns = np.bincount(table.entered[: table.n_turns], minlength=table.n_edges)
    counted = np.where(np.arange(len(table)) < table.n_turns, 1.0, turns[table.entered] == 0)
    total = np.bincount(table.entered, counted, minlength=table.n_edges)

    def mean(values: FloatArray) -> FloatArray:
        return np.bincount(table.entered, counted * values, minlength=table.n_edges) / total

    return Belief(
        edge_prior_wh + mean(belief.mean_wh - turn_prior_wh), np.sqrt(mean(belief.std_wh**2))
    )
