"""PhysicsRegression: the numbers that eq. 8 takes for granted, learned from what was driven, and nothing else.

``y_e - E_e = sum_j x_ej b_j + noise``: Bayesian linear regression on the derivatives of eq. 8 (`energy.regressors`),
exact. What is learned on one road holds on all, and what no coefficient explains is never learned.
"""

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.energy.regressors import Derivatives
from evroute.model.base import State
from evroute.model.coefficients import Coefficients
from evroute.model.regression import Regression


class PhysicsRegression:
    """Eq. 8 with mass, rolling, drag, auxiliary power and wind learned by regression.

    noise_std_wh: (n,) of one measurement of each edge, Wh.  coefficient_scale: multiplies the prior deviations of
    all coefficients, positive.
    """

    def __init__(self, regressors: Derivatives, noise_std_wh: FloatArray, *, coefficient_scale: float = 1.0) -> None:
        if not np.all((noise_std_wh > 0) & (noise_std_wh < np.inf)):
            raise ValueError("noise_std_wh must be positive numbers")
        self._regressors = regressors
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._regression = Regression(prior_std(regressors, coefficient_scale))

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior of each arm."""
        return self._regression.belief(self._regressors.of(arms.edge, arms.features), arms.prior_mean_wh)

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the standard deviation of one measurement of each arm, (a,) Wh."""
        noise_std: FloatArray = self._noise_std[arms.edge]
        return noise_std

    def update(self, feedback: Feedback) -> None:
        """Learn what one trip, or several at once, measured."""
        self._regression.observe(
            self._regressors.of(feedback.edge, feedback.features),
            feedback.energy_wh - feedback.prior_mean_wh,
            self._noise_std[feedback.edge],
        )

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², of low rank."""
        return self._regression.covariance(self._regressors.of(arms.edge, arms.features))

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms together, (a,) Wh."""
        draw: FloatArray = self.sample_many(arms, rng, 1)[0]
        return draw

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw them ``size`` times, (size, a) Wh."""
        columns = self._regressors.of(arms.edge, arms.features)
        return self._regression.draws(columns, arms.prior_mean_wh, rng, size)

    def coefficients(self) -> Coefficients:
        """Return what is believed of the coefficients."""
        return self._regression.coefficients(self._regressors.names, self._regressors.units)

    def state(self) -> State:
        """Return the numbers of the regression."""
        return self._regression.state()

    def restore(self, state: State) -> None:
        """Take over a state.

        Raises
        ------
        ValueError
            If it is not the state of such a model with the same prior.
        """
        self._regression.restore(state, f"a physics regression model of {len(self._noise_std)} edges")


def prior_std(regressors: Derivatives, coefficient_scale: float) -> FloatArray:
    """Return the prior deviations of the coefficients, (p,) in their units.

    Raises
    ------
    ValueError
        If the scale is not positive.
    """
    if not 0 < coefficient_scale < np.inf:
        raise ValueError(
            f"coefficient_scale is {coefficient_scale:g}; it must be positive: "
            "it multiplies the prior deviations of mass, rolling, drag, auxiliary power and wind"
        )
    scaled: FloatArray = coefficient_scale * np.array(regressors.prior_std)
    return scaled
