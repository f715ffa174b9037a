"""Plans with a belief about turns: equal to trying out every route, with and without battery, limit and places."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Feedback
from evroute.energy.driving import conditions
from evroute.energy.prior import all_arms, fit
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.model.independent import IndependentNormal
from evroute.network.line_graph import LineGraph
from evroute.network.turn_table import TurnTable
from evroute.planning.arm_space import TurnArms
from evroute.planning.battery import Battery, follow
from evroute.planning.planner import Planner
from evroute.planning.search import Search
from evroute.planning.turn_belief import TurnBelief

CAR = load_vehicle()


def belief_of(network, seed: int) -> TurnBelief:
    """A belief in which every turn takes a little more than physics says, some by far."""
    rng, table = default_rng(seed), TurnTable.from_network(network)
    space = TurnArms(Search(LineGraph.from_network(network)), TurnEnergy(network, CAR, table))
    model = IndependentNormal(np.full(len(table), 100.0), np.ones(len(table)))
    belief = TurnBelief(model, space, all_arms(network, fit(network, CAR)))
    arms = belief.turns
    more_wh = rng.exponential(20.0, len(arms))
    model.update(Feedback(arms.id, arms.features, arms.prior_mean_wh, arms.prior_mean_wh + more_wh))
    return belief


def costs_wh(belief: TurnBelief, route: list[int]) -> np.ndarray:
    rows = belief.space.table.rows_along(np.array(route))
    return belief.model.posterior(belief.turns).mean_wh[rows]


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


def test_parts_tell_the_turning_and_what_was_learned_under_the_conditions_of_the_day(hilly) -> None:
    network = hilly(0)
    belief = belief_of(network, 0)
    day = conditions(temperature_c=0.0, speed_factor=0.8)
    planner = Planner(network, CAR, belief, conditions=day)
    route = [list(network.turns[0])]
    planned = planner.plan(*route[0]).routes["energy"]
    rows = belief.space.table.rows_along(planned.route.rows)
    table, speed_mps = belief.space.table, 0.8 * network.speed_mps
    prior_wh = TurnEnergy(network, CAR, table, day).mean_wh(rows, speed_mps)
    learned_wh = costs_wh(belief, list(planned.route.edges)) - belief.turns.prior_mean_wh[rows]
    assert planned.energy_wh == pytest.approx(prior_wh.sum() + learned_wh.sum())
    assert planned.parts_wh["learned"] == pytest.approx(learned_wh.sum())
    eq8_wh = fit(network, CAR, conditions=day).mean_wh[planned.route.rows]
    assert planned.parts_wh["turning"] == pytest.approx(prior_wh.sum() - eq8_wh.sum())


def test_seen_from_edges_a_belief_is_the_average_over_the_turns_into_them(hill) -> None:
    belief = belief_of(hill, 0)
    arms = all_arms(hill, fit(hill, CAR))
    row, table = hill.row_of, belief.space.table
    into = np.flatnonzero((table.entered == row["out"]) & (np.arange(len(table)) < table.n_turns))
    assert len(into) == 2
    learned_wh = belief.model.posterior(belief.turns).mean_wh - belief.turns.prior_mean_wh
    seen = belief.posterior(arms.take(np.array([row["out"]])))
    assert seen.mean_wh[0] - arms.prior_mean_wh[row["out"]] == pytest.approx(
        learned_wh[into].mean()
    )
