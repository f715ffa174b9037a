"""Indices from confidence sets: the lower CMM, DMM, AMM, AY or IGP bound of each arm's energy.

Source: Flynn & Reeb, *Tighter Confidence Bounds for Sequential Kernel Regression* (arXiv
2403.12732). With probability ``1 - delta`` the expected energies of all arms in all rounds lie
within these bounds. Two assumptions are needed. The true energy minus the prior mean has norm at
most B in the model's Hilbert space. The noise of each measurement, given the past, is sub-Gaussian
with sigma times the model's noise deviation. Noise that a whole trip shares violates this.

Sources of AY and IGP: Abbasi-Yadkori, *Online Learning for Linearly Parametrized Control Problems*
(2012), Theorem 3.11. Chowdhury & Gopalan, *On Kernelized Multi-armed Bandits* (2017), Theorem 2.
Both are ``mu ± multiplier rho`` at one ridge strength. AMM at the same strength is strictly
narrower (Flynn & Reeb, Theorem 6.3).
"""

import logging
import math
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, HasSpectrum
from evroute.model.bounds.sets import DEFAULT_SCALES, Assumptions, ConfidenceSet, Interval
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.policy.base import Index, IndexOptions, IndexSetting

Kind = Literal["cmm", "dmm", "amm", "ay", "igp"]
DEFAULT_NORM = 5.0
DEFAULT_DELTA = 0.05
DEFAULT_ETA = 1e-4


Scale = float | Literal["mixture"]
Norm = float | Literal["auto"]
AUTO_NORM = 3.0
NORM_FACTOR = 1.5
"""B ``auto`` is the larger of `AUTO_NORM` and this factor times the least fitting norm: a rule of
thumb without guarantee.
"""


def assume(norm: float, sigma: float, delta: float, c: Scale) -> Assumptions:
    """Return assumptions with one scale, or the mixture of `DEFAULT_SCALES`.

    Parameters
    ----------
    norm
        B, positive.
    sigma
        Noise factor, positive.
    delta
        Failure probability, in (0, 1).
    c
        A scale, or ``mixture``.
    """
    return Assumptions(
        norm, sigma, delta, np.array(DEFAULT_SCALES if c == "mixture" else (c,), dtype=np.float64)
    )


def bounds(
    confidence: ConfidenceSet,
    points: Points,
    kind: Kind,
    *,
    count: float,
    eta: float = DEFAULT_ETA,
) -> Interval:
    """Return the bounds of a kind.

    Parameters
    ----------
    confidence, points
        In the same eigenbasis.
    kind
        One of `Kind`.
    count
        Number of measurements so far, used by IGP.
    eta
        Of IGP, positive.

    Raises
    ------
    EmptySetError
        If the set is empty, for CMM, DMM and AMM.
    """
    sets = {"cmm": confidence.exact, "dmm": confidence.best_of, "amm": confidence.analytic}
    if kind in sets:
        return sets[kind](points)
    if kind == "ay":
        return abbasi_yadkori(confidence.spectrum, points, confidence.assumptions)
    return improved_gp(confidence.spectrum, points, confidence.assumptions, eta=eta, count=count)


def abbasi_yadkori(spectrum: Spectrum, points: Points, assumptions: Assumptions) -> Interval:
    """Return the AY-GP-UCB interval at ridge strength ``sigma² / c``.

    Parameters
    ----------
    spectrum, points
        Measurements and points in the same eigenbasis.
    assumptions
        Norm, noise, delta and scales.
    """
    a, lam = assumptions, assumptions.alpha
    noise = a.sigma * math.sqrt(spectrum.log_det(1.0 / lam) - 2 * math.log(a.delta))
    return _around(spectrum, points, lam, (noise + math.sqrt(lam) * a.norm) / math.sqrt(lam))


def improved_gp(
    spectrum: Spectrum, points: Points, assumptions: Assumptions, *, eta: float, count: float
) -> Interval:
    """Return the IGP-UCB interval at ridge strength ``1 + eta``.

    Parameters
    ----------
    spectrum, points
        Measurements and points in the same eigenbasis.
    assumptions
        Norm, noise and delta.
    eta
        Recommended: 2 over the number of planned measurements.
    count
        Number of measurements so far.
    """
    a = assumptions
    noise = a.sigma * math.sqrt(
        spectrum.log_det(1.0 / (1.0 + eta)) + count * eta - 2 * math.log(a.delta)
    )
    return _around(spectrum, points, 1.0 + eta, noise + a.norm)


def _around(spectrum: Spectrum, points: Points, alpha: float, multiplier: float) -> Interval:
    mean, variance = (each[:, 0] for each in spectrum.ridge(points, np.array([alpha])))
    half = multiplier * np.sqrt(variance)
    return Interval(mean - half, mean + half)


SINGLE_SCALE = 0.1
"""Default ``c`` where one scale is used: ``c ln det`` is then near ``B²`` after thousands of
measurements.
"""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class SetBound(Index):
    """Lower confidence bounds of one kind, as an index.

    Parameters
    ----------
    kind
        Method of the bounds, see `Kind`.
    B
        Upper bound on the norm of the residual, in prior deviations. If no function of this norm
        fits, it becomes 1.5 times the least norm that fits, without guarantee. ``auto`` takes the
        largest of 3 and 1.5 times that norm: a rule of thumb.
    sigma
        Factor on the model's noise deviations.
    delta
        Probability that any bound fails, in (0, 1).
    c
        Scale of the guesses, a number or ``mixture``.
    refresh_every
        Rounds between computations. Older bounds remain valid.
    eta
        Ridge strength of IGP minus 1.

    Attributes
    ----------
    norm
        The B used last.
    b_min
        Least norm that fits the measurements.
    multiplier
        Median over the arms of half the interval's width, in posterior deviations.
    """

    kind: Kind
    B: Norm = DEFAULT_NORM
    sigma: float = 1.0
    delta: float = DEFAULT_DELTA
    c: Scale = "mixture"
    refresh_every: int = 1
    eta: float = DEFAULT_ETA
    norm: float = field(default=np.nan, init=False)
    b_min: float = field(default=np.nan, init=False)
    multiplier: float = field(default=np.nan, init=False)
    _set: ConfidenceSet | None = field(default=None, init=False, repr=False)
    _count: float = field(default=0.0, init=False, repr=False)

    needs: ClassVar[type] = HasSpectrum

    def __post_init__(self) -> None:
        self.norm = AUTO_NORM if self.B == "auto" else self.B

    def __call__(
        self, t: int, arms: Arms, model: EnergyModel, rng: np.random.Generator
    ) -> FloatArray:
        """Return the lower bounds, (a,) Wh."""
        interval = self.interval(t, arms, cast(HasSpectrum, model))
        self.multiplier = float(
            np.median((interval.high - interval.low) / (2.0 * model.posterior(arms).std_wh))
        )
        return arms.prior_mean_wh + interval.low

    def interval(self, t: int, arms: Arms, model: HasSpectrum) -> Interval:
        """Return both bounds of the residual of each arm.

        Parameters
        ----------
        t
            Round, from 1.
        arms
            The a arms of the round.
        model
            Regression with a kernel.

        Returns
        -------
        Interval
            (a,) lower and upper bounds, Wh.
        """
        if self._set is None or (t - 1) % self.refresh_every == 0:
            self._set = self._fresh(model)
            self._count = model.n_measured()
        return bounds(
            self._set,
            model.points(self._set.spectrum, arms),
            self.kind,
            count=self._count,
            eta=self.eta,
        )

    def _fresh(self, model: HasSpectrum) -> ConfidenceSet:
        spectrum = model.spectrum()
        confidence = ConfidenceSet(spectrum, assume(self.norm, self.sigma, self.delta, self.c))
        self.b_min = confidence.b_min
        if self.kind in ("ay", "igp") or (confidence.feasible and self.B != "auto"):
            return confidence
        wanted = max(self.norm, NORM_FACTOR * self.b_min)
        if self.B != "auto":
            log.warning(
                "no function of norm B = %.3g fits. The smallest B that fits is %.3g. B is now "
                "%.3g, without guarantee",
                self.norm,
                self.b_min,
                wanted,
            )
        self.norm = wanted
        return ConfidenceSet(spectrum, assume(wanted, self.sigma, self.delta, self.c))


class SetOptions(IndexOptions):
    """Options of the bounds of every kind."""

    kind: ClassVar[Kind]
    """Method of the bounds, see `Kind`."""

    B: Annotated[float, Field(gt=0)] | Literal["auto"] = Field(
        default=DEFAULT_NORM,
        description="bound of the norm of the learned deviation, in prior deviations; auto: by "
        "rule of thumb, without guarantee",
    )
    sigma: float = Field(default=1.0, gt=0, description="factor on the deviations of the noise")
    delta: float = Field(
        default=DEFAULT_DELTA, gt=0, lt=1, description="probability that any of the bounds fails"
    )
    refresh_every: int = Field(
        default=1, ge=1, description="rounds between computations of the bounds"
    )

    def build(self, setting: IndexSetting) -> SetBound:
        """Return the index before the first round."""
        return SetBound(self.kind, **self.model_dump())


class EmptyOptions(SetOptions):
    """Options of the bounds of a set that may be empty."""

    c: Annotated[float, Field(gt=0)] | Literal["mixture"] = Field(
        default="mixture",
        description="scale of the guesses that a bound weighs; mixture: a grid of them",
    )


class CMMOptions(EmptyOptions):
    """CMM-UCB: the extreme of each arm over the confidence set."""

    label = "CMM-UCB"
    kind = "cmm"


class DMMOptions(EmptyOptions):
    """DMM-UCB: for each arm the tightest ellipsoid of a grid."""

    label = "DMM-UCB"
    kind = "dmm"


class AMMOptions(EmptyOptions):
    """AMM-UCB: one ellipsoid for all arms, in closed form."""

    label = "AMM-UCB"
    kind = "amm"

    c: Annotated[float, Field(gt=0)] | Literal["mixture"] = Field(
        default=SINGLE_SCALE, description="scale of the guesses that the bound weighs"
    )


class AYOptions(SetOptions):
    """AY-GP-UCB of Abbasi-Yadkori (2012), ridge strength ``sigma² / c``."""

    label = "AY-GP-UCB"
    kind = "ay"

    c: Annotated[float, Field(gt=0)] | Literal["mixture"] = Field(
        default=SINGLE_SCALE, description="scale of the guesses that the bound weighs"
    )


class IGPOptions(SetOptions):
    """IGP-UCB of Chowdhury & Gopalan (2017), ridge strength ``1 + eta``."""

    label = "IGP-UCB"
    kind = "igp"

    eta: float = Field(default=DEFAULT_ETA, gt=0, description="the ridge is 1 + eta")
