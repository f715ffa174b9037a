"""The protocol of a world: requests and measurements for the loop, true energies for the regret.

Worlds use edges. If the energy of an edge depends on the edge before it, ``expected_wh`` is its
mean over the edges before, and ``route_wh`` the exact energy of a route. Worlds share the noise of
edges, and edges drawn at random: closed ones, anew in each round (volatile arms), and congested
zones.
"""

from typing import Protocol

import numpy as np

from evroute.arms import Feedback, Round, Route
from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import NoRouteError
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.search import Search
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
    """Return the vehicle that a trip names. The setting's own for its name and for ""."""
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


def edges_in_zones(
    network: RoadNetwork, zones: int, radius_m: float, rng: np.random.Generator
) -> BoolArray:
    """Return whether the middle of each edge lies in a zone around a random edge, (n,).

    The middle lies on the line between the edge's two junctions.

    Parameters
    ----------
    network
        Road network of n edges.
    zones
        Number of zones.
    radius_m
        Radius of the zones, m.
    rng
        Draws the centres.
    """
    middle_m = network.middle_m
    inside = np.zeros(network.n_edges, dtype=bool)
    for centre in rng.integers(network.n_edges, size=zones):
        inside |= np.hypot(*(middle_m - middle_m[centre]).T) <= radius_m
    return inside


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
        f"closing {share:.0%} of the edges cut the trip off in each of {ATTEMPTS} draws. "
        "Close fewer"
    )
