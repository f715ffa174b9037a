"""Engines with dictionaries: refused options, changed contexts, diagnostics, strict batches."""

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Arms, Feedback
from evroute.model.nystrom.batches import Batches
from evroute.model.nystrom.bbkb import batch_ucb, bbkb
from evroute.model.nystrom.bkb import bkb, cbbkb, cbkb
from evroute.model.nystrom.ek import ek_ucb, k_ucb
from evroute.model.vector_kernel import VectorKernel

ARMS = Arms(np.arange(6), default_rng(0).random((6, 2)), np.zeros(6))
CAPPED = [bkb, bbkb, cbkb, cbbkb, ek_ucb]


def engine(make, **options):
    return make(VectorKernel("rbf", 1.0, 0.1), ARMS, np.full(6, 0.5), default_rng(0), **options)


def trip(*rows: int) -> Feedback:
    return Feedback(np.array(rows), ARMS.features[[*rows]], np.zeros(len(rows)), np.ones(len(rows)))


@pytest.mark.parametrize("make", CAPPED)
def test_a_dictionary_without_room_for_a_point_is_refused(make) -> None:
    with pytest.raises(ValueError, match="max_dictionary is 0"):
        engine(make, max_dictionary=0)
    engine(make, max_dictionary=1)


@pytest.mark.parametrize("changed", [[1], [0, 1]], ids=["one", "all"])
@pytest.mark.parametrize("make", [*CAPPED, batch_ucb, k_ucb])
def test_changed_features_are_another_context(make, changed) -> None:
    model = engine(make)
    model.update(trip(0, 1, 2))
    features = ARMS.features.copy()
    features[:, changed] += 0.05
    moved = Arms(ARMS.id, features, ARMS.prior_mean_wh)
    std_wh = np.sqrt(model.covariance(moved).diagonal())
    np.testing.assert_allclose(model.posterior(moved).std_wh, std_wh)
    assert np.all(np.abs(model.posterior(ARMS).std_wh - std_wh)[:3] > 1e-3)


@pytest.mark.parametrize("make", [*CAPPED, batch_ucb, k_ucb])
def test_diagnostics_start_at_zero_and_are_part_of_the_state(make) -> None:
    model, again = engine(make), engine(make)
    start = model.diagnostics()
    assert {name: value for name, value in start.items() if value} in ({}, {"stop_criterion": 1.0})
    for rows in ((0, 1), (2, 3), (4, 5)):
        model.anticipate(ARMS.take(np.array(rows)))
        model.update(trip(*rows))
    again.restore(model.state())
    assert again.diagnostics() == model.diagnostics() != start


@pytest.mark.parametrize("make", [bbkb, batch_ucb])
def test_a_strict_model_waits_from_its_last_plan_to_its_last_measurement(make) -> None:
    model = engine(make, threshold=1e6, max_batch_trips=2)
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


@pytest.mark.parametrize("max_trips", [0, -1])
def test_a_batch_of_no_trip_is_refused(max_trips) -> None:
    options = {"stop_rule": None, "threshold": 1.0, "mode": "soft"}
    with pytest.raises(ValueError, match=f"max_batch_trips is {max_trips}"):
        Batches(None, max_trips=max_trips, **options)
    Batches(None, max_trips=1, **options)
