"""Sandberg et al., Algorithm 1: eight rounds of BI-UCB on two roads, against a plain loop."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.arms import Arms
from evroute.energy.vehicle import load_vehicle
from evroute.experiments.play import run_loop
from evroute.experiments.regret import RegretScorer
from evroute.model.independent import IndependentNormal
from evroute.network import context
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.search import Search
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.confidence import UCBOptions
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.sampled_gp import SampledGP, SampledWorld

PRIOR_MEAN = np.array([15.0, 18.0, 19.0, 15.0])  # start, left, right, end
PRIOR_STD = 3.0
NOISE_STD = 0.5
ROUTES = {"left": (0, 1, 3), "right": (0, 2, 3)}


@pytest.fixture
def network(make_network) -> RoadNetwork:
    edges = [("start", 0, 1), ("left", 1, 2), ("right", 1, 2), ("end", 2, 3)]
    return make_network(edges, [(1000.0 * x, 0.0, 0.0) for x in range(4)])


def test_algorithm_1_by_hand(network) -> None:
    n, horizon = 4, 8
    search = Search(LineGraph.from_network(network))
    arms = Arms(np.arange(n), context.build(network).features, PRIOR_MEAN)
    noise_std_wh, potential_wh = np.full(n, NOISE_STD), np.zeros(n)
    setting = SimpleNamespace(
        arms=arms,
        prior_factor=PRIOR_STD * np.eye(n),
        noise_std_wh=noise_std_wh,
        potential_wh=potential_wh,
        network=network,
        search=search,
    )
    world = SampledGP(SampledWorld(), setting, Repeated(0, 3), SeedSequence(11))
    rule = WEIGHT_RULES["potential"]  # max(0, index) where all is level
    agent = Agent(
        model=IndependentNormal(np.full(n, PRIOR_STD**2), noise_std_wh),
        index=UCBOptions().build(None),
        weight_rule=rule,
        space=EdgeSpace(network, load_vehicle("reference")),
        rng=default_rng(0),
    )
    judge = RegretScorer(
        network=network,
        search=search,
        weight_rule=rule,
        noise_std_wh=noise_std_wh,
        potential_wh=potential_wh,
    )
    log = run_loop({"": agent}, world, {"": judge}, horizon=horizon, on_round=lambda t: None)

    truth = world.truth_wh.tolist()
    assert min(truth) > 0, (
        "the seed must give a world without free edges, where this test can count by hand"
    )
    counts, sums = [0] * n, [0.0] * n
    best = min(sum(truth[e] for e in edges) for edges in ROUTES.values())
    total = 0.0
    for t in range(1, horizon + 1):
        beta = 2 * math.log(n * t**2 / math.sqrt(2 * math.pi))
        index = []
        for e in range(n):
            precision = 1 / PRIOR_STD**2 + counts[e] / NOISE_STD**2
            mean = (PRIOR_MEAN[e] / PRIOR_STD**2 + sums[e] / NOISE_STD**2) / precision
            index.append(max(0.0, mean - math.sqrt(beta / precision)))
        chosen = min(ROUTES.values(), key=lambda edges: sum(index[e] for e in edges))
        driven = log.routes["t"] == t
        assert tuple(log.routes["edge"][driven]) == chosen
        for e, energy in zip(chosen, log.routes["observed_wh"][driven], strict=True):
            counts[e] += 1
            sums[e] += energy
        total += sum(truth[e] for e in chosen) - best
        row = {name: column[t - 1] for name, column in log.rounds.items()}
        assert row["t"] == t
        assert row["beta"] == pytest.approx(beta)
        assert row["true_wh"] == pytest.approx(sum(truth[e] for e in chosen))
        assert row["energy_wh"] == pytest.approx(log.routes["observed_wh"][driven].sum())
        assert row["cumulative_regret_wh"] == pytest.approx(total, abs=1e-9)
        assert row["route_edges"] == 3
        assert row["distinct_edges"] == len({e for e in range(n) if counts[e]})
    assert {1, 2} <= set(log.routes["edge"]), "both ways are tried"
