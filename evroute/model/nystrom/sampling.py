"""Drawing a dictionary afresh: every measured arm enters with a probability that its variance gives (BKB)."""

import logging
from typing import Literal

import numpy as np
from numpy.random import Generator

from evroute.arrays import FloatArray, IntArray
from evroute.model.nystrom.posterior import SparsePosterior

log = logging.getLogger(__name__)

Sampling = Literal["union", "per_obs"]
"""``per_obs`` is the law of the published loop over measurements; ``union`` its upper bound, the authors' program."""


def probabilities(
    variance: FloatArray, count: FloatArray, q_bar: float, sampling: Sampling
) -> FloatArray:
    """Return the probability that each distinct arm enters, from scaled variances and counts of measurements."""
    if sampling == "union":
        return np.minimum(1.0, q_bar * count * variance)
    once = np.minimum(1.0, q_bar * variance)
    return 1.0 - (1.0 - once) ** count


def draw(p: FloatArray, rng: Generator, most: int | None = None) -> IntArray:
    """Return the positions drawn, increasing: never none, and at most ``most``, of greatest probability.

    One uniform number is drawn for each arm, in order, so that equal streams give equal
    dictionaries.
    """
    drawn = np.flatnonzero(rng.random(len(p)) < p)
    if not len(drawn) and len(p):
        return np.array([int(np.argmax(p))])
    if most is not None and len(drawn) > most:
        return np.sort(drawn[np.argsort(-p[drawn], kind="stable")[:most]])
    return drawn


def check_cap(max_dictionary: int | None) -> None:
    """Raise ValueError unless a dictionary may have a point."""
    if max_dictionary is not None and max_dictionary < 1:
        raise ValueError(
            f"max_dictionary is {max_dictionary}; the dictionary must be let have at least 1 point"
        )


class Redraw:
    """Draws the dictionary of a posterior, by BKB's law.

    keep_first: the first arm measured always stays (Zenati et al., baseline CBKB).
    """

    def __init__(
        self,
        *,
        q_bar: float,
        sampling: Sampling,
        max_dictionary: int | None,
        keep_first: bool = False,
    ) -> None:
        if not 0 < q_bar < np.inf:
            raise ValueError(
                f"q_bar is {q_bar:g}; it must be positive: how many times its variance an arm's "
                "chance to enter the "
                "dictionary is (1 small and rough, 5 accurate)"
            )
        check_cap(max_dictionary)
        self._q_bar = q_bar
        self._sampling = sampling
        self._most = max_dictionary
        self._keep_first = keep_first
        self.capped = 0
        self.redraws = 0

    def __call__(
        self, posterior: SparsePosterior, slots: IntArray, variance: FloatArray, rng: Generator
    ) -> None:
        """Draw among slots, from variances before their newest measurements."""
        p = probabilities(variance, posterior.count[slots], self._q_bar, self._sampling)
        if self._keep_first:
            p[0] = 1.0
        drawn = draw(p, rng, self._most)
        if self._most is not None and p.sum() > self._most and len(drawn) == self._most:
            if not self.capped:
                log.warning(
                    "the dictionary has reached its cap of %d points; its guarantees end here",
                    self._most,
                )
            self.capped += 1
        self.redraws += 1
        posterior.set_dictionary(slots[drawn])

    def diagnostics(self) -> dict[str, float]:
        """Return how often a dictionary was drawn, and how often its cap cut it."""
        return {"redraws": float(self.redraws), "capped": float(self.capped)}

    def state(self) -> IntArray:
        """Return the same, (2,)."""
        return np.array([self.redraws, self.capped])

    def restore(self, state: IntArray) -> None:
        """Take it over."""
        self.redraws, self.capped = state.tolist()
