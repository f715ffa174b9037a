"""Guaranteed intervals of a route's expected energy.

Source: Flynn & Reeb, *Tighter Confidence Bounds for Sequential Kernel Regression* (arXiv
2403.12732). The sum over a route is one more value of the unknown function, bounded over the
confidence set as a whole (our extension). With probability ``1 - delta`` the intervals of all
routes hold at all times of the run under two assumptions: the expected energies differ from eq. 8
by a function of norm at most B, and the noise of every measurement is, given the past, sub-Gaussian
with sigma times the model's noise deviation. A noise that all edges of a trip share, such as a
wrong mass or wind, violates the second. The measured energy of one trip differs from the expected
energy by its noise.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Arms
from evroute.arrays import IntArray
from evroute.errors import EvrouteError
from evroute.model.base import EnergyModel, HasSpectrum
from evroute.model.bounds.sets import ConfidenceSet
from evroute.model.bounds.state import (
    AUTO_NORM,
    DEFAULT_DELTA,
    DEFAULT_NORM,
    KINDS,
    NORM_FACTOR,
    Kind,
    Norm,
    assume,
    bounds,
)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Kind of bound and its assumptions.

    B: at least the norm of the difference from eq. 8, in prior deviations; ``auto`` is the larger
    of 3 and 1.5 times the least that fits, which guarantees nothing.  sigma: factor on the noise
    deviations.  delta: chance of failure.

    Raises
    ------
    ValueError
        If one is out of its range.
    """

    kind: Kind = "cmm"
    B: Norm = DEFAULT_NORM
    sigma: float = 1.0
    delta: float = DEFAULT_DELTA

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown interval '{self.kind}'; there are {', '.join(KINDS)}")
        assume(AUTO_NORM if self.B == "auto" else self.B, self.sigma, self.delta, "mixture")


@dataclass(frozen=True, slots=True)
class RouteGuarantee:
    """Bounds of the expected energy of a route.

    low_wh, high_wh: bounds of the sum, Wh.  sum_low_wh, sum_high_wh: sums of the bounds of the
    edges, Wh; wider, but additive.
    wanted: kind and assumptions.  norm: the B used.  b_min: the least norm that fits the
    measurements.
    """

    low_wh: float
    high_wh: float
    sum_low_wh: float
    sum_high_wh: float
    wanted: Guarantee
    norm: float
    b_min: float

    @property
    def assumes(self) -> str:
        """Assumptions of the interval, in one line."""
        wanted = self.wanted
        chosen = " (chosen after the data: no guarantee)" if wanted.B == "auto" else ""
        return (
            f"{wanted.kind.upper()}, valid for all routes at all times with probability "
            f"{1 - wanted.delta:g} if the norm of the difference from eq. 8 is at most "
            f"B = {self.norm:.3g}{chosen} (at least {self.b_min:.3g} by the measurements), and "
            "edges' "
            f"noise is sub-Gaussian with {wanted.sigma:g} of its deviation, none of it shared by a "
            "trip"
        )


def guarantee_arms(
    model: EnergyModel, arms: Arms, arms_of_route: IntArray, wanted: Guarantee
) -> RouteGuarantee:
    """Return bounds of the expected energy of a route, Wh.

    Parameters
    ----------
    model
        A regression with a kernel.
    arms
        Arms that include those of the route.
    arms_of_route
        (k,) positions among ``arms``, in driving order.
    wanted
        Kind and assumptions.

    Raises
    ------
    EvrouteError
        If the model is no plain regression with a kernel.
    EmptySetError
        If no function of norm B fits the measurements; its message contains the least norm that
        does.
    """
    if not isinstance(model, HasSpectrum):
        raise EvrouteError(
            f"a belief of {type(model).__name__} has no intervals with a guarantee; "
            "learn with model 'exact' or 'fixed-features', unfitted"
        )
    spectrum = model.spectrum()
    norm = AUTO_NORM if wanted.B == "auto" else wanted.B
    confidence = ConfidenceSet(spectrum, assume(norm, wanted.sigma, wanted.delta, "mixture"))
    if wanted.B == "auto" and (norm := max(AUTO_NORM, NORM_FACTOR * confidence.b_min)) > AUTO_NORM:
        confidence = ConfidenceSet(spectrum, assume(norm, wanted.sigma, wanted.delta, "mixture"))
    distinct, counts = np.unique(arms_of_route, return_counts=True)
    driven, n_measured = arms.take(distinct), model.n_measured()
    points = model.points(spectrum, driven)
    each = bounds(confidence, points, wanted.kind, count=n_measured)
    total = points.summed(counts.astype(np.float64), model.prior_covariance(driven))
    joint = bounds(confidence, total, wanted.kind, count=n_measured)
    prior_wh = float(counts @ driven.prior_mean_wh)
    return RouteGuarantee(
        low_wh=prior_wh + float(joint.low[0]),
        high_wh=prior_wh + float(joint.high[0]),
        sum_low_wh=prior_wh + float(counts @ each.low),
        sum_high_wh=prior_wh + float(counts @ each.high),
        wanted=wanted,
        norm=norm,
        b_min=confidence.b_min,
    )
