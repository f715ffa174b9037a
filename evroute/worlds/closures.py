"""Closures: a share of the edges, drawn anew in each round, that may not be driven (volatile arms)."""

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arrays import IntArray
from evroute.errors import NoRouteError
from evroute.planning.search import Search
from evroute.worlds.environment import child

ATTEMPTS = 100


class Closures:
    """Draws the closed edges of each round.

    share: of all edges, in [0, 1).  A trip's two ends stay open, and closures that would cut it off
    are drawn again.
    """

    def __init__(self, share: float, search: Search, seeds: SeedSequence) -> None:
        self.share = share
        self.search = search
        self._seeds = seeds

    def open_edges(self, t: int, origin: int, destination: int) -> IntArray:
        """Return the rows of the edges that are open in round ``t``, increasing.

        Raises
        ------
        NoRouteError
            If so many edges are closed that no draw leaves a way.
        """
        rng = default_rng(child(self._seeds, t))
        n = self.search.line_graph.n_edges
        for _ in range(ATTEMPTS):
            weights = np.zeros(n)
            weights[rng.choice(n, size=round(self.share * n), replace=False)] = np.inf
            weights[[origin, destination]] = 0.0
            if np.isfinite(self.search.distances(weights, origin)[destination]):
                return np.flatnonzero(weights == 0.0)
        raise NoRouteError(
            f"closing {self.share:.0%} of the edges cut the trip off in each of {ATTEMPTS} draws; "
            "close fewer"
        )
