"""The agent: what it refuses, and that closed edges stay closed."""

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Feedback, Round
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.model.independent import IndependentNormal
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.baselines import Greedy
from evroute.policy.guard import Guard
from evroute.policy.thompson import JointThompson


@pytest.fixture
def parts(hill):
    space = EdgeSpace(hill, load_vehicle("reference"))
    prior = space.prior()
    model = IndependentNormal(prior.std_wh**2, prior.noise_std_wh)
    return {
        "model": model,
        "index": Greedy(),
        "weight_rule": WEIGHT_RULES["potential"],
        "space": space,
        "rng": default_rng(0),
    }, space.reference


def names(hill, route) -> list[str]:
    return [hill.edge_id[e] for e in route.edges]


def test_an_untaught_greedy_agent_drives_the_eq_8_route(hill, parts) -> None:
    agent, arms = Agent(**parts[0]), parts[1]
    route = agent.ask(Round(1, arms, hill.row_of["in"], hill.row_of["out"]))
    over, round_it = (
        sum(arms.prior_mean_wh[hill.row_of[e]] for e in way)
        for way in (("up", "down"), ("east", "west"))
    )
    assert names(hill, route) == (
        ["in", "up", "down", "out"] if over < round_it else ["in", "east", "west", "out"]
    )


def test_a_closed_edge_is_driven_round(hill, parts) -> None:
    agent, arms = Agent(**parts[0]), parts[1]
    for closed, way in (("up", ["east", "west"]), ("west", ["up", "down"])):
        open_arms = arms.take(np.delete(arms.id, hill.row_of[closed]))
        route = agent.ask(Round(1, open_arms, hill.row_of["in"], hill.row_of["out"]))
        assert names(hill, route) == ["in", *way, "out"]


def test_a_trip_that_is_cut_off_is_said_to_be(hill, parts) -> None:
    agent, arms = Agent(**parts[0]), parts[1]
    open_arms = arms.take(np.delete(arms.id, [hill.row_of["up"], hill.row_of["west"]]))
    with pytest.raises(NoRouteError):
        agent.ask(Round(1, open_arms, hill.row_of["in"], hill.row_of["out"]))


def test_a_measured_trip_changes_the_next_route(hill, parts) -> None:
    agent, arms = Agent(**parts[0]), parts[1]
    request = Round(1, arms, hill.row_of["in"], hill.row_of["out"])
    route = agent.ask(request)
    agent.tell(Feedback.of_route(arms, route, arms.prior_mean_wh[route.rows] + 1e4))
    assert agent.ask(request).edges != route.edges


def test_a_restart_forgets_roads_and_licence_and_keeps_the_ledger(hill, parts) -> None:
    arms = parts[1]
    guard = Guard(EdgeSpace(hill, load_vehicle("reference")), rng=default_rng(1))
    agent = Agent(**parts[0], guard=guard, restarts=True)
    request = Round(1, arms, hill.row_of["in"], hill.row_of["out"])
    prior = agent.model.posterior(arms)
    for _ in range(30):
        route = agent.ask(request)
        agent.tell(Feedback.of_route(arms, route, 2 * arms.prior_mean_wh[route.rows] + 100.0))
    assert not np.allclose(agent.model.posterior(arms).mean_wh, prior.mean_wh)
    before, driven = guard.diagnostics(), route.edges
    assert guard._journal.totals(driven).count > 0
    assert agent.restarts
    agent.restart()
    np.testing.assert_array_equal(agent.model.posterior(arms).mean_wh, prior.mean_wh)
    np.testing.assert_array_equal(agent.model.posterior(arms).std_wh, prior.std_wh)
    assert guard._journal.totals(driven).count == 0
    assert guard.diagnostics() == before


class MarginalsOnly:
    """A model without a joint posterior."""

    def posterior(self, arms): ...

    def noise_std(self, arms): ...

    def update(self, feedback): ...

    def state(self): ...

    def restore(self, state): ...


def test_a_pair_that_cannot_work_is_refused_when_the_agent_is_built(parts) -> None:
    wrong = parts[0] | {"model": MarginalsOnly(), "index": JointThompson()}
    with pytest.raises(
        TypeError,
        match=r"JointThompson needs a model that is HasJoint. MarginalsOnly has no .*sample",
    ):
        Agent(**wrong)
