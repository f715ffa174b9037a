"""ExactGP: the exact Gaussian process posterior (Sandberg et al., eqs. 2-3), at city scale.

An arm is an edge in a context. Repeated measurements of one arm merge into sufficient statistics.
Measurements of one edge in different contexts do not. The posterior of arms in their *reference*
context (usually free flow) is kept up to date in ``model.incremental_posterior``, at a few
milliseconds a trip. Arms in any other context are predicted on request, from the same numbers.
Contexts that are new on every trip never merge, so cost and memory then grow with the square of
the number of measurements.
"""

import logging
from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import dtrmm, dtrmv

from evroute.arms import Arms, Belief, Feedback, Total
from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.errors import require
from evroute.model.base import (
    ModelOptions,
    ModelSetting,
    State,
    check_noise,
    check_state,
    lower_factor,
)
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.model.incremental_posterior import IncrementalPosterior
from evroute.model.kernels.arms import ArmKernel
from evroute.model.kernels.sparse_graph import PriorDraws
from evroute.model.slots import Slots

CHECK_EVERY = 10
"""Updates between checks of rounding errors."""
CHECK_SLOTS = 256
"""Most slots whose means are corrected at a check. In turn all are."""
CHECK_ARMS = 8
"""Arms whose variances are compared."""
DRIFT_TOLERANCE = 1e-6
"""Error of a variance, in prior variances, above which all numbers are recomputed. An edge driven
a thousand times has 1e-4 of its prior variance left."""
DIRECT_SAMPLE_ARMS = 512
"""Largest number of arms drawn by their posterior covariance. More by draws of the prior."""
AT_ONCE = 4096
"""Arms without a kept posterior that are predicted together."""

log = logging.getLogger(__name__)


class ExactOptions(ModelOptions):
    """Exact Gaussian process on edges and their contexts."""

    label = "GP"
    has_kernel = True

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "ExactGP":
        """Return the model before any trip."""
        return ExactGP(
            setting.kernel,
            setting.arms,
            setting.noise_std_wh,
            prior_factor=lambda: setting.prior_factor,
        )

    @classmethod
    def cache(cls, setting: ModelSetting) -> None:
        """Compute the factor of the prior covariance."""
        _ = setting.prior_factor


class ExactGP:
    """Exact Gaussian process on n edges and their contexts.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    arms
        All edges 0..n-1 in their reference contexts, or none: then every arm is predicted on
        request, as a region needs (``model.regional``).
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    prior_factor
        Returns the (n, n) lower Cholesky factor of the prior covariance of ``arms``
        (``model.build.prior_factor``), called before the first joint draw of many arms, or None to
        compute it then, in seconds on a city.

    Attributes
    ----------
    refreshes
        Number of recomputations after rounding errors above ``DRIFT_TOLERANCE``.

    Raises
    ------
    ValueError
        If the arms are neither all edges nor none, or an array has another shape or sign.
    """

    def __init__(
        self,
        kernel: ArmKernel,
        arms: Arms,
        noise_std_wh: FloatArray,
        *,
        prior_factor: Callable[[], FloatArray] | None = None,
    ) -> None:
        n = kernel.graph.n_edges
        require(
            not len(arms) or np.array_equal(arms.id, np.arange(n)),
            f"the reference arms must be all {n} edges of the kernel's network, or none",
            ValueError,
        )
        check_noise(noise_std_wh, n)
        self._noise_std_wh = noise_std_wh
        self._kernel = kernel
        self._reference = arms
        self._make_factor = prior_factor or self._own_factor
        self._factor: FloatArray | None = None
        self._prior_draws = None if len(arms) else PriorDraws(kernel)
        self._start()

    def _start(self) -> None:
        self._core = IncrementalPosterior(
            self._kernel.diagonal(self._reference.id, self._reference.features)
        )
        self._slots = Slots(self._kernel, self._reference.features.shape[1])
        self._updates = 0
        self.refreshes = 0

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, eqs. 2-3, (a,) Wh each."""
        mean, variance = np.empty(len(arms)), np.empty(len(arms))
        kept = ~self._elsewhere(arms.id, arms.features)
        mean[kept], variance[kept] = (numbers[arms.id[kept]] for numbers in self._core.reference())
        elsewhere, weights = np.flatnonzero(~kept), self._core.weights()
        for start in range(0, len(elsewhere), AT_ONCE):
            some = elsewhere[start : start + AT_ONCE]
            edge, features = arms.id[some], arms.features[some]
            prior = self._slots.with_arms(edge, features)
            mean[some] = weights @ prior
            variance[some] = self._kernel.diagonal(edge, features) - np.einsum(
                "ij,ij->j", prior, self._core.solve(prior)
            )
        return Belief(arms.prior_mean_wh + mean, np.sqrt(np.maximum(variance, 0.0)))

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std_wh[arms.id]

    def update(self, feedback: Feedback) -> None:
        """Learn the measurements of one trip or of a fleet. Repeats of an arm count each time."""
        if not len(feedback.id):
            return
        met, place = np.unique(self._meet(feedback.id, feedback.features), return_inverse=True)
        count, slots = np.bincount(place), self._slots
        residual_wh = np.bincount(place, feedback.energy_wh - feedback.prior_mean_wh) / count
        noise_wh2 = self._noise_std_wh[slots.arms.id[met]] ** 2 / count
        self._observe(slots.of_arm[met], residual_wh, noise_wh2)

    def update_total(self, total: Total) -> None:
        """Learn one measurement of a weighted sum of arms, which is a linear functional of them."""
        noise_wh2, slot = total.noise_wh2(self._noise_std_wh), self._slots.slot_of(total)
        if slot is None:
            self._core.append(*self._slots.rows_of(total, self._reference), np.array([-1]))
            slot = self._slots.append_sum(total, noise_wh2)
        self._observe(np.array([slot]), np.array([total.residual_wh]), np.array([noise_wh2]))

    def _observe(self, slots: IntArray, residual_wh: FloatArray, noise_wh2: FloatArray) -> None:
        self._core.observe(slots, residual_wh, noise_wh2)
        self._updates += 1
        if self._updates % CHECK_EVERY == 0:
            self.check_rounding()

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, eq. 3, (a, a) Wh², exactly symmetric."""
        if not self._elsewhere(arms.id, arms.features).any():
            return self._core.covariance(
                arms.id, lambda some: self.prior_covariance(arms.take(some))
            )
        prior = self._slots.with_arms(arms.id, arms.features)
        covariance = self.prior_covariance(arms)
        covariance -= prior.T @ self._core.solve(prior)
        return 0.5 * (covariance + covariance.T)

    def regress(
        self, prior: Callable[[IntArray, FloatArray], FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the learned change of mean (m,) and covariance (m, m) of m further numbers.

        ``prior(edge, features)`` returns the prior covariance (D, m) of the D measured arms,
        edges (D,) in contexts (D, d), with these numbers.
        """
        with_slots = self._slots.over(prior)
        learned: FloatArray = -(with_slots.T @ self._core.solve(with_slots))
        return self._core.weights() @ with_slots, 0.5 * (learned + learned.T)

    def spectrum(self) -> Spectrum:
        """Return the measurements in the eigenbasis of their Gram matrix."""
        prior = self._slots.among(np.arange(len(self._slots)))
        precision = self._core.precision
        return Spectrum.of_gram(prior, self._core.information / precision, precision)

    def points(self, spectrum: Spectrum, arms: Arms) -> Points:
        """Return residuals of arms in the eigenbasis of a spectrum of this model."""
        return spectrum.points(
            self._slots.with_arms(arms.id, arms.features),
            self._kernel.diagonal(arms.id, arms.features),
        )

    def prior_covariance(self, arms: Arms) -> FloatArray:
        """Return the kernel between the arms, (a, a) Wh²."""
        return self._kernel(arms.id, arms.features, arms.id, arms.features)

    def n_measured(self) -> float:
        """Return the number of measurements."""
        return float(self._core.precision @ self._slots.noise_wh2(self._noise_std_wh))

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh.

        64 draws of many arms take a few times as long as one.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        if len(arms) > DIRECT_SAMPLE_ARMS and self._prior_draws is not None:
            return np.array([self.sample_around(arms, rng, 1.0) for _ in range(size)])
        if (
            len(arms) <= DIRECT_SAMPLE_ARMS
            or self._elsewhere(*self._slots.points()).any()
            or self._elsewhere(arms.id, arms.features).any()
        ):
            factor = lower_factor(
                self.covariance(arms), "the posterior covariance of the arms", overwrite=True
            )
            draws: FloatArray = rng.standard_normal((size, len(arms))) @ factor.T
            return draws + self.posterior(arms).mean_wh
        return arms.prior_mean_wh + self._residual_draws(rng, size)[:, arms.id]

    def mean(self, arms: Arms) -> FloatArray:
        """Return the posterior mean of each arm, (a,) Wh. Cheaper than `posterior`."""
        if len(self._reference):
            return self.posterior(arms).mean_wh
        return arms.prior_mean_wh + self._regressed(self._core.weights(), arms)

    def sample_around(self, arms: Arms, rng: np.random.Generator, multiplier: float) -> FloatArray:
        """Draw all arms jointly with scaled deviations from the mean, (a,) Wh.

        Without reference arms by Matheron's rule with a draw of the prior at the slots and the
        arms alone, as Wilson et al. (2020), *Efficiently sampling functions from Gaussian process
        posteriors*.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        multiplier
            Factor of the deviations from the posterior mean.
        """
        if self._prior_draws is None or len(arms) <= DIRECT_SAMPLE_ARMS:
            mean_wh = self.mean(arms)
            draw: FloatArray = self.sample_many(arms, rng, 1)[0]
            return mean_wh + multiplier * (draw - mean_wh)
        met, contexts = self._slots.points()
        edge, features = np.concatenate([met, arms.id]), np.concatenate([contexts, arms.features])
        draw, core = multiplier * self._prior_draws(edge, features, rng), self._core
        noise = multiplier * np.sqrt(core.precision) * rng.standard_normal(core.size)
        at_slots = self._slots.of_points(draw[: len(met), np.newaxis])[:, 0]
        surprise = core.information - core.precision * at_slots - noise
        return arms.prior_mean_wh + draw[len(met) :] + self._regressed(core.weigh(surprise), arms)

    def state(self) -> State:
        """Return the visited arms and the numbers of their posterior."""
        arms = self._slots.arms
        learned = {"edge": arms.id.copy(), "features": arms.features.copy()}
        return (
            learned
            | self._slots.sums_state()
            | {"updates": np.array(self._updates), "refreshes": np.array(self.refreshes)}
            | self._core.state()
        )

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of an exact model of as many edges and features.
        """
        n, d = self._kernel.graph.n_edges, self._reference.features.shape[1]
        size, n_open = len(state.get("mean", ())), len(state.get("open", ()))
        expected = Slots.shapes(state, size, d)
        expected |= dict.fromkeys(("updates", "refreshes"), ())
        expected |= dict.fromkeys(("precision", "information", "mean"), (size,))
        expected |= dict.fromkeys(("open", "open_mean", "open_variance"), (n_open,))
        expected["covariance"] = (size * (size + 1) // 2,)
        expected["slot_of"] = (len(self._reference),)
        check_state(state, expected, f"an exact model of {n} edges with {d} features")
        self._start()
        self._updates, self.refreshes = int(state["updates"]), int(state["refreshes"])
        self._slots.restore(state)
        features = self._reference.features
        self._core.restore(state, lambda edge: self._slots.with_arms(edge, features[edge]))

    def unpack(self) -> None:
        """Expand a restored posterior, before a model continues to learn."""
        self._core.unpack()

    def _residual_draws(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the residuals of all reference arms, (size, n) Wh, by Matheron's rule.

        ``f = f0 + K_*D S (ybar - f0_D - e)`` with f0 a draw of the prior and e a draw of the
        noise of ybar.
        """
        if self._factor is None:
            self._factor = self._make_factor()
        core = self._core
        normal = rng.standard_normal((size, len(self._reference)))
        upper = self._factor.T
        draws: FloatArray
        if size == 1:  # a triangle is read in half the time of a square
            draws = dtrmv(upper, normal[0], trans=1)[np.newaxis]
        else:
            draws = dtrmm(1.0, upper, normal.T, trans_a=1, overwrite_b=1).T
        noise = np.sqrt(core.precision) * rng.standard_normal((size, core.size))
        at_slots = self._slots.of_points(draws[:, self._slots.points()[0]].T).T
        draws += core.respond(core.information - core.precision * at_slots - noise)
        return draws

    def _own_factor(self) -> FloatArray:
        return lower_factor(
            self._kernel.matrix(self._reference.features),
            "the prior covariance of all edges",
            overwrite=True,
        )

    def _regressed(self, weights: FloatArray, arms: Arms) -> FloatArray:
        """Return ``weights @ K_D*`` for weights (D,) of the slots, (a,)."""
        regressed = np.empty(len(arms))
        for start in range(0, len(arms), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            regressed[some] = weights @ self._slots.with_arms(arms.id[some], arms.features[some])
        return regressed

    def _elsewhere(self, edge: IntArray, features: FloatArray) -> BoolArray:
        """Return whether each arm is outside its reference context, (a,)."""
        if not len(self._reference):
            return np.ones(len(edge), dtype=np.bool_)
        if features is self._reference.features:
            return np.zeros(len(edge), dtype=np.bool_)
        return np.any(features != self._reference.features[edge], axis=1)

    def _meet(self, edge: IntArray, features: FloatArray) -> IntArray:
        """Return the number of each arm among those measured, (k,). Add slots for new arms."""
        new = self._slots.arms.unmet(edge, features)
        if len(new):
            self._append(edge[new], features[new])
        return self._slots.arms.of(edge, features)

    def _append(self, edge: IntArray, features: FloatArray) -> None:
        """Add a slot for each new arm."""
        reference = self._reference
        self._core.append(
            self._slots.of_arms(edge, features),
            self._kernel(edge, features, edge, features),
            self._kernel(edge, features, reference.id, reference.features),
            np.where(self._elsewhere(edge, features), -1, edge),
        )
        self._slots.append(edge, features)

    def check_rounding(self) -> None:
        """Correct the means of some slots. Recompute everything if the variances drifted."""
        core = self._core
        parts = -(-core.size // CHECK_SLOTS)
        slots = np.arange(self._updates // CHECK_EVERY % parts, core.size, parts)
        prior = self._slots.among(slots).T
        if (drift := core.correct(slots, prior, CHECK_ARMS)) > DRIFT_TOLERANCE:
            log.info(
                "rounding errors of %.1g after %d updates, computing afresh", drift, self._updates
            )
            prior = self._slots.among(np.arange(core.size))
            core.refresh(0.5 * (prior + prior.T))
            self.refreshes += 1
