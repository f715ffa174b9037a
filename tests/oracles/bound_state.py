"""BoundState: confidence bounds from a stream of measurements of points in R^d.

Repeated points enter once, by count and mean; known noise deviations are whitened. Both are exact.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from evroute.arrays import FloatArray
from evroute.model.bounds.sets import ConfidenceSet, Interval
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.policy.bounds import DEFAULT_DELTA, DEFAULT_NORM, Kind, Scale, assume, bounds


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
        """Return bounds of the expected value at points, (a,) each.

        Parameters
        ----------
        points
            (a, d) contexts.
        kind
            Kind of bound.
        **options
            Options of the function `bounds` for that kind.
        """
        interval = bounds(self.confidence, self.points(points), kind, count=self.count, **options)
        mean = self._prior_mean(points)
        return Interval(interval.low + mean, interval.high + mean)

    def info(self) -> dict[str, float]:
        """Return AMM's multiplier, the least fitting norm, numbers of measurements and points."""
        alpha = self.assumptions.alpha
        radius2 = max(float(self.confidence.rtilde2(np.array([alpha]))[0]), 0.0)
        return {
            "multiplier": float(np.sqrt(radius2 / alpha)),
            "b_min": self.confidence.b_min,
            "measurements": self.count,
            "points": len(self._weight),
        }

    def _cross(self, points: FloatArray) -> FloatArray:
        if self._points is None:
            return np.empty((0, len(points)))
        return self._kernel(self._points, points)
