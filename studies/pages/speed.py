"""Table of times of single requests on Luxembourg, in multiples of a Dijkstra of scipy.

Each request is answered several times, in turns with the Dijkstra over the same line graph from its
first edge. Its time is the least of these, so that other work on the machine counts little.
"""

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.door.planners import Planner
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError, NotEnoughChargeError
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import Socket, Station
from evroute.network.sources.chargers import edges_at, with_stations
from studies.pages.tables import store

NETWORK = "luxembourg"
REQUESTS, TURNS, TRIPS = 20, 3, 150
KW = (11.0, 22.0, 50.0, 150.0)
"""Powers of the made stations."""
LOW = {"soc": 6, "reserve": 5, "charge": True}
Pairs = list[tuple[int, int]]


def drawn(planner: Planner, seed: int, number: int) -> Pairs:
    """Return random pairs of edges that have a route."""
    rng, found = np.random.default_rng(seed), Pairs()
    while len(found) < number:
        origin, destination = rng.choice(planner.network.n_edges, 2, replace=False).tolist()
        try:
            planner.problem((origin, destination)).fastest  # noqa: B018
        except NoRouteError:
            continue
        found.append((origin, destination))
    return found


def with_made_stations(network: RoadNetwork, number: int) -> RoadNetwork:
    """Return a network with stations of one socket beside random edges."""
    rng, (lon, lat) = np.random.default_rng(3), network.junction_lon_lat
    listed = list[Station]()
    while len(listed) < number:
        edge, kw = rng.integers(network.n_edges), float(rng.choice(KW))
        ends = [network.tail[edge], network.head[edge]]
        socket = Socket("ac" if kw < 30.0 else "ccs", kw)
        name = f"station {len(listed)}"
        made = Station(name, float(lon[ends].mean()), float(lat[ends].mean()), (socket,))
        if edges_at(network, made):
            listed.append(made)
    return with_stations(network, listed, "")[0]


def belief_of(physics: Planner) -> TripEnergies:
    """Return the default belief of random trips that took 1.1 times their energy, with noise."""
    network, rng = physics.network, np.random.default_rng(1)
    belief = TripEnergies(Setting(network, physics.vehicle))
    for number, ends in enumerate(drawn(physics, 111, TRIPS)):
        route = physics.problem(ends).fastest
        energy_wh = physics.describe(route).edge_wh * rng.normal(1.1, 0.02, len(route))
        trip = MeasuredTrip(str(number), route.rows, energy_wh, network.time_s[route.rows], None)
        belief.learn(trip)
    return belief


def kinds() -> Iterator[tuple[str, Planner, dict[str, Any]]]:
    """Yield the name, the planner and the wishes of each kind of request."""
    network, vehicle = load_network(NETWORK), load_vehicle("reference")
    physics = Planner(network, vehicle)
    charge = {"soc": 60, "reserve": 10}
    yield "plan", physics, {}
    yield "plan with a charge", physics, charge
    yield "plan with a charge, `risk=mean`", physics, charge | {"risk": "mean"}
    yield "plan with 5 % extra time", physics, {"max_extra_time": 0.05}
    yield "plan over one place", physics, {"via": [1000]}
    learned = Planner(network, vehicle, belief_of(physics))
    yield f"plan on a belief of {TRIPS} trips", learned, {}
    yield f"plan with a charge on a belief of {TRIPS} trips", learned, charge
    for number in (100, 500):
        planner = Planner(with_made_stations(network, number), vehicle)
        yield f"plan that charges, {number} stations, `risk=mean`", planner, LOW | {"risk": "mean"}
        yield f"plan that charges, {number} stations", planner, LOW


def requests() -> None:
    """Write the CPU time of single requests on Luxembourg."""
    rows = []
    for name, planner, wishes in kinds():
        turns, lengths = planner.network.turns, planner.network.length_m
        n, pairs = planner.network.n_edges, drawn(planner, 5, REQUESTS)
        graph = csr_matrix((lengths[turns[:, 1]] + 1.0, turns.T), (n, n))
        least_s, refused = np.full((2, REQUESTS), np.inf), 0
        for turn in range(TURNS):
            refused = 0
            for k, (origin, destination) in enumerate(pairs):
                started = process_time()
                dijkstra(graph, indices=origin)
                middle = process_time()
                try:
                    planner.plan(origin, destination, **wishes)
                except NotEnoughChargeError:
                    refused += 1
                if turn:  # the first turn compiles
                    took_s = middle - started, process_time() - middle
                    least_s[:, k] = np.minimum(least_s[:, k], took_s)
        tree_s, plan_s = least_s.sum(axis=1)
        of_plan = 1e3 * least_s[1]
        times = f"{plan_s / tree_s:.1f}", f"{np.median(of_plan):.1f}", f"{of_plan.max():.0f}"
        rows.append([name, f"{REQUESTS - refused}, {refused}", *times])
    columns = ["request", "answered, refused", "Dijkstras", "ms, median", "ms, worst"]
    command = "python -m studies.pages --run requests"
    store("requests", columns, rows, command=command, networks=(NETWORK,))
