"""Drawing a dictionary afresh: every measured arm enters with a probability that its variance gives (BKB)."""

from typing import Literal

import numpy as np
from numpy.random import Generator

from evroute.arrays import FloatArray, IntArray

Sampling = Literal["union", "per_obs"]
"""``per_obs`` is the law of the published loop over measurements; ``union`` its upper bound, the authors' program."""


def probabilities(variance: FloatArray, count: FloatArray, q_bar: float, sampling: Sampling) -> FloatArray:
    """Return the probability that each distinct arm enters, from scaled variances and counts of measurements."""
    if sampling == "union":
        return np.minimum(1.0, q_bar * count * variance)
    once = np.minimum(1.0, q_bar * variance)
    return 1.0 - (1.0 - once) ** count


def draw(p: FloatArray, rng: Generator, most: int | None = None) -> IntArray:
    """Return the positions drawn, increasing: never none, and at most ``most``, of greatest probability.

    One uniform number is drawn for each arm, in order, so that equal streams give equal dictionaries.
    """
    drawn = np.flatnonzero(rng.random(len(p)) < p)
    if not len(drawn) and len(p):
        return np.array([int(np.argmax(p))])
    if most is not None and len(drawn) > most:
        return np.sort(drawn[np.argsort(-p[drawn], kind="stable")[:most]])
    return drawn
