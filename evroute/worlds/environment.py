"""The protocol of a world: requests and measurements for the loop, true energies for the regret.

Worlds use edges. If the energy of an edge depends on the edge before it, ``expected_wh`` is its
mean over the edges before, and ``route_wh`` the exact energy of a route.
"""

from typing import Protocol

import numpy as np

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.methods.setting import Setting
from evroute.planning.search import Search
from evroute.planning.weights import potential


class Environment(Protocol):
    """A world in which trips are driven (Algorithm 1, lines 2 and 5).

    All methods other than ``observe`` and ``drive`` return true values, for ``regret`` only. A
    world that did not change since the last round returns the same arrays again, so that the
    regret scorer can reuse its searches.
    """

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` (from 1) and its open edges."""

    def drive(self, request: Round, route: Route) -> Feedback:
        """Drive a route and return the measurements of its edges, in driving order."""

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the true expected energy of the round's arms, (a,) Wh, mean over predecessors."""

    def travel_s(self, request: Round) -> FloatArray:
        """Return the true expected travel time of the round's arms, (a,) s."""

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the true expected energy of a whole route, Wh."""

    def best_route(self, request: Round) -> Route:
        """Return the route of least true expected energy."""


def best_by_edges(
    request: Round, energy_wh: FloatArray, potential_wh: FloatArray, search: Search
) -> Route:
    """Return the route of least energy if route energies are sums over edges.

    Energy below the potential of its edge counts as the potential: it occurs only in draws of a
    prior, which then have closed walks of negative energy too.

    Parameters
    ----------
    request
        Request with its a arms.
    energy_wh
        (a,) energy of each arm, Wh.
    potential_wh
        (n,) ``m g dz`` of every edge, Wh.
    search
        Search over all edges.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached.
    """
    edge = request.arms.id
    weights = np.full(len(potential_wh), np.inf)
    weights[edge] = potential(energy_wh, np.zeros(len(edge)), potential_wh[edge])
    return search.route(weights, request.origin, request.destination)


def vehicle_of(setting: Setting, name: str) -> Vehicle:
    """Return the vehicle that a trip names; the setting's own for its name and for ""."""
    return setting.vehicle if name in {"", setting.vehicle.name} else load_vehicle(name)


def child(seeds: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """Return the random stream of one round, independent of the order of requests."""
    return np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, key))


def edge_noise(seeds: np.random.SeedSequence, t: int, route: Route, n_edges: int) -> FloatArray:
    """Return standard normal noise of the edges of a route, (k,), new for each passage of an edge.

    The noise of an edge does not depend on the rest of the route.

    Parameters
    ----------
    seeds
        Seeds of the noise of all rounds.
    t
        Round.
    route
        Route of k edges.
    n_edges
        Number of edges of the network.
    """
    passage = np.array([route.edges[:i].count(edge) for i, edge in enumerate(route.edges)])
    by_passage = np.random.default_rng(child(seeds, t)).standard_normal(
        (passage.max() + 1, n_edges)
    )
    return by_passage[passage, route.rows]
