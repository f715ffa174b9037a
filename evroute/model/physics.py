"""The parameters of eq. 8, or one factor of it, learned by regression; nothing else is learned.

``y_e - E_e = sum_j x_ej b_j + noise``: exact Bayesian linear regression on the derivatives of eq.
8 (`energy.regressors`). A coefficient learned on one road holds on all roads; residuals that no
coefficient explains are never learned.

`ConsumptionFactor` has one coefficient: ``f_e = p_e + c w_e`` with ``p_e = m g dz`` and dissipated
energy ``w_e = E_e - p_e >= 0`` by eq. 8. The factor does not scale p_e: a downhill road of negative
energy would otherwise return more where the vehicle takes more. So ``y_e - E_e = (c - 1) w_e +
noise`` with ``c ~ N(1, factor_std²)``. There is one factor per belief; vehicles with separate
beliefs have separate factors.
"""

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray, IntArray
from evroute.energy.regressors import Derivatives
from evroute.model.coefficients import CoefficientModel
from evroute.model.options import ModelOptions, ModelSetting


class CoefficientOptions(ModelOptions):
    """Options of models that learn the coefficients of eq. 8."""

    coefficient_scale: float = Field(
        default=1.0,
        gt=0,
        description="factor of the prior deviations of mass, rolling, drag, auxiliary power and "
        "wind",
    )

    def prior_std(self, regressors: Derivatives) -> FloatArray:
        """Return the prior deviations of the coefficients, (p,) in their units."""
        return self.coefficient_scale * np.array(regressors.prior_std)


class PhysicsOptions(CoefficientOptions):
    """Eq. 8 with mass, rolling, drag, auxiliary power and wind learned by regression."""

    label = "physics"

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "PhysicsRegression":
        """Return the model before any trip."""
        return PhysicsRegression(
            setting.regressors, setting.noise_std_wh, self.prior_std(setting.regressors)
        )


class PhysicsRegression(CoefficientModel):
    """Eq. 8 with mass, rolling, drag, auxiliary power and wind learned by regression.

    Parameters
    ----------
    regressors
        Derivatives of eq. 8 by its parameters.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    prior_std
        (p,) prior deviations of the coefficients, in their units.

    Raises
    ------
    ValueError
        If a deviation is not positive.
    """

    title = "physics regression"

    def __init__(
        self, regressors: Derivatives, noise_std_wh: FloatArray, prior_std: FloatArray
    ) -> None:
        super().__init__(prior_std, noise_std_wh)
        self._regressors = regressors
        self.names, self.units = regressors.names, regressors.units

    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        return self._regressors.of(edge, features)


class FactorOptions(ModelOptions):
    """Eq. 8 with one learned consumption factor, common to all roads."""

    label = "factor"

    factor_std: float = Field(default=0.25, gt=0, description="prior deviation of the factor")

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "ConsumptionFactor":
        """Return the model before any trip."""
        return ConsumptionFactor(
            setting.potential_wh, setting.noise_std_wh, factor_std=self.factor_std
        )


class ConsumptionFactor(CoefficientModel):
    """Eq. 8 with one learned consumption factor c; its coefficient is ``c - 1``.

    Parameters
    ----------
    potential_wh
        (n,) ``m g dz``, Wh.
    noise_std_wh
        (n,) noise deviation of one measurement, Wh.
    factor_std
        Prior standard deviation of the factor, positive; 0.25 is also the prior share of single
        edges.
    """

    names = ("consumption",)
    units = ("share",)
    title = "consumption factor"

    def __init__(
        self, potential_wh: FloatArray, noise_std_wh: FloatArray, *, factor_std: float
    ) -> None:
        super().__init__(np.array([factor_std]), noise_std_wh)
        self._potential_wh = potential_wh

    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        return (prior_mean_wh - self._potential_wh[edge])[:, np.newaxis]
