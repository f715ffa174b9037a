"""How long the Nyström engines take: T32 of BKB's specification and test 12 of EK-UCB's."""

from time import perf_counter

import numpy as np
import pytest
from engines import engine

from evroute.arms import Arms, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.model.sparse.bkb import BKBOptions
from evroute.model.sparse.ek import EKOptions


@pytest.mark.slow
def test_t32_ten_thousand_edges_are_planned_over_within_a_second() -> None:
    rng = np.random.default_rng(0)
    n = 10_000
    arms = Arms(np.arange(n), rng.random((n, 3)), np.zeros(n))
    model = engine(
        BKBOptions,
        VectorKernel("matern-5/2", 1.0, 0.5),
        arms,
        np.full(n, 0.3),
        rng,
        q_bar=50.0,
        max_dictionary=200,
    )
    for _ in range(6):
        rows = rng.integers(0, n, 60)
        model.update(Feedback(rows, arms.features[rows], np.zeros(60), rng.normal(size=60)))
    assert len(model.sparse.dictionary) == 200
    started = perf_counter()
    model.posterior(arms)
    seconds = perf_counter() - started
    print(f"{seconds:.2f} s")
    assert seconds < 1.0


@pytest.mark.slow
def test_12_time_per_round_is_flat_in_t_at_a_dictionary_of_fifty() -> None:
    rng = np.random.default_rng(0)
    n = 100
    arms = Arms(np.arange(n), rng.random((n, 3)), np.zeros(n))
    model = engine(
        EKOptions,
        VectorKernel("matern-5/2", 1.0, 0.3),
        arms,
        np.full(n, 0.3),
        rng,
        max_dictionary=50,
    )
    seconds = []
    for _ in range(2000):
        moved = Arms(arms.id, rng.random((n, 3)), arms.prior_mean_wh)
        row = rng.integers(0, n, 1)
        started = perf_counter()
        model.posterior(moved)
        model.update(Feedback(row, moved.features[row], np.zeros(1), rng.normal(size=1)))
        seconds.append(perf_counter() - started)
    early, late = np.median(seconds[200:500]), np.median(seconds[-300:])
    print(f"{1e3 * early:.2f} ms early, {1e3 * late:.2f} ms late")
    assert late < 1.5 * early
