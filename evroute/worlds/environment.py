"""What a world offers to the loop: requests, measurements, and the truth for the judge alone.

Worlds speak of edges. Where the energy of an edge depends on the one before it, ``expected_wh`` is
the part of the truth that edges can tell and ``route_wh`` the whole of it.
"""

from typing import Protocol

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.planning.search import Search
from evroute.planning.weights import potential


class Environment(Protocol):
    """A world in which trips are driven (Algorithm 1, lines 2 and 5).

    All but ``observe`` and ``drive`` is the truth, which ``regret`` alone may read. A world in
    which nothing has changed since the round before returns the same arrays again, so that the
    judge need not search again.
    """

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` (from 1) and the edges that are open in it."""
        ...

    def drive(self, request: Round, route: Route) -> Feedback:
        """Drive a route and return what each of its edges took, in driving order."""
        ...

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the true expected energy of the round's arms, (a,) Wh, over what may have come before each."""
        ...

    def travel_s(self, request: Round) -> FloatArray:
        """Return the true expected travel time of the round's arms, (a,) s."""
        ...

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the true expected energy of a whole route, Wh."""
        ...

    def best_route(self, request: Round) -> Route:
        """Return the route of least true expected energy, as one who knows the world would drive it."""
        ...


def best_by_edges(
    request: Round, energy_wh: FloatArray, potential_wh: FloatArray, search: Search
) -> Route:
    """Return the route of least energy where a route takes the sum of its edges.

    energy_wh: (a,) of the round's arms.  potential_wh: (n,) ``m g dz`` of every edge.  Energy below
    its edge's
    potential counts as that: only draws of a prior have such edges, and then closed walks of
    negative energy too.

    Raises
    ------
    NoRouteError
        If no open way leads to the destination.
    """
    edge = request.arms.id
    weights = np.full(len(potential_wh), np.inf)
    weights[edge] = potential(energy_wh, np.zeros(len(edge)), potential_wh[edge])
    return search.route(weights, request.origin, request.destination)


def child(seeds: SeedSequence, key: int) -> SeedSequence:
    """Return the stream of one round: the same however often and in whatever order it is asked for."""
    return SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, key))


def edge_noise(seeds: SeedSequence, t: int, route: Route, n_edges: int) -> FloatArray:
    """Return (k,) standard normal numbers of the edges of a route in round ``t``, new for each passage of an edge.

    Those of an edge do not depend on the rest of the route.
    """
    passage = np.array([route.edges[:i].count(edge) for i, edge in enumerate(route.edges)])
    everywhere = default_rng(child(seeds, t)).standard_normal((passage.max() + 1, n_edges))
    noise: FloatArray = everywhere[passage, route.rows]
    return noise
