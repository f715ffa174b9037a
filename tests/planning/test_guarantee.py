"""Intervals of routes with a guarantee, against the confidence set written out."""

import numpy as np
import pytest

from evroute.arms import Feedback, Route
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.model.bounds.sets import EmptySetError
from evroute.model.exact import ExactGP
from evroute.model.independent import IndependentNormal
from evroute.planning.answers import document
from evroute.planning.guarantee import Guarantee, guarantee_arms
from evroute.planning.planner import Planner


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle())


def learned(setting, shift_wh=30.0):
    model = ExactGP(setting.kernel, setting.arms, setting.noise_std_wh)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, 60)
    arms = setting.arms
    energy_wh = (
        arms.prior_mean_wh[rows] + shift_wh + setting.noise_std_wh[rows] * rng.standard_normal(60)
    )
    model.update(Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], energy_wh))
    return model


@pytest.mark.parametrize("kind", ["cmm", "dmm", "amm", "ay", "igp"])
def test_the_joint_interval_holds_the_mean_and_lies_in_the_sum_of_those_of_the_edges(setting, kind):
    model, passed = learned(setting), np.array([0, 1, 2, 1])
    bounds = guarantee_arms(model, setting.arms, passed, Guarantee(kind, B=8.0))
    mean_wh = model.posterior(setting.arms).mean_wh[passed].sum()
    assert bounds.sum_low_wh <= bounds.low_wh < mean_wh < bounds.high_wh <= bounds.sum_high_wh
    assert bounds.low_wh > bounds.sum_low_wh + 1.0


def test_an_edge_driven_twice_counts_twice(setting):
    model = learned(setting)
    once, twice = (
        guarantee_arms(model, setting.arms, np.full(n, 3), Guarantee(B=8.0)) for n in (1, 2)
    )
    assert (twice.low_wh, twice.high_wh) == pytest.approx((2 * once.low_wh, 2 * once.high_wh))


def test_an_automatic_norm_is_told_to_guarantee_nothing(setting):
    model = learned(setting, shift_wh=300.0)
    passed = np.array([0, 1])
    with pytest.raises(EmptySetError, match="raise B or sigma") as empty:
        guarantee_arms(model, setting.arms, passed, Guarantee(B=0.5))
    auto = guarantee_arms(model, setting.arms, passed, Guarantee(B="auto"))
    assert auto.norm == pytest.approx(1.5 * empty.value.b_min)
    assert "no guarantee" in auto.assumes
    fixed = guarantee_arms(model, setting.arms, passed, Guarantee(B=20.0, delta=0.01)).assumes
    assert "with probability 0.99" in fixed
    assert "at most B = 20" in fixed
    assert "none of it shared by a trip" in fixed


def test_plans_and_their_documents_tell_it(setting):
    model = learned(setting)
    belief = LearnedBelief(model, setting.space, Method(model="exact", index="ts"), setting)
    planner = Planner(setting.network, setting.vehicle, belief, guarantee=Guarantee(B=8.0))
    plan = planner.plan(setting.network.row_of["in"], setting.network.row_of["out"])
    route = plan.routes["energy"]
    expected = guarantee_arms(
        model, planner.space.reference, Route(route.route.edges).rows, Guarantee(B=8.0)
    )
    assert route.guarantee == expected
    told = document(plan)["routes"]["energy"]["forecast"]["guarantee"]
    assert told["expected_wh"] == [expected.low_wh, expected.high_wh]
    assert (told["interval"], told["B"], told["delta"]) == ("cmm", 8.0, 0.05)
    plain = Planner(setting.network, setting.vehicle, belief).plan(
        planner.space.reference.id[0], planner.space.reference.id[3]
    )
    assert "guarantee" not in document(plain)["routes"]["energy"]["forecast"]


def test_models_that_are_no_plain_regression_are_refused(setting):
    model = IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)
    with pytest.raises(EvrouteError, match="IndependentNormal has no intervals with a guarantee"):
        guarantee_arms(model, setting.arms, np.array([0]), Guarantee())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "xyz"}, "unknown interval 'xyz'"),
        ({"B": -1.0}, "B is -1"),
        ({"delta": 2.0}, "delta is 2"),
    ],
)
def test_assumptions_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Guarantee(**options)
