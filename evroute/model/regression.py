"""Bayesian linear regression in weight space: the posterior of coefficients common to all edges.

Bishop, *Pattern Recognition and Machine Learning*, eqs. 3.50-3.51, with prior ``w ~ N(0,
diag(prior_std²))``. Inside, columns are multiplied by the prior deviations, so that the prior
precision is the identity.
"""

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from evroute.arms import Belief
from evroute.arrays import FloatArray
from evroute.model.base import State, lower_factor
from evroute.model.coefficients import Coefficients


class Regression:
    """Posterior of p coefficients of the residuals, energy minus prior mean.

    Parameters
    ----------
    prior_std
        (p,) prior deviations, positive, in the coefficients' units.

    Raises
    ------
    ValueError
        If a deviation is not positive.
    """

    def __init__(self, prior_std: FloatArray) -> None:
        if not np.all((prior_std > 0) & (prior_std < np.inf)):
            raise ValueError("prior deviations of coefficients must be positive numbers")
        self.prior_std = np.asarray(prior_std, dtype=np.float64)
        self._precision = np.eye(len(prior_std))
        self._information = np.zeros(len(prior_std))

    def observe(
        self, columns: FloatArray, residual_wh: FloatArray, noise_std_wh: FloatArray
    ) -> None:
        """Learn k measurements.

        Parameters
        ----------
        columns
            (k, p) regressors, Wh per unit of a coefficient.
        residual_wh
            (k,) measured energy minus prior mean, Wh.
        noise_std_wh
            (k,) noise deviations, Wh.
        """
        scaled = columns * self.prior_std / noise_std_wh[:, np.newaxis]
        self._precision += scaled.T @ scaled
        self._information += scaled.T @ (residual_wh / noise_std_wh)

    def mean(self) -> FloatArray:
        """Return the posterior mean of the coefficients, (p,)."""
        mean: FloatArray = self.prior_std * cho_solve((self._factor(), True), self._information)
        return mean

    def root(self) -> FloatArray:
        """Return R (p, p) with ``R' R`` the posterior covariance of the coefficients."""
        root: FloatArray = solve_triangular(self._factor(), np.diag(self.prior_std), lower=True)
        return root

    def belief(self, columns: FloatArray, prior_mean_wh: FloatArray) -> Belief:
        """Return the posterior of arms with regressors (a, p) and prior means (a,), Wh."""
        # without BLAS: the result of an arm does not depend, to the last bit, on the other arms
        mean_wh = prior_mean_wh + (columns * self.mean()).sum(axis=1)
        spread = (columns[:, :, np.newaxis] * self.root().T).sum(axis=1)
        return Belief(mean_wh, np.sqrt((spread**2).sum(axis=1)))

    def covariance(self, columns: FloatArray) -> FloatArray:
        """Return the posterior covariance of arms with regressors (a, p), (a, a) Wh²."""
        spread = columns @ self.root().T
        covariance: FloatArray = spread @ spread.T
        return 0.5 * (covariance + covariance.T)

    def draws(
        self, columns: FloatArray, prior_mean_wh: FloatArray, rng: np.random.Generator, size: int
    ) -> FloatArray:
        """Draw the coefficients ``size`` times and return the energies of arms, (size, a) Wh.

        Parameters
        ----------
        columns
            (a, p) regressors, Wh per unit of a coefficient.
        prior_mean_wh
            (a,) prior means, Wh.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        coefficients = self.mean() + rng.standard_normal((size, len(self.prior_std))) @ self.root()
        return prior_mean_wh + coefficients @ columns.T

    def coefficients(self, names: tuple[str, ...], units: tuple[str, ...]) -> Coefficients:
        """Return the posterior of the coefficients with their names and units."""
        root = self.root()
        return Coefficients(
            names, units, self.mean(), np.sqrt((root**2).sum(axis=0)), self.prior_std
        )

    def state(self) -> State:
        """Return precision (p, p), information (p,) and prior deviations (p,)."""
        return {
            "precision": self._precision.copy(),
            "information": self._information.copy(),
            "prior_std": self.prior_std.copy(),
        }

    def restore(self, state: State, what: str) -> None:
        """Restore a state; ``what`` names the model in messages.

        Raises
        ------
        ValueError
            If the state is not of as many coefficients with the same prior.
        """
        expected = {name: part.shape for name, part in self.state().items()}
        if {name: part.shape for name, part in state.items()} != expected:
            raise ValueError(f"this is not the state of {what}")
        if not np.array_equal(state["prior_std"], self.prior_std):
            raise ValueError(f"this is not the state of {what} with these prior deviations")
        self._precision = np.array(state["precision"], dtype=np.float64)
        self._information = np.array(state["information"], dtype=np.float64)

    def _factor(self) -> FloatArray:
        return lower_factor(self._precision, "the precision of the coefficients")
