"""A dictionary of a fixed size for contexts that never repeat: exact until it is full.

Every measured arm enters until the dictionary is full, so that the posterior is exact up to there.
Then the points are chosen anew among all measured arms, each as the one whose measurements the
points before it explain least: the pivots of a Cholesky factorisation of ``K`` weighted by the
numbers of measurements (Foster et al., *Stable and Efficient Gaussian Process Calculations*, JMLR
2009; Burt, Rasmussen & van der Wilk, *Convergence of Sparse Variational Inference in Gaussian
Processes Regression*, JMLR 2020, section 4.2). They are chosen again whenever the measured arms
have become more by a share, so that all choices together cost a few times the last one.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.nystrom.ek import Growing
from evroute.model.nystrom.gp import NystromOptions
from evroute.model.nystrom.posterior import SparsePosterior

POINTS = 400
"""Default size of the dictionary."""
GROWTH = 1.1
"""Factor of the number of measured arms from one choice to the next."""


class Chosen(Growing):
    """Take every measured arm into the dictionary until it is full, then the best explaining ones.

    Parameters
    ----------
    most
        Largest number of points.
    """

    def __init__(self, most: int) -> None:
        super().__init__(None, max_dictionary=most)
        self._points = self._next = most

    def learn(
        self,
        posterior: SparsePosterior,
        slots: IntArray,
        whitened: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        """Learn measurements, and choose the points anew if there are enough new arms.

        Parameters
        ----------
        posterior
            The posterior to update.
        slots
            (k,) slots of the measured arms.
        whitened
            (k,) residuals over noise deviations.
        rng
            Not used.
        """
        measured = np.union1d(posterior.observed, slots)
        if len(measured) <= self._points:
            for slot in np.setdiff1d(slots, posterior.dictionary).tolist():
                posterior.span(slot)
        posterior.absorb(slots, whitened)
        self._refused = max(0, len(measured) - self._points)
        if len(measured) > self._next:
            posterior.set_dictionary(chosen(posterior, measured, self._points))
            self._next = int(GROWTH * len(measured))

    def state(self) -> State:
        """Return the arms left out and the number of measured arms at which points are chosen."""
        return super().state() | {"next": np.array(self._next)}

    def restore(self, state: State) -> None:
        """Restore a state."""
        super().restore(state)
        self._next = int(state["next"])


def chosen(posterior: SparsePosterior, slots: IntArray, most: int) -> IntArray:
    """Return the slots whose measurements are explained least by those before them, (m,).

    Parameters
    ----------
    posterior
        The posterior with the arms.
    slots
        (k,) measured arms.
    most
        Largest number to return.
    """
    root = np.sqrt(posterior.count[slots])
    rest = posterior.count[slots] * posterior.prior[slots]
    rows = np.empty((min(most, len(slots)), len(slots)))
    pivots: list[int] = []
    for row in rows:
        pivot = int(np.argmax(rest))
        if rest[pivot] <= 0.0:
            break
        before = rows[: len(pivots)]
        row[:] = root[pivot] * root * posterior.prior_between(slots[[pivot]], slots)[0]
        row -= before[:, pivot] @ before
        row /= np.sqrt(rest[pivot])
        rest = np.maximum(rest - row**2, 0.0)
        rest[pivot] = 0.0
        pivots.append(pivot)
    return slots[pivots]


class BoundedOptions(NystromOptions):
    """Gaussian process with a dictionary of fixed size: exact until it is full."""

    label = "Bounded GP"
    engine = "bounded"

    points: Annotated[int, Field(ge=1)] = Field(
        default=POINTS, description="largest number of points in the dictionary"
    )

    def rule(self) -> Chosen:
        """Return the rule of the dictionary."""
        return Chosen(self.points)
