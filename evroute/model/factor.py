"""ConsumptionFactor: the vehicle takes a little more or less than eq. 8 says, on every road by the same share.

``f_e = p_e + c w_e`` with ``p_e = m g dz`` and ``w_e = E_e - p_e >= 0`` what eq. 8 says is dissipated: a factor of
the whole would make a road downhill, of negative energy, return more where the vehicle takes more. So
``y_e - E_e = (c - 1) w_e + noise`` with ``c ~ N(1, factor_std²)``, conjugate.

There is one factor for each belief; vehicles that keep beliefs of their own have one each.
"""

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.coefficients import Coefficients
from evroute.model.regression import Regression


class ConsumptionFactor:
    """Eq. 8 with one consumption factor, learned.

    potential_wh: (n,) ``m g dz``, Wh.  noise_std_wh: (n,) of one measurement, Wh.  factor_std: prior standard
    deviation of the factor, positive; 0.25 is the share that the prior of single edges has too.
    """

    def __init__(self, potential_wh: FloatArray, noise_std_wh: FloatArray, *, factor_std: float = 0.25) -> None:
        if not 0 < factor_std < np.inf:
            raise ValueError(
                f"factor_std is {factor_std:g}; it must be positive: the prior deviation of the consumption factor"
            )
        if not np.all((noise_std_wh > 0) & (noise_std_wh < np.inf)):
            raise ValueError("noise_std_wh must be positive numbers")
        self._potential_wh = potential_wh
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._regression = Regression(np.array([factor_std]))

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior of each arm."""
        return self._regression.belief(self._column(arms.edge, arms.prior_mean_wh), arms.prior_mean_wh)

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the standard deviation of one measurement of each arm, (a,) Wh."""
        noise_std: FloatArray = self._noise_std[arms.edge]
        return noise_std

    def update(self, feedback: Feedback) -> None:
        """Learn what one trip, or several at once, measured."""
        self._regression.observe(
            self._column(feedback.edge, feedback.prior_mean_wh),
            feedback.energy_wh - feedback.prior_mean_wh,
            self._noise_std[feedback.edge],
        )

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², of rank one."""
        return self._regression.covariance(self._column(arms.edge, arms.prior_mean_wh))

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms together, (a,) Wh."""
        draw: FloatArray = self.sample_many(arms, rng, 1)[0]
        return draw

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw them ``size`` times, (size, a) Wh."""
        return self._regression.draws(self._column(arms.edge, arms.prior_mean_wh), arms.prior_mean_wh, rng, size)

    def coefficients(self) -> Coefficients:
        """Return ``c - 1``."""
        return self._regression.coefficients(("consumption",), ("share",))

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
        self._regression.restore(state, f"a consumption factor model of {len(self._noise_std)} edges")

    def _column(self, edge: IntArray, prior_mean_wh: FloatArray) -> FloatArray:
        return (prior_mean_wh - self._potential_wh[edge])[:, np.newaxis]
