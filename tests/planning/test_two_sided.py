"""The compiled searches: scipy's costs and legal turns, whichever weights and arms."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.catalog import load_network
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.planning import batch
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger
from evroute.planning.charge.stops import charging_stops
from evroute.planning.searches.compiled import compiled, read_only, run
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.lower_bounds import over_edges
from evroute.planning.searches.search import Search
from evroute.planning.searches.settle import Costs, settle
from evroute.planning.searches.stop_loops import settle_stops
from evroute.testing.on_average import PlannerOnAverage as Planner

pytest.importorskip("numba")


@pytest.fixture(scope="module")
def line_graph() -> LineGraph:
    return LineGraph.from_network(load_network("denver"))


def weights_of(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    if kind == "whole":  # with ties, and arms that cost nothing
        return rng.integers(4, size=n).astype(float)
    weights = rng.exponential(size=n)
    if kind == "closed":
        weights[rng.random(n) < 0.3] = np.inf
    return weights


@pytest.mark.parametrize("turns", [False, True], ids=["edges", "turns"])
@pytest.mark.parametrize("kind", ["real", "whole", "closed"])
def test_every_route_is_legal_and_costs_as_much_as_by_scipy(line_graph, kind, turns) -> None:
    search = Search(line_graph, turns=turns)
    scipy = Search(line_graph, turns=turns, compiled=False)
    weights = weights_of(kind, search.starts.stop)
    arm_of = dict(
        zip(
            zip(line_graph.source.tolist(), line_graph.indices.tolist(), strict=True),
            search.entering.tolist(),
            strict=True,
        )
    )

    def cost(edges: tuple[int, ...]) -> float:
        return sum(weights[arm_of[turn]] for turn in pairwise(edges))

    lost = 0
    for origin, destination in np.random.default_rng(0).integers(line_graph.n_edges, size=(160, 2)):
        ends = int(origin), int(destination)
        try:
            expected = scipy.route(weights, *ends).edges
        except NoRouteError:
            lost += 1
            with pytest.raises(NoRouteError):
                search.route(weights, *ends)
            continue
        edges = search.route(weights, *ends).edges
        assert (edges[0], edges[-1]) == ends
        assert cost(edges) == pytest.approx(cost(expected), abs=1e-9)
    assert lost < 140
    assert (lost > 0) == (kind == "closed")


@pytest.mark.parametrize("turns", [False, True], ids=["edges", "turns"])
@pytest.mark.parametrize("kind", ["real", "whole", "closed"])
def test_trees_cost_as_much_as_by_scipy_within_their_limit(line_graph, kind, turns) -> None:
    search = Search(line_graph, turns=turns)
    scipy = Search(line_graph, turns=turns, compiled=False)
    weights = weights_of(kind, search.starts.stop)
    for root, until in np.random.default_rng(1).integers(line_graph.n_edges, size=(10, 2)).tolist():
        rest = scipy.rest(weights, root)
        np.testing.assert_allclose(search.rest(weights, root), rest, atol=1e-9)
        limit = float(np.median(rest[np.isfinite(rest)]))
        within = search.rest(weights, root, limit=limit)
        np.testing.assert_allclose(within, np.where(rest <= limit, rest, np.inf), atol=1e-9)
        cut = search.rest(weights, root, until=[until])
        np.testing.assert_allclose(cut, np.minimum(rest, rest[until]), atol=1e-9)
        if not turns:
            np.testing.assert_allclose(
                search.distances(weights, root), scipy.distances(weights, root), atol=1e-9
            )


@pytest.mark.parametrize("turns", [False, True], ids=["edges", "turns"])
@pytest.mark.parametrize("kind", ["real", "whole", "closed"])
def test_guided_trees_are_exact_where_a_good_route_leads_and_never_too_high(
    line_graph, kind, turns
) -> None:
    search = Search(line_graph, turns=turns)
    scipy = Search(line_graph, turns=turns, compiled=False)
    weights = weights_of(kind, search.starts.stop)
    rng, left_out = np.random.default_rng(4), 0
    for _ in range(10):
        start, *ends = rng.choice(line_graph.n_edges, 4, replace=False).tolist()
        roots = Ends(np.array(ends), rng.exponential(size=3))
        begins = Ends(np.array([start]), np.zeros(1))
        since = scipy.since(weights, begins)
        np.testing.assert_allclose(search.since(weights, begins), since, atol=1e-9)
        guide = search.since(weights, begins, until=ends)
        behind = np.array([np.inf, np.inf, float(rng.exponential())])
        over = behind, rng.choice(line_graph.n_edges, 5, replace=False).tolist()
        given = {"until": [start], "beyond": 1.1, "guide": guide}
        rest = scipy.rest(weights, roots)
        first = Ends(np.array([*ends[2:], *over[1]]), np.append(behind[2:], rest[over[1]]))
        passing = scipy.rest(weights, first)
        for search_of, exactly in ((search, 1.1), (scipy, np.inf)):
            found = over_edges(search_of, weights, roots, over, **given)
            led = guide < np.inf if search_of is search else np.full(len(guide), True)
            for costs, exact in zip(found, (rest, passing), strict=True):
                assert np.isinf(costs[~led]).all()
                assert (costs[led] <= exact[led] + 1e-9).all()
                good = led & (since + exact <= exactly * passing[start] - 1e-9)
                np.testing.assert_allclose(costs[good], exact[good], atol=1e-9)
                left_out += int((costs < exact - 1e-9).sum())
    assert left_out > 1000


def test_guided_trees_find_the_least_of_all_routes_of_small_networks(
    hilly: Callable[[int], RoadNetwork],
    every_route: Callable[[RoadNetwork, int, int], Iterator[list[int]]],
) -> None:
    compared = 0
    for seed in range(20):
        network, rng = hilly(seed), np.random.default_rng(seed)
        search, n = Search(LineGraph.from_network(network)), network.n_edges
        weights, (start, end) = rng.exponential(size=n), rng.choice(n, 2, replace=False).tolist()

        def least(one: int, other: int) -> float:
            routes = every_route(network, one, other)  # noqa: B023
            return min((float(weights[list(r)[1:]].sum()) for r in routes), default=np.inf)  # noqa: B023

        begins = Ends(np.array([start]), np.zeros(1))
        guide = search.since(weights, begins)
        np.testing.assert_allclose(guide, [least(start, edge) for edge in range(n)])
        rest = np.array([least(edge, end) for edge in range(n)])
        station = int(rng.integers(n))
        passing = np.array([least(edge, station) + rest[station] for edge in range(n)])
        found = over_edges(
            search,
            weights,
            Ends(np.array([end]), np.zeros(1)),
            (np.array([np.inf]), [station]),
            until=[start],
            beyond=1.5,
            guide=guide,
        )
        for costs, exact in zip(found, (rest, passing), strict=True):
            assert (costs <= np.where(guide < np.inf, exact, np.inf) + 1e-9).all()
            good = (guide < np.inf) & (guide + exact <= 1.5 * passing[start] - 1e-9)
            np.testing.assert_allclose(costs[good], exact[good])
            compared += int(good.sum())
    assert compared > 50


@pytest.mark.parametrize("weight", [1.0, 1e-6, 0.0])
def test_a_route_to_where_one_is_has_one_edge(line_graph: LineGraph, weight: float) -> None:
    weights = np.full(line_graph.n_edges, weight)
    assert Search(line_graph).route(weights, 7, 7).edges == (7,)


def test_a_batch_costs_the_same_without_numba(line_graph: LineGraph) -> None:
    n, rng = line_graph.n_edges, np.random.default_rng(1)
    weights, ends = rng.exponential(size=n), rng.permutation(n)[:80].reshape(2, 40)

    def costs(search: Search) -> np.ndarray:
        edge, start, _ = batch.cheapest(search, weights, *ends)
        return np.add.reduceat(weights[edge], start[:-1])

    ours = costs(Search(line_graph))
    np.testing.assert_allclose(ours, costs(Search(line_graph, compiled=False)), rtol=1e-12)


@pytest.mark.parametrize("vias", [0, 2])
@pytest.mark.parametrize("percent", [None, 60])
def test_plans_are_equal_compiled_and_interpreted(
    hilly: Callable[[int], RoadNetwork], vias, percent
) -> None:
    compared = 0
    for seed in range(60):
        network, rng = hilly(seed), np.random.default_rng(seed)
        stops = rng.choice(network.n_edges, 2 + vias, replace=False).tolist()
        battery = None if percent is None else Battery(1000.0, 10.0 * percent, 20.0, 80.0, 0.5)
        plans = []
        for single in (False, True):
            planner = Planner(network, load_vehicle("reference"), physics="eq8", single=single)
            assert planner.search.compiled is not single
            try:
                plan = planner.plan(
                    stops[0],
                    stops[-1],
                    via=stops[1:-1],
                    battery=battery,
                    max_extra_time=0.1,
                    alternatives=2,
                )
            except NoRouteError as error:
                plans.append({str(error): 0.0})
                continue
            plans.append({name: route.energy_wh for name, route in plan.routes.items()})
            # ways of one length may take different energies
            plans[-1]["distance"] = plan.routes["distance"].length_m
            for route in plan.routes.values():
                rows = iter(route.route.edges)
                assert all(stop in rows for stop in stops)  # in this order
        compared += "energy" in plans[0]
        assert plans[0] == pytest.approx(plans[1], abs=1e-9)
    assert compared > 10


def test_each_loop_is_compiled_once_for_all_plans(hilly: Callable[[int], RoadNetwork]) -> None:
    """Read-only and writeable arrays are different kinds for numba, which compiles for seconds."""
    battery = Battery(1000.0, 300.0, 20.0, 80.0, 0.5)
    for seed, physics in enumerate(["eq8", "driving"] * 4):
        network = hilly(seed)
        planner = Planner(network, load_vehicle(), physics=physics)
        chargers = [Charger("Station", (3,), "ccs", 50.0, np.arange(101.0))]
        for ends in [(0, 5), (2, network.n_edges - 1)]:
            problem = planner.problem(ends)
            problem.label_search.most_charge(battery)
            problem.label_search.cheapest(None, problem.time_s, 900.0)
            problem.label_search.cheapest(battery, problem.length_m, worth=(0.0, 1.0))
            charging_stops(problem, battery, chargers)
    for loop in (settle, settle_stops):
        assert len(compiled(loop).signatures) == 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cost", np.zeros(3, np.float32), "Costs.cost is array of float32, expected a read-only"),
        ("rest", np.zeros(3), "Costs.rest is array of float64, expected a read-only"),
        ("rest_wh", [0.0, 0.0], r"Costs.rest_wh is \[0.0, 0.0\], expected a read-only"),
    ],
)
@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_loop_refuses_arrays_of_other_types(
    line_graph: LineGraph, name: str, value: object, words: str, is_compiled: bool
) -> None:
    good = Costs(*(read_only(np.zeros(3)) for _ in range(3)))
    search = Search(line_graph, compiled=is_compiled)
    with pytest.raises(TypeError, match=words):
        run(search, settle, good._replace(**{name: value}))


def test_a_compiled_search_refuses_rows_and_weights_that_do_not_exist(
    line_graph: LineGraph,
) -> None:
    search, n = Search(line_graph), line_graph.n_edges
    weights = np.ones(n)
    with pytest.raises(ValueError, match=f"weights have shape .{n - 1},., expected .{n},."):
        search.rest(weights[:-1], 0)
    with pytest.raises(ValueError, match=f"edge row {n} is not one of 0 to {n - 1}"):
        search.rest(weights, n)
    with pytest.raises(ValueError, match="edge row -1 is not one of"):
        search.route(weights, -1, 0)
    ends = Ends(np.array([0, 1]), np.zeros(1))
    with pytest.raises(ValueError, match="2 ends have 1 costs"):
        search.between(weights, ends, ends)
    whole = search.route(weights, 0, n - 1).edges
    assert search.route(weights.astype(np.float32), 0, n - 1).edges == whole
