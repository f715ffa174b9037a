"""Plans with a belief about turns: equal to trying out every route, with and without battery, limit
and places.
"""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Feedback
from evroute.energy.driving import conditions
from evroute.energy.prior import fit
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.model.independent import IndependentNormal
from evroute.planning.battery import Battery, follow
from evroute.testing.on_average import PlannerOnAverage as Planner

CAR = load_vehicle("reference")


def belief_of(network, seed: int) -> LearnedBelief:
    """A belief in which every turn takes a little more than physics says, some by far."""
    setting, rng = Setting(network, CAR).on_turns(), default_rng(seed)
    arms = setting.arms
    model = IndependentNormal(np.full(len(arms), 100.0), np.ones(len(arms)))
    more_wh = rng.exponential(20.0, len(arms))
    model.update(Feedback(arms.id, arms.features, arms.prior_mean_wh, arms.prior_mean_wh + more_wh))
    method = Method(model="independent", index="greedy", arms="turns")
    return LearnedBelief(model, setting.space, method, setting)


def costs_wh(belief: LearnedBelief, route: list[int]) -> np.ndarray:
    rows = belief.space.table.rows_along(np.array(route))
    return belief.model.posterior(belief.space.reference).mean_wh[rows]


@pytest.mark.parametrize("seed", range(4))
def test_least_energy_is_the_best_of_every_route(hilly, every_route, seed) -> None:
    network = hilly(seed)
    belief = belief_of(network, seed)
    planner = Planner(network, CAR, belief)
    checked = 0
    for origin, destination in product(range(0, network.n_edges, 3), range(1, network.n_edges, 3)):
        routes = list(every_route(network, origin, destination))
        if origin == destination or not routes:
            continue
        checked += 1
        energies = [costs_wh(belief, route) for route in routes]
        least_wh = min(each.sum() for each in energies)
        found = planner.plan(origin, destination).routes["energy"]
        assert found.energy_wh == pytest.approx(least_wh)
        assert found.energy_forecast.mean_wh == pytest.approx(least_wh)

        battery = Battery(400.0, 390.0, 20.0)
        left = [follow(battery, each).charge_wh for each in energies]
        able = [charge[-1] for charge in left if charge.min() >= battery.reserve_wh]
        if not able:
            with pytest.raises(NoRouteError):
                planner.plan(origin, destination, battery=battery)
            continue
        bounded = planner.plan(origin, destination, battery=battery).routes["energy"]
        assert bounded.charge.charge_wh[-1] == pytest.approx(max(able))
        assert len(bounded.charge.charge_wh) == len(bounded.edges) + 1

        times = [network.time_s[route].sum() for route in routes]
        in_time = [e.sum() for e, s in zip(energies, times, strict=True) if s <= 1.1 * min(times)]
        quick = planner.plan(origin, destination, max_extra_time=0.1)
        if quick.proof.startswith("exact"):
            assert quick.routes["energy"].energy_wh == pytest.approx(min(in_time))
    assert checked > 5


def test_places_on_the_way_are_driven_in_their_order(hilly) -> None:
    network = hilly(1)
    belief = belief_of(network, 1)
    planner = Planner(network, CAR, belief)
    found = 0
    for origin, via, destination in default_rng(0).integers(network.n_edges, size=(40, 3)).tolist():
        if via in (origin, destination):
            continue
        try:
            planned = planner.plan(origin, destination, via=(via,)).routes["energy"]
        except NoRouteError:
            continue
        found += 1
        rows = list(planned.route.edges)
        assert (rows[0], rows[-1]) == (origin, destination)
        assert via in rows[1:-1]
        assert planned.energy_wh == pytest.approx(costs_wh(belief, rows).sum())
    assert found > 5


def test_parts_include_turning_and_learned_energy_under_the_conditions_of_the_day(hilly) -> None:
    network = hilly(0)
    belief = belief_of(network, 0)
    day = conditions(temperature_c=0.0, speed_factor=0.8)
    planner = Planner(network, CAR, belief, conditions=day)
    route = [list(network.turns[0])]
    planned = planner.plan(*route[0]).routes["energy"]
    rows = belief.space.table.rows_along(planned.route.rows)
    table, speed_mps = belief.space.table, 0.8 * network.speed_mps
    prior_wh = TurnEnergy(network, CAR, table, day).mean_wh(rows, speed_mps)
    learned_wh = (
        costs_wh(belief, list(planned.route.edges)) - belief.space.reference.prior_mean_wh[rows]
    )
    assert planned.energy_wh == pytest.approx(prior_wh.sum() + learned_wh.sum())
    assert planned.parts_wh["learned"] == pytest.approx(learned_wh.sum())
    eq8_wh = fit(network, CAR, conditions=day).mean_wh[planned.route.rows]
    assert planned.parts_wh["turning"] == pytest.approx(prior_wh.sum() - eq8_wh.sum())


def test_seen_from_edges_a_belief_is_the_average_over_the_turns_into_them(hill) -> None:
    belief = belief_of(hill, 0)
    row, table, turns = hill.row_of["out"], belief.space.table, belief.space.reference
    into = np.flatnonzero((table.entered == row) & (np.arange(len(table)) < table.n_turns))
    assert len(into) == 2
    learned_wh = belief.model.posterior(turns).mean_wh - turns.prior_mean_wh
    seen_wh = belief.edge_posterior.mean_wh - fit(hill, CAR).mean_wh
    assert seen_wh[row] == pytest.approx(learned_wh[into].mean())


def test_many_requests_at_once_are_planned_as_one_by_one(hilly) -> None:
    network = hilly(2)
    planner = Planner(network, CAR, belief_of(network, 2))
    pairs = [
        (a, b) for a, b in product(range(0, network.n_edges, 2), range(network.n_edges)) if a != b
    ]
    origins, destinations = np.array(pairs).T
    found, planned = planner.energies(origins, destinations), 0
    for request, (origin, destination) in enumerate(pairs):
        try:
            route = planner.plan(origin, destination).routes["energy"]
        except NoRouteError:
            assert np.isnan(found.energy_wh[request])
            continue
        planned += 1
        assert found.energy_wh[request] == pytest.approx(route.energy_wh)
        edges = found.edges(request)
        assert (edges[0], edges[-1]) == (origin, destination)
        assert found.length_m[request] == pytest.approx(network.length_m[edges].sum())
        assert found.time_s[request] == pytest.approx(network.time_s[edges].sum())
    assert planned > 20
