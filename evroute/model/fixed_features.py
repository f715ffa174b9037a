"""FixedFeatures: an exact Gaussian process with a kernel of m fixed features.

``k~(x, x') = psi(x)'psi(x')`` with Nyström features ``psi(x) = L^-1 k_S(x)``, ``L L' = K_SS``, of
m edges S in their reference contexts. S is chosen greedily before the first trip: the next edge
has the largest unexplained prior variance (pivoted Cholesky). All learned numbers form an m x m
matrix in any context: cost and memory do not grow with the number of measurements. Far from S,
beliefs are narrower than those of the full kernel. Because S is fixed, the confidence sets of
``model.bounds`` hold (Notes on Flynn & Reeb, arXiv 2403.12732, section 6.3), for truths in the
space of k~.
"""

import numpy as np
from pydantic import Field
from scipy.linalg import cho_solve, solve_triangular

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State, lower_factor
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.model.kernels import ArmKernel
from evroute.model.options import ModelOptions, ModelSetting

_EXPLAINED = 1e-9  # share of the largest prior variance below which no feature is added


class FixedFeaturesOptions(ModelOptions):
    """Gaussian process with a kernel of few fixed features."""

    label = "Fixed features"
    has_kernel = True

    features: int = Field(default=300, ge=1, description="largest number of features of the kernel")

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "FixedFeatures":
        """Return the model before any trip."""
        return FixedFeatures(
            setting.kernel, setting.arms, setting.noise_std_wh, features=self.features
        )


class FixedFeatures:
    """Gaussian process on n edges and their contexts in at most ``features`` fixed features.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    arms
        All edges 0..n-1 in their reference contexts.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    features
        Largest number of features, at least 1.
    """

    def __init__(
        self, kernel: ArmKernel, arms: Arms, noise_std_wh: FloatArray, *, features: int
    ) -> None:
        self._kernel = kernel
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._reference = arms
        self._known: tuple[FloatArray, FloatArray] | None = None
        chosen = _spread_out(kernel, arms, features)
        self._edge, self._features = arms.id[chosen], arms.features[chosen]
        prior = kernel(self._edge, self._features, self._edge, self._features)
        self._factor = lower_factor(
            0.5 * (prior + prior.T), "the prior covariance of the fixed features"
        )
        m = len(chosen)
        self._gram, self._information, self._count = np.zeros((m, m)), np.zeros(m), 0.0

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""
        if self._known is None:
            self._known = self._believe(self._reference)
        mean, std = (numbers[arms.id] for numbers in self._known)
        away = np.flatnonzero(np.any(arms.features != self._reference.features[arms.id], axis=1))
        if len(away):
            mean[away], std[away] = self._believe(arms.take(away))
        return Belief(arms.prior_mean_wh + mean, std)

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

    def update(self, feedback: Feedback) -> None:
        """Add measurements to the second moments of the features."""
        if not len(feedback.id):
            return
        noise = self._noise_std[feedback.id]
        psi = self._of(feedback.id, feedback.features) / noise
        self._gram = self._gram + psi @ psi.T
        self._information = self._information + psi @ (
            (feedback.energy_wh - feedback.prior_mean_wh) / noise
        )
        self._count += len(noise)
        self._known = None

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², of rank m at most."""
        spread = solve_triangular(self._posterior_factor(), self._embed(arms), lower=True)
        covariance: FloatArray = spread.T @ spread
        return 0.5 * (covariance + covariance.T)

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        psi = self._embed(arms)
        spread = solve_triangular(self._posterior_factor(), psi, lower=True)
        draws: FloatArray = rng.standard_normal((size, len(psi))) @ spread
        return draws + self.posterior(arms).mean_wh

    def spectrum(self) -> Spectrum:
        """Return the measurements in the eigenbasis of the features' second moments."""
        return Spectrum.of_features(self._gram, self._information)

    def points(self, spectrum: Spectrum, arms: Arms) -> Points:
        """Return residuals of arms in the eigenbasis of a spectrum of this model."""
        psi = self._embed(arms)
        return spectrum.points(psi, np.einsum("ij,ij->j", psi, psi))

    def prior_covariance(self, arms: Arms) -> FloatArray:
        """Return the features' kernel between the arms, (a, a) Wh²."""
        psi = self._embed(arms)
        return psi.T @ psi

    def n_measured(self) -> float:
        """Return the number of measurements."""
        return self._count

    def state(self) -> State:
        """Return second moments (m, m), information (m,) and the number of measurements."""
        return {
            "precision": self._gram.copy(),
            "information": self._information.copy(),
            "count": np.array(self._count),
        }

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model with as many features.
        """
        m = len(self._information)
        if {name: part.shape for name, part in state.items()} != {
            "precision": (m, m),
            "information": (m,),
            "count": (),
        }:
            n = len(self._noise_std)
            raise ValueError(
                f"this is not the state of a fixed-features model of {n} edges with {m} features"
            )
        self._gram, self._information = state["precision"].copy(), state["information"].copy()
        self._count = float(state["count"])
        self._known = None

    def _believe(self, arms: Arms) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the residuals of arms, (a,) Wh each."""
        psi, factor = self._embed(arms), self._posterior_factor()
        spread = solve_triangular(factor, psi, lower=True)
        mean: FloatArray = cho_solve((factor, True), self._information) @ psi
        return mean, np.sqrt(np.einsum("ij,ij->j", spread, spread))

    def _posterior_factor(self) -> FloatArray:
        return lower_factor(
            self._gram + np.eye(len(self._gram)), "the precision of the fixed features"
        )

    def _embed(self, arms: Arms) -> FloatArray:
        return self._of(arms.id, arms.features)

    def _of(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the features of arms, (m, a), Wh."""
        cross = self._kernel(self._edge, self._features, edge, features)
        embedded: FloatArray = solve_triangular(self._factor, cross, lower=True)
        return embedded


def _spread_out(kernel: ArmKernel, arms: Arms, size: int) -> IntArray:
    """Return at most ``size`` arms by largest remaining prior variance, (m,)."""
    rest = kernel.diagonal(arms.id, arms.features).copy()
    floor = _EXPLAINED * float(rest.max())
    size = min(size, len(arms))
    columns, chosen = np.empty((size, len(arms))), np.empty(size, dtype=np.int64)
    for i in range(size):
        pivot = int(rest.argmax())
        if rest[pivot] <= floor:
            return chosen[:i]
        cross = kernel(arms.id[[pivot]], arms.features[[pivot]], arms.id, arms.features)[0]
        columns[i] = (cross - columns[:i, pivot] @ columns[:i]) / np.sqrt(rest[pivot])
        rest = np.maximum(rest - columns[i] ** 2, 0.0)
        chosen[i] = pivot
    return chosen
