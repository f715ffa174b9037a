"""Every arm space: routes, potentials, feedback and searches agree with the edges driven."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.model.kernels.build import standard_graph
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable
from evroute.planning.searches.legs import Legs
from evroute.planning.spaces.arm_space import ArmSpace, SearchSpace, least_energy_route
from evroute.planning.spaces.corridor import Corridor
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace

CAR = load_vehicle("reference")
GRAVITY_WH = CAR.mass_kg * 9.82 / 3600
DAY = DrivingConditions(temperature_c=5.0, payload_kg=200.0, speed_factor=0.9, wind_mps=3.0)


def turns(network: RoadNetwork, **options: bool) -> TurnSpace:
    return TurnSpace(EdgeSpace(network, CAR), TurnTable.from_network(network), **options)


WHOLE: dict[str, Callable[[RoadNetwork], SearchSpace]] = {
    "edges": lambda network: EdgeSpace(network, CAR),
    "edges in the cold": lambda network: EdgeSpace(network, CAR).under(DAY),
    "edges with temperatures": lambda network: EdgeSpace(network, CAR, temperature=True),
    "turns": turns,
    "turns with temperatures": lambda network: TurnSpace(
        EdgeSpace(network, CAR, temperature=True), TurnTable.from_network(network), controls=True
    ),
    "turns in the cold": lambda network: turns(network).under(DAY),
    "turns, braked": lambda network: turns(network, braked=True),
    "turns with learned speeds": lambda network: turns(network, learn_speeds=True),
    "turns with controls": lambda network: turns(network, controls=True),
}
EVERY: dict[str, Callable[[RoadNetwork], ArmSpace]] = WHOLE | {
    "corridor": lambda network: Corridor(EdgeSpace(network, CAR), 3.0),
    "corridor of turns": lambda network: Corridor(turns(network, learn_speeds=True), 3.0),
}


@pytest.fixture(params=[0, 1])
def roads(request, hilly) -> RoadNetwork:
    """A random hilly network of streets of different speeds, with lights at some turns."""
    network, rng = hilly(request.param), default_rng(request.param)
    return replace(
        network,
        speed_mps=rng.choice([8.0, 14.0, 25.0], network.n_edges),
        control=rng.integers(0, 3, len(network.turns)),
    )


@pytest.fixture(params=EVERY)
def space(request, roads) -> ArmSpace:
    return EVERY[request.param](roads)


@pytest.fixture(params=WHOLE)
def whole(request, roads) -> SearchSpace:
    return WHOLE[request.param](roads)


def requests(network: RoadNetwork, space: ArmSpace, n: int = 12) -> list[tuple[Round, Route]]:
    """Requests with a way, and the route of random weights for each."""
    rng, found = default_rng(5), []
    edges = space.edges.reference
    for origin, destination in rng.integers(network.n_edges, size=(20 * n, 2)).tolist():
        request = Round(1, edges, origin, destination)
        if origin == destination or len(found) == n:
            continue
        try:
            weights = rng.uniform(0.5, 2.0, len(space.arms(request)))
            found.append((request, space.route(weights, request)))
        except NoRouteError:
            continue
    assert len(found) == n
    return found


def test_a_route_runs_between_its_ends_over_legal_turns(space, roads) -> None:
    legal = {tuple(turn) for turn in roads.turns.tolist()}
    for request, route in requests(roads, space):
        assert (route.edges[0], route.edges[-1]) == (request.origin, request.destination)
        assert set(zip(route.edges, route.edges[1:], strict=False)) <= legal


def test_arms_of_a_route_are_among_the_arms_of_its_round(space, roads) -> None:
    for request, route in requests(roads, space):
        arms, ids = space.arms(request), space.arms_of_route(route)
        assert len(ids) == len(route)
        np.testing.assert_array_equal(arms.id[arms.rows_of(ids)], ids)


def test_the_weight_of_a_route_is_the_sum_over_its_arms_and_the_least(space, roads) -> None:
    rng = default_rng(1)
    for request, other in requests(roads, space):
        arms = space.arms(request)
        weights = rng.uniform(0.5, 2.0, len(arms))
        cost, of_other = (
            weights[arms.rows_of(space.arms_of_route(route))].sum()
            for route in (space.route(weights, request), other)
        )
        assert cost <= of_other + 1e-12


def test_the_potential_telescopes_along_routes(space, roads) -> None:
    """It rises by the change of height and, of turns, by the speed of the last edge."""
    day = space.edges.conditions
    mass = day.payload_kg / CAR.mass_kg + 1.0
    for request, route in requests(roads, space):
        rows = space.arms(request).rows_of(space.arms_of_route(route))
        rise_wh = space.potential_wh(request)[rows].sum()
        first, last = route.edges[0], route.edges[-1]
        climb_m = roads.elevation_m[roads.head[last]] - roads.elevation_m[roads.tail[first]]
        kinetic_wh = 0.5 * CAR.mass_kg * roads.speed_mps[last] ** 2 / 3600
        expected_wh = GRAVITY_WH * climb_m + (kinetic_wh if space.noun == "turns" else 0.0)
        assert rise_wh == pytest.approx(mass * expected_wh, abs=1e-9)


def test_no_arm_takes_less_than_its_rise(space, roads) -> None:
    for request, _ in requests(roads, space, 2):
        if space.edges.conditions == DAY and space.noun == "turns":
            continue  # rounds bring prior means of their own; those of the day are in `prior`
        energy_wh = space.arms(request).prior_mean_wh
        assert (energy_wh - space.potential_wh(request)).min() > -1e-9


def test_feedback_keeps_the_energy_of_a_trip_and_is_about_the_arms_of_its_route(
    space, roads
) -> None:
    for request, route in requests(roads, space):
        energy_wh = default_rng(2).normal(50.0, 30.0, len(route))
        driven = Feedback.of_route(request.arms, route, energy_wh, trip_id="t", vehicle=CAR.name)
        found = space.feedback(driven)
        np.testing.assert_array_equal(found.id, space.arms_of_route(route))
        assert found.energy_wh.sum() == pytest.approx(energy_wh.sum(), abs=1e-9)
        arms = space.arms(request)
        rows = arms.rows_of(found.id)
        np.testing.assert_array_equal(found.features, arms.features[rows])
        np.testing.assert_allclose(found.prior_mean_wh, arms.prior_mean_wh[rows], atol=1e-9)
        assert (found.trip_id, found.vehicle) == ("t", CAR.name)


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("way", [("up", "down"), ("east", "west")])
def test_closed_edges_are_neither_arms_nor_on_routes(make, way, hill) -> None:
    roads, row = replace(hill, control=np.zeros(len(hill.turns), int)), hill.row_of
    space = make(roads)
    edges = space.edges.reference
    closed = Route(tuple(row[each] for each in ("in", *way, "out")))
    request = Round(1, edges.take(np.delete(edges.id, row[way[0]])), row["in"], row["out"])
    arms = space.arms(request)
    route = space.route(np.ones(len(arms)), request)
    assert row[way[0]] not in route.edges
    assert len(route) == len(closed)
    with pytest.raises(ValueError, match="not available"):
        arms.rows_of(space.arms_of_route(closed))


def test_another_vehicle_has_its_own_potential(whole, roads) -> None:
    heavy, day = load_vehicle("volvo-c40"), whole.edges.conditions
    (request, _), *_ = requests(roads, whole, 1)
    other = replace(request, vehicle=heavy.name)
    masses = heavy.mass_kg + day.payload_kg, CAR.mass_kg + day.payload_kg
    np.testing.assert_allclose(
        whole.potential_wh(other), whole.potential_wh(request) * masses[0] / masses[1], atol=1e-12
    )


def test_a_state_goes_on_where_it_was(roads, request) -> None:
    for make in EVERY.values():
        one, other = make(roads), make(roads)
        for asked, route in requests(roads, one, 4):
            travel_s = 2.0 * roads.time_s[route.rows]
            wh = np.full(len(route), 20.0)
            one.feedback(Feedback.of_route(asked.arms, route, wh, travel_s=travel_s))
        other.restore(one.state() | {"of another": np.zeros(1)})
        here, there = (each.arms(asked).prior_mean_wh for each in (one, other))
        np.testing.assert_array_equal(here, there)


def test_searches_over_arms_find_the_routes_of_the_space(whole, roads) -> None:
    weights = default_rng(4).uniform(0.5, 2.0, whole.size)
    routes = []
    for request, _ in requests(roads, whole):
        route = whole.search.route(weights, request.origin, request.destination)
        assert route == whole.route(weights[whole.arms(request).id], request)
        np.testing.assert_array_equal(whole.states.edge[whole.arms_of_route(route)], route.rows)
        routes.append(route)
    start = np.cumsum([0, *map(len, routes[:-1])])
    together = whole.arms_of_routes(np.concatenate([route.rows for route in routes]), start)
    each = np.concatenate([whole.arms_of_route(route) for route in routes])
    np.testing.assert_array_equal(together, each)


def test_legs_drive_the_places_on_the_way(whole, roads) -> None:
    rng, checked = default_rng(6), 0
    weights = rng.uniform(0.5, 2.0, whole.size)
    for origin, via, destination in rng.integers(roads.n_edges, size=(40, 3)).tolist():
        if len({origin, via, destination}) < 3:
            continue
        try:
            route = Legs.over(whole.search, (origin, via, destination), whole.arms_of_route).route(
                weights
            )
        except NoRouteError:
            continue
        legs = [
            weights[whole.arms_of_route(whole.route(weights, Round(1, roads_of(whole), a, b)))]
            for a, b in ((origin, via), (via, destination))
        ]
        assert via in route.edges[1:-1]
        if whole.noun == "edges":  # of turns, the second leg does not start from standstill
            cost = sum(leg.sum() for leg in legs) - weights[via]
            assert weights[whole.arms_of_route(route)].sum() == pytest.approx(cost)
        checked += 1
    assert checked > 5


def roads_of(space: SearchSpace) -> Arms:
    return space.edges.reference


def test_the_states_rise_as_the_potential_does(whole, roads) -> None:
    prior, states = whole.prior(), whole.states
    rise_wh = states.head_wh - states.tail_wh
    np.testing.assert_allclose(rise_wh, prior.potential_wh, atol=1e-9)
    assert prior.dissipated_wh.min() > -1e-9


def test_the_parts_of_a_route_are_the_sum_over_its_arms(whole, roads) -> None:
    for _, route in requests(roads, whole):
        energy_wh = whole.reference.prior_mean_wh[whole.arms_of_route(route)].sum()
        assert sum(whole.parts_wh(route).values()) == pytest.approx(energy_wh)


def test_without_anything_learned_edges_are_believed_to_take_eq_8(whole, roads) -> None:
    std_wh = np.full(whole.size, 3.0)
    seen = whole.edge_belief(Belief(whole.reference.prior_mean_wh, std_wh))
    np.testing.assert_allclose(seen.mean_wh, whole.edges.reference.prior_mean_wh, atol=1e-9)
    np.testing.assert_allclose(seen.std_wh, 3.0)


def test_kernel_contexts_and_derivatives_fit_the_arms(whole, roads) -> None:
    arms = whole.reference
    assert len(arms) == whole.size
    assert len(whole.lengthscale_factors) == arms.features.shape[1]
    graph = whole.graph(standard_graph(roads, None))
    assert graph.n_edges == whole.size
    matrix = graph.matrix()
    np.testing.assert_allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9 * matrix.diagonal().mean()
    derivatives = whole.regressors.of(arms.id, arms.features)
    assert derivatives.shape == (whole.size, len(whole.regressors.names))
    assert len(whole.regressors.units) == len(whole.regressors.prior_std) == derivatives.shape[1]


def test_no_route_takes_less_than_the_one_of_least_energy(whole, roads) -> None:
    for request, other in requests(roads, whole):
        arms = whole.arms(request)
        energy_wh = np.maximum(arms.prior_mean_wh, whole.potential_wh(request))
        least_wh, other_wh = (
            energy_wh[arms.rows_of(whole.arms_of_route(route))].sum()
            for route in (least_energy_route(whole, energy_wh, request), other)
        )
        assert least_wh <= other_wh + 1e-9
