"""Limits of the hyper-parameter fit: data that favour an endless value give the limit."""

import numpy as np
import pytest

from evroute.arms import Feedback
from evroute.model.fitting.evidence import Driven
from evroute.model.fitting.hyperparameters import Hyperparameters, fit


def fitted(world, energy_wh: np.ndarray, repeats: int) -> Hyperparameters:
    """Fit to ``repeats`` equal measurements of each edge, ``energy_wh`` above its prior mean."""
    trip = Feedback(world.arms.id, world.arms.features, np.zeros(40), energy_wh)
    return fit(world.kernel, world.noise_std_wh, Driven.of([trip] * repeats)).found


def test_independent_energies_of_any_size_reach_four_limits(make_world) -> None:
    world = make_world()
    found = fitted(world, world.rng.normal(0.0, 1e6, 40), 1)
    assert found.noise_factor == pytest.approx(1e3)
    assert found.kappa == pytest.approx(1e-2)
    np.testing.assert_allclose(found.lengthscales, 1e-2)
    variance_without_graph = (1 - found.graph_share) * found.std_factor**2
    assert variance_without_graph == pytest.approx(1e4)


def test_equal_energies_of_all_edges_reach_the_largest_lengthscales(make_world) -> None:
    found = fitted(make_world(), np.full(40, 50.0), 3)
    assert found.noise_factor == pytest.approx(1e-3)
    np.testing.assert_allclose(found.lengthscales, 1e2)


def test_residuals_of_zero_reach_the_least_variance_and_the_largest_kappa(make_world) -> None:
    found = fitted(make_world(), np.zeros(40), 3)
    assert found.noise_factor == pytest.approx(1e-3)
    assert found.kappa == pytest.approx(1e2)
    assert (1 - found.graph_share) * found.std_factor**2 == pytest.approx(1e-4)
