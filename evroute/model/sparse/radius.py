"""Radii of confidence bounds: scaled deviations around the mean by the engines' theorems.

All numbers are whitened, so the noise deviation of the papers (xi, R) is 1. F is the norm bound of
the residuals. ``theory`` is the paper's statement, ``safe`` the same with the constants that its
proof needs, ``lean`` the formula of the authors' program.
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
    """Return the radius of BKB (Calandriello et al. 2019, Theorem 2).

    Parameters
    ----------
    form
        ``theory``, ``safe`` or ``lean``. The logarithm of ``theory`` is held at >= 0.
    n
        Number of measurements.
    kappa2
        Largest prior variance.
    ridge
        lambda over the noise variance.
    sum_variance
        Sum of the scaled variances of all measurements.
    norm_bound
        F.
    delta
        Failure probability.
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
    """Return the radius of BBKB within a batch (Calandriello et al. 2020, Theorem 2).

    Parameters
    ----------
    form
        ``theory``, ``safe`` or ``lean``. ``safe`` is ``theory`` with the root of the threshold, as
        the bound on the ratio of variances requires.
    log_sum, log_sum_3
        Sums of ``log(1 + s)`` and ``log(1 + 3 s)`` over all measurements, s the scaled variance at
        the start of the batch in which the arm was chosen.
    threshold
        C.
    ridge
        lambda over the noise variance.
    norm_bound
        F.
    delta
        Failure probability.
    """
    confidence, norm = math.log(1.0 / delta), math.sqrt(ridge) * norm_bound
    if form == "lean":
        return math.sqrt(threshold * log_sum + confidence) + norm
    stale = threshold if form == "theory" else math.sqrt(threshold)
    return stale * (2.0 * math.sqrt(log_sum_3 + confidence) + INFLATED_NORM * norm)


def ek(
    form: Form,
    *,
    log_det: float,
    projection_error: float,
    ridge: float,
    norm_bound: float,
    delta: float,
) -> float:
    """Return the radius of EK-UCB (Zenati et al. 2022, Lemma 4.1; Lemma 3.1 of K-UCB for ``lean``).

    Parameters
    ----------
    form
        ``theory``, ``safe`` (equal to ``theory``) or ``lean``.
    log_det
        Log determinant of ``I + K / lambda``, or an upper bound. For ``lean`` the same of the
        projected matrix.
    projection_error
        ``mu_t``, or an upper bound: the trace of the unexplained kernel matrix.
    ridge
        lambda over the noise variance.
    norm_bound
        F.
    delta
        Failure probability.
    """
    confidence, norm = math.log(1.0 / delta), math.sqrt(ridge) * norm_bound
    if form == "lean":
        return norm + math.sqrt(2.0 * confidence + log_det)
    return (
        norm
        + (math.sqrt(projection_error) * norm_bound)
        + math.sqrt(4.0 * confidence + 2.0 * log_det)
    )
