"""SampledGP: the world of Sandberg et al., section 4: expected energies drawn from the prior GP, Gaussian noise.

Worlds of equal seed are equal for every method: the truth, the closures and the noise of round t on edge e come from
streams of their own and do not depend on which routes were chosen.
"""

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arms import Arms, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError
from evroute.planning.search import Search

CLOSURE_ATTEMPTS = 100


class SampledGP:
    """One draw ``f = mean + L z`` of the expected energies, and trips between two edges in it.

    arms: every edge of the network.  prior_factor: (n, n) L with ``L L' = prior covariance``, Wh.
    noise_std_wh: (n,) of one measurement, Wh.  closed_share: of the edges, drawn anew each round, that are closed;
    the trip's two ends stay open, and closures that would cut the trip off are drawn again.
    """

    def __init__(
        self,
        *,
        arms: Arms,
        prior_factor: FloatArray,
        noise_std_wh: FloatArray,
        search: Search,
        origin: int,
        destination: int,
        closed_share: float,
        seeds: SeedSequence,
    ) -> None:
        truth_seed, self._noise_seed, self._closure_seed = seeds.spawn(3)
        self.truth_wh = arms.prior_mean_wh + prior_factor @ default_rng(truth_seed).standard_normal(len(arms))
        self.arms = arms
        self.noise_std_wh = noise_std_wh
        self.search = search
        self.origin = origin
        self.destination = destination
        self.closed_share = closed_share

    def observe(self, t: int) -> Round:
        """Return the request of round ``t``: always the same trip, over the edges open in that round.

        Raises
        ------
        NoRouteError
            If so many edges are closed that no draw leaves a way.
        """
        arms = self.arms.take(self._open_edges(t)) if self.closed_share else self.arms
        return Round(t, arms, self.origin, self.destination)

    def drive(self, request: Round, route: Route) -> Feedback:
        """Measure every edge of a route: its expected energy plus noise, new for each passage."""
        passage = np.array([route.edges[:i].count(edge) for i, edge in enumerate(route.edges)])
        rng = default_rng(_child(self._noise_seed, request.t))
        noise = rng.standard_normal((passage.max() + 1, len(self.arms)))[passage, route.rows]
        energy_wh = self.truth_wh[route.rows] + self.noise_std_wh[route.rows] * noise
        return Feedback.of_route(request.arms, route, energy_wh, trip_id=str(request.t))

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the truth, (a,) Wh."""
        expected: FloatArray = self.truth_wh[request.arms.edge]
        return expected

    def _open_edges(self, t: int) -> IntArray:
        rng = default_rng(_child(self._closure_seed, t))
        n = len(self.arms)
        for _ in range(CLOSURE_ATTEMPTS):
            weights = np.zeros(n)
            weights[rng.choice(n, size=round(self.closed_share * n), replace=False)] = np.inf
            weights[[self.origin, self.destination]] = 0.0
            if np.isfinite(self.search.distances(weights, self.origin)[self.destination]):
                return np.flatnonzero(weights == 0.0)
        raise NoRouteError(
            f"closing {self.closed_share:.0%} of the edges cut the trip off in each of {CLOSURE_ATTEMPTS} draws; "
            "close fewer"
        )


def _child(seeds: SeedSequence, key: int) -> SeedSequence:
    """Return the stream of one round: the same however often and in whatever order it is asked for."""
    return SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, key))
