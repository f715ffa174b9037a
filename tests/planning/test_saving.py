"""Savings by a belief: their interval against samples of the joint posterior, and their words."""

import numpy as np
import pytest

from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.planning.answers import document
from evroute.planning.plan import CANNOT_TELL
from evroute.planning.planner import Planner

SIZE = 20_000
CLOSE = 4 / np.sqrt(2 * SIZE)
"""Four standard errors of a sampled deviation, as a share of it."""


def teach(belief: LearnedBelief | TripEnergies, trips: int, seed: int = 0) -> None:
    """Learn trips between random places, 20 % above physics."""
    setting, rng = belief.setting, np.random.default_rng(seed)
    planner = Planner(setting.network, setting.vehicle, physics="eq8")
    while belief.trips < trips:
        ends = rng.choice(setting.network.n_edges, 2, replace=False).tolist()
        route = planner.plan(*ends).routes["time"]
        if len(route.edges) < 5:
            continue
        wh = 1.2 * route.edge_wh + rng.normal(0.0, 3.0, len(route.edges))
        seconds = np.full(len(wh), np.nan)
        belief.learn(MeasuredTrip(str(belief.trips), route.route.rows, wh, seconds))


@pytest.fixture(scope="module")
def setting(denver: RoadNetwork) -> Setting:
    return Setting(denver, load_vehicle())


@pytest.mark.parametrize("arms_on", ["edges", "turns"])
def test_the_deviation_equals_samples_of_single_arms(setting: Setting, arms_on: str) -> None:
    belief = LearnedBelief.before_trips(
        Method(model="exact", index="greedy", arms=arms_on), setting
    )
    teach(belief, 6)
    planner = Planner(setting.network, belief=belief)
    day, rng = belief.under(EQ8_CONDITIONS), np.random.default_rng(1)
    routes = []
    while len(set(routes)) < 2:
        plan = planner.plan(*rng.choice(setting.network.n_edges, 2, replace=False).tolist())
        routes = [plan.routes[name].route for name in ("time", "energy")]
    arms = [planner.space.arms_of_route(route) for route in routes]
    distinct = np.unique(np.concatenate(arms))
    reference = day.space.reference.take(distinct)
    sampled_wh = belief.model.sample_many(reference, rng, SIZE)
    times = [np.bincount(np.searchsorted(distinct, each), minlength=len(distinct)) for each in arms]
    expected = (sampled_wh @ (times[0] - times[1])).std()
    assert expected > 0
    assert day.difference_std_wh(*arms) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("physics", ["driving", "eq8"])
def test_the_deviation_equals_samples_of_coefficients_and_roads(
    setting: Setting, physics: str
) -> None:
    """Roads without a column have independent deviations, which both routes share."""
    belief = TripEnergies(setting, physics=physics)
    teach(belief, 12)
    planner, rng = Planner(setting.network, belief=belief), np.random.default_rng(4)
    for _ in range(5):
        plan = planner.plan(*rng.choice(setting.network.n_edges, 2, replace=False).tolist())
        fastest, least = plan.routes["time"], plan.routes["energy"]
        arms = [planner.space.arms_of_route(each.route) for each in (fastest, least)]
        day = planner.learned
        root = belief.belief.regression.root[day.columns]
        draws = root @ rng.standard_normal((root.shape[1], SIZE))
        edges = [day.space.states.edge[each] for each in arms]
        distinct = np.unique(np.concatenate(edges))
        std_wh = belief.belief.scales.roads * np.sqrt(setting.network.length_m[distinct] / 1000)
        std_wh[np.isin(distinct, belief.places.roads.edge)] = 0.0
        of_roads = std_wh[:, np.newaxis] * rng.standard_normal((len(distinct), SIZE))
        sampled_wh = [
            (day.rows.of(arm) @ draws).sum(axis=0)
            + of_roads[np.searchsorted(distinct, edge)].sum(axis=0)
            for arm, edge in zip(arms, edges, strict=True)
        ]
        expected = (sampled_wh[0] - sampled_wh[1]).std()
        assert day.difference_std_wh(*arms) == pytest.approx(expected, rel=CLOSE, abs=1e-9)


def test_a_plan_states_the_interval_and_whether_the_belief_can_tell(setting: Setting) -> None:
    """Savings of a few Wh are uncertain before any trip, and less so later."""
    method = Method(model="exact", index="greedy")
    before, after = (LearnedBelief.before_trips(method, setting) for _ in range(2))
    teach(after, 40)
    wishes = {"detour_saving_wh": 0, "detour_saving_share": 0, "detour_wh_per_minute": 20}
    told = []
    for belief in (before, after):
        planner, rng, apart = Planner(setting.network, belief=belief), np.random.default_rng(2), []
        for _ in range(60):
            ends = rng.choice(setting.network.n_edges, 2, replace=False).tolist()
            plan = planner.plan(*ends, **wishes)
            shown, saving = document(plan)["saving"], plan.saving
            if saving is None:
                assert shown is None
                assert plan.recommended_route.route == plan.routes["time"].route
                continue
            saved_wh = plan.routes["time"].energy_wh - plan.recommended_route.energy_wh
            assert saving.mean_wh == pytest.approx(saved_wh)
            low_wh, high_wh = saving.interval_wh()
            assert shown["interval_90_wh"] == (low_wh, high_wh)
            assert shown["told_apart"] is (not low_wh <= 0 <= high_wh)
            assert (CANNOT_TELL in plan.verdict) is not shown["told_apart"]
            apart.append(shown["told_apart"])
        assert len(apart) > 10
        told.append(np.mean(apart))
    assert told[0] < told[1]


def test_without_a_belief_a_saving_has_no_interval(denver: RoadNetwork) -> None:
    plan = Planner(denver).plan(3, 900)
    assert plan.saving is None
