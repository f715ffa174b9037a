"""Models on turns: each works through ask and tell, and the kinetic part is what the edge models
cannot know.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.arms import Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.methods.method import Method, make_index, make_model, make_space
from evroute.methods.setting import Prior, Setting
from evroute.network.controls import LIGHT, RIGHT_OF_WAY
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.worlds.conditions import Conditions
from evroute.worlds.demand.trips import Repeated

TRIPS = 6


def agent_of(method: Method, setting: Setting) -> Agent:
    return Agent(
        model=make_model(method, setting, default_rng(0)),
        index=make_index(method, setting),
        weight_rule=WEIGHT_RULES["potential-rectified"],
        space=make_space(method, setting),
        rng=default_rng(1),
    )


def drive(agent: Agent, setting: Setting, **truth) -> list[tuple[float, float]]:
    """Return predicted and measured energy of each trip."""
    ends = setting.network.row_of["in"], setting.network.row_of["out"]
    conditions = Conditions(kinetic=True, from_standstill=True, **truth)
    world = conditions.build(setting, Repeated(*ends), SeedSequence(0))
    told = []
    for t in range(1, TRIPS + 1):
        request = world.observe(t)
        route = agent.ask(request)
        feedback = world.drive(request, route)
        told.append((agent.predict(request, route)[0], float(feedback.energy_wh.sum())))
        agent.tell(feedback)
    return told


@pytest.fixture
def rough(make_network, hill):
    """The hill, its roads of different speeds."""
    return Setting(
        replace(hill, speed_mps=np.array([8.0, 14, 25, 20, 8, 14, 14])), load_vehicle("reference")
    )


@pytest.mark.parametrize(
    "model", ["independent", "exact", "svgp", "svgp-gpytorch", "factor", "physics", "physics+gp"]
)
def test_a_model_learns_on_turns(rough, model) -> None:
    told = drive(
        agent_of(Method(model=model, index="ts", arms="turns"), rough), rough, auxiliary_w=3000.0
    )
    assert abs(np.subtract(*told[-1])) < abs(np.subtract(*told[0]))


def test_in_a_world_of_eq_8_with_kinetic_energy_turns_but_for_bends_have_nothing_to_learn(
    rough,
) -> None:
    on_turns, on_edges = (
        drive(agent_of(Method(model="exact", index="greedy", arms=arms), rough), rough)[0]
        for arms in ("turns", "edges")
    )
    space = rough.on_turns().space
    wasted_wh = space.energy.wasted_wh(space.reference.id, rough.network.speed_mps)
    most_wasted_wh = wasted_wh.max() * 4
    assert abs(np.subtract(*on_turns)) <= most_wasted_wh
    assert abs(np.subtract(*on_edges)) > 2 * most_wasted_wh


@pytest.mark.parametrize("model", ["exact", "independent", "physics"])
def test_a_state_goes_on_where_it_was(rough, model) -> None:
    method = Method(model=model, index="greedy", arms="turns")
    agent, again = (agent_of(method, rough) for _ in range(2))
    drive(agent, rough, auxiliary_w=3000.0)
    again.model.restore(agent.model.state())
    here, there = (each.model.posterior(rough.on_turns().arms) for each in (agent, again))
    np.testing.assert_array_equal(here.mean_wh, there.mean_wh)


@pytest.mark.parametrize("model", ["exact", "physics+gp"])
def test_a_light_learned_at_one_turn_is_foretold_at_another_and_only_where_controls_are_told(
    make_network, model
) -> None:
    n = 40  # a straight road: turn k leads from edge k to edge k + 1; every second has a light
    x_m = np.cumsum(default_rng(2).uniform(80, 120, n + 1))
    road = make_network([(f"e{k}", k, k + 1) for k in range(n)], [(x, 0, 0) for x in x_m])
    lit = np.arange(n - 1) % 2 == 0
    setting = Setting(
        replace(road, control=np.where(lit, LIGHT, RIGHT_OF_WAY)),
        load_vehicle("reference"),
        Prior("dissipation"),
    )
    foretold = {}
    for controls in (None, True):
        method = Method(model=model, index="greedy", arms="turns", controls=controls)
        learner = make_model(method, setting, default_rng(0))
        arms = make_space(method, setting).reference
        known = arms.take(np.arange(20))
        measured = Feedback(
            known.id, known.features, known.prior_mean_wh, known.prior_mean_wh + 2.0 * lit[:20]
        )
        learner.update(measured)
        foretold[controls] = (learner.posterior(arms).mean_wh - arms.prior_mean_wh)[30 : n - 1]
    lit_later = lit[30:]
    missed = {controls: np.abs(wh - 2.0 * lit_later).max() for controls, wh in foretold.items()}
    assert missed[True] < 0.7 < 1 < missed[None]


def test_a_network_that_knows_of_no_lights_refuses_controls(hill) -> None:
    method = Method(model="exact", index="ts", arms="turns", controls=True)
    with pytest.raises(
        EvrouteError,
        match=r"has no lights, stop signs or right of way. Leave controls out",
    ):
        make_space(method, Setting(hill, load_vehicle("reference")))
    with pytest.raises(EvrouteError, match="controls is for arms on turns"):
        Method(model="exact", index="ts", controls=True)
    assert method.name == "exact-turns-controls-ts"
    assert method.label == "GP-TS turns with controls"
