"""Intervals of the last route in reports, against the confidence set written out."""

import numpy as np
import pytest

from evroute.arms import Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.methods.method import Method, make_model
from evroute.methods.setting import Setting
from evroute.model.bounds.sets import ConfidenceSet, EmptySetError
from evroute.model.exact import ExactGP
from evroute.policy.bounds import assume, bounds
from evroute.report.pages.beliefs import route_bounds, route_intervals


def test_intervals_with_a_guarantee_contain_the_bayesian_ones_and_state_their_assumptions(
    denver,
) -> None:
    setting = Setting(denver, load_vehicle("reference"))
    model = make_model(Method(model="exact", index="ts"), setting, np.random.default_rng(0))
    route = setting.search.route(setting.network.length_m, 3, 300)
    for _ in range(5):
        energy_wh = setting.prior.mean_wh[route.rows]
        model.update(Feedback.of_route(setting.arms, route, energy_wh))
    table = route_intervals(model, setting.arms, route.rows, float(energy_wh.sum())).set_index(
        "interval of the last route"
    )
    low, high = table["low (Wh)"], table["high (Wh)"]
    assert np.all(low < table["true (Wh)"])
    assert np.all(table["true (Wh)"] < high)
    width = high - low
    assert width["Bayes, 95 %"] < width["CMM, 95 %"] <= width["AMM, 95 %"]
    assert "norm at most 10" in table.loc["CMM, 95 %", "assumes"]
    assert low.mean() == pytest.approx(energy_wh.sum(), rel=0.5)


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


def learned(setting: Setting, shift_wh: float = 30.0) -> ExactGP:
    model, arms = ExactGP(setting.kernel, setting.arms, setting.noise_std_wh), setting.arms
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, 60)
    noise_wh = setting.noise_std_wh[rows] * rng.standard_normal(60)
    energy_wh = arms.prior_mean_wh[rows] + shift_wh + noise_wh
    model.update(Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], energy_wh))
    return model


@pytest.mark.parametrize("kind", ["cmm", "dmm", "amm", "ay", "igp"])
def test_the_joint_interval_holds_the_mean_and_lies_in_the_sum_of_edge_intervals(setting, kind):
    model, passed = learned(setting), np.array([0, 1, 2, 1])
    low, high, _ = route_bounds(model, setting.arms, passed, kind, norm=8.0)
    spectrum = model.spectrum()
    confidence = ConfidenceSet(spectrum, assume(8.0, 1.0, 0.05, "mixture"))
    each = bounds(confidence, model.points(spectrum, setting.arms), kind, count=60)
    prior_wh = setting.arms.prior_mean_wh
    sum_low, sum_high = ((prior_wh + side)[passed].sum() for side in (each.low, each.high))
    mean_wh = model.posterior(setting.arms).mean_wh[passed].sum()
    assert sum_low <= low < mean_wh < high <= sum_high
    assert low > sum_low + 1.0


def test_an_edge_driven_twice_counts_twice(setting) -> None:
    model = learned(setting)
    once, twice = (
        route_bounds(model, setting.arms, np.full(n, 3), "cmm", norm=8.0)[:2] for n in (1, 2)
    )
    assert twice == pytest.approx((2 * once[0], 2 * once[1]))


def test_measurements_that_no_function_of_the_norm_fits_are_refused(setting) -> None:
    with pytest.raises(EmptySetError, match="raise B or sigma"):
        route_bounds(learned(setting, 300.0), setting.arms, np.array([0, 1]), "cmm", norm=0.5)
