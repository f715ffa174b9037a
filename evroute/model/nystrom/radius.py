"""Radii of confidence bounds: how many scaled deviations the engines' theorems put around a mean.

All numbers are whitened, so the noise deviation of the papers (xi, R) is 1. F is the norm bound of
the residuals. ``theory`` is what a paper states, ``safe`` the same where the paper needs more than
it says, ``lean`` what its authors' program computes.
"""

import math
from typing import Literal

Form = Literal["theory", "safe", "lean"]

ALPHA = 3.0
"""``(1 + eps) / (1 - eps)`` of BKB at its accuracy eps = 1/2."""
INFLATED_NORM = 1.0 + math.sqrt(2.0)
"""``1 + 1 / sqrt(1 - eps)`` at eps = 1/2."""


def bkb(
    form: Form,
    *,
    n: float,
    kappa2: float,
    ridge: float,
    sum_variance: float,
    norm_bound: float,
    delta: float,
) -> float:
    """Return the radius of BKB (Calandriello et al. 2019, Theorem 2) after n measurements.

    sum_variance: of the scaled variances of all measurements.  kappa2: largest prior variance.  The
    logarithm of ``theory`` is taken as 0 where it is negative.
    """
    confidence, norm = math.log(1.0 / delta), math.sqrt(ridge) * norm_bound
    if form == "lean":
        return math.sqrt(math.log(max(n, 1.0)) * sum_variance + confidence) + norm
    if form == "safe":
        information = ALPHA * (1.0 + math.log(kappa2 * n / ridge + 1.0)) * sum_variance
        return math.sqrt(2.0 * (information + confidence)) + INFLATED_NORM * norm
    grown = max(0.0, math.log(kappa2 * n)) if n > 0 else 0.0
    return 2.0 * math.sqrt(ALPHA * grown * sum_variance + confidence) + INFLATED_NORM * norm


def bbkb(
    form: Form,
    *,
    log_sum: float,
    log_sum_3: float,
    threshold: float,
    ridge: float,
    norm_bound: float,
    delta: float,
) -> float:
    """Return the radius of BBKB (Calandriello et al. 2020, Theorem 2) within a batch.

    log_sum: of ``log(1 + s)`` over all measurements, s the scaled variance at the start of the
    batch in which each was chosen; log_sum_3: of ``log(1 + 3 s)``.  ``safe`` is ``theory`` with the
    root of the threshold, which is what a bound on the ratio of variances asks for.
    """
    confidence, norm = math.log(1.0 / delta), math.sqrt(ridge) * norm_bound
    if form == "lean":
        return math.sqrt(threshold * log_sum + confidence) + norm
    stale = threshold if form == "theory" else math.sqrt(threshold)
    return stale * (2.0 * math.sqrt(log_sum_3 + confidence) + INFLATED_NORM * norm)


def ek(
    form: Form, *, log_det: float, trace: float, ridge: float, norm_bound: float, delta: float
) -> float:
    """Return the radius of EK-UCB (Zenati et al. 2022, Lemma 4.1; Lemma 3.1 of K-UCB for ``lean``).

    log_det: of the projected kernel matrix.  trace: what the projection leaves, an upper bound of
    the projection error ``mu_t`` and, over lambda, of what the projected log det lacks. ``safe`` is
    ``theory``, which needs no more.
    """
    confidence, norm = math.log(1.0 / delta), math.sqrt(ridge) * norm_bound
    if form == "lean":
        return norm + math.sqrt(2.0 * confidence + log_det)
    return (
        norm
        + math.sqrt(trace) * norm_bound
        + math.sqrt(4.0 * confidence + 2.0 * (log_det + trace / ridge))
    )
