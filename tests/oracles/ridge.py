"""Ridge: kernel regression of one strength, extended by one measurement at a time.

Notes on Flynn & Reeb (arXiv 2403.12732), section 5: the lower Cholesky factor of ``K + alpha I``
gains a row, and ``ln det(I + K / alpha)`` grows by ``ln(1 + rho²(x) / alpha)``.
"""

import math

import numpy as np
from scipy.linalg import solve_triangular

from evroute.arrays import FloatArray

_FIRST_CAPACITY = 64


class Ridge:
    """Regression of y on a kernel with strength ``alpha``.

    log_det: ``ln det(I + K / alpha)``.  quadratic: ``alpha y'(K + alpha I)^-1 y``.
    """

    def __init__(self, alpha: float) -> None:
        if not 0 < alpha < math.inf:
            raise ValueError(f"alpha is {alpha:g}; the strength of a ridge must be positive")
        self.alpha = alpha
        self.size = 0
        self.log_det = 0.0
        self.quadratic = 0.0
        self._factor = np.zeros((_FIRST_CAPACITY, _FIRST_CAPACITY), order="F")
        self._solved = np.empty(_FIRST_CAPACITY)

    def append(self, cross: FloatArray, variance: float, y: float) -> None:
        """Add one measurement.

        Parameters
        ----------
        cross
            (t,) kernel with the measurements so far.
        variance
            Kernel with itself.
        y
            Measured value.
        """
        t = self.size
        if t == len(self._solved):
            self._factor = np.asfortranarray(np.pad(self._factor, (0, t)))
            self._solved = np.pad(self._solved, (0, t))
        row = self._solve(cross)
        pivot = math.sqrt(self.alpha + max(variance - float(row @ row), 0.0))
        self._factor[t, :t] = row
        self._factor[t, t] = pivot
        self._solved[t] = (y - float(row @ self._solved[:t])) / pivot
        self.log_det += 2.0 * math.log(pivot) - math.log(self.alpha)
        self.quadratic += self.alpha * float(self._solved[t]) ** 2
        self.size = t + 1

    def predict(self, cross: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``mu`` and ``rho²`` of points by cross kernel (t, a) and variances (a,)."""
        root = self._solve(cross)
        return self._solved[: self.size] @ root, np.maximum(
            variance - np.einsum("ij,ij->j", root, root), 0.0
        )

    def _solve(self, cross: FloatArray) -> FloatArray:
        if not self.size:
            return np.zeros(cross.shape)
        solved: FloatArray = solve_triangular(
            self._factor[: self.size, : self.size], cross, lower=True, check_finite=False
        )
        return solved
