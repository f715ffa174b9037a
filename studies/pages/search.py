"""Tables of *search and scale*: random pairs of edges, and requests a second.

Least energies are checked against Bellman-Ford, which knows no potential, and times are CPU times
of one process. `small` has ten pairs that `make test` computes again.
"""

from collections.abc import Iterator
from time import process_time

import networkx as nx
import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import load_vehicle
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery, follow
from evroute.planning.planner import Planner
from evroute.planning.weights import WEIGHT_RULES
from studies.pages.speed import requests
from studies.pages.tables import store

CITIES = ("monaco", "luxembourg")
N_PAIRS = 1000
SAME_WH = 1e-6
AT_ONCE = 100
REQUESTS, BY_NETWORKX = 1000, 40


def planners(names: tuple[str, ...] = CITIES) -> Iterator[Planner]:
    """Yield a planner of each city on eq. 8, one slope an edge."""
    for name in names:
        roads = on_terrain(load_network(name), "edge")
        yield Planner(roads, load_vehicle("reference"), physics="eq8")


def draw_pairs(network: RoadNetwork, n: int = N_PAIRS) -> IntArray:
    """Return (n, 2) edge rows, origin and destination apart."""
    rng = np.random.default_rng(0)
    return np.array([rng.choice(network.n_edges, 2, replace=False) for _ in range(n)])


def bellman_ford(network: RoadNetwork, energy_wh: FloatArray, origins: IntArray) -> FloatArray:
    """Return the least signed energy to every edge, (origins, n), by relaxing all turns to the end.

    Raises
    ------
    ArithmeticError
        If a round trip gains energy.
    """
    by_target = np.argsort(network.turns[:, 1], kind="stable")
    source, target = network.turns[by_target].T
    entered, first = np.unique(target, return_index=True)
    least = np.full((len(origins), network.n_edges), np.inf)
    least[np.arange(len(origins)), origins] = energy_wh[origins]
    for _ in range(network.n_edges):
        reached = np.minimum.reduceat(least[:, source], first, axis=1) + energy_wh[entered]
        better = reached < least[:, entered]
        if not better.any():
            return least
        least[:, entered] = np.where(better, reached, least[:, entered])
    raise ArithmeticError("a round trip gains energy")


def least_of(planner: Planner, pairs: IntArray) -> FloatArray:
    """Return the least energy of each pair by Bellman-Ford, Wh."""
    energy_wh = planner.prior.mean_wh
    parts = np.array_split(pairs, max(1, len(pairs) // AT_ONCE))
    found = [bellman_ford(planner.network, energy_wh, part[:, 0]) for part in parts]
    of = [least[np.arange(len(part)), part[:, 1]] for least, part in zip(found, parts, strict=True)]
    return np.concatenate(of)


def rules() -> None:
    """Write the loss of each rule of weights against the least energy."""
    rows = []
    for planner in planners():
        prior, pairs = planner.prior, draw_pairs(planner.network)
        least_wh = least_of(planner, pairs)
        for name, rule in WEIGHT_RULES.items():
            weights = rule(prior.mean_wh, prior.noise_std_wh, prior.potential_wh)
            routes = [planner.search.route(weights, *pair).rows for pair in pairs]
            loss_wh = np.array([prior.mean_wh[each].sum() for each in routes]) - least_wh
            lost = loss_wh > SAME_WH
            rows.append(
                [
                    f"{planner.network.name}, {name}",
                    f"{lost.mean():.1%}".replace("%", " %"),
                    f"{loss_wh.mean():.2f}",
                    f"{np.median(loss_wh[lost]):.2f}" if lost.any() else "-",
                    f"{loss_wh.max():.0f}",
                ]
            )
    columns = ["network, rule", "pairs that lose", "mean loss, Wh", "median loss, Wh", "most, Wh"]
    store("rules", columns, rows, command="python -m studies.pages --run rules", networks=CITIES)


def savings() -> None:
    """Write energy saved and time lost by the least-energy route against the fastest."""
    columns, cells = ["of 1,000 random pairs"], []
    for planner in planners():
        saved_wh, share, extra = [], [], []
        for origin, destination in draw_pairs(planner.network).tolist():
            routes = planner.plan(origin, destination).routes
            energy, fastest = routes["energy"], routes["time"]
            saved_wh.append(fastest.energy_wh - energy.energy_wh)
            extra.append(energy.time_s / fastest.time_s - 1)
            if fastest.energy_wh > 0:
                share.append(saved_wh[-1] / fastest.energy_wh)
        saved = np.array(saved_wh)
        columns.append(planner.network.name.title())
        cells.append(
            [
                f"{saved.mean():.1f}",
                f"{np.median(saved):.1f}",
                f"{np.percentile(saved, 90):.1f}",
                percent((saved <= SAME_WH).mean()),
                percent(np.mean(share)),
                percent(np.median(share)),
                percent(np.mean(extra)),
                percent(np.median(extra)),
            ]
        )
    names = ["saved, Wh: mean", "saved, Wh: median", "saved, Wh: 90th percentile"]
    names += ["pairs that save nothing", "of the fastest route's energy: mean"]
    names += ["of the fastest route's energy: median", "extra time: mean", "extra time: median"]
    rows = [[name, *row] for name, row in zip(names, zip(*cells, strict=True), strict=True)]
    command = "python -m studies.pages --run savings"
    store("savings", columns, rows, command=command, networks=CITIES)


def battery() -> None:
    """Write how often a bounded battery changes the best route, by start charge; reserve 0."""
    rows = []
    for planner in planners():
        pairs, energy_wh = draw_pairs(planner.network), planner.prior.mean_wh
        unbounded = [planner.search.route(planner.prior.dissipated_wh, *pair) for pair in pairs]
        for start in (100, 50, 12):
            cell = Battery.of_percent(planner.vehicle.battery_kwh, start, 0)
            gained_wh, lost_wh = [], []
            for pair, plain in zip(pairs, unbounded, strict=True):
                route = planner.problem(tuple(pair.tolist())).most_charge(cell)
                naive = follow(cell, energy_wh[plain.rows])
                bounded = follow(cell, energy_wh[route.rows])
                gained_wh.append(bounded.charge_wh[-1] - naive.charge_wh[-1])
                lost_wh.append(naive.lost_wh)
            gain, lost = np.array(gained_wh), np.array(lost_wh)
            rows.append(
                [
                    f"{planner.network.name}, {start} %",
                    percent((gain > SAME_WH).mean()),
                    f"{gain.mean():.1f}",
                    f"{gain.max():.1f}",
                    percent((lost > 20).mean()),
                ]
            )
    columns = ["network, start", "another route", "it gains, Wh: mean of all", "most"]
    columns.append("the unbounded route loses more than 20 Wh to a full battery")
    command = "python -m studies.pages --run battery"
    store("battery", columns, rows, command=command, networks=CITIES)


def batch() -> None:
    """Write requests a second of one process on Luxembourg, and those of networkx.

    Raises
    ------
    ArithmeticError
        If the costs differ.
    """
    (planner,) = planners(("luxembourg",))
    prior, n = planner.prior, planner.network.n_edges
    weights = WEIGHT_RULES["potential"](prior.mean_wh, prior.noise_std_wh, prior.potential_wh)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(
        (a, b, float(weights[b])) for a, b in planner.network.turns.tolist()
    )
    rows = []
    for ends in (1000, 100, 10):
        rng = np.random.default_rng(0)
        origin = rng.choice(n, ends, replace=False)[np.arange(REQUESTS) % ends]
        destination = (origin + rng.integers(1, n, size=REQUESTS)) % n
        pairs = list(zip(origin.tolist(), destination.tolist(), strict=True))[:BY_NETWORKX]
        started, costs = process_time(), []
        for request in pairs:
            try:
                costs.append(nx.dijkstra_path_length(graph, *request))
            except nx.NetworkXNoPath:
                costs.append(np.nan)
        theirs = BY_NETWORKX / (process_time() - started)
        took = []
        for _ in range(6):  # the first compiles
            started = process_time()
            found = planner.energies(origin, destination)
            took.append(process_time() - started)
        edges = [found.edges(i) for i in range(BY_NETWORKX)]
        ours = [weights[each[1:]].sum() if len(each) else np.nan for each in edges]
        if not np.allclose(ours, costs, atol=1e-6 + found.within_wh.max(), equal_nan=True):
            raise ArithmeticError("costs differ from those of networkx")
        per_s = REQUESTS / float(np.median(took[1:]))
        rows.append([f"{ends:,}", f"{per_s:,.0f}", f"{theirs:.0f}", f"{per_s / theirs:.0f}"])
    columns = ["distinct origins", "requests per s", "networkx, requests per s", "times"]
    command = "python -m studies.pages --run batch"
    store("batch", columns, rows, command=command, networks=("luxembourg",))


def small(names: tuple[str, ...]) -> list[list[str]]:
    """Return ten pairs, those of some networks: least energies, two ways, and of the fastest."""
    rows = []
    for name, n in (("denver", 4), ("monaco", 3), ("luxembourg", 3)):
        if name not in names:
            continue
        (planner,) = planners((name,))
        pairs = draw_pairs(planner.network, n)
        for k, least_wh in enumerate(least_of(planner, pairs)):
            routes = planner.plan(*pairs[k].tolist()).routes
            energies = least_wh, routes["energy"].energy_wh, routes["time"].energy_wh
            rows.append([f"{name}, pair {k + 1}", *(f"{wh:.3f}" for wh in energies)])
    return rows


SMALL = ["pair", "least by Bellman-Ford, Wh", "least-energy route, Wh", "fastest route, Wh"]
RUNS = {each.__name__: each for each in (rules, savings, battery, batch, requests)}


def percent(share: float) -> str:
    """Return a share as per cent with a digit after the point."""
    return f"{100 * share:.1f} %"
