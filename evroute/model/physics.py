"""PhysicsRegression: the parameters of eq. 8, learned by regression; nothing else is learned.

``y_e - E_e = sum_j x_ej b_j + noise``: exact Bayesian linear regression on the derivatives of eq.
8 (`energy.regressors`). A coefficient learned on one road holds on all roads; residuals that no
coefficient explains are never learned.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.regressors import Derivatives
from evroute.model.linear import LinearModel


class PhysicsRegression(LinearModel):
    """Eq. 8 with mass, rolling, drag, auxiliary power and wind learned by regression.

    Parameters
    ----------
    regressors
        Derivatives of eq. 8 by its parameters.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    coefficient_scale
        Factor of the prior deviations of all coefficients, positive.

    Raises
    ------
    ValueError
        If the scale or a deviation is not positive.
    """

    title = "physics regression"

    def __init__(
        self, regressors: Derivatives, noise_std_wh: FloatArray, *, coefficient_scale: float = 1.0
    ) -> None:
        super().__init__(prior_std(regressors, coefficient_scale), noise_std_wh)
        self._regressors = regressors
        self.names, self.units = regressors.names, regressors.units

    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        return self._regressors.of(edge, features)


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
