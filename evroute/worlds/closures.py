"""Closures: a share of the edges, drawn anew in each round, is closed (volatile arms)."""

import numpy as np

from evroute.arrays import IntArray
from evroute.errors import NoRouteError
from evroute.planning.search import Search
from evroute.worlds.environment import child

ATTEMPTS = 100


def open_edges(
    share: float,
    search: Search,
    seeds: np.random.SeedSequence,
    t: int,
    ends: tuple[int, int],
) -> IntArray:
    """Return the open edges of round ``t``, increasing.

    The two ends of a trip stay open, and closures that cut it off are drawn again.

    Parameters
    ----------
    share
        Share of all edges that is closed, in [0, 1).
    search
        Search over all edges.
    seeds
        Seeds of the draws of all rounds.
    t
        Round.
    ends
        Origin and destination of the trip.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached in any of `ATTEMPTS` draws.
    """
    rng = np.random.default_rng(child(seeds, t))
    n = search.line_graph.n_edges
    for _ in range(ATTEMPTS):
        weights = np.zeros(n)
        weights[rng.choice(n, size=round(share * n), replace=False)] = np.inf
        weights[list(ends)] = 0.0
        if np.isfinite(search.distances(weights, ends[0])[ends[1]]):
            return np.flatnonzero(weights == 0.0)
    raise NoRouteError(
        f"closing {share:.0%} of the edges cut the trip off in each of {ATTEMPTS} draws; "
        "close fewer"
    )
