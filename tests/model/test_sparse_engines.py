"""Engines with dictionaries: refused options, changed contexts, diagnostics, strict batches."""

import numpy as np
import pytest
from engines import engine
from numpy.random import default_rng

from evroute.arms import Arms, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.model.sparse import ek, radius
from evroute.model.sparse.bkb import (
    BatchUCBOptions,
    BBKBOptions,
    BKBOptions,
    CBBKBOptions,
    CBKBOptions,
)
from evroute.model.sparse.ek import EKOptions, KUCBOptions

ARMS = Arms(np.arange(6), default_rng(0).random((6, 2)), np.zeros(6))
CAPPED = [BKBOptions, BBKBOptions, CBKBOptions, CBBKBOptions, EKOptions]


def model_of(make, **options):
    return engine(
        make, VectorKernel("rbf", 1.0, 0.1), ARMS, np.full(6, 0.5), default_rng(0), **options
    )


def trip(*rows: int) -> Feedback:
    return Feedback(np.array(rows), ARMS.features[[*rows]], np.zeros(len(rows)), np.ones(len(rows)))


@pytest.mark.parametrize("make", CAPPED)
def test_a_dictionary_without_room_for_a_point_is_refused(make) -> None:
    with pytest.raises(ValueError, match="max_dictionary"):
        model_of(make, max_dictionary=0)
    model_of(make, max_dictionary=1)


@pytest.mark.parametrize("changed", [[1], [0, 1]], ids=["one", "all"])
@pytest.mark.parametrize("make", [*CAPPED, BatchUCBOptions, KUCBOptions])
def test_changed_features_are_another_context(make, changed) -> None:
    model = model_of(make)
    model.update(trip(0, 1, 2))
    features = ARMS.features.copy()
    features[:, changed] += 0.05
    moved = Arms(ARMS.id, features, ARMS.prior_mean_wh)
    std_wh = np.sqrt(model.covariance(moved).diagonal())
    np.testing.assert_allclose(model.posterior(moved).std_wh, std_wh)
    assert np.all(np.abs(model.posterior(ARMS).std_wh - std_wh)[:3] > 1e-3)


@pytest.mark.parametrize("make", [*CAPPED, BatchUCBOptions, KUCBOptions])
def test_diagnostics_start_at_zero_and_are_part_of_the_state(make) -> None:
    model, again = model_of(make), model_of(make)
    start = model.diagnostics()
    assert {name: value for name, value in start.items() if value} in ({}, {"stop_criterion": 1.0})
    for rows in ((0, 1), (2, 3), (4, 5)):
        model.anticipate(ARMS.take(np.array(rows)))
        model.update(trip(*rows))
    again.restore(model.state())
    assert again.diagnostics() == model.diagnostics() != start


@pytest.mark.parametrize("make", [BBKBOptions, BatchUCBOptions])
def test_a_strict_model_waits_from_its_last_plan_to_its_last_measurement(make) -> None:
    model = model_of(make, threshold=1e6, max_batch_trips=2)
    for row in (0, 1):  # unplanned trips: they fill the dictionary
        model.update(trip(row))
    waited = [model.waits]
    for row in (0, 1):
        model.anticipate(ARMS.take(np.array([row])))
        waited.append(model.waits)
    for row in (0, 1):
        model.update(trip(row))
        waited.append(model.waits)
    assert waited == [False, False, True, True, False]


@pytest.mark.parametrize("make", [BBKBOptions, BatchUCBOptions])
def test_a_trip_that_nobody_planned_is_learned_at_once(make) -> None:
    model = model_of(make, threshold=1e6, max_batch_trips=5)
    model.update(trip(0))
    model.anticipate(ARMS.take(np.array([2])))
    before = model.posterior(ARMS).mean_wh
    model.update(trip(3))
    assert model.posterior(ARMS).mean_wh[3] > before[3] + 0.1


def test_cbbkb_oversamples_ten_times_its_threshold_by_default() -> None:
    assert model_of(CBBKBOptions, threshold=3.0).rule._redraw.q_bar == 30.0
    assert model_of(CBBKBOptions, threshold=3.0, q_bar=4.0).rule._redraw.q_bar == 4.0


def test_kappa2_of_bkb_counts_all_arms_measured_or_not() -> None:
    """Prior variance 4 over noise variances 1, 1/4: kappa² is 16, of the arm never measured."""
    noise = np.array([1.0, 1.0, 0.5])
    model = engine(BKBOptions, VectorKernel("rbf", 4.0, 0.1), ARMS3, noise, default_rng(0))
    one = np.array([0])
    for _ in range(5):
        model.update(Feedback(one, ARMS3.features[one], np.zeros(1), np.ones(1)))
    scaled = 5 * 4 / (1 + 5 * 4)  # n k / (n k + lambda): the effective dimension of one arm
    expected = radius.bkb(
        "theory", n=5, kappa2=16.0, ridge=1.0, sum_variance=scaled, norm_bound=2.0, delta=0.1
    )
    assert model.radius("theory", 2.0, 0.1) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("exact_arms", [300, 2])
def test_ek_takes_the_exact_log_det_and_error_of_few_arms(exact_arms, monkeypatch) -> None:
    """An empty dictionary: mu_t is the largest eigenvalue of K, its upper bound the trace."""
    monkeypatch.setattr(ek, "EXACT_ARMS", exact_arms)
    kernel = VectorKernel("rbf", 1.0, 0.5)
    model = engine(EKOptions, kernel, ARMS3, np.ones(3), default_rng(0), gamma=0.0)
    rows = np.array([0, 1, 2, 2])
    model.update(Feedback(rows, ARMS3.features[rows], np.zeros(4), np.ones(4)))
    gram = kernel(rows, ARMS3.features[rows], rows, ARMS3.features[rows])
    exact = np.linalg.slogdet(np.eye(4) + gram)[1], np.linalg.eigvalsh(gram).max()
    log_det, error = exact if exact_arms == 300 else (4.0, 4.0)
    norm = 2.0 + 2.0 * error**0.5
    expected = norm + (4 * np.log(10.0) + 2 * log_det) ** 0.5  # Lemma 4.1
    assert model.radius("theory", 2.0, 0.1) == pytest.approx(expected, rel=1e-9)


ARMS3 = Arms(np.arange(3), np.array([[0.0], [0.3], [1.0]]), np.zeros(3))
