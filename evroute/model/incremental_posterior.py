"""IncrementalPosterior: an exact Gaussian process posterior, updated trip by trip at city scale.

It keeps C, the posterior covariance of the D visited arms (their *slots*, in order of first
visit), and the prior covariance of each slot with the *open* arms. Open are the arms without a slot
among n *reference* arms, which are predicted every round. With Lam the diagonal matrix of the
summed measurement precisions, the posterior covariance of any arms a and b is (Sandberg et al.,
eq. 3)

    k_ab - K_aD S K_Db,    S = (K_DD + Lam^-1)^-1 = Lam - Lam C Lam,

and the posterior covariance of a slot p with any arm is ``k_p* - C_pD Lam K_D*``. So observing k
slots takes products of k x D with D x (n - D), smaller where trips repeat (`model.window`), and of
k x D with itself for C. It needs no factorisation of size D. (Downdating posterior rows C_D* is
unstable: errors grow exponentially.) A restored C stays packed until the next measurement.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.blas import dsymm, dsyrk
from scipy.linalg.lapack import dtrtri

from evroute.arrays import FloatArray, IntArray, spread
from evroute.model.base import State, lower_factor
from evroute.model.packed import Packed
from evroute.model.window import Trip, Window

NUMBERS_KEPT = 8_000_000
"""Greatest number of covariances between slots and other arms that are kept, 16 bytes each."""
COLUMNS_PACKED = 256
"""Most columns of open arms that are computed from packed numbers. More need the square."""
BLOCK = 128  # slots by which arrays grow


class IncrementalPosterior:
    """Posterior of slots and reference arms, in residuals: energy minus prior mean, Wh.

    Parameters
    ----------
    reference_variance
        (n,) prior variances of the reference arms, Wh².

    Attributes
    ----------
    precision
        (D,) diagonal of Lam, 1/Wh².
    information
        (D,) Lam times mean measurement of the slots, 1/Wh.
    mean
        (D,) posterior mean of the slots, Wh.
    slot_of
        (n,) slot of each reference arm, -1 while it is open.
    """

    def __init__(self, reference_variance: FloatArray) -> None:
        n = len(reference_variance)
        self.size = 0
        self.precision, self.information, self.mean = np.empty((3, 0))
        self.slot_of = np.full(n, -1)
        # One triangle keeps C symmetric; column-major and zero beyond D for BLAS.
        self._flat, self._triangle = np.zeros(0), np.zeros((0, 0), order="F")
        self._packed: Packed | None = None
        self._prior_variance = reference_variance
        # Column i of the rows, mean i and variance i belong to reference arm open[i].
        self._open, self._open_mean = np.arange(n), np.zeros(n)
        self._open_variance = reference_variance.copy()
        self._rows = np.empty((0, n))
        self._unread: Callable[[IntArray], FloatArray] | None = None
        self._window = Window()
        self._reserve(0)
        self._forget()

    def _forget(self) -> None:
        """Drop cached values of numbers that change."""
        self._belief: tuple[FloatArray, FloatArray] | None = None
        self._columns: dict[int, tuple[FloatArray, FloatArray]] = {}
        self._mirrored, self._n_read = False, 0

    def reference(self) -> tuple[FloatArray, FloatArray]:
        """Return posterior mean and variance of the reference arms, (n,) Wh and (n,) Wh²."""
        if self._belief is None:
            mean, variance = np.empty(len(self.slot_of)), np.empty(len(self.slot_of))
            mean[self._open], variance[self._open] = self._open_mean, self._open_variance
            visited = np.flatnonzero(self.slot_of >= 0)
            slots = self.slot_of[visited]
            mean[visited], variance[visited] = self.mean[slots], self._at(slots, slots)
            self._belief = mean, variance
        return self._belief

    def append(
        self, cross: FloatArray, among: FloatArray, rows: FloatArray, reference: IntArray
    ) -> None:
        """Add a slot for each of q unmeasured arms.

        Parameters
        ----------
        cross
            (q, D) prior covariances with the slots so far, Wh².
        among
            (q, q) prior covariances among the new arms, Wh².
        rows
            (q, n) prior covariances with the reference arms, Wh².
        reference
            (q,) index of the reference arm, -1 if the arm is none.
        """
        old, new = self.size, self.size + len(cross)
        self._forget()
        self._open_rows()
        with_old = cross - self._times((cross * self.precision).T).T
        among = among - (with_old * self.precision) @ cross.T
        self.mean = np.concatenate([self.mean, cross @ self.weights()])
        self.precision = np.pad(self.precision, (0, new - old))
        self.information = np.pad(self.information, (0, new - old))
        self._reserve(new)
        self._lower[old:new, :old] = with_old
        self._lower[old:new, old:new] = 0.5 * (among + among.T)
        of_reference = np.flatnonzero(reference >= 0)
        self.slot_of[reference[of_reference]] = old + of_reference
        self._close()
        self.size = new
        self._rows[old:new, : len(self._open)] = rows[:, self._open]

    def among(self, slots: IntArray) -> FloatArray:
        """Return the posterior covariance of slots, (k, k) Wh²."""
        return self._at(np.maximum.outer(slots, slots), np.minimum.outer(slots, slots))

    def covariance(self, arms: IntArray, among: Callable[[IntArray], FloatArray]) -> FloatArray:
        """Return the posterior covariance of k reference arms, (k, k) Wh².

        The covariance of slots is looked up. A column for each open arm is kept until the next
        measurement.

        Parameters
        ----------
        arms
            (k,) reference arms.
        among
            Returns the prior covariance (q, q) of arms at positions (q,) of ``arms``.
        """
        slots = self.slot_of[arms]
        known, new = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        covariance = np.empty((len(arms), len(arms)))
        covariance[np.ix_(known, known)] = self.among(slots[known])
        if len(new):
            posterior, weighted = self._with_slots(arms[new])
            cross = posterior[:, slots[known]]
            covariance[np.ix_(new, known)], covariance[np.ix_(known, new)] = cross, cross.T
            learned = among(new) - weighted @ posterior.T
            covariance[np.ix_(new, new)] = 0.5 * (learned + learned.T)
        return covariance

    def _with_slots(self, arms: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return ``k_aD - k_aD Lam C`` and ``k_aD Lam`` of open arms, (q, D) each."""
        unmet = np.array([arm for arm in arms.tolist() if arm not in self._columns], dtype=np.int64)
        if (len(self._columns) + len(unmet)) * self.size > NUMBERS_KEPT:
            self._columns, unmet = {}, arms
        if len(unmet):
            self._n_read += len(unmet)
            if self._unread is None or self._n_read > self.size:
                place = np.empty(len(self.slot_of), dtype=np.int64)
                place[self._open] = np.arange(len(self._open))
                prior = self._open_rows()[:, place[unmet]]
            else:
                prior = self._unread(unmet)
            weighted = (prior.T * self.precision).copy()
            packed = self._packed if self._n_read <= COLUMNS_PACKED else None
            posterior = prior.T - (packed.after(weighted) if packed else weighted @ self._square())
            self._columns |= {
                arm: (posterior[i], weighted[i]) for i, arm in enumerate(unmet.tolist())
            }
        of_arms = [self._columns[arm] for arm in arms.tolist()]
        return np.array([column for column, _ in of_arms]), np.array([w for _, w in of_arms])

    def observe(self, slots: IntArray, residual_wh: FloatArray, noise_variance: FloatArray) -> None:
        """Learn one measurement of each of k *distinct* slots.

        Parameters
        ----------
        slots
            (k,) slots.
        residual_wh
            (k,) measurements minus prior means, Wh.
        noise_variance
            (k,) noise variances, Wh².
        """
        self._forget()
        posterior_p = self._of_slots(slots)
        predictive = posterior_p[:, slots]
        predictive[np.diag_indices(len(slots))] += noise_variance
        # The k x k triangle is inverted: it multiplies three times, and the weights contain it.
        factor = lower_factor(predictive, "the predictive covariance of a trip", overwrite=True)
        inverse, _ = dtrtri(factor, lower=1)
        h = inverse @ posterior_p
        learned, of_slots = 1.0 / noise_variance, posterior_p[:, : self.size]
        trip = Trip(slots, learned, inverse, of_slots, h[:, : self.size])
        g = self._window.product(trip, self.precision, self._open_rows())
        surprise = inverse @ (residual_wh - self.mean[slots])
        self._open_mean += surprise @ g
        self._open_variance -= np.einsum("ij,ij->j", g, g)
        self.mean += surprise @ h[:, : self.size]
        dsyrk(-1.0, h.T, beta=1.0, c=self._lower, lower=1, overwrite_c=1)
        self.precision[slots] += learned
        self.information[slots] += residual_wh / noise_variance

    def weights(self) -> FloatArray:
        """Return ``S ybar``, (D,). ``K_*D S ybar`` is the posterior mean of any arm."""
        return self.information - self.precision * self.mean

    def weigh(self, surprise: FloatArray) -> FloatArray:
        """Return ``S Lam^-1 surprise``, (D,), of a ``surprise`` (D,) as in `respond`."""
        return surprise - self.precision * self._times(surprise[:, np.newaxis])[:, 0]

    def solve(self, prior: FloatArray) -> FloatArray:
        """Return ``S K_D*``, (D, a), for prior covariances K_D* (D, a) of the slots with arms."""
        weighted = self.precision[:, np.newaxis] * prior
        return weighted - self.precision[:, np.newaxis] * self._times(weighted)

    def respond(self, surprise: FloatArray) -> FloatArray:
        """Return ``K_*D S Lam^-1 surprise`` for the reference arms, (m, n) Wh.

        ``surprise`` (m, D) is Lam times deviations of the mean measurements, 1/Wh.
        """
        at_slots = self._times(surprise.T).T
        response = np.empty((len(surprise), len(self.slot_of)))
        response[:, self._open] = (surprise - at_slots * self.precision) @ self._open_rows()
        visited = np.flatnonzero(self.slot_of >= 0)
        response[:, visited] = at_slots[:, self.slot_of[visited]]
        return response

    def correct(self, slots: IntArray, prior: FloatArray, n_arms: int) -> float:
        """Correct the means by their equations at some slots. Return the drift of variances.

        The drift is the greatest error, in prior variances of these slots, of the covariances of
        ``n_arms`` of them and of the variances of as many open arms. An error of the means leaves
        the residual ``r = K w - mean`` in the equations, and is ``r - C Lam r``. So do errors of C.

        Parameters
        ----------
        slots
            (s,) slots.
        prior
            (s, D) prior covariance of these slots with all slots, Wh².
        n_arms
            Number of arms whose variances are compared, evenly spaced.
        """
        self._forget()
        cross = self._of_slots(slots)[:, : self.size]
        residual = prior @ self.weights() - self.mean[slots]
        self.mean -= (residual * self.precision[slots]) @ cross
        self.mean[slots] += residual
        self._open_mean = self.weights() @ self._open_rows()
        few, columns = spread(len(slots), n_arms), spread(len(self._open), n_arms)
        missing = prior[few] - cross[few] - self._times((prior[few] * self.precision).T).T
        missing -= self._times((missing * self.precision).T).T
        rows = self._open_rows()[:, columns]
        variance = self._prior_variance[self._open[columns]] - (rows * self.solve(rows)).sum(axis=0)
        errors = np.append(missing, variance - self._open_variance[columns])
        return float(np.abs(errors).max() / prior[np.arange(len(slots)), slots].mean())

    def refresh(self, prior: FloatArray) -> None:
        """Compute every number by one factorisation, of ``I + B' K_DD B`` with ``B B' = Lam``.

        ``prior`` (D, D) is the prior covariance of the slots, Wh². Every slot has a measurement.
        """
        self._forget()
        root = np.sqrt(self.precision)
        matrix = root[:, np.newaxis] * prior * root
        matrix[np.diag_indices_from(matrix)] += 1.0
        factor = lower_factor(matrix, "the covariance of all visited arms", overwrite=True)
        weights = root * cho_solve((factor, True), self.information / root)
        whitened, of_open = (
            solve_triangular(factor, root[:, np.newaxis] * with_slots, lower=True)
            for with_slots in (prior, self._open_rows())
        )
        self._lower[: self.size, : self.size] = prior - whitened.T @ whitened
        self._window = Window()
        self.mean, self._open_mean = prior @ weights, weights @ self._open_rows()
        explained = np.einsum("ij,ij->j", of_open, of_open)
        self._open_variance = self._prior_variance[self._open] - explained

    def state(self) -> State:
        """Return all numbers except the prior covariances, which the kernel recomputes."""
        self._window = Window()  # as in the restored posterior, so that both go on alike
        return {
            "precision": self.precision.copy(),
            "information": self.information.copy(),
            "mean": self.mean.copy(),
            "covariance": (self._packed or Packed.of(self._triangle, self.size)).numbers.copy(),
            "slot_of": self.slot_of.copy(),
            "open": self._open.copy(),
            "open_mean": self._open_mean.copy(),
            "open_variance": self._open_variance.copy(),
        }

    def restore(self, state: State, prior: Callable[[IntArray], FloatArray]) -> None:
        """Restore a state.

        Parameters
        ----------
        state
            From `state`.
        prior
            Returns the prior covariances (D, q) of its D slots with reference arms (q,), Wh². All
            of them are only read when the next measurement comes.
        """
        self._forget()
        self.precision, self.information = state["precision"].copy(), state["information"].copy()
        self.mean, self.slot_of = state["mean"].copy(), state["slot_of"].copy()
        self._open, self._open_mean = state["open"].copy(), state["open_mean"].copy()
        self._open_variance = state["open_variance"].copy()
        self._window = Window()
        self.size, self._unread = 0, prior
        self._triangle, self._packed = np.zeros((0, 0), order="F"), None
        self._reserve(len(self.mean))
        self.size = len(self.mean)
        self._packed = Packed(self.size, state["covariance"])

    def unpack(self) -> None:
        """Expand a restored C, so that numbers equal those without an interruption to the bit."""
        if self._packed:
            for slot, column in enumerate(self._packed.columns()):
                self._triangle[slot : self.size, slot] = column
            self._packed = None

    @property
    def _lower(self) -> FloatArray:
        """The lower triangle of C, (capacity, capacity), out of its packed form."""
        self.unpack()
        return self._triangle

    def _at(self, row: IntArray, column: IntArray) -> FloatArray:
        """Return entries of C whose row is no less than their column."""
        return self._packed.at(row, column) if self._packed else self._triangle[row, column]

    def _of_slots(self, slots: IntArray) -> FloatArray:
        """Return the rows of C of some slots, (k, capacity)."""
        rows = np.empty((len(slots), len(self._lower)))
        for row, slot in zip(rows, slots.tolist(), strict=True):
            row[:slot] = self._lower[slot, :slot]
            row[slot:] = self._lower[slot:, slot]
        return rows

    def _open_rows(self) -> FloatArray:
        """Return the prior covariance of each slot with each open arm, a view (D, n - D)."""
        rows: FloatArray = self._rows[: self.size, : len(self._open)]
        if self._unread is not None:
            read, self._unread = self._unread, None
            rows[:] = read(np.arange(len(self.slot_of)))[:, self._open]
        return rows

    def _square(self) -> FloatArray:
        """Return C with both triangles, a view. Few columns are multiplied in half the time."""
        if not self._mirrored:
            for start in range(0, self.size, BLOCK):
                block = slice(start, start + BLOCK)
                square = self._lower[block, block]
                square[:] = np.tril(square) + np.tril(square, -1).T
                self._lower[:start, block] = self._lower[block, :start].T
            self._mirrored = True
        return self._lower[: self.size, : self.size]

    def _times(self, right: FloatArray) -> FloatArray:
        """Return ``C right`` for a right-hand side (D, m)."""
        padded = np.zeros((right.shape[1], len(self._lower))).T
        padded[: self.size] = right
        return dsymm(1.0, self._lower, padded, lower=1)[: self.size]

    def _close(self) -> None:
        """Drop the columns of arms that got a slot. Columns from the end move into the gaps."""
        closed = self.slot_of[self._open] >= 0
        left = len(self._open) - int(np.count_nonzero(closed))
        gaps, movers = np.flatnonzero(closed[:left]), left + np.flatnonzero(~closed[left:])
        for columns in (self._open, self._open_mean, self._open_variance, self._open_rows().T):
            columns[gaps] = columns[movers]
        self._window.move(gaps, movers, left)
        self._open, self._open_mean = self._open[:left].copy(), self._open_mean[:left].copy()
        self._open_variance = self._open_variance[:left].copy()

    def _reserve(self, size: int) -> None:
        """Make room for ``size`` slots. The system moves pages, so no view may be left."""
        # a function of the size, so that products of a restored C round alike
        capacity = max(-(-size // BLOCK), 1) * BLOCK
        held, old = self.size, len(self._lower)
        if capacity <= old:
            return
        if held:
            if self._triangle.base is not self._flat:  # in a copy of this object
                self._flat = self._triangle.ravel("F").copy()
            self._rows.resize((capacity, self._rows.shape[1]), refcheck=False)
            self._flat.resize(capacity**2, refcheck=False)
        else:  # memory that is not used yet
            self._flat = np.zeros(capacity**2)
            self._rows = np.empty((capacity, self._rows.shape[1]))
        self._triangle = self._flat.reshape((capacity, capacity), order="F")
        self._triangle[:, held:old] = 0.0
        for slot in reversed(range(held)):
            diagonal = slot * old + slot
            self._triangle[slot:held, slot] = self._flat[diagonal : diagonal + held - slot]
            self._triangle[held:, slot] = 0.0
