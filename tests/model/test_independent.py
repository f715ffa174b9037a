import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.model.independent import IndependentNormal


@pytest.fixture
def arms() -> Arms:
    return Arms(np.arange(3), np.zeros((3, 1)), np.array([10.0, 20.0, 30.0]))


@pytest.fixture
def model() -> IndependentNormal:
    return IndependentNormal(np.array([4.0, 4.0, 9.0]), np.array([2.0, 1.0, 3.0]))


def feedback(edge, energy_wh, prior_mean_wh):
    edge = np.array(edge)
    return Feedback(
        edge, np.zeros((len(edge), 1)), np.array(prior_mean_wh, float), np.array(energy_wh, float)
    )


def test_one_measurement_as_heavy_as_the_prior_moves_the_mean_half_way(model, arms):
    model.update(feedback([0], [16.0], [10.0]))
    belief = model.posterior(arms)
    np.testing.assert_allclose(belief.mean_wh, [13.0, 20.0, 30.0])
    np.testing.assert_allclose(belief.std_wh, [np.sqrt(2.0), 2.0, 3.0])


def test_repeats_in_one_trip_count_each_time(model, arms):
    model.update(feedback([1, 1, 1], [21.0, 23.0, 25.0], [20.0, 20.0, 20.0]))
    # Precision 1/4 + 3; information 1 + 3 + 5.
    belief = model.posterior(arms)
    assert belief.mean_wh[1] == pytest.approx(20.0 + 9.0 / 3.25)
    assert belief.std_wh[1] == pytest.approx(1.0 / np.sqrt(3.25))


def test_the_learned_residual_does_not_depend_on_the_prior_mean(model):
    model.update(feedback([0], [16.0], [10.0]))
    moved = Arms(np.array([0]), np.zeros((1, 1)), np.array([110.0]))
    assert model.posterior(moved).mean_wh[0] == pytest.approx(113.0)


def test_draws_are_independent_with_the_posterior_spread(model, arms):
    model.update(feedback([0, 2], [16.0, 33.0], [10.0, 30.0]))
    size = 20_000
    draws = model.sample_many(arms, np.random.default_rng(0), size)
    belief, covariance = model.posterior(arms), model.covariance(arms)
    np.testing.assert_allclose(covariance, np.diag(belief.std_wh**2))
    assert np.all(np.abs(draws.mean(axis=0) - belief.mean_wh) < 5.0 * belief.std_wh / np.sqrt(size))
    spread = np.outer(belief.std_wh, belief.std_wh) * np.sqrt((1.0 + np.eye(3)) / size)
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 5.0 * spread)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_spreads_must_be_positive_numbers(bad):
    with pytest.raises(ValueError, match="prior variances must be positive"):
        IndependentNormal(np.array([1.0, bad]), np.ones(2))
    with pytest.raises(ValueError, match=r"noise_std_wh must be \d positive numbers"):
        IndependentNormal(np.ones(2), np.array([1.0, bad]))


def test_spreads_must_be_of_the_same_edges():
    with pytest.raises(ValueError, match="2 prior variances but 3 noise deviations"):
        IndependentNormal(np.ones(2), np.ones(3))
