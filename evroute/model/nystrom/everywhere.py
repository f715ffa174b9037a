"""Everywhere: all edges in their reference contexts, embedded through a dictionary that changes often."""

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.model.nystrom.posterior import Covariance, SparsePosterior


class Everywhere:
    """All edges in their reference contexts, their prior covariances with slots kept."""

    def __init__(self, posterior: SparsePosterior, arms: Arms, noise_std_wh: FloatArray, kernel: Covariance) -> None:
        self._posterior = posterior
        self._arms = arms
        self._noise_std = noise_std_wh
        self._kernel = kernel
        self._rows: dict[int, FloatArray] = {}
        self.prior = posterior.prior_of(arms.edge, arms.features)

    def with_slots(self, slots: IntArray) -> FloatArray:
        """Return the whitened prior covariance of slots with all edges, (k, n)."""
        posterior = self._posterior
        missing = np.array([slot for slot in dict.fromkeys(slots.tolist()) if slot not in self._rows], dtype=np.int64)
        if len(missing):
            edge, features = posterior.edge[missing], posterior.features[missing]
            rows = self._kernel(edge, features, self._arms.edge, self._arms.features)
            rows /= self._noise_std[edge, np.newaxis]
            rows /= self._noise_std
            self._rows |= dict(zip(missing.tolist(), rows, strict=True))
        return np.array([self._rows[slot] for slot in slots.tolist()]).reshape(len(slots), len(self._arms))

    def embed(self) -> FloatArray:
        """Return the features of all edges, (r, n)."""
        return self._posterior.embed_rows(self.with_slots(self._posterior.basis))

    def forget(self) -> None:
        """Drop what is kept of slots."""
        self._rows.clear()
