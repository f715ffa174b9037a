"""Searches and whole requests against alternatives; every time is that of 20 random pairs."""

import subprocess
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest

from evroute.arrays import IntArray
from evroute.door.plan import plan
from evroute.energy.vehicle import load_vehicle
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.planning.weights import WEIGHT_RULES

N_PAIRS = 20


def draw_pairs(network: RoadNetwork) -> IntArray:
    rng = np.random.default_rng(0)
    return np.array([rng.choice(network.n_edges, 2, replace=False) for _ in range(N_PAIRS)])


def costs_by_search(planner: Planner, pairs: IntArray) -> list[float]:
    """Weights made anew for every pair, as a learner needs it."""
    prior, costs = planner.prior, []
    for origin, destination in pairs.tolist():
        weights = WEIGHT_RULES["potential"](prior.mean_wh, prior.noise_std_wh, prior.potential_wh)
        route = planner.search.route(weights, origin, destination)
        costs.append(weights[route.rows[1:]].sum())
    return costs


def costs_by_networkx(graph: nx.DiGraph, planner: Planner, pairs: IntArray) -> list[float]:
    prior, costs = planner.prior, []
    for origin, destination in pairs.tolist():
        rule = WEIGHT_RULES["potential"](prior.mean_wh, prior.noise_std_wh, prior.potential_wh)
        weights = rule.tolist()
        path = nx.dijkstra_path(
            graph, origin, destination, weight=lambda _, entered, __, w=weights: w[entered]
        )
        costs.append(sum(weights[edge] for edge in path[1:]))
    return costs


@pytest.mark.data
@pytest.mark.benchmark(group="searches with fresh weights, Luxembourg")
@pytest.mark.parametrize("way", ["evroute", "networkx"])
def test_a_search_with_fresh_weights(benchmark: Any, luxembourg: RoadNetwork, way: str) -> None:
    """Goal: evroute at least 5 times faster."""
    planner, pairs = (
        Planner(luxembourg, load_vehicle("reference"), physics="eq8"),
        draw_pairs(luxembourg),
    )
    graph = nx.DiGraph(luxembourg.turns.tolist())
    truth = costs_by_networkx(graph, planner, pairs)
    if way == "evroute":
        costs = benchmark(costs_by_search, planner, pairs)
    else:
        costs = benchmark(costs_by_networkx, graph, planner, pairs)
    assert costs == pytest.approx(truth, abs=1e-6)


@pytest.mark.data
@pytest.mark.benchmark(group="bounded battery, Monaco")
@pytest.mark.parametrize("start_percent", [None, 100, 50, 12])
def test_a_search_with_a_battery(
    benchmark: Any, monaco: RoadNetwork, start_percent: float | None
) -> None:
    """The unbounded search (None) against the bounded one, by start charge."""
    planner, pairs = Planner(monaco, load_vehicle("reference"), physics="eq8"), draw_pairs(monaco)
    if start_percent is None:
        benchmark(costs_by_search, planner, pairs)
        return
    battery = Battery.of_percent(planner.vehicle.battery_kwh, start_percent, 0)
    benchmark(
        lambda: [planner.problem(tuple(pair)).most_charge(battery) for pair in pairs.tolist()]
    )


@pytest.mark.data
@pytest.mark.benchmark(group="requests, Luxembourg")
@pytest.mark.parametrize("options", ["plain", "battery", "time limit", "both"])
def test_a_request_to_a_planner(benchmark: Any, luxembourg: RoadNetwork, options: str) -> None:
    planner, pairs = (
        Planner(luxembourg, load_vehicle("reference"), physics="eq8"),
        draw_pairs(luxembourg),
    )
    battery = (
        Battery.of_percent(planner.vehicle.battery_kwh, 80, 10)
        if options in {"battery", "both"}
        else None
    )
    limit = 0.1 if options in {"time limit", "both"} else None
    benchmark(
        lambda: [
            planner.plan(*pair, battery=battery, max_extra_time=limit, risk="mean")
            for pair in pairs.tolist()
        ]
    )


@pytest.mark.data
@pytest.mark.benchmark(group="one request from nothing, Luxembourg")
def test_a_request_as_a_call(benchmark: Any, luxembourg: RoadNetwork) -> None:
    """From a network in memory: planner, searches and numbers; one trip."""
    assert benchmark(plan, luxembourg, trip="A").network == "luxembourg"


@pytest.mark.data
@pytest.mark.benchmark(group="one request from nothing, Luxembourg")
def test_a_request_as_a_process(benchmark: Any, luxembourg: RoadNetwork) -> None:
    """Goal: under 2 s on a built network; one trip."""
    command = [
        sys.executable,
        "-m",
        "evroute",
        "route",
        "--network",
        luxembourg.name,
        "--trip",
        "A",
        "--json",
    ]
    done = benchmark.pedantic(
        subprocess.run, args=[command], kwargs={"capture_output": True}, rounds=5
    )
    assert done.returncode == 0
