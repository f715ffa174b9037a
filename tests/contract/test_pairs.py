"""Every valid pair of model and index through three rounds on a toy network."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.experiments.play import run_loop
from evroute.experiments.regret import RegretScorer
from evroute.methods.method import Method, make_index, make_model
from evroute.methods.parts import INDICES, MODELS, index_options
from evroute.methods.setting import Setting
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.testing import check_index
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.world import load_world


def lawful(model: str, index: str) -> bool:
    try:
        Method(model=model, index=index)
    except EvrouteError:
        return False
    return True


NAMES = set(MODELS), set(INDICES)  # a study that is imported later may add its own
PAIRS = [pair for pair in product(MODELS, INDICES) if lawful(*pair)]

CIRCUMSTANCES = list(product(WEIGHT_RULES, ["sampled-gp", "physics"], [0.0, 0.3]))
# every pair in one of the circumstances, taken in turn, and one pair in all: neither knows of the
# other
CASES = [(*pair, *CIRCUMSTANCES[i % len(CIRCUMSTANCES)]) for i, pair in enumerate(PAIRS)]
CASES += [case for each in CIRCUMSTANCES if (case := ("exact", "ts", *each)) not in CASES]


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


def play(
    setting: Setting, model: str, index: str, rule: str, world: str, closed_share: float = 0.0
):
    trips = Repeated(setting.network.row_of["in"], setting.network.row_of["out"])
    environment = load_world({"kind": world, "closed_share": closed_share}).build(
        setting, trips, SeedSequence(4)
    )
    agent = Agent(
        model=make_model(Method(model=model, index=index), setting, default_rng(3)),
        index=make_index(Method(model=model, index=index), setting),
        weight_rule=WEIGHT_RULES[rule],
        space=EdgeSpace(setting.network, setting.vehicle),
        rng=default_rng(2),
    )
    judge = RegretScorer(
        network=setting.network,
        search=setting.search,
        weight_rule=WEIGHT_RULES[rule],
        noise_std_wh=setting.noise_std_wh,
        potential_wh=setting.potential_wh,
    )
    log = run_loop({"": agent}, environment, {"": judge}, horizon=3, on_round=lambda t: None)
    return log, agent


@pytest.mark.parametrize(("model", "index", "rule", "world", "closed_share"), CASES)
def test_three_rounds_are_driven_and_repeat_under_a_seed(
    setting, model, index, rule, world, closed_share
) -> None:
    log, _ = play(setting, model, index, rule, world, closed_share)
    again, _ = play(setting, model, index, rule, world, closed_share)
    assert len(log.rounds["t"]) == 3
    for name, column in log.rounds.items():
        np.testing.assert_array_equal(column, again.rounds[name])
        assert (
            name in {"vehicle", "beta", "multiplier", "b_min", "predicted_sd_wh"}
            or name.startswith("half")
            or np.all(np.isfinite(column))
        )
    assert np.all(log.rounds["regret_wh"] >= 0)
    row_of = setting.network.row_of
    for t in (1, 2, 3):
        edges = log.routes["edge"][log.routes["t"] == t].tolist()
        assert (edges[0], edges[-1]) == (row_of["in"], row_of["out"])
        assert all([a, b] in setting.network.turns.tolist() for a, b in pairwise(edges))


@pytest.mark.parametrize(("model", "index"), PAIRS)
def test_every_index_keeps_the_protocol_on_every_model(model: str, index: str) -> None:
    check_index(index_options(index), model=model)


def test_every_model_has_an_index_and_every_index_a_model() -> None:
    assert ({model for model, _ in PAIRS}, {index for _, index in PAIRS}) == NAMES
