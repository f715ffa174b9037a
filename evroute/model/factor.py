"""ConsumptionFactor: the vehicle takes a little more or less than eq. 8 says, on every road by the same share.

``f_e = p_e + c w_e`` with ``p_e = m g dz`` and ``w_e = E_e - p_e >= 0`` what eq. 8 says is
dissipated: a factor of the whole would make a road downhill, of negative energy, return more where
the vehicle takes more. So ``y_e - E_e = (c - 1) w_e + noise`` with ``c ~ N(1, factor_std²)``,
conjugate.

There is one factor for each belief; vehicles that keep beliefs of their own have one each.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.model.linear import LinearModel


class ConsumptionFactor(LinearModel):
    """Eq. 8 with one consumption factor, learned: its one coefficient is ``c - 1``.

    potential_wh: (n,) ``m g dz``, Wh.  noise_std_wh: (n,) of one measurement, Wh.  factor_std:
    prior standard deviation of the factor, positive; 0.25 is the share that the prior of single
    edges has too.
    """

    names = ("consumption",)
    units = ("share",)
    title = "consumption factor"

    def __init__(
        self, potential_wh: FloatArray, noise_std_wh: FloatArray, *, factor_std: float = 0.25
    ) -> None:
        if not 0 < factor_std < np.inf:
            raise ValueError(
                f"factor_std is {factor_std:g}; it must be positive: the prior deviation of the "
                "consumption factor"
            )
        super().__init__(np.array([factor_std]), noise_std_wh)
        self._potential_wh = potential_wh

    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        return (prior_mean_wh - self._potential_wh[edge])[:, np.newaxis]
