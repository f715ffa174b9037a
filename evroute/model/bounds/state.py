"""Options of the bounds by name, and BoundState: bounds from a stream of measurements.

Repeated points enter once, by count and mean; known noise deviations are whitened. Both are exact.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from evroute.arrays import FloatArray
from evroute.model.bounds.earlier import abbasi_yadkori, improved_gp
from evroute.model.bounds.sets import Assumptions, ConfidenceSet, Interval
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.model.mixture import DEFAULT_SCALES, Mixture

Kind = Literal["cmm", "dmm", "amm", "ay", "igp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
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
    """Return assumptions with one scale, or the mixture of `model.mixture.DEFAULT_SCALES`.

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
    scales = DEFAULT_SCALES if c == "mixture" else (c,)
    return Assumptions(norm, sigma, delta, Mixture(np.array(scales, dtype=np.float64)))


def bounds(
    confidence: ConfidenceSet,
    points: Points,
    kind: Kind,
    *,
    count: float,
    eta: float = DEFAULT_ETA,
    alpha: float | None = None,
    clip_prior: bool = False,
) -> Interval:
    """Return the bounds of a kind.

    Parameters
    ----------
    confidence, points
        In the same eigenbasis.
    kind
        One of `KINDS`.
    count
        Number of measurements so far, used by IGP.
    eta
        Of IGP, positive.
    alpha
        Ridge strength of AMM and AY; None for ``sigma² / c``.
    clip_prior
        Intersect with ``± B sqrt(k(x, x))``, which is also valid; CMM never exceeds it.

    Raises
    ------
    EmptySetError
        If the set is empty, for CMM, DMM and AMM.
    ValueError
        If alpha or eta is not positive, or the kind unknown.
    """
    for name, value in (("eta", eta), ("alpha", alpha)):
        if value is not None and not 0 < value < math.inf:
            raise ValueError(
                f"{name} is {value:g}; this ridge strength of a bound must be positive"
            )
    if kind == "cmm":
        return confidence.exact(points)
    if kind == "dmm":
        interval = confidence.best_of(points)
    elif kind == "amm":
        interval = confidence.analytic(points, alpha)
    elif kind == "ay":
        interval = abbasi_yadkori(confidence.spectrum, points, confidence.assumptions, alpha)
    elif kind == "igp":
        interval = improved_gp(
            confidence.spectrum, points, confidence.assumptions, eta=eta, count=count
        )
    else:
        raise ValueError(f"unknown confidence bound '{kind}'; there are {', '.join(KINDS)}")
    if not clip_prior:
        return interval
    ceiling = confidence.assumptions.norm * np.sqrt(points.prior_variance)
    low, high = np.maximum(interval.low, -ceiling), np.minimum(interval.high, ceiling)
    return Interval(low, high, interval.alpha_low, interval.alpha_high)


class BoundState:
    """Bounds of an unknown function of points in R^d from noisy measurements.

    Parameters
    ----------
    kernel
        Returns the kernel between points (a, d) and (b, d), (a, b).
    sigma, B, delta, c
        See `sets.Assumptions`.
    prior_mean
        Returns the prior mean of points, (a,); None for 0.
    """

    def __init__(
        self,
        kernel: Callable[[FloatArray, FloatArray], FloatArray],
        *,
        sigma: float,
        B: float = DEFAULT_NORM,
        delta: float = DEFAULT_DELTA,
        c: Scale = "mixture",
        prior_mean: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self.assumptions = assume(B, sigma, delta, c)
        self.count = 0
        self._kernel = kernel
        self._prior_mean = prior_mean or (lambda points: np.zeros(len(points)))
        self._place: dict[bytes, int] = {}
        self._points: FloatArray | None = None
        self._weight, self._total = np.empty(0), np.empty(0)
        self._square = 0.0
        self._confidence: ConfidenceSet | None = None

    def observe(
        self, points: FloatArray, y: FloatArray, *, noise_std: FloatArray | None = None
    ) -> None:
        """Add measurements y (k,) of points (k, d).

        Parameters
        ----------
        points
            (k, d) points.
        y
            (k,) measured values.
        noise_std
            (k,) noise deviations, or None for sigma.

        Raises
        ------
        ValueError
            If a value is not finite, or a deviation not positive.
        """
        points, y = (
            np.atleast_2d(np.asarray(points, dtype=np.float64)) + 0.0,
            np.asarray(y, dtype=np.float64),
        )
        if not np.all(np.isfinite(y)):
            raise ValueError("measurements must be finite")
        if noise_std is not None and not np.all((noise_std > 0) & (noise_std < np.inf)):
            raise ValueError("noise deviations must be positive")
        residual = y - self._prior_mean(points)
        # a measurement with another deviation counts as the equivalent number at the assumed one
        weight = np.ones(len(y)) if noise_std is None else (self.assumptions.sigma / noise_std) ** 2
        for point, value, share in zip(points, residual.tolist(), weight.tolist(), strict=True):
            place = self._place.setdefault(point.tobytes(), len(self._place))
            if place == len(self._weight):
                self._points = (
                    point[np.newaxis] if self._points is None else np.vstack([self._points, point])
                )
                self._weight, self._total = (
                    np.append(self._weight, 0.0),
                    np.append(self._total, 0.0),
                )
            self._weight[place] += share
            self._total[place] += share * value
            self._square += share * value**2
        self.count += len(y)
        self._confidence = None

    @property
    def confidence(self) -> ConfidenceSet:
        """The set of all functions that fit so far."""
        if self._confidence is None:
            gram = (
                np.empty((0, 0))
                if self._points is None
                else self._kernel(self._points, self._points)
            )
            spectrum = Spectrum.of_gram(gram, self._total / self._weight, self._weight)
            self._confidence = ConfidenceSet(spectrum, self.assumptions)
        return self._confidence

    def points(self, points: FloatArray) -> Points:
        """Return points (a, d) in the eigenbasis of the measurements."""
        variance = np.array([self._kernel(each, each)[0, 0] for each in points[:, np.newaxis]])
        return self.confidence.spectrum.points(self._cross(points), variance)

    def bounds(self, points: FloatArray, kind: Kind = "cmm", **options: Any) -> Interval:
        """Return bounds of points (a, d); ``options`` are those of `bounds`."""
        interval = bounds(self.confidence, self.points(points), kind, count=self.count, **options)
        mean = self._prior_mean(points)
        return Interval(
            interval.low + mean, interval.high + mean, interval.alpha_low, interval.alpha_high
        )

    def info(self) -> dict[str, float]:
        """Return AMM's multiplier, the least fitting norm, numbers of measurements and points."""
        assumed = self.assumptions
        return {
            "multiplier": self.confidence.multiplier(assumed.alpha),
            "b_min": self.confidence.b_min,
            "measurements": self.count,
            "points": len(self._weight),
        }

    def _cross(self, points: FloatArray) -> FloatArray:
        if self._points is None:
            return np.empty((0, len(points)))
        return self._kernel(self._points, points)
