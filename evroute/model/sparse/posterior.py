"""SparsePosterior: a Gaussian process with a dictionary (DTC, the projected process).

Sources: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Gaussian Process Optimization with
Adaptive Sketching* (COLT 2019; BKB), eqs. 2-4; Zenati, Bietti, Diemert, Mairal, Martin & Gaillard,
*Efficient Kernel UCB for Contextual Bandits* (AISTATS 2022; EK-UCB), Prop. 4.2, in features: ``z(x)
= L^-1 k_S(x)`` with ``L L' = K_SS``.

Everything is whitened: kernel and residual of an arm are divided by the deviation of its noise.
The noise is then 1 on every arm and ``ridge`` is lambda over the noise variance. Variances are the
papers' *scaled* ones, the posterior variance over lambda: ridge leverage scores.
`model.sparse.gp` alone converts them to Wh.
"""

import logging

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpstrf, dtrtri

from evroute.arrays import FloatArray, IntArray
from evroute.model.arm_slots import ArmSlots
from evroute.model.base import CovarianceError, State, lower_factor
from evroute.model.growing_factor import GrowingFactor
from evroute.model.kernels.arms import Covariance, Whitened

NOT_PSD = 1e-8
"""Largest negative unexplained variance due to rounding, as a share of the prior variance."""
EXPLAINED = 1e-8
"""Least unexplained share of the prior variance that enters a factor without pivots."""
ROUNDING = 1e-14
"""Unexplained share of the prior variance, for each point of the dictionary, that is rounding."""
_STATE = {
    "count": ("count", "u"),
    "total": ("total", "u"),
    "squares": ("squares", "u"),
    "rest": ("rest", "u"),
    "pending": ("pending", "u"),
    "dictionary": ("dictionary", "m"),
    "basis": ("basis", "r"),
    "factor": ("factor", "rr"),
    "embedding": ("embedding", "ru"),
    "precision": ("_gram", "rr"),
    "information": ("_information", "r"),
}
"""Attribute and axes of each array of a state: u slots, m of the dictionary, r of the basis."""

log = logging.getLogger(__name__)


class SparsePosterior:
    """Mean and scaled variance of whitened residuals, from counts and sums of each distinct arm.

    Every arm met so far has a *slot*. ``basis`` (r,) are the linearly independent slots of the
    dictionary, ``dictionary`` (m,) all of them. ``count``, ``total`` and ``squares`` (U,) are the
    number, the whitened sum and the sum of squares of the measurements of each slot; ``prior`` and
    ``rest`` (U,) its prior variance and the part that the dictionary does not explain; ``pending``
    (U,) the unanswered pulls, which count in variances alone (hallucination). ``growing`` has L.
    ``kappa2`` is the largest prior variance of the reference arms. ``epoch`` counts the
    dictionaries that did not just grow out of the last.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    noise_std_wh
        (n,) noise deviation of one measurement of each arm, Wh.
    n_features
        Features of a context.
    ridge
        lambda over the noise variance.
    """

    def __init__(
        self, kernel: Covariance, noise_std_wh: FloatArray, n_features: int, ridge: float
    ) -> None:
        self.kernel = Whitened(kernel, noise_std_wh)
        self.ridge = ridge
        self.arms = ArmSlots(n_features)
        self.prior, self.rest, self.count, self.total, self.squares, self.pending = np.empty((6, 0))
        self._warned = False
        self.kappa2 = 0.0
        self.epoch = 0
        self.set_dictionary(np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        """Return the number U of distinct arms with a slot."""
        return len(self.arms)

    @property
    def observed(self) -> IntArray:
        """Slots with measurements."""
        return np.flatnonzero(self.count)

    @property
    def factor(self) -> FloatArray:
        """(r, r) Cholesky factor L of the prior covariance of the basis."""
        return self.growing.lower

    @factor.setter
    def factor(self, lower: FloatArray) -> None:
        self.growing = GrowingFactor(lower)

    @property
    def embedding(self) -> FloatArray:
        """(r, U) features z of every slot."""
        return self._embedding[: len(self.basis), : len(self)]

    @embedding.setter
    def embedding(self, embedding: FloatArray) -> None:
        self._embedding = embedding

    def slots(self, edge: IntArray, features: FloatArray) -> IntArray:
        """Return the slot of each arm, (k,). New arms get new slots."""
        new = self.arms.unmet(edge, features)
        if len(new):
            self._append(edge[new], features[new])
        return self.arms.of(edge, features)

    def set_dictionary(self, slots: IntArray) -> None:
        """Replace the dictionary by these slots and embed all arms again.

        A pivoted Cholesky factorisation leaves slots that the others span out of the basis: an
        eigenvalue cut.
        """
        self.dictionary = np.unique(slots)
        m = len(self.dictionary)
        self.epoch += 1
        self.basis, self.factor = np.empty(0, dtype=np.int64), np.empty((0, 0))
        if m:
            prior = self.prior_between(self.dictionary, self.dictionary)
            factor, pivots, rank, _ = dpstrf(
                prior, tol=m * np.finfo(float).eps * prior.diagonal().max(), lower=1
            )
            self.basis = self.dictionary[pivots[:rank] - 1]
            self.factor = np.tril(factor[:rank, :rank])
        r = len(self.basis)
        self._embedding, self._gram = np.empty((r, len(self))), np.zeros((r, r))
        for some in _parts(len(self)):
            z = self._embedding[:, some] = self.embed(self.arms.id[some], self.arms.features[some])
            self.rest[some] = self.unexplained(z, self.prior[some])
            z = self._embedding[:, some] * np.sqrt(self.count[some])
            self._gram += z @ z.T
        self._information = self._embedding @ self.total
        self.refactor()

    def grow(self, slot: int) -> bool:
        """Add a slot to the dictionary. Return whether it entered (EK-UCB, section 5.2).

        A slot that the others explain to ``EXPLAINED`` of its prior variance is left out. On smooth
        kernels posterior means and variances are then exact to about that share, not beyond.
        """
        r, u = len(self.basis), len(self)
        z = self.embedding[:, slot].copy()
        unexplained = float(self.prior[slot] - z @ z)
        if unexplained <= EXPLAINED * self.prior[slot]:
            return False
        self.growing.append(z, unexplained)
        prior = self.prior_between(np.array([slot]), np.arange(u))
        row = self.growing.features(prior, self.embedding)[0]
        self._reserve(r + 1, u)
        self._embedding[r, :u] = row
        self.rest = np.maximum(self.rest - row**2, 0.0)
        self.basis = np.append(self.basis, slot)
        self.dictionary = np.append(self.dictionary, slot)
        gram = np.empty((r + 1, r + 1))
        gram[:r, :r] = self._gram
        gram[r] = gram[:, r] = self.embedding @ (self.count * row)
        self._gram = gram
        self._information = np.append(self._information, row @ self.total)
        self._stale = True
        return True

    def span(self, slot: int) -> None:
        """Add a slot to a dictionary that spans all measured arms, as the exact process does.

        Growth in driving order loses the digits of a slot that the others nearly explain. Such
        slots are factorised anew with pivots, once each, in ``O(m³ + U m²)``.
        """
        z = self.embedding[:, slot]
        unexplained = float(self.prior[slot] - z @ z)
        least = ROUNDING * len(self.basis) * self.prior[slot]
        if not self.grow(slot) and unexplained > least:
            self.set_dictionary(np.append(self.basis, slot))

    def absorb(self, slots: IntArray, whitened: FloatArray) -> None:
        """Add measurements (k,), residuals over noise deviations. Repeats count each time."""
        np.add.at(self.count, slots, 1.0)
        np.add.at(self.total, slots, whitened)
        np.add.at(self.squares, slots, whitened**2)
        z = self.embedding[:, slots]
        self._gram = self._gram + z @ z.T
        self._information = self._information + z @ whitened
        self._stale = True

    def hallucinate(self, slots: IntArray, pulls: float = 1.0) -> None:
        """Add pulls without measurements, which change variances alone. -1 removes one pull."""
        np.add.at(self.pending, slots, pulls)
        self._stale = True

    def refactor(self) -> None:
        """Factorise V, with and without pending pulls."""
        gram = self._gram + self.ridge * np.eye(len(self.basis))
        self._answered_root = _inverse_root(gram)
        self._weights = self._answered_root.T @ (self._answered_root @ self._information)
        self._pulled_root = self._answered_root
        if self.pending.any():
            pulled = np.flatnonzero(self.pending)
            z = self.embedding[:, pulled]
            self._pulled_root = _inverse_root(gram + (z * self.pending[pulled]) @ z.T)
        self._stale = False

    def embed(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the features z of arms, (r, a)."""
        return self.growing.features(self.prior_with(self.basis, edge, features))

    def prior_with(self, slots: IntArray, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the whitened prior covariance of slots with arms.

        Parameters
        ----------
        slots
            (k,) slots.
        edge, features
            (a,) rows and (a, d) contexts of the arms.

        Returns
        -------
        FloatArray
            (k, a) covariance.
        """
        return self.kernel(self.arms.id[slots], self.arms.features[slots], edge, features)

    def mean(self, z: FloatArray) -> FloatArray:
        """Return the whitened posterior mean of arms with features (r, a), (a,)."""
        self._fresh()
        return self._weights @ z

    def variance(self, z: FloatArray, prior: FloatArray, *, pending: bool = True) -> FloatArray:
        """Return the scaled variance ``(k - z'z) / lambda + z' V^-1 z``.

        The first term, which plain subsets of regressors drop, keeps arms far from the dictionary
        uncertain.

        Parameters
        ----------
        z
            (r, a) features.
        prior
            (a,) whitened prior variances.
        pending
            Whether pending pulls count.

        Returns
        -------
        FloatArray
            (a,) scaled variances.
        """
        return self.unexplained(z, prior) / self.ridge + self.explained_variance(z, pending=pending)

    def explained_variance(self, z: FloatArray, *, pending: bool = True) -> FloatArray:
        """Return ``z' V^-1 z``, (a,): the variance of a plain subset of regressors."""
        spread = dtrmm(1.0, self._root(pending).T, z.T, side=1).T  # half of the work of a square
        return np.einsum("ij,ij->j", spread, spread)

    def unexplained(self, z: FloatArray, prior: FloatArray) -> FloatArray:
        """Return ``k - z'z``, at least 0, (a,)."""
        rest: FloatArray = prior - np.einsum("ij,ij->j", z, z)
        if len(rest) and not self._warned and rest.min() < -NOT_PSD * prior.max():
            self._warned = True
            log.warning(
                "a variance came out as %.3g. The kernel may not be positive definite", rest.min()
            )
        return np.maximum(rest, 0.0)

    def covariance(self, z: FloatArray, prior: FloatArray) -> FloatArray:
        """Return the scaled covariance (a, a) of features (r, a) with prior covariance (a, a)."""
        return (prior - z.T @ z) / self.ridge + self.explained_covariance(z, z)

    def explained_covariance(
        self, z_a: FloatArray, z_b: FloatArray, *, pending: bool = True
    ) -> FloatArray:
        """Return ``z_a' V^-1 z_b``, (a, b).

        Parameters
        ----------
        z_a, z_b
            (r, a) and (r, b) features.
        pending
            Whether pending pulls count.
        """
        root = self._root(pending)
        return (root @ z_a).T @ (root @ z_b)

    def weight_draws(self, normal: FloatArray) -> FloatArray:
        """Return draws of N(0, V^-1), (size, r), from standard normals. Pending pulls count."""
        return normal @ self._root(pending=True)

    def slot_variance(self, slots: IntArray, *, pending: bool = True) -> FloatArray:
        """Return the scaled variance of slots, (k,)."""
        variance: FloatArray = self.rest[slots] / self.ridge
        for some in _parts(len(slots)):
            variance[some] += self.explained_variance(
                self.embedding[:, slots[some]], pending=pending
            )
        return variance

    def prior_between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the whitened prior covariance of slots, (a, b)."""
        return self.prior_with(a, self.arms.id[b], self.arms.features[b])

    def effective_dimension(self) -> float:
        """Return the sum of n(a) times the variance of a: about ``Tr(K (K + lambda I)^-1)``."""
        root = self._root(pending=False)
        return float(self.trace() / self.ridge + len(root) - self.ridge * np.sum(root**2))

    def log_det(self, *, pending: bool = False) -> float:
        """Return ``log det(I + Psi'Psi / lambda)``, at most its value for the whole matrix."""
        root = self._root(pending)
        return float(-2.0 * np.log(root.diagonal()).sum() - len(root) * np.log(self.ridge))

    def basis_belief(self) -> tuple[FloatArray, FloatArray]:
        """Return the whitened posterior of the values at the basis: mean (r,), covariance (r, r).

        It is the optimal q(u) of a variational process (Titsias 2009, eq. 10).
        """
        self._fresh()
        root = np.sqrt(self.ridge) * self._answered_root @ self.factor.T
        return self.factor @ self._weights, root.T @ root

    def elbo(self) -> float:
        """Return the evidence lower bound of the whitened measurements (Titsias 2009, eq. 9)."""
        self._fresh()
        misfit = float(self.squares.sum() - self._information @ self._weights + self.trace())
        scale = self.count.sum() * np.log(2.0 * np.pi * self.ridge) + self.log_det()
        return float(-0.5 * (scale + misfit / self.ridge))

    def trace(self) -> float:
        """Return the sum of n(a) times the unexplained prior variance of a."""
        return float(self.count @ self.rest)

    def state(self) -> State:
        """Return slots, counts, dictionary and cached factors."""
        kept = {name: getattr(self, attribute).copy() for name, (attribute, _) in _STATE.items()}
        return {"edge": self.arms.id.copy(), "features": self.arms.features.copy()} | kept

    def shapes(self, state: State) -> dict[str, tuple[int, ...]]:
        """Return the shape that each array of a state must have."""
        named = {"u": "edge", "m": "dictionary", "r": "basis"}
        size = {axis: len(np.atleast_1d(state.get(name, ()))) for axis, name in named.items()}
        shapes = {name: tuple(size[axis] for axis in axes) for name, (_, axes) in _STATE.items()}
        u, d = size["u"], self.arms.features.shape[1]
        return {"edge": (u,), "features": (u, d)} | shapes

    def restore(self, state: State) -> None:
        """Restore a state with these shapes."""
        self.arms = ArmSlots(self.arms.features.shape[1])
        self.arms.append(state["edge"], state["features"])
        self.prior = self.kernel.diagonal(self.arms.id, self.arms.features)
        self.epoch += 1
        for name, (attribute, _) in _STATE.items():
            setattr(self, attribute, state[name].copy())
        self.refactor()

    def _root(self, pending: bool) -> FloatArray:
        """Return the inverse of the Cholesky factor of V, (r, r), with or without pending pulls."""
        self._fresh()
        return self._pulled_root if pending else self._answered_root

    def _fresh(self) -> None:
        if self._stale:
            self.refactor()

    def _append(self, edge: IntArray, features: FloatArray) -> None:
        before, new = len(self), len(edge)
        prior = self.kernel.diagonal(edge, features)
        if not np.all((prior > 0) & (prior < np.inf)):
            raise CovarianceError(
                "the kernel's prior variances are not positive numbers. Check its deviations"
            )
        z = self.embed(edge, features)
        self.rest = np.concatenate([self.rest, self.unexplained(z, prior)])
        self._reserve(len(self.basis), before + new)
        self._embedding[: len(z), before : before + new] = z
        self.arms.append(edge, features)
        self.prior = np.concatenate([self.prior, prior])
        unmeasured = np.zeros(new)
        self.count = np.concatenate([self.count, unmeasured])
        self.total = np.concatenate([self.total, unmeasured])
        self.squares = np.concatenate([self.squares, unmeasured])
        self.pending = np.concatenate([self.pending, unmeasured])

    def _reserve(self, rows: int, columns: int) -> None:
        """Reserve room for features, doubling it when full."""
        have = self._embedding.shape
        if rows <= have[0] and columns <= have[1]:
            return
        larger = np.empty(
            [
                old if new <= old else max(2 * old, new, 16)
                for new, old in zip((rows, columns), have, strict=True)
            ]
        )
        larger[: have[0], : have[1]] = self._embedding
        self._embedding = larger


def _parts(n: int) -> list[slice]:
    """Return slices of n slots that are embedded together, to bound the memory of intermediates."""
    return [slice(start, start + 2048) for start in range(0, n, 2048)]


def _inverse_root(matrix: FloatArray) -> FloatArray:
    """Return the inverse of the Cholesky factor of V.

    The eigenvalues of V are at least lambda, so no digits are lost, and products with the inverse
    take a fraction of the time of triangular solves.
    """
    if not len(matrix):
        return matrix
    return dtrtri(lower_factor(matrix, "the dictionary's regularised Gram matrix"), lower=1)[0]
