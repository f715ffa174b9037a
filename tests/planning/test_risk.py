"""Routes within a risk against every route of small networks with dense joint covariances."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import numpy as np
import pytest

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.door.plan import plan
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NoRouteError
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery, follow
from evroute.planning.charge import risk
from evroute.planning.charge.risk import RiskSearch
from evroute.planning.charge.risk_bounds import RiskBounds
from evroute.planning.forecasts.first_passage import ERROR, first_passage
from evroute.planning.planner import Planner
from evroute.planning.searches.search_problem import SearchProblem

Routes = Callable[[RoadNetwork, int, int], Iterator[list[int]]]
N_NETWORKS = 40


def dense_covariance(rng: np.random.Generator, mean_wh: FloatArray) -> FloatArray:
    """Return a covariance whose edges are strongly correlated, about half of them negatively."""
    scale = 0.3 * np.abs(mean_wh) + 2.0
    load = rng.choice([-1.0, 1.0], len(mean_wh)) * rng.uniform(0.8, 1.0, len(mean_wh))
    correlation = np.outer(load, load)
    np.fill_diagonal(correlation, 1.0)
    return correlation * np.outer(scale, scale)


@pytest.fixture
def case(
    hilly: Callable[[int], RoadNetwork], problem_of: Callable[..., SearchProblem]
) -> Callable[[int], tuple[SearchProblem, RiskSearch, RoadNetwork]]:
    def make(seed: int) -> tuple[SearchProblem, RiskSearch, RoadNetwork]:
        network, rng = hilly(seed), np.random.default_rng(seed)
        energy_wh = fit(network, load_vehicle("reference")).mean_wh
        covariance = dense_covariance(rng, energy_wh)
        ends = (int(e) for e in rng.choice(network.n_edges, 2, replace=False))
        problem = problem_of(network, energy_wh, *ends)

        def risk_of(route: Route, battery: Battery) -> float:
            rows = route.rows
            room_wh = follow(battery, energy_wh[rows]).charge_wh[1:] - battery.reserve_wh
            edges = covariance[np.ix_(rows, rows)]
            return first_passage(room_wh, edges.cumsum(axis=0).cumsum(axis=1), 6.0)

        low_wh, high_wh = 20.0, 2000.0
        with suppress(NoRouteError):
            least, risk = problem.legs.route(problem.weights()), rng.choice([0.04, 0.055, 0.08])
            for _ in range(20):  # start so that the route of least energy has this risk
                middle_wh = (low_wh + high_wh) / 2
                enough = risk_of(least, Battery(2000.0, middle_wh, 20.0)) <= risk
                low_wh, high_wh = (low_wh, middle_wh) if enough else (middle_wh, high_wh)
        battery, std_wh = Battery(2000.0, high_wh, 20.0), np.sqrt(covariance.diagonal())

        def least_of(routes: Sequence[Route], battery: Battery) -> list[float]:
            return [0.5 * risk_of(route, battery) for route in routes]

        return (
            problem,
            RiskSearch(RiskBounds(problem, std_wh), battery, 0.05, risk_of, least_of),
            network,
        )

    return make


def test_routes_within_a_risk_are_the_best_of_all_routes_of_random_networks(
    case: Callable[[int], tuple[SearchProblem, RiskSearch, RoadNetwork]], every_route: Routes
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(N_NETWORKS):
        problem, search, network = case(seed)
        routes = [
            Route(tuple(r))
            for r in every_route(network, problem.legs.starts[0].edge, *problem.legs.destinations)
        ]
        if not routes:
            continue
        risks = {route: search.risk_of(route, search.battery) for route in routes}
        safe = [route for route in routes if risks[route] <= search.most]
        if not safe:
            assert search.best_of((1.0, 0.0), problem.time_s) == (None, 0.0)
            assert search.fastest() == (None, 0.0)
            assert "no route keeps" in str(search.refusal())
            seen["none"] += 1
            continue
        taken_wh = [problem.taken_wh(route, search.battery) for route in safe]
        best, gap = search.best_of((1.0, 0.0), problem.time_s)
        assert gap == 0.0
        assert problem.taken_wh(best, search.battery) == pytest.approx(min(taken_wh), abs=1e-6)
        fastest, gap = search.best_of((0.0, 1.0), problem.time_s)
        assert gap == 0.0
        least_s = min(map(problem.taken_s, safe))
        assert problem.taken_s(fastest) == pytest.approx(least_s)
        limit_s = 1.1 * least_s
        within = [w for w, r in zip(taken_wh, safe, strict=True) if problem.taken_s(r) <= limit_s]
        limited, gap = search.best_of((1.0, 0.0), problem.time_s, limit_s)
        assert gap == 0.0
        assert problem.taken_wh(limited, search.battery) == pytest.approx(min(within), abs=1e-6)
        # by mean energy alone another route would be chosen
        usual = min(routes, key=lambda route: problem.taken_wh(route, search.battery))
        seen["another"] += risks[usual] > search.most
        seen["compared"] += 1
    assert seen["compared"] >= 15, seen
    assert min(seen["another"], seen["none"]) >= 3, seen


def test_advice_is_enough_and_one_percentage_point_less_is_not(
    case: Callable[[int], tuple[SearchProblem, RiskSearch, RoadNetwork]], every_route: Routes
) -> None:
    advised = 0
    for seed in range(N_NETWORKS):
        problem, search, network = case(seed)
        if not any(
            True
            for _ in every_route(network, problem.legs.starts[0].edge, *problem.legs.destinations)
        ):
            continue
        if search.best_of((1.0, 0.0), problem.time_s)[0] is None:
            error = search.refusal()
            if error.start_percent is None:
                continue
            for percent, enough in ((error.start_percent, True), (error.start_percent - 1, False)):
                start_wh = max(search.battery.start_wh, 20.0 * percent)
                battery = Battery(2000.0, start_wh, 20.0)
                routes = [
                    Route(tuple(r))
                    for r in every_route(
                        network, problem.legs.starts[0].edge, *problem.legs.destinations
                    )
                ]
                assert enough == any(search.risk_of(r, battery) <= search.most for r in routes)
            advised += 1
    assert advised >= 3


def test_the_gap_bounds_the_best_route_where_the_effort_ends(
    case: Callable[[int], tuple[SearchProblem, RiskSearch, RoadNetwork]],
    every_route: Routes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(risk, "EFFORT", 4)
    gaps = 0
    for seed in range(N_NETWORKS):
        problem, search, network = case(seed)
        routes = [
            Route(tuple(r))
            for r in every_route(network, problem.legs.starts[0].edge, *problem.legs.destinations)
        ]

        def keeps(route: Route, search: RiskSearch = search) -> bool:
            return search.risk_of(route, search.battery) <= search.most

        taken_wh = [problem.taken_wh(r, search.battery) for r in routes if keeps(r)]
        if not taken_wh:
            continue
        found, gap = search.best_of((1.0, 0.0), problem.time_s)
        if found is None:
            continue
        best_wh = problem.taken_wh(found, search.battery)
        assert keeps(found)
        assert best_wh - gap - 1e-6 <= min(taken_wh) <= best_wh + 1e-6
        gaps += gap > 0
    assert gaps >= 2


@pytest.mark.parametrize("start_percent", [12.0, 100.0])
def test_bounds_of_many_routes_are_equal_to_bounds_of_single_routes(
    hilly: Callable[[int], RoadNetwork], start_percent: float
) -> None:
    """Trips begin and end inside edges; one start is so full that regeneration is lost."""
    network = hilly(2)
    planner = Planner(network, "reference", uncertainty=physics_belief)
    rng, battery = np.random.default_rng(4), Battery.of_percent(40.0, start_percent, 11.0)
    walks = []
    for length in (2, 5, 9, 9):
        edges = [int(rng.integers(network.n_edges))]
        while len(edges) < length:
            edges.append(int(rng.choice(network.turns[network.turns[:, 0] == edges[-1], 1])))
        last_m = float(network.length_m[edges[-1]])
        walks.append(Route(tuple(edges), 0.3 * float(network.length_m[edges[0]]), 0.6 * last_m))
    risks = planner.forecasts.risks()
    together = risks.bounds_of(walks, battery)
    alone = zip(*(risks.bounds_of([each], battery) for each in walks), strict=True)
    for bounds, each in zip(together, alone, strict=True):
        assert bounds == pytest.approx([bound for (bound,) in each], rel=1e-9, abs=1e-12)
    for route, least, most in zip(walks, *together, strict=True):
        assert least <= risks.risk_of(route, battery) <= most + ERROR


def test_a_plan_prints_the_risk_that_it_keeps() -> None:
    network, car = load_network("denver"), load_vehicle("reference")
    planner = Planner(network, car, uncertainty=physics_belief(network, car, "eq8"), physics="eq8")
    battery = Battery.of_percent(car.battery_kwh, 5.5, 1.0)
    found = planner.plan(1213, 40, battery=battery, risk=0.05, via=[500])
    for planned in found.routes.values():
        assert planned.charge_forecast.never_below_reserve >= 0.95
        assert 500 in planned.route.edges
    kept = found.recommended_route.charge_forecast.never_below_reserve
    assert f"{int(100 * kept)} % of cars like yours" in found.safety  # no trip was learned
    plain = planner.plan(1213, 40, battery=battery, via=[500], risk="mean")
    assert found.unlimited.route == plain.recommended_route.route
    assert plain.safety == ""


def test_without_trips_the_risk_comes_from_the_belief_before_any_trip() -> None:
    network, car = load_network("denver"), load_vehicle("reference")
    prior = physics_belief(network, car, "driving")
    planner = Planner(network, car, physics="driving", uncertainty=prior)
    route = planner.plan(1213, 40).routes["energy"].route
    battery, learned = Battery.of_percent(car.battery_kwh, 5.5, 1.0), Planner(network, car, prior)
    kept, expected = (
        each.forecasts.of_route(route, battery)[1].never_below_reserve
        for each in (planner, learned)
    )
    assert kept == pytest.approx(expected, abs=1e-12)
    mixed = Planner(network, car, uncertainty=prior, physics="eq8")
    with pytest.raises(EvrouteError, match="other physics"):
        mixed.forecasts.of_route(route, battery)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risk": 0.01}, "charge at the start"),
        ({"risk": 0.6, "soc_percent": 50}, "at most 50 %"),
    ],
)
def test_bad_combinations_are_refused_in_one_line(options: dict[str, float], message: str) -> None:
    with pytest.raises(EvrouteError, match=message):
        plan("denver", trip="A", **options)


def test_a_risk_without_any_belief_is_refused() -> None:
    with pytest.raises(EvrouteError, match="physics_belief"):
        Planner(load_network("denver")).plan(3, 9, battery=Battery(5000.0, 4000.0, 0.0), risk=0.01)


def test_without_any_belief_a_plan_that_names_no_risk_is_the_one_on_the_mean() -> None:
    planner = Planner(load_network("denver"))
    given, named = (planner.plan(3, 9, soc=40, **more) for more in ({}, {"risk": "mean"}))
    assert given.request.risk == "mean"
    assert given.request.texts() == named.request.texts()
    assert [each.route for each in given.routes.values()] == [
        each.route for each in named.routes.values()
    ]
    assert "risk" not in planner.plan(3, 9).request.texts()
