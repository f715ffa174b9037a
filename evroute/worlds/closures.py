"""Closures: a share of the edges, drawn anew in each round, is closed (volatile arms)."""

import numpy as np

from evroute.arrays import IntArray
from evroute.errors import NoRouteError
from evroute.planning.search import Search
from evroute.worlds.environment import child

ATTEMPTS = 100


class Closures:
    """Draws the closed edges of each round.

    The two ends of a trip stay open, and closures that cut it off are drawn again.

    Parameters
    ----------
    share
        Share of all edges, in [0, 1).
    search
        Search over all edges.
    seeds
        Seeds of the draws.
    """

    def __init__(self, share: float, search: Search, seeds: np.random.SeedSequence) -> None:
        self.share = share
        self.search = search
        self._seeds = seeds

    def open_edges(self, t: int, origin: int, destination: int) -> IntArray:
        """Return the open edges of round ``t``, increasing.

        Parameters
        ----------
        t
            Round.
        origin, destination
            Ends of the trip.

        Raises
        ------
        NoRouteError
            If the destination cannot be reached in any of `ATTEMPTS` draws.
        """
        rng = np.random.default_rng(child(self._seeds, t))
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
