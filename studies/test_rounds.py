"""Whole rounds of learning, ask and tell, against one Dijkstra of scipy on the same weights.

Goal: a GP-TS round within 12 Dijkstras at up to 300 distinct edges.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.arms import Feedback, Round
from evroute.energy.vehicle import load_vehicle
from evroute.methods.parts import model_options
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.thompson import IndependentThompson

WARM_ROUNDS = 40

pytestmark = [pytest.mark.data, pytest.mark.benchmark(group="round")]


@pytest.fixture(scope="module", params=["monaco", "luxembourg"])
def setting(request: pytest.FixtureRequest) -> Setting:
    network: RoadNetwork = request.getfixturevalue(request.param)
    return Setting(network, load_vehicle("reference"))


def rounds_of(setting: Setting, model: str) -> tuple[Agent, Callable[[], None]]:
    """Return an agent trained in an eq. 8 world, and a function that plays one more round."""
    rng = default_rng(0)
    agent = Agent(
        model=model_options(model)().build(setting, default_rng(0)),
        index=IndependentThompson(1.0),
        weight_rule=WEIGHT_RULES["rectified"],
        space=EdgeSpace(setting.network, setting.vehicle),
        rng=rng,
    )
    arms = setting.arms
    request = Round(1, arms, *setting.ends("A"))

    def drive() -> None:
        route = agent.ask(request)
        agent.tell(Feedback.of_route(arms, route, arms.prior_mean_wh[route.rows]))

    for _ in range(WARM_ROUNDS):
        drive()
    return agent, drive


@pytest.mark.parametrize("model", ["exact", "independent"])
def test_a_round_of_thompson_sampling(benchmark: Any, setting: Setting, model: str) -> None:
    agent, drive = rounds_of(setting, model)
    benchmark.pedantic(drive, rounds=100)
    benchmark.extra_info["network"] = setting.network.name
    if model == "exact":
        benchmark.extra_info["D"] = len(agent.model.state()["precision"])


def test_one_dijkstra_of_scipy(benchmark: Any, setting: Setting) -> None:
    graph = setting.search.line_graph
    weights = WEIGHT_RULES["rectified"](
        setting.arms.prior_mean_wh, setting.noise_std_wh, setting.potential_wh
    )
    n = graph.n_edges
    arcs = csr_matrix((weights[graph.indices], graph.indices, graph.indptr), shape=(n, n))
    origin, destination = setting.ends("A")
    cost = benchmark(lambda: dijkstra(arcs, indices=origin, return_predecessors=True)[0])
    assert np.isfinite(cost[destination])
