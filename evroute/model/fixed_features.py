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
from scipy.linalg import solve_triangular

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State, lower_factor
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.model.kernels import ArmKernel
from evroute.model.linear import LinearModel
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


class FixedFeatures(LinearModel):
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

    title = "fixed-features"

    def __init__(
        self, kernel: ArmKernel, arms: Arms, noise_std_wh: FloatArray, *, features: int
    ) -> None:
        self._kernel = kernel
        chosen = _spread_out(kernel, arms, features)
        self._edge, self._features = arms.id[chosen], arms.features[chosen]
        prior = kernel(self._edge, self._features, self._edge, self._features)
        self._embedding = lower_factor(
            0.5 * (prior + prior.T), "the prior covariance of the fixed features"
        )
        super().__init__(np.ones(len(chosen)), noise_std_wh)
        self._count = 0.0

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""
        psi = self._columns_of(arms)
        spread = psi @ self._root().T
        mean_wh = arms.prior_mean_wh + psi @ self._mean()
        return Belief(mean_wh, np.sqrt(np.einsum("ij,ij->i", spread, spread)))

    def update(self, feedback: Feedback) -> None:
        """Add measurements to the second moments of the features."""
        super().update(feedback)
        self._count += len(feedback.id)

    def spectrum(self) -> Spectrum:
        """Return the measurements in the eigenbasis of the features' second moments."""
        return Spectrum.of_features(self._precision - np.eye(len(self._edge)), self._information)

    def points(self, spectrum: Spectrum, arms: Arms) -> Points:
        """Return residuals of arms in the eigenbasis of a spectrum of this model."""
        psi = self._columns_of(arms)
        return spectrum.points(psi.T, np.einsum("ij,ij->i", psi, psi))

    def prior_covariance(self, arms: Arms) -> FloatArray:
        """Return the features' kernel between the arms, (a, a) Wh²."""
        psi = self._columns_of(arms)
        return psi @ psi.T

    def n_measured(self) -> float:
        """Return the number of measurements."""
        return self._count

    def state(self) -> State:
        """Return the state of the regression and the number of measurements."""
        return super().state() | {"count": np.array(self._count)}

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model with as many features.
        """
        super().restore(state)
        self._count = float(state["count"])

    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        cross = self._kernel(self._edge, self._features, edge, features)
        psi: FloatArray = solve_triangular(self._embedding, cross, lower=True).T
        return psi


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
