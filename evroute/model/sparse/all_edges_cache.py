"""AllEdgesCache: features of all reference arms under a dictionary that changes often."""

import numpy as np
from scipy.linalg import solve_triangular

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.model.sparse.posterior import SparsePosterior


class AllEdgesCache:
    """All reference arms, with cached prior covariances with slots and cached features.

    prior: (n,) whitened prior variances.
    """

    def __init__(self, posterior: SparsePosterior, arms: Arms) -> None:
        self._posterior = posterior
        self._arms = arms
        self._most = max(2 * len(arms), 2000)
        self.prior = posterior.kernel.diagonal(arms.id, arms.features)
        self._rows: dict[int, FloatArray] = {}
        self._basis = np.empty(0, dtype=np.int64)
        self._z = np.empty((0, len(arms)))
        self._epoch = -1

    def with_slots(self, slots: IntArray) -> FloatArray:
        """Return the whitened prior covariance of slots with all reference arms, (k, n)."""
        if len(self._rows) + len(slots) > self._most:
            self._rows.clear()
        missing = np.array(
            [slot for slot in dict.fromkeys(slots.tolist()) if slot not in self._rows],
            dtype=np.int64,
        )
        if len(missing):
            rows = self._posterior.prior_with(missing, self._arms.id, self._arms.features)
            self._rows |= dict(zip(missing.tolist(), rows, strict=True))
        return np.array([self._rows[slot] for slot in slots.tolist()]).reshape(
            len(slots), len(self._arms)
        )

    def embed(self) -> FloatArray:
        """Return the features of all reference arms, (r, n).

        New rows are added if the basis only grew.
        """
        basis, factor = self._posterior.basis, self._posterior.factor
        old = len(self._basis)
        if (
            len(basis) >= old
            and np.array_equal(basis[:old], self._basis)
            and self._epoch == self._posterior.epoch
        ):
            new = self.with_slots(basis[old:]) - factor[old:, :old] @ self._z
        else:
            old, new = 0, self.with_slots(basis)
            self._z = new[:0]
        if len(new):
            new = solve_triangular(factor[old:, old:], new, lower=True)
            self._z = np.concatenate([self._z, new]) if old else new
        self._basis, self._epoch = basis, self._posterior.epoch
        return self._z

    def forget(self) -> None:
        """Clear the cache, after slots have been renumbered."""
        self._rows.clear()
        self._epoch = -1
