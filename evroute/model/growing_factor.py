"""GrowingFactor: the Cholesky factor of a covariance of points that are added one at a time.

With L the lower factor of the covariance of the points, ``L^-1 k(points, x)`` are the features of
an x: their products are the part of the covariance of two x that the points explain.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import dtrsm

from evroute.arrays import FloatArray, IntArray


class GrowingFactor:
    """The lower Cholesky factor of m points.

    Parameters
    ----------
    lower
        (m, m) factor to begin with. None for no point.

    Attributes
    ----------
    lower
        (m, m) factor.
    """

    def __init__(self, lower: FloatArray | None = None) -> None:
        self.lower = np.empty((0, 0)) if lower is None else lower

    def __len__(self) -> int:
        return len(self.lower)

    def features(self, between: FloatArray, known: FloatArray | None = None) -> FloatArray:
        """Return ``L^-1`` times the covariance of the points with others.

        Parameters
        ----------
        between
            (m, a) covariance of the points with the others, or (m - k, a) of the points after
            those of ``known``. It is used up.
        known
            (k, a) features at the first k points.

        Returns
        -------
        FloatArray
            (m, a) features, or (m - k, a) at the points after those of ``known``.
        """
        if not between.size:
            return np.empty(between.shape)
        lower = self.lower
        if known is not None:
            k = len(known)
            between -= lower[k:, :k] @ known
            lower = lower[k:, k:]
        # on the right of the transpose, which is column-major: nothing is copied
        return dtrsm(1.0, lower.T, between.T, side=1, overwrite_b=1).T

    def append(self, features: FloatArray, rest: float) -> None:
        """Add a point.

        Parameters
        ----------
        features
            (m,) its features.
        rest
            The part of its variance that they do not explain, positive.
        """
        m = len(self)
        lower = np.zeros((m + 1, m + 1))
        lower[:m, :m], lower[m, :m] = self.lower, features
        lower[m, m] = np.sqrt(rest)
        self.lower = lower


def pivoted(
    rest: FloatArray,
    column: Callable[[int], FloatArray],
    most: int,
    *,
    before: FloatArray | None = None,
    weight: FloatArray | float = 1.0,
    least: float = 0.0,
) -> tuple[IntArray, FloatArray]:
    """Choose points by a pivoted Cholesky factorisation, and return their features.

    Each point is the one with the greatest weight times the variance that the points before it
    leave (Foster et al., *Stable and Efficient Gaussian Process Calculations*, JMLR 2009).

    Parameters
    ----------
    rest
        (a,) variances that the points so far leave.
    column
        Function that returns the covariance of a point with all, (a,).
    most
        Largest number of points to add.
    before
        (m, a) features at the points so far, or None for no point.
    weight
        (a,) weights of the points.
    least
        No point is added that has at most this weight times variance.

    Returns
    -------
    chosen
        (k,) the points added, in their order.
    rows
        (k, a) their rows of ``L^-1 K``, which are features of all as in `GrowingFactor.features`.
    """
    first = np.empty((0, len(rest))) if before is None else before
    rows = np.empty((len(first) + min(most, len(rest)), len(rest)))
    rows[: len(first)] = first
    chosen: list[int] = []
    for k in range(len(first), len(rows)):
        weighted = rest * weight
        pivot = int(np.argmax(weighted))
        if weighted[pivot] <= least:
            break
        row = column(pivot)
        row -= rows[:k, pivot] @ rows[:k]
        row /= np.sqrt(rest[pivot])
        rest = np.maximum(rest - row**2, 0.0)
        rest[pivot] = 0.0
        rows[k] = row
        chosen.append(pivot)
    m = len(first)
    return np.array(chosen, dtype=np.int64), rows[m : m + len(chosen)]
