"""What every model of edge energy offers, and the one way in which a covariance is factorised.

A model believes something of the *expected* energy of each arm (an edge in a context), measurement
noise excluded, and learns from what trips measured. Prior means come with the arms, so models know
no physics: inside, every model works on residuals, energy minus prior mean.
"""

import logging
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.model.bounds.spectrum import Points, Spectrum

JITTER = 1e-8
"""Share of the mean diagonal added, once, to a covariance that rounding left without a Cholesky factor."""

State = dict[str, npt.NDArray[Any]]
"""All that a model has learned, as arrays: what ``numpy.savez`` writes."""

log = logging.getLogger(__name__)


@runtime_checkable
class EnergyModel(Protocol):
    """A belief about the expected energy of every arm that is updated trip by trip."""

    def posterior(self, arms: Arms) -> Belief:
        """Return mean and standard deviation of the expected energy of each arm, (a,) Wh each."""

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the standard deviation of one measurement of each arm, (a,) Wh."""

    def update(self, feedback: Feedback) -> None:
        """Learn what one trip, or several at once, measured (Algorithm 1, line 6)."""

    def state(self) -> State:
        """Return all that was learned."""

    def restore(self, state: State) -> None:
        """Take over a state; from then on every number is, bit for bit, what it would have been without a break.

        Raises
        ------
        ValueError
            If the state is not one of this kind of model on as many edges.
        """


@runtime_checkable
class HasJoint(Protocol):
    """A model that knows how the energies of edges go together, as the total of a route needs."""

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the expected energies, (a, a) Wh², exactly symmetric."""

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms together, (a,) Wh."""

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw them ``size`` times, (size, a) Wh; cheaper than one by one."""


@runtime_checkable
class SupportsScaledSample(Protocol):
    """A model that draws about its mean for less than it takes to give all its deviations."""

    def mean(self, arms: Arms) -> FloatArray:
        """Return the posterior mean of each arm, (a,) Wh."""

    def sample_around(self, arms: Arms, rng: np.random.Generator, multiplier: float) -> FloatArray:
        """Draw all arms together, their deviations from the mean multiplied, (a,) Wh."""


@runtime_checkable
class HasTripNoise(Protocol):
    """A model whose trips have noise in common, on all their edges alike."""

    def trip_noise(self, arms: Arms) -> FloatArray:
        """Return one deviation of it on each arm, (a,) Wh, up and down together; 0 where there is none."""


@runtime_checkable
class HasInducing(Protocol):
    """A model that looks at what was measured through inducing points."""

    def inducing_arms(self) -> tuple[IntArray, FloatArray]:
        """Return their edges (m,) and contexts (m, d)."""


@runtime_checkable
class Anticipates(Protocol):
    """A model that is told which arms are about to be measured, before their energies are known."""

    def anticipate(self, arms: Arms) -> None:
        """Take note of the arms of a route that was just chosen, in increasing order of edge."""


@runtime_checkable
class HasPendingBatch(Protocol):
    """A model that plans in batches, and at times nothing before all of a batch was measured."""

    @property
    def waits(self) -> bool:
        """Whether it would refuse to plan now."""


@runtime_checkable
class HasRadius(Protocol):
    """A model with a theorem that says how wide its confidence bounds are."""

    def radius(
        self, form: Literal["theory", "safe", "lean"], norm_bound: float, delta: float
    ) -> float:
        """Return the number of standard deviations, for residuals of a norm and a probability that a bound breaks."""


@runtime_checkable
class HasDiagnostics(Protocol):
    """A model that has numbers of its own to log, round by round."""

    def diagnostics(self) -> dict[str, float]:
        """Return them by name, the same names always."""


@runtime_checkable
class HasSpectrum(Protocol):
    """A model that is a regression with a kernel, as confidence sets need (``model.bounds``)."""

    def spectrum(self) -> Spectrum:
        """Return what was measured in the eigenbasis of its Gram matrix, the noise whitened: of deviation 1."""

    def points(self, spectrum: Spectrum, arms: Arms) -> Points:
        """Return residuals of arms in the eigenbasis of a spectrum that this model gave, now or earlier."""

    def prior_covariance(self, arms: Arms) -> FloatArray:
        """Return the kernel between the arms, (a, a) Wh²."""

    def n_measured(self) -> float:
        """Return the number of measurements."""


def mean_of(model: EnergyModel, arms: Arms) -> FloatArray:
    """Return the posterior mean of each arm, (a,) Wh, without deviations where the model can leave them out."""
    return (
        model.mean(arms)
        if isinstance(model, SupportsScaledSample)
        else model.posterior(arms).mean_wh
    )


class CovarianceError(EvrouteError):
    """A covariance that is not positive definite, even with jitter."""


def lower_factor(covariance: FloatArray, what: str, *, overwrite: bool = False) -> FloatArray:
    """Return the lower Cholesky factor (a, a) of a symmetric matrix; ``what`` names it in messages.

    If rounding has cost it its definiteness, ``JITTER`` times its mean diagonal is added to the
    diagonal, once, and logged. With ``overwrite`` a row-major matrix is given up for its factor,
    and takes no other memory.

    Raises
    ------
    CovarianceError
        If that is not enough, or a value is not finite.
    """
    factor = np.ascontiguousarray(covariance) if overwrite else np.array(covariance, order="C")
    diagonal = factor.diagonal().copy()
    failed = _factorise(factor)
    if failed and np.all(np.isfinite(diagonal)):
        jitter = JITTER * float(diagonal.mean())
        log.warning(
            "%s: pivot %d is not positive; adding %.3g to the diagonal", what, failed, jitter
        )
        for row in range(len(factor)):
            factor[row + 1 :, row] = factor[row, row + 1 :]
        np.fill_diagonal(factor, diagonal + jitter)
        failed = _factorise(factor)
    if failed:
        raise CovarianceError(
            f"{what} is not positive definite, even with {JITTER:.0e} of its mean diagonal added; "
            "check the lengthscales, the prior deviations and the noise deviations"
        )
    for row in range(len(factor)):
        factor[row, row + 1 :] = 0.0
    return factor


def _factorise(matrix: FloatArray) -> int:
    """Replace the lower triangle by its Cholesky factor; return 0, or the number of the pivot where that failed.

    LAPACK wants column-major matrices: the transpose of a row-major one, whose upper triangle is
    our lower. The other triangle keeps its values, so that a failure can be mended.
    """
    if not len(matrix):
        return 0
    _, failed = dpotrf(matrix.T, lower=0, clean=0, overwrite_a=1)
    # LAPACK lets values that are not numbers pass; they reach the diagonal.
    broken = np.flatnonzero(~np.isfinite(matrix.diagonal()))
    return int(failed) or (int(broken[0]) + 1 if len(broken) else 0)
