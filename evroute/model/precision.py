"""Precision of the slots' measurements: diagonal except for noise that a trip's edges share.

A trip with noise covariance ``R = diag(r) + a a'`` adds the precision ``R^-1 = diag(1/r) - u
u'``, with ``v = a/r`` and ``u = v / sqrt(1 + a'v)`` (Sherman & Morrison). Summed over trips,
``Lam = diag(d) - U U'`` with one sparse column of U for each trip.
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State, lower_factor


class Precision:
    """Lam of D slots, 1/Wh².

    Attributes
    ----------
    diagonal
        (D,) d, 1/Wh².
    """

    def __init__(self) -> None:
        self.diagonal: FloatArray = np.empty(0)
        self._shared = csr_array((0, 0))

    @property
    def shares(self) -> bool:
        """Whether any trip had noise common to its edges."""
        return bool(self._shared.shape[0])

    def grow(self, n: int) -> None:
        """Add n slots without measurements."""
        self.diagonal = np.pad(self.diagonal, (0, n))
        self._resize()

    def add(
        self, slots: IntArray, noise_variance: FloatArray, shared_wh: FloatArray | None
    ) -> FloatArray:
        """Add a trip over k distinct slots; return its precision ``R^-1``, (k, k) 1/Wh².

        Parameters
        ----------
        slots
            (k,) slots.
        noise_variance
            (k,) independent noise variances r, Wh².
        shared_wh
            (k,) a, Wh; None without common noise.
        """
        self.diagonal[slots] += 1.0 / noise_variance
        trip = np.diag(1.0 / noise_variance)
        if shared_wh is not None:
            weighted = shared_wh / noise_variance
            u = weighted / np.sqrt(1.0 + shared_wh @ weighted)
            old = self._shared
            parts = (
                np.append(old.data, u),
                np.append(old.indices, slots),
                np.append(old.indptr, old.nnz + len(u)),
            )
            self._shared = csr_array(parts, shape=(len(old.indptr), len(self.diagonal)))
            trip -= np.outer(u, u)
        return trip

    def times(self, values: FloatArray) -> FloatArray:
        """Return ``Lam x`` for x (D,) or (D, m)."""
        weighted: FloatArray = (self.diagonal * values.T).T
        if self.shares:
            weighted -= self._shared.T @ (self._shared @ values)
        return weighted

    def root(self) -> "Root":
        """Return B with ``B B' = Lam``."""
        if not self.shares:
            return Root(np.sqrt(self.diagonal))
        dense: FloatArray = np.diag(self.diagonal) - (self._shared.T @ self._shared).toarray()
        return Root(lower_factor(dense, "the precision of all measurements", overwrite=True))

    def state(self) -> State:
        """Return the diagonal, and U if any trip has common noise."""
        learned: State = {"precision": self.diagonal.copy()}
        if self.shares:
            for name in ("data", "indices", "indptr"):
                learned[f"shared_{name}"] = getattr(self._shared, name).copy()
        return learned

    def restore(self, state: State) -> None:
        """Restore a state."""
        self.diagonal = state["precision"].copy()
        self._shared = csr_array((0, len(self.diagonal)))
        if "shared_data" in state:
            parts = tuple(state[f"shared_{name}"].copy() for name in ("data", "indices", "indptr"))
            self._shared = csr_array(parts, shape=(len(parts[2]) - 1, len(self.diagonal)))

    def _resize(self) -> None:
        old = self._shared
        self._shared = csr_array(
            (old.data, old.indices, old.indptr), shape=(old.shape[0], len(self.diagonal))
        )


class Root:
    """B with ``B B' = Lam``: diagonal (D,), or lower triangular (D, D)."""

    def __init__(self, values: FloatArray) -> None:
        self._values = values

    def times(self, values: FloatArray) -> FloatArray:
        """Return ``B x`` for x (D,) or (D, m)."""
        return self._values @ values if self._values.ndim == 2 else (self._values * values.T).T

    def transposed(self, values: FloatArray) -> FloatArray:
        """Return ``B' x`` for x (D,) or (D, m)."""
        return self._values.T @ values if self._values.ndim == 2 else (self._values * values.T).T

    def solve(self, values: FloatArray) -> FloatArray:
        """Return ``B^-1 x`` for x (D,), 0 at slots without measurements."""
        if self._values.ndim == 2:
            solved: FloatArray = solve_triangular(self._values, values, lower=True)
            return solved
        return np.divide(values, self._values, out=np.zeros_like(values), where=self._values > 0)
