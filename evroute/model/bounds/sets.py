"""The confidence set of a run, and the bounds AMM, DMM and CMM that follow from it.

Source: Flynn & Reeb, *Tighter Confidence Bounds for Sequential Kernel Regression* (arXiv
2403.12732). The set ``F = {f : ||f - y|| <= R, ||f|| <= B}`` (norms of the measured values and of
the Hilbert space) contains the truth at all times with probability ``1 - delta``. It lies in the
ellipsoid around ``mu_alpha`` of every ridge strength alpha (their Corollary 4.3, Lemma C.1):

    Rt²(alpha) = R² + alpha B² - alpha y'(K + alpha I)^-1 y

so ``mu ± sqrt(Rt² / alpha) rho`` bounds each arm. AMM takes one alpha, DMM the best of a grid, CMM
the best of all alphas: the extreme value of an arm over F (Theorem 4.5). Our additions: this
function of alpha is quasi-convex, so golden section finds its minimum, for all arms together in the
eigenbasis. And the least norm for which F is not empty.

R comes from a martingale mixture (Theorem 4.1). Measurements are ``y_s = f(x_s) + e_s`` with
``e_s`` sub-Gaussian with parameter sigma given the past, guesses are ``g ~ P = sum_j pi_j N(0, c_j
K)``. With ``q_j = y'(I + c_j K / sigma²)^-1 y + sigma² ln det(I + c_j K / sigma²)``

    ln E = ||f - y||² / (2 sigma²) + ln sum_j pi_j exp(-q_j / (2 sigma²))

is the logarithm of a non-negative supermartingale that starts at 1: with probability ``1 - delta``
it never exceeds ``ln(1 / delta)`` (Ville), for any choice of the ``x_s``. The scales c must be
fixed before the run. The weights pi are equal here. The mixture over several c is our extension. It
costs at most ``2 sigma² ln(1 / pi_j)`` over the best of them.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from evroute.arrays import FloatArray, IntArray, freeze
from evroute.errors import EvrouteError, require
from evroute.model.bounds.spectrum import Points, Spectrum

DEFAULT_SCALES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
PAPER_GRID = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Grid of DMM, times ``sigma² / c``."""
GRID_SIZE = 56
SPAN = (1e-6, 1e8)
"""Range of CMM's grid, times ``sigma² / c``: beyond it the norm alone or the fit alone bounds."""
GOLDEN_STEPS = 12
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_BLOCK = 256  # arms refined at once, to stay in the cache


class EmptySetError(EvrouteError):
    """No function of norm B fits the measurements: B or sigma is too small.

    This holds with confidence ``1 - delta``.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Assumptions:
    """Assumptions of a bound, fixed before the run.

    Parameters
    ----------
    norm
        B, of the truth minus the prior mean in the kernel's Hilbert space, positive.
    sigma
        Of the sub-Gaussian noise, positive.
    delta
        Probability that any bound ever fails, in (0, 1).
    scales
        (j,) c, covariance scales of the equally likely guesses, in units of the kernel, positive.
        They affect the width alone.

    Raises
    ------
    ValueError
        If one is out of its range.
    """

    norm: float
    sigma: float
    delta: float
    scales: FloatArray

    def __post_init__(self) -> None:
        freeze(self, scales=(self.scales, np.float64, (len(self.scales),)))
        for name, value, most in (
            ("B", self.norm, math.inf),
            ("sigma", self.sigma, math.inf),
            ("delta", self.delta, 1.0),
        ):
            if not 0 < value <= most or value == math.inf:
                limit = "" if most == math.inf else f" and at most {most:g}"
                raise ValueError(f"{name} is {value:g}. It must be positive, finite{limit}")
        require(
            len(self.scales) and np.all((self.scales > 0) & (self.scales < np.inf)),
            f"c is {self.scales.tolist()}. Scales of guesses must be positive",
            ValueError,
        )

    @property
    def alpha(self) -> float:
        """``sigma² / c`` of AMM. c is the geometric mean of the mixture's scales."""
        return self.sigma**2 / math.exp(float(np.log(self.scales).mean()))

    @property
    def grid(self) -> FloatArray:
        """DMM's values of alpha: the paper's five, or a grid over the scales of a mixture."""
        low, high = float(self.scales.min()), float(self.scales.max())
        if low == high:
            return self.sigma**2 / low * np.array(PAPER_GRID)
        ends = self.sigma**2 * PAPER_GRID[0] / high, self.sigma**2 * PAPER_GRID[-1] / low
        return np.geomspace(*ends, math.ceil(math.log10(ends[1] / ends[0]) * 2) + 1)


def explained(
    eigenvalues: FloatArray, squares: FloatArray, scales: FloatArray, sigma: float
) -> FloatArray:
    """Return ``||y||² - R²``: ``||f - y||² <= R²`` at all times with probability ``1 - delta``.

    This is R² for ``delta = 1``. Any other adds ``2 sigma² ln(1 / delta)``. The part of y outside
    the span of K cancels. Neither it nor repetitions of an arm are needed.

    Parameters
    ----------
    eigenvalues, squares
        (r, ...) eigenvalues of K, and squared components of y along the eigenvectors.
    scales
        (j,) c of the guesses.
    sigma
        Sub-Gaussian parameter of the noise, in the unit of y.
    """
    scaled = scales / sigma**2 * eigenvalues[..., np.newaxis]
    fitted = squares[..., np.newaxis] * scaled / (1.0 + scaled)
    total = logsumexp((fitted - sigma**2 * np.log1p(scaled)).sum(axis=0) / (2 * sigma**2), axis=-1)
    return 2 * sigma**2 * (total - np.log(len(scales)))


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Bounds of each point, (a,)."""

    low: FloatArray
    high: FloatArray


class ConfidenceSet:
    """All functions that satisfy the assumptions and fit the measurements.

    Parameters
    ----------
    spectrum
        The measurements.
    assumptions
        Norm, noise, delta and scales.
    """

    def __init__(self, spectrum: Spectrum, assumptions: Assumptions) -> None:
        self.spectrum = spectrum
        self.assumptions = assumptions

    @cached_property
    def excess(self) -> float:
        """``||y||² - R²``: positive if the function 0 does not fit."""
        a, spectrum = self.assumptions, self.spectrum
        gain = explained(spectrum.eigenvalues, spectrum.projections**2, a.scales, a.sigma)
        return float(gain) + 2 * a.sigma**2 * math.log(a.delta)

    def rtilde2(self, alpha: FloatArray) -> FloatArray:
        """Return the squared radius ``Rt²`` (RT) of the ellipsoid of each alpha, (g,).

        Negative if F is empty.
        """
        return alpha * self.assumptions.norm**2 + self.spectrum.fitted(alpha) - self.excess

    @cached_property
    def b_min(self) -> float:
        """Least norm of a function that fits the measurements, finite."""
        if self.excess <= 0:
            return 0.0
        from scipy.optimize import brentq

        d, square = self.spectrum.eigenvalues, self.spectrum.projections**2

        def misfit(log_alpha: float) -> float:
            alpha = math.exp(log_alpha)
            return float(square @ (d * (d + 2 * alpha) / (d + alpha) ** 2)) - self.excess

        top = math.log(float(d.max()))
        low, high = top - 1.0, top + 1.0
        while misfit(low) <= 0:
            low -= 5.0
        while misfit(high) >= 0:
            high += 5.0
        alpha = math.exp(brentq(misfit, low, high, xtol=1e-13))
        return math.sqrt(float(square @ (d / (d + alpha) ** 2)))

    @property
    def feasible(self) -> bool:
        """Whether the set is not empty."""
        return self.b_min <= self.assumptions.norm

    def analytic(self, points: Points) -> Interval:
        """Return AMM: ``sigma² / c`` is the alpha of all points.

        Raises
        ------
        EmptySetError
            If the set is empty.
        """
        return self.best_of(points, np.array([self.assumptions.alpha]))

    def best_of(self, points: Points, grid: FloatArray | None = None) -> Interval:
        """Return DMM: each bound at the best alpha of a grid (g,), by default `Assumptions.grid`.

        Raises
        ------
        EmptySetError
            If the set is empty.
        """
        mean, half = self._grid(points, self.assumptions.grid if grid is None else grid)
        return Interval((mean - half).max(axis=1), (mean + half).min(axis=1))

    def exact(self, points: Points) -> Interval:
        """Return CMM: the least and the largest value of each point over F.

        Every alpha gives a valid bound, so few golden section steps only loosen it slightly.

        Raises
        ------
        EmptySetError
            If the set is empty.
        """
        scales, sigma2 = self.assumptions.scales, self.assumptions.sigma**2
        grid = np.geomspace(
            sigma2 / float(scales.max()) * SPAN[0],
            sigma2 / float(scales.min()) * SPAN[1],
            GRID_SIZE,
        )
        mean, half = self._grid(points, grid)
        high, low = (
            self._refined(points, grid, (sign * mean + half).argmin(axis=1), sign)
            for sign in (1.0, -1.0)
        )
        ceiling = self.assumptions.norm * np.sqrt(points.prior_variance)
        return Interval(low=np.maximum(-low, -ceiling), high=np.minimum(high, ceiling))

    def _grid(self, points: Points, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self.feasible:
            raise EmptySetError(
                f"no function of norm B = {self.assumptions.norm:g} fits the measurements. The "
                f"smallest B that fits is {self.b_min:.4g}: raise B or sigma"
            )
        mean, variance = self.spectrum.ridge(points, grid)
        # negative values are rounding here
        return mean, np.sqrt(np.maximum(self.rtilde2(grid), 0.0) / grid * variance)

    def _refined(self, points: Points, grid: FloatArray, at: IntArray, sign: float) -> FloatArray:
        """Return the least ``sign mu + sqrt(Rt² / alpha) rho`` near grid place ``at``, (a,)."""
        last, value = len(grid) - 1, np.empty(len(points))
        for start in range(0, len(points), _BLOCK):
            rows = slice(start, start + _BLOCK)
            some = Points(points.coordinates[rows], points.prior_variance[rows])
            low, high = (
                np.log(grid[np.maximum(at[rows] - 1, 0)]),
                np.log(grid[np.minimum(at[rows] + 1, last)]),
            )
            value[rows] = self._golden(some, low, high, sign)
        return value

    def _golden(self, points: Points, low: FloatArray, high: FloatArray, sign: float) -> FloatArray:
        def value_at(log_alpha: FloatArray) -> FloatArray:
            alpha = np.exp(log_alpha)
            mean, variance = self.spectrum.ridge_each(points, alpha)
            return sign * mean + np.sqrt(np.maximum(self.rtilde2(alpha), 0.0) / alpha * variance)

        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = value_at(left), value_at(right)
        for _ in range(GOLDEN_STEPS):
            to_left = at_left < at_right
            high, low = np.where(to_left, right, high), np.where(to_left, low, left)
            fresh = np.where(to_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
            at_fresh = value_at(fresh)
            left, right = np.where(to_left, fresh, right), np.where(to_left, left, fresh)
            at_left, at_right = (
                np.where(to_left, at_fresh, at_right),
                np.where(to_left, at_left, at_fresh),
            )
        return np.minimum(at_left, at_right)
