"""ConsumptionFactor: the vehicle's energy differs from eq. 8 by one factor, common to all roads.

``f_e = p_e + c w_e`` with ``p_e = m g dz`` and dissipated energy ``w_e = E_e - p_e >= 0`` by eq.
8. The factor does not scale p_e: a downhill road of negative energy would otherwise return more
where the vehicle takes more. So ``y_e - E_e = (c - 1) w_e + noise`` with ``c ~ N(1,
factor_std²)``, conjugate.

There is one factor per belief; vehicles with separate beliefs have separate factors.
"""

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray, IntArray
from evroute.model.coefficients import CoefficientModel
from evroute.model.options import ModelOptions, ModelSetting


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
