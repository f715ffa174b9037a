"""Protocols of energy models, their options, and the Cholesky factorisation that they share.

A model is a belief about the *expected* energy of each arm (an edge in a context), measurement
noise excluded. Trips update it. The arms carry the prior means, so models contain no physics:
inside, every model works on residuals, energy minus prior mean. `ModelSetting` holds the values
that a model takes from its network, vehicle and prior.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.linalg.lapack import dpotrf

from evroute.arms import Arms, Belief, Feedback, Total
from evroute.arrays import FloatArray
from evroute.errors import EvrouteError, require
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.validation.options import PartOptions

if TYPE_CHECKING:
    from evroute.energy.regressors import Derivatives
    from evroute.model.kernels.arms import Covariance, EdgeContextKernel

JITTER = 1e-8
"""Share of the mean diagonal added once to a covariance that rounding left indefinite."""

State = dict[str, npt.NDArray[Any]]
"""All learned numbers of a model as arrays, in the form of ``numpy.savez``."""

log = logging.getLogger(__name__)


@runtime_checkable
class EnergyModel(Protocol):
    """A belief about the expected energy of every arm, updated trip by trip."""

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""

    def update(self, feedback: Feedback) -> None:
        """Learn the measurements of one trip or of several trips (Algorithm 1, line 6)."""

    def state(self) -> State:
        """Return all learned numbers."""

    def restore(self, state: State) -> None:
        """Restore a state. Later results equal, bit for bit, the results of an uninterrupted run.

        Raises
        ------
        ValueError
            If the state is not of this kind of model on as many edges.
        """


@runtime_checkable
class LearnsTotals(Protocol):
    """A model that learns the total energy of a trip as one measurement."""

    def update_total(self, total: Total) -> None:
        """Learn one measurement of a weighted sum of arms."""


@runtime_checkable
class HasJoint(Protocol):
    """A model with a joint posterior of edges, as the total energy of a route needs."""

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², exactly symmetric."""

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh. Cheaper than single draws.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """


@runtime_checkable
class SupportsScaledSample(Protocol):
    """A model whose draws around the mean cost less than all its posterior deviations."""

    def mean(self, arms: Arms) -> FloatArray:
        """Return the posterior mean of each arm, (a,) Wh."""

    def sample_around(self, arms: Arms, rng: np.random.Generator, multiplier: float) -> FloatArray:
        """Draw all arms jointly with scaled deviations from the mean, (a,) Wh.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        multiplier
            Factor of the deviations from the posterior mean.
        """


@runtime_checkable
class Anticipates(Protocol):
    """A model that records which arms are about to be measured before their energies are known."""

    def anticipate(self, arms: Arms) -> None:
        """Record the arms of a route that was just chosen, in increasing order of edge."""


@runtime_checkable
class HasPendingBatch(Protocol):
    """A model that plans in batches and may need all measurements before the next plan."""

    @property
    def waits(self) -> bool:
        """Whether the model refuses to plan now."""


@runtime_checkable
class HasRadius(Protocol):
    """A model with a theorem on the width of its confidence bounds."""

    def radius(
        self, form: Literal["theory", "safe", "lean"], norm_bound: float, delta: float
    ) -> float:
        """Return the width of the confidence bound in posterior standard deviations.

        Parameters
        ----------
        form
            Variant of the bound.
        norm_bound
            Bound on the RKHS norm of the residuals.
        delta
            Probability that the bound fails.
        """


@runtime_checkable
class HasDiagnostics(Protocol):
    """A model with diagnostic numbers for the log of every round."""

    def diagnostics(self) -> dict[str, float]:
        """Return the numbers by name. The names never change."""


@runtime_checkable
class HasSpectrum(Protocol):
    """A model that is a kernel regression, as confidence sets need (``model.bounds``)."""

    def spectrum(self) -> Spectrum:
        """Return the whitened measurements in the eigenbasis of their Gram matrix."""

    def points(self, spectrum: Spectrum, arms: Arms) -> Points:
        """Return residuals of arms in the eigenbasis of a spectrum that this model returned."""

    def prior_covariance(self, arms: Arms) -> FloatArray:
        """Return the kernel between the arms, (a, a) Wh²."""

    def n_measured(self) -> float:
        """Return the number of measurements."""


def mean_of(model: EnergyModel, arms: Arms) -> FloatArray:
    """Return the posterior mean of each arm, (a,) Wh, by the cheapest method of the model."""
    return (
        model.mean(arms)
        if isinstance(model, SupportsScaledSample)
        else model.posterior(arms).mean_wh
    )


def check_noise(noise_std_wh: FloatArray, n: int) -> None:
    """Raise ValueError unless the noise deviations are n positive numbers."""
    require(
        noise_std_wh.shape == (n,) and np.all((noise_std_wh > 0) & (noise_std_wh < np.inf)),
        f"noise_std_wh must be {n} positive numbers",
        ValueError,
    )


def check_state(state: State, shapes: Mapping[str, tuple[int, ...]], what: str) -> None:
    """Raise ValueError unless the arrays of a state have these names and shapes.

    Parameters
    ----------
    state
        Arrays by name.
    shapes
        Shape of each array.
    what
        Name of the model in the message, with its article.
    """
    require(
        {name: part.shape for name, part in state.items()} == shapes,
        f"this is not the state of {what}",
        ValueError,
    )


class CovarianceError(EvrouteError):
    """A covariance that is not positive definite, even with jitter."""


def lower_factor(covariance: FloatArray, what: str, *, overwrite: bool = False) -> FloatArray:
    """Return the lower Cholesky factor (a, a) of a symmetric matrix.

    If the factorisation fails, ``JITTER`` times the mean diagonal is added to the diagonal, once,
    and logged.

    Parameters
    ----------
    covariance
        (a, a) symmetric matrix.
    what
        Name of the matrix in messages.
    overwrite
        Factorise a row-major matrix in place, without further memory.

    Raises
    ------
    CovarianceError
        If the matrix is not positive definite with jitter, or a value is not finite.
    """
    factor = np.ascontiguousarray(covariance) if overwrite else np.array(covariance, order="C")
    diagonal = factor.diagonal().copy()
    failed = _factorise(factor)
    if failed and np.all(np.isfinite(diagonal)):
        jitter = JITTER * float(diagonal.mean())
        log.warning(
            "%s: pivot %d is not positive, adding %.3g to the diagonal", what, failed, jitter
        )
        for row in range(len(factor)):
            factor[row + 1 :, row] = factor[row, row + 1 :]
        np.fill_diagonal(factor, diagonal + jitter)
        failed = _factorise(factor)
    if failed:
        raise CovarianceError(
            f"{what} is not positive definite, even with {JITTER:.0e} of its mean diagonal added. "
            "Check the lengthscales, the prior deviations and the noise deviations"
        )
    for row in range(len(factor)):
        factor[row, row + 1 :] = 0.0
    return factor


def _factorise(matrix: FloatArray) -> int:
    """Replace the lower triangle by its Cholesky factor. Return 0 or the failed pivot.

    LAPACK takes column-major matrices: the transpose of a row-major one, whose upper triangle is
    our lower one. The other triangle keeps its values, so that the matrix can be rebuilt after a
    failure.
    """
    if not len(matrix):
        return 0
    _, failed = dpotrf(matrix.T, lower=0, clean=0, overwrite_a=1)
    # LAPACK lets values that are not numbers pass; they reach the diagonal.
    broken = np.flatnonzero(~np.isfinite(matrix.diagonal()))
    return int(failed) or (int(broken[0]) + 1 if len(broken) else 0)


class CovarianceSetting(Protocol):
    """Values that a model without roads takes, over a arms."""

    @property
    def kernel(self) -> "Covariance":
        """Prior covariance of arms."""

    @property
    def arms(self) -> Arms:
        """All arms in their reference contexts."""

    @property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement, Wh."""


class ModelSetting(CovarianceSetting, Protocol):
    """Values that a model takes from its network, vehicle and prior, over a arms."""

    @property
    def potential_wh(self) -> FloatArray:
        """(a,) rise of the potential over each arm, Wh."""

    @property
    def prior_variance_wh2(self) -> FloatArray:
        """(a,) diagonal of the kernel, Wh²."""

    @property
    def kernel(self) -> "EdgeContextKernel":
        """Prior covariance of arms."""

    @property
    def sparse_kernel(self) -> "EdgeContextKernel":
        """Prior covariance to 1e-6, on a sparse graph kernel."""

    @property
    def dissipation_kernel(self) -> "EdgeContextKernel":
        """Prior covariance with deviations as shares of the dissipated energy."""

    @property
    def regressors(self) -> "Derivatives":
        """Derivatives of the energy of the arms by the coefficients of physics."""

    @property
    def prior_factor(self) -> FloatArray:
        """(a, a) factor of the prior covariance, Wh."""


class ModelOptions(PartOptions):
    """Options of a model."""

    has_kernel: ClassVar[bool] = False
    """Whether the model takes `ModelSetting.kernel`, so that it can be scaled and fitted."""
    taken_by: ClassVar[Mapping[str, str]] = {}
    """Model that takes an option which this one does not take, in words, by option."""
    only_edges: ClassVar[str] = ""
    """Reason why the model has no arms on turns, or empty if it has."""

    def build(self, setting: ModelSetting, rng: Generator) -> EnergyModel:
        """Return the model before any trip, with ``rng`` as its source of randomness."""
        raise NotImplementedError

    @classmethod
    def cache(cls, setting: ModelSetting) -> None:
        """Compute the arrays of the setting that workers then map from the cache."""
