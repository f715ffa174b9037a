"""The loop: its columns, and the clocks that measure each part apart."""

import time

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.experiments import play
from evroute.experiments.play import run_loop
from evroute.experiments.regret import Score, Totals
from evroute.learning.intervals import PastErrors
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.baselines import Greedy

ARMS = Arms(np.arange(2), np.zeros((2, 1)), np.ones(2))
PAUSE_S = {"posterior": 0.004, "search": 0.008, "update": 0.016, "index": 0.032}


class SlowModel:
    def posterior(self, arms: Arms) -> Belief:
        time.sleep(PAUSE_S["posterior"])
        return Belief(np.ones(2), np.ones(2))

    def noise_std(self, arms: Arms) -> np.ndarray:
        return np.ones(2)

    def update(self, feedback: Feedback) -> None:
        time.sleep(PAUSE_S["update"])

    def state(self): ...

    def restore(self, state): ...


class SlowSpace:
    def arms(self, request: Round) -> Arms:
        return request.arms

    def potential_wh(self, request: Round) -> np.ndarray:
        return np.zeros(2)

    def arms_of_route(self, route: Route) -> np.ndarray:
        return route.rows

    def feedback(self, feedback: Feedback) -> Feedback:
        return feedback

    def route(self, weights: np.ndarray, request: Round) -> Route:
        time.sleep(PAUSE_S["search"])
        return Route((0, 1))


class World:
    def observe(self, t: int) -> Round:
        return Round(t, ARMS, 0, 1)

    def drive(self, request: Round, route: Route) -> Feedback:
        energy_wh = np.array([1.0, 2.0]) * request.t
        return Feedback.of_route(request.arms, route, energy_wh, travel_s=np.array([30.0, 40.0]))


class RegretScorer:
    def score(self, world: World, request: Round, route: Route) -> Score:
        return Score(float(request.t), Totals(2.0, 60.0, 900.0), {"eq8": Totals(3.0, 50.0, 800.0)})


def slow_rule(index: np.ndarray, noise: np.ndarray, potential: np.ndarray) -> np.ndarray:
    time.sleep(PAUSE_S["index"])
    return WEIGHT_RULES["potential"](index, noise, potential)


def test_each_part_is_timed_apart_and_rounds_are_logged(monkeypatch) -> None:
    now_s = [0.0]  # a clock that only the pauses advance
    monkeypatch.setattr(time, "sleep", lambda pause_s: now_s.append(now_s.pop() + pause_s))
    monkeypatch.setattr(play, "perf_counter", lambda: now_s[0])
    agent = Agent(
        model=SlowModel(),
        index=Greedy(),
        weight_rule=slow_rule,
        space=SlowSpace(),
        rng=default_rng(0),
    )
    heard = []
    log = run_loop({"": agent}, World(), {"": RegretScorer()}, horizon=3, on_round=heard.append)
    assert heard == [1, 2, 3]
    for part, pause_s in PAUSE_S.items():
        np.testing.assert_allclose(log.timings[f"{part}_s"], pause_s)
    np.testing.assert_array_equal(log.rounds["t"], [1, 2, 3])
    np.testing.assert_array_equal(log.rounds["cumulative_regret_wh"], [1, 3, 6])
    np.testing.assert_array_equal(log.rounds["energy_wh"], [3, 6, 9])
    np.testing.assert_array_equal(log.rounds["predicted_wh"], [2, 2, 2])
    assert np.all(np.isnan(log.rounds["predicted_sd_wh"]))
    for name, value in {
        "true_wh": 2,
        "time_s": 60,
        "length_m": 900,
        "eq8_wh": 3,
        "eq8_s": 50,
        "eq8_m": 800,
    }.items():
        np.testing.assert_array_equal(log.rounds[name], [value] * 3)
    np.testing.assert_array_equal(log.rounds["distinct_edges"], [2, 2, 2])
    np.testing.assert_array_equal(log.routes["t"], [1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(log.routes["edge"], [0, 1] * 3)
    np.testing.assert_array_equal(log.routes["travel_s"], [30, 40] * 3)
    np.testing.assert_array_equal(log.routes["observed_wh"], [1, 2, 2, 4, 3, 6])


class ChangedErrors(PastErrors):
    """Errors that changed with every trip."""

    changed = True


class RestoredSpace(SlowSpace):
    def state(self) -> str:
        return "the start"

    def restore(self, state: str) -> None:
        assert state == "the start"


@pytest.mark.parametrize("restarts", [False, True])
def test_a_change_restarts_an_agent_that_has_the_option(restarts) -> None:
    agent = Agent(
        model=SlowModel(),
        index=Greedy(),
        weight_rule=WEIGHT_RULES["potential"],
        space=RestoredSpace(),
        rng=default_rng(0),
        restarts=restarts,
    )
    errors = ChangedErrors()
    errors.add(1.0, 1.0)
    judges = {"": RegretScorer()}
    log = run_loop(
        {"": agent}, World(), judges, horizon=2, on_round=lambda t: None, errors={"": errors}
    )
    assert errors.trips == 1  # the spread stays
    assert [*log.diagnostics.get("restarts", ())] == ([1.0, 2.0] if restarts else [])
