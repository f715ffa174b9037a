"""Strict batches: trips are planned while a batch is open; a closed batch waits for its trips."""

import numpy as np
from numpy.random import default_rng

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.experiments.play import run_loop
from evroute.experiments.regret import Score, Totals
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.baselines import Greedy

ARMS = Arms(np.arange(2), np.array([[0.0], [1.0]]), np.ones(2))


class Batch:
    """A model that refuses to plan after ``size`` plans until all of them are measured."""

    def __init__(self, size: int, name: str, events: list[str]) -> None:
        self.size, self.name, self.events = size, name, events
        self.planned = self.measured = 0

    @property
    def waits(self) -> bool:
        return self.planned == self.size and self.measured < self.size

    def anticipate(self, arms: Arms) -> None:
        assert not self.waits, "planned while it waits"
        if self.planned == self.size:
            self.planned = self.measured = 0
        self.planned += 1
        self.events.append(f"plan {self.name}")

    def update(self, feedback: Feedback) -> None:
        self.measured += 1
        self.events.append(f"measure {self.name}")

    def posterior(self, arms: Arms) -> Belief:
        return Belief(np.ones(2), np.ones(2))

    def noise_std(self, arms: Arms) -> np.ndarray:
        return np.ones(2)

    def state(self): ...

    def restore(self, state): ...


class Space:
    def arms(self, request: Round) -> Arms:
        return request.arms

    def potential_wh(self, request: Round) -> np.ndarray:
        return np.zeros(2)

    def route(self, weights: np.ndarray, request: Round) -> Route:
        return Route((0, 1))

    def arms_of_route(self, route: Route) -> np.ndarray:
        return route.rows

    def feedback(self, feedback: Feedback) -> Feedback:
        return feedback


class World:
    def __init__(self, vehicles: str) -> None:
        self.vehicles = vehicles

    def observe(self, t: int) -> Round:
        return Round(t, ARMS, 0, 1, vehicle=self.vehicles[t - 1])

    def drive(self, request: Round, route: Route) -> Feedback:
        return Feedback.of_route(ARMS, route, np.ones(2), vehicle=request.vehicle)


class Judge:
    def score(self, world: World, request: Round, route: Route) -> Score:
        return Score(0.0, Totals(2.0, 60.0, 900.0), {})


def events(vehicles: str, sizes: dict[str, int]) -> list[str]:
    """Return plans and measurements in order, for one trip of each vehicle, ten in flight."""
    happened: list[str] = []
    agents = {
        name: Agent(
            model=Batch(size, name, happened),
            index=Greedy(),
            weight_rule=WEIGHT_RULES["potential"],
            space=Space(),
            rng=default_rng(0),
        )
        for name, size in sizes.items()
    }
    run_loop(
        agents,
        World(vehicles),
        dict.fromkeys(agents, Judge()),
        horizon=len(vehicles),
        on_round=lambda t: None,
        in_flight=10,
    )
    return happened


def test_a_batch_is_planned_at_once_and_measured_before_the_next() -> None:
    assert events("a" * 7, {"a": 3}) == (["plan a"] * 3 + ["measure a"] * 3) * 2 + [
        "plan a",
        "measure a",
    ]


def test_in_a_fleet_only_the_batch_of_the_vehicle_that_plans_is_waited_for() -> None:
    planned = [
        "plan a",
        "plan b",
        "plan b",
        "measure a",
        "measure b",
        "measure b",
        "plan a",
        "measure a",
    ]
    assert events("abba", {"a": 1, "b": 9}) == planned
