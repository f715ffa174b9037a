"""Core: the numbers of an exact Gaussian process posterior, updated trip by trip at city scale.

Kept are C, the posterior covariance of the D visited arms (their *slots*, in order of first visit), and the prior
covariance of each with n *reference* arms whose posterior is wanted every round. With Lam the diagonal of the summed
measurement precisions, the posterior covariance of any arms a and b is (Sandberg et al., eq. 3)

    k_ab - K_aD S K_Db,    S = (K_DD + Lam^-1)^-1 = Lam - Lam C Lam,

and that of a slot p with anything is ``k_p* - C_pD Lam K_D*``. So observing k slots takes one product of k x D by
D x n, and no factorisation of size D. (Downdating posterior rows C_D* looks the same and is unstable: errors grow
exponentially.) Once every reference arm is a slot itself, its posterior is read from C and the product falls away.
"""

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dtrtri

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State, lower_factor

_TILE = 128  # slots whose covariances are updated at once, to stay in the cache
_FIRST_CAPACITY = 64


class Core:
    """Posterior of slots and reference arms, in residuals: energy minus prior mean, Wh.

    reference_variance: (n,) prior variances of the reference arms, Wh².
    """

    def __init__(self, reference_variance: FloatArray) -> None:
        n = len(reference_variance)
        self.size = 0
        self.precision = np.empty(0)
        self.information = np.empty(0)
        self.mean = np.empty(0)
        self._covariance = np.empty((0, 0))
        self._rows = np.empty((0, n))
        self._prior_variance = reference_variance
        self._reference_mean = np.zeros(n)
        self._reference_variance = reference_variance.copy()
        self._reference_slots: IntArray | None = None
        self._scratch = _Scratch()

    @property
    def covariance(self) -> FloatArray:
        """C, (D, D) Wh², exactly symmetric; a view."""
        return self._covariance[: self.size, : self.size]

    @property
    def rows(self) -> FloatArray:
        """Prior covariance of each slot with each reference arm, (D, n) Wh²; a view. Gone once ``covers``."""
        return self._rows[: self.size]

    @property
    def covers(self) -> bool:
        """Whether every reference arm is a slot."""
        return self._reference_slots is not None

    @property
    def reference_mean(self) -> FloatArray:
        """(n,) posterior mean of the reference arms, Wh."""
        return self._reference_mean if self._reference_slots is None else self.mean[self._reference_slots]

    @property
    def reference_variance(self) -> FloatArray:
        """(n,) posterior variance of the reference arms, Wh²."""
        if self._reference_slots is None:
            return self._reference_variance
        return self.covariance.diagonal()[self._reference_slots]

    def append(self, cross: FloatArray, among: FloatArray, rows: FloatArray) -> None:
        """Give q unmeasured arms a slot each.

        cross: (q, D), among: (q, q), rows: (q, n) prior covariances with the slots so far, among themselves and with
        the reference arms, Wh²; rows are not looked at once ``covers``.
        """
        old, new = self.size, self.size + len(cross)
        self._reserve(new)
        with_old = cross - (cross * self.precision) @ self.covariance
        among = among - (with_old * self.precision) @ cross.T
        self.mean = np.concatenate([self.mean, cross @ self.weights()])
        self.precision = np.pad(self.precision, (0, new - old))
        self.information = np.pad(self.information, (0, new - old))
        self.size = new
        self._covariance[old:new, :old] = with_old
        self._covariance[:old, old:new] = with_old.T
        self._covariance[old:new, old:new] = 0.5 * (among + among.T)
        if not self.covers:
            self._rows[old:new] = rows

    def cover(self, reference_slots: IntArray) -> None:
        """Take note that reference arm i is slot ``reference_slots[i]``; the rows are not needed any more."""
        self._reference_slots = reference_slots
        self._rows = np.empty((0, 0))

    def observe(self, slots: IntArray, residual_wh: FloatArray, noise_variance: FloatArray) -> None:
        """Learn one measurement (k,) Wh of each of k *distinct* slots, with independent noise (k,) Wh²."""
        k, size = len(slots), self.size
        posterior_p = np.take(self.covariance, slots, axis=0, out=self._scratch("C_pD", (k, size)))
        predictive = posterior_p[:, slots]
        predictive[np.arange(k), np.arange(k)] += noise_variance
        inverse, _ = dtrtri(lower_factor(predictive, "the predictive covariance of a trip", overwrite=True), lower=1)
        h = np.matmul(inverse, posterior_p, out=self._scratch("H", (k, size)))
        surprise = inverse @ (residual_wh - self.mean[slots])
        if not self.covers:
            weights = np.multiply(h, -self.precision, out=self._scratch("W", (k, size)))
            weights[:, slots] += inverse
            g = np.matmul(weights, self.rows, out=self._scratch("G", (k, self._rows.shape[1])))
            self._reference_mean += surprise @ g
            self._reference_variance -= np.einsum("ij,ij->j", g, g)
        self.mean += surprise @ h
        self._downdate(h)
        self.precision[slots] += 1.0 / noise_variance
        self.information[slots] += residual_wh / noise_variance

    def weights(self) -> FloatArray:
        """Return ``S ybar``, (D,): times the prior covariances of any arm with the slots, its posterior mean."""
        weights: FloatArray = self.information - self.precision * self.mean
        return weights

    def solve(self, prior: FloatArray) -> FloatArray:
        """Return ``S K_D*``, (D, a), for the prior covariances (D, a) of the slots with any arms."""
        weighted = self.precision[:, np.newaxis] * prior
        solved: FloatArray = weighted - self.precision[:, np.newaxis] * (self.covariance @ weighted)
        return solved

    def respond(self, surprise: FloatArray) -> FloatArray:
        """Return ``K_*D S Lam^-1 surprise`` for the reference arms, (m, n) Wh.

        surprise: (m, D) deviations of the measurements' means, each times its precision, 1/Wh.
        """
        at_slots = surprise @ self.covariance
        if self._reference_slots is not None:
            return at_slots[:, self._reference_slots]
        response: FloatArray = (surprise - at_slots * self.precision) @ self.rows
        return response

    def drift(self, fresh: "Fresh", n_arms: int) -> float:
        """Return how far the numbers are from a fresh factorisation, in prior variances and deviations.

        Compared are the means of all slots and reference arms, and the variances of ``n_arms`` of either, spread out.
        """
        few = _spread(self.size, n_arms)
        scale = fresh.prior.diagonal().mean()
        mean_scale = max(np.sqrt(scale), np.abs(self.mean).max())
        errors = [
            np.abs(self.mean - fresh.prior @ fresh.weights).max() / mean_scale,
            np.abs(self.covariance[few, few] - fresh.variance(fresh.prior[:, few], fresh.prior[few, few])).max()
            / scale,
        ]
        if not self.covers:
            few = _spread(len(self._prior_variance), n_arms)
            variance = fresh.variance(self.rows[:, few], self._prior_variance[few])
            errors.append(np.abs(self._reference_mean - fresh.weights @ self.rows).max() / mean_scale)
            errors.append(np.abs(self._reference_variance[few] - variance).max() / scale)
        return float(max(errors))

    def refresh(self, fresh: "Fresh") -> None:
        """Take every number from a fresh factorisation."""
        whitened = fresh.whiten(fresh.prior)
        explained = whitened.T @ whitened
        self.covariance[:] = fresh.prior - 0.5 * (explained + explained.T)
        self.mean = fresh.prior @ fresh.weights
        if not self.covers:
            self._reference_mean = fresh.weights @ self.rows
            self._reference_variance = fresh.variance(self.rows, self._prior_variance)

    def state(self) -> State:
        """Return all numbers save the prior covariances, which the kernel gives again."""
        return {
            "precision": self.precision.copy(),
            "information": self.information.copy(),
            "slot_mean": self.mean.copy(),
            "covariance": self.covariance.copy(),
            "reference_mean": self._reference_mean.copy(),
            "reference_variance": self._reference_variance.copy(),
        }

    def restore(self, state: State, rows: FloatArray) -> None:
        """Take over a state; ``rows`` (D, n) are the prior covariances of its slots with the reference arms, Wh²."""
        self.size = len(state["precision"])
        self.precision, self.information = state["precision"].copy(), state["information"].copy()
        self.mean = state["slot_mean"].copy()
        self._reference_mean = state["reference_mean"].copy()
        self._reference_variance = state["reference_variance"].copy()
        self._reference_slots = None
        self._covariance, self._rows = np.empty((0, 0)), np.empty((0, rows.shape[1]))
        self._reserve(self.size)
        self.covariance[:] = state["covariance"]
        self.rows[:] = rows

    def _downdate(self, h: FloatArray) -> None:
        """Subtract ``H'H`` from C, tile by tile, one triangle computed and the other its mirror image."""
        covariance = self.covariance
        for start in range(0, self.size, _TILE):
            tile = slice(start, min(start + _TILE, self.size))
            right = slice(tile.stop, self.size)
            square = h[:, tile].T @ h[:, tile]
            covariance[tile, tile] -= 0.5 * (square + square.T)
            strip = self._scratch("strip", (tile.stop - start, self.size - tile.stop))
            covariance[tile, right] -= np.matmul(h[:, tile].T, h[:, right], out=strip)
            covariance[right, tile] = covariance[tile, right].T

    def _reserve(self, size: int) -> None:
        """Grow the arrays by whole factors, so that a round seldom moves them."""
        if size <= len(self._covariance):
            return
        capacity = _FIRST_CAPACITY
        while capacity < size:
            capacity += capacity // 2
        covariance = np.empty((capacity, capacity))
        covariance[: self.size, : self.size] = self.covariance
        self._covariance = covariance
        if not self.covers:
            rows = np.empty((capacity, self._rows.shape[1]))
            rows[: self.size] = self.rows
            self._rows = rows


class Fresh:
    """The same posterior by one factorisation of size D, ``I + Lam^1/2 K_DD Lam^1/2``: to check a core, or mend it.

    prior: (D, D) prior covariance of the slots, Wh².  precision, information: (D,) as in the core.
    """

    def __init__(self, prior: FloatArray, precision: FloatArray, information: FloatArray) -> None:
        self.prior = prior
        self._root = np.sqrt(precision)
        matrix = self._root[:, np.newaxis] * prior * self._root
        matrix[np.diag_indices_from(matrix)] += 1.0
        self._factor = lower_factor(matrix, "the covariance of all visited arms", overwrite=True)
        scaled = np.divide(information, self._root, out=np.zeros_like(information), where=self._root > 0)
        self.weights: FloatArray = self._root * cho_solve((self._factor, True), scaled)

    def whiten(self, prior: FloatArray) -> FloatArray:
        """Return T (D, a) with ``T'T = K_*D S K_D*`` for prior covariances K_D* (D, a) with the slots."""
        whitened: FloatArray = solve_triangular(self._factor, self._root[:, np.newaxis] * prior, lower=True)
        return whitened

    def variance(self, prior: FloatArray, prior_variance: FloatArray) -> FloatArray:
        """Return the posterior variance (a,) of arms with prior covariances (D, a) and variances (a,)."""
        whitened = self.whiten(prior)
        variance: FloatArray = prior_variance - np.einsum("ij,ij->j", whitened, whitened)
        return variance


class _Scratch:
    """Named work arrays that are used again, so that a round touches no fresh memory."""

    def __init__(self) -> None:
        self._flat: dict[str, FloatArray] = {}

    def __call__(self, name: str, shape: tuple[int, int]) -> FloatArray:
        size = shape[0] * shape[1]
        if name not in self._flat or len(self._flat[name]) < size:
            self._flat[name] = np.empty(size + size // 2)
        return self._flat[name][:size].reshape(shape)


def _spread(size: int, n: int) -> IntArray:
    return np.unique(np.linspace(0, size - 1, min(n, size)).astype(np.int64))
