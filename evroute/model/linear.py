"""LinearModel: base of the models that learn only a few coefficients, common to all roads."""

from abc import ABC, abstractmethod

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.coefficients import Coefficients
from evroute.model.regression import Regression


class LinearModel(ABC):
    """``y_e - E_e = sum_j x_ej b_j + noise`` with ``b_j ~ N(0, prior_std_j²)``: conjugate, exact.

    Parameters
    ----------
    prior_std
        (p,) prior deviations of the coefficients, in their units.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.

    Raises
    ------
    ValueError
        If a deviation is not positive.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    title: str
    """Name of the model in messages."""

    def __init__(self, prior_std: FloatArray, noise_std_wh: FloatArray) -> None:
        if not np.all((noise_std_wh > 0) & (noise_std_wh < np.inf)):
            raise ValueError("noise_std_wh must be positive numbers")
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._regression = Regression(prior_std)

    @abstractmethod
    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        """Return the regressors of a list of edges, (k, p) Wh per unit of a coefficient."""

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""
        return self._regression.belief(self._columns_of(arms), arms.prior_mean_wh)

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

    def update(self, feedback: Feedback) -> None:
        """Learn the measurements of one trip or of several trips."""
        self._regression.observe(
            self._columns(feedback.id, feedback.features, feedback.prior_mean_wh),
            feedback.energy_wh - feedback.prior_mean_wh,
            self._noise_std[feedback.id],
        )

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², of rank p at most."""
        return self._regression.covariance(self._columns_of(arms))

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms jointly, (a,) Wh."""
        draw: FloatArray = self.sample_many(arms, rng, 1)[0]
        return draw

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        return self._regression.draws(self._columns_of(arms), arms.prior_mean_wh, rng, size)

    def coefficients(self) -> Coefficients:
        """Return the posterior of the coefficients."""
        return self._regression.coefficients(self.names, self.units)

    def state(self) -> State:
        """Return the numbers of the regression."""
        return self._regression.state()

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model with the same prior.
        """
        self._regression.restore(state, f"a {self.title} model of {len(self._noise_std)} edges")

    def _columns_of(self, arms: Arms) -> FloatArray:
        return self._columns(arms.id, arms.features, arms.prior_mean_wh)
