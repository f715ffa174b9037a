"""AllEdgesCache: features of all reference arms under a dictionary that changes often."""

import numpy as np

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
        basis, old = self._posterior.basis, len(self._basis)
        grown = (
            self._epoch == self._posterior.epoch
            and len(basis) >= old
            and np.array_equal(basis[:old], self._basis)
        )
        if not grown:
            self._z = self._z[:0]
        if new := basis[len(self._z) :].tolist():
            rows = self._posterior.growing.features(self.with_slots(np.array(new)), self._z)
            self._z = np.concatenate([self._z, rows])
        self._basis, self._epoch = basis, self._posterior.epoch
        return self._z

    def forget(self) -> None:
        """Clear the cache, after slots have been renumbered."""
        self._rows.clear()
        self._epoch = -1
