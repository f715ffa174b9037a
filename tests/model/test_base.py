import logging

import numpy as np
import pytest

from evroute.model.base import JITTER, CovarianceError, lower_factor


def test_the_factor_of_a_matrix_known_by_hand():
    factor = lower_factor(np.array([[4.0, 2.0], [2.0, 10.0]]), "it")
    np.testing.assert_array_equal(factor, [[2.0, 0.0], [1.0, 3.0]])


def test_the_matrix_survives_unless_it_is_given_up():
    matrix = np.array([[4.0, 2.0], [2.0, 10.0]])
    lower_factor(matrix, "it")
    np.testing.assert_array_equal(matrix, [[4.0, 2.0], [2.0, 10.0]])
    factor = lower_factor(matrix, "it", overwrite=True)
    assert np.shares_memory(factor, matrix)
    np.testing.assert_array_equal(factor, [[2.0, 0.0], [1.0, 3.0]])


def test_nothing_has_an_empty_factor():
    assert lower_factor(np.empty((0, 0)), "nothing").shape == (0, 0)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_matrix_that_rounding_made_singular_gets_one_logged_jitter(overwrite, caplog):
    rng = np.random.default_rng(0)
    thin = rng.normal(size=(30, 3))
    singular = thin @ thin.T
    with caplog.at_level(logging.WARNING):
        factor = lower_factor(singular.copy(), "a thin matrix", overwrite=overwrite)
    assert [r.message.split(":")[0] for r in caplog.records] == ["a thin matrix"]
    expected = singular + JITTER * singular.diagonal().mean() * np.eye(30)
    np.testing.assert_allclose(factor @ factor.T, expected, atol=1e-12)
    assert np.all(np.triu(factor, 1) == 0.0)


def test_an_indefinite_matrix_is_refused_by_name():
    with pytest.raises(
        CovarianceError, match="the covariance of x is not positive definite, even with 1e-08"
    ):
        lower_factor(np.array([[1.0, 2.0], [2.0, 1.0]]), "the covariance of x")


@pytest.mark.parametrize("where", [(0, 0), (2, 1), (2, 2)])
def test_a_value_that_is_not_a_number_is_refused(where):
    matrix = np.eye(3)
    matrix[where] = matrix[where[::-1]] = np.nan
    with pytest.raises(CovarianceError):
        lower_factor(matrix, "it")
