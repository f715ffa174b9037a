"""Least energy within a time limit: by hand, and against every route of random small hilly
networks.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.longitudinal import potential_wh
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.searches.tradeoff import Hull, hull

Problems = Callable[..., SearchProblem]
Routes = Callable[[RoadNetwork, int, int], Iterator[list[int]]]
N_NETWORKS = 400


def arrival(energy_wh: FloatArray, route: list[int], battery: Battery) -> float:
    charge = battery.start_wh
    for edge in route:
        charge = min(battery.capacity_wh, charge - energy_wh[edge])
        if charge < battery.reserve_wh:
            return -np.inf
    return charge


def hull_of(
    problem: SearchProblem, weights: FloatArray, time_s: FloatArray, limit_s: float
) -> Hull:
    ends = problem.legs.route(weights), problem.legs.route(time_s)
    return hull(problem.legs, weights, time_s, limit_s, ends)


@pytest.fixture
def three_ways(
    make_network: Callable[..., RoadNetwork],
) -> tuple[RoadNetwork, FloatArray, FloatArray]:
    """Ways from ``in`` to ``out`` of (weight, seconds) (30, 10), (24, 20) and (10, 30), the second
    off the hull.
    """
    positions = [(0, 0, 0), (10, 0, 0), (20, 5, 0), (20, 0, 0), (20, -5, 0), (30, 0, 0), (40, 0, 0)]
    edges = [("in", 0, 1)]
    for name, middle in (("a", 2), ("b", 3), ("c", 4)):
        edges += [(f"{name}1", 1, middle), (f"{name}2", middle, 5)]
    edges.append(("out", 5, 6))
    network = make_network(edges, positions)
    weights = np.array([0, 15, 15, 12, 12, 5, 5, 0.0])
    time_s = np.array([0, 5, 5, 10, 10, 15, 15, 0.0])
    return network, weights, time_s


@pytest.mark.parametrize(
    ("limit_s", "by_hull", "bound", "exact"),
    # between (10 s, 30) and (30 s, 10) the hull is a line: at 20 s it is 20, at 25 s 15
    [
        (10, "a", 30, "a"),
        (19, "a", 21, "a"),
        (20, "a", 20, "b"),
        (25, "a", 15, "b"),
        (30, "c", 10, "c"),
    ],
)
def test_the_label_search_finds_routes_that_the_hull_misses(
    three_ways: tuple[RoadNetwork, FloatArray, FloatArray],
    problem_of: Problems,
    limit_s: float,
    by_hull: str,
    bound: float,
    exact: str,
) -> None:
    network, weights, time_s = three_ways
    ends = network.row_of["in"], network.row_of["out"]
    problem = problem_of(network, weights, *ends)
    on_hull = hull_of(problem, weights, time_s, limit_s)
    assert network.edge_id[on_hull.route.edges[1]] == f"{by_hull}1"
    assert on_hull.bound == pytest.approx(bound)
    best, complete = problem.label_search.cheapest(None, time_s, limit_s)
    assert complete
    assert best is not None
    assert network.edge_id[best.edges[1]] == f"{exact}1"


def test_a_limit_below_the_fastest_has_no_route(
    three_ways: tuple[RoadNetwork, FloatArray, FloatArray], problem_of: Problems
) -> None:
    network, weights, time_s = three_ways
    problem = problem_of(network, weights, 0, network.n_edges - 1)
    with pytest.raises(NoRouteError, match="fastest"):
        hull_of(problem, weights, time_s, 9.0)


def test_only_a_better_route_than_the_known_one_is_looked_for(
    three_ways: tuple[RoadNetwork, FloatArray, FloatArray], problem_of: Problems
) -> None:
    network, weights, time_s = three_ways
    problem = problem_of(network, weights, network.row_of["in"], network.row_of["out"])
    better = problem.label_search.cheapest(None, time_s, 20, better_than=24.0)
    assert better == (None, True)


def test_a_search_out_of_effort_is_marked_as_unfinished(
    three_ways: tuple[RoadNetwork, FloatArray, FloatArray], problem_of: Problems
) -> None:
    network, weights, time_s = three_ways
    labels = problem_of(network, weights, network.row_of["in"], network.row_of["out"]).label_search
    assert labels.cheapest(None, time_s, 20, effort=2) == (None, False)


def test_hull_and_labels_equal_every_route_of_random_hilly_networks(
    hilly: Callable[[int], RoadNetwork], every_route: Routes, problem_of: Problems
) -> None:
    vehicle = load_vehicle("reference")
    seen: Counter[str] = Counter()
    for seed in range(N_NETWORKS):
        network = hilly(seed)
        rng = np.random.default_rng(seed)
        origin, destination = (int(e) for e in rng.choice(network.n_edges, 2, replace=False))
        routes = list(every_route(network, origin, destination))
        if not routes:
            continue
        prior = fit(network, vehicle)
        # times that have nothing to do with lengths leave more routes off the hull
        energy_wh, time_s = prior.mean_wh, rng.uniform(10, 100, network.n_edges)
        duration = {tuple(r): time_s[r].sum() for r in routes}
        limit_s = float(rng.choice(list(duration.values())))
        in_time = [r for r in routes if duration[tuple(r)] <= limit_s + 1e-9]
        best_wh = min(energy_wh[r].sum() for r in in_time)
        climb_wh = potential_wh(
            vehicle,
            np.array(
                network.elevation_m[network.head[destination]]
                - network.elevation_m[network.tail[origin]]
            ),
        )
        problem = problem_of(network, energy_wh, origin, destination)
        on_hull = hull_of(problem, prior.dissipated_wh, time_s, limit_s)
        hull_wh = energy_wh[on_hull.route.rows].sum()
        assert time_s[on_hull.route.rows].sum() <= limit_s + 1e-9
        assert on_hull.bound + climb_wh - 1e-6 <= best_wh <= hull_wh + 1e-6
        seen["off the hull"] += hull_wh > best_wh + 1e-6
        labels = problem.label_search
        found, complete = labels.cheapest(None, time_s, limit_s)
        assert complete
        assert found is not None
        assert energy_wh[found.rows].sum() == pytest.approx(best_wh, abs=1e-6)
        worth = 1.0, float(rng.uniform(0.1, 2.0))  # a Wh, a second
        cheapest = min(energy_wh[r].sum() + worth[1] * duration[tuple(r)] for r in in_time)
        found, _ = labels.cheapest(None, time_s, limit_s, worth=worth)
        assert found is not None
        rows = found.rows
        assert energy_wh[rows].sum() + worth[1] * time_s[rows].sum() == pytest.approx(cheapest)
        seen["both counted"] += energy_wh[rows].sum() > best_wh + 1e-6

        capacity_wh = rng.uniform(250, 1200)
        battery = Battery(capacity_wh, capacity_wh * rng.choice([1.0, 0.6]), 0.05 * capacity_wh)
        best_wh = max(arrival(energy_wh, r, battery) for r in in_time)
        found, complete = labels.cheapest(battery, time_s, limit_s)
        assert complete
        assert (found is None) == np.isinf(best_wh)
        if found is not None:
            assert time_s[found.rows].sum() <= limit_s + 1e-9
            assert arrival(energy_wh, list(found.edges), battery) == pytest.approx(
                best_wh, abs=1e-6
            )
        seen["none"] += found is None

        keeping = [r for r in routes if np.isfinite(arrival(energy_wh, r, battery))]
        found, complete = labels.cheapest(battery, time_s, worth=(0.0, 1.0))
        assert complete
        assert (found is None) == (not keeping)
        if found is not None:
            assert np.isfinite(arrival(energy_wh, list(found.edges), battery))
            assert time_s[found.rows].sum() == pytest.approx(
                min(duration[tuple(r)] for r in keeping)
            )
            seen["slowed"] += duration[tuple(found.edges)] > min(duration.values())
        seen["compared"] += 1
    assert seen["compared"] >= 150
    assert min(seen["off the hull"], seen["none"], seen["slowed"]) >= 3, seen
