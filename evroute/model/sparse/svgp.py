"""SVGP: the sparse variational process at its optimum, in closed form.

For given inducing points the variational distribution q(u) that maximises the evidence lower bound
is the posterior of the projected process (Titsias, *Variational Learning of Inducing Variables in
Sparse Gaussian Processes*, AISTATS 2009, eq. 10). One natural-gradient step of size 1 reaches it
from everywhere (Hensman, Fusi & Lawrence, *Gaussian Processes for Big Data*, UAI 2013, section 3).
So nothing is optimised here. Model ``svgp-gpytorch`` takes the steps of Algorithm 3 as printed.

Every measured arm is an inducing point until there are ``inducing_points`` of them. The posterior
is exact up to there. Then ``choice`` names the rule that chooses
the points:

``pivoted``
    Each point is the one whose measurements the points before it explain least: the pivots of a
    Cholesky factorisation of ``K`` weighted by the numbers of measurements (Foster et al., *Stable
    and Efficient Gaussian Process Calculations*, JMLR 2009; Burt, Rasmussen & van der Wilk,
    *Convergence of Sparse Variational Inference in Gaussian Processes Regression*, JMLR 2020,
    section 4.2). They are chosen again whenever the measured arms have become more by a share, so
    that all choices together cost a few times the last one.
``most-used``
    The most measured arms, chosen again after every trip (Sandberg et al., Algorithm 3, line 2).
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.growing_factor import pivoted
from evroute.model.sparse.ek import Growing
from evroute.model.sparse.gp import SparseOptions
from evroute.model.sparse.posterior import SparsePosterior

POINTS = 400
"""Default number of inducing points."""
GROWTH = 1.1
"""Factor of the number of measured arms from one choice of pivots to the next."""

Choice = Literal["pivoted", "most-used"]


class Chosen(Growing):
    """Take every measured arm as an inducing point until there are enough, then choose.

    Parameters
    ----------
    most
        Largest number of points.
    choice
        Rule that chooses them.
    """

    def __init__(self, most: int, choice: Choice = "pivoted") -> None:
        super().__init__(None, max_dictionary=most)
        self._points = self._next = most
        self._choice = choice

    def learn(
        self,
        posterior: SparsePosterior,
        slots: IntArray,
        whitened: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        """Learn measurements, and choose the points anew where the rule asks for it.

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
        if self._choice == "most-used" and self._refused:
            points = most_used(posterior, measured, self._points)
            if not np.array_equal(np.sort(points), posterior.dictionary):
                posterior.set_dictionary(points)
        elif len(measured) > self._next:
            posterior.set_dictionary(pivots(posterior, measured, self._points))
            self._next = int(GROWTH * len(measured))

    def state(self) -> State:
        """Return the arms left out and the number of measured arms at which points are chosen."""
        return super().state() | {"next": np.array(self._next)}

    def restore(self, state: State) -> None:
        """Restore a state."""
        super().restore(state)
        self._next = int(state["next"])


def most_used(posterior: SparsePosterior, slots: IntArray, most: int) -> IntArray:
    """Return the most measured of some slots, (m,). At equal numbers the first ones come first.

    Parameters
    ----------
    posterior
        The posterior with the arms.
    slots
        (k,) measured arms.
    most
        Largest number to return.
    """
    return slots[np.argsort(-posterior.count[slots], kind="stable")[:most]]


def pivots(posterior: SparsePosterior, slots: IntArray, most: int) -> IntArray:
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
    root, count = np.sqrt(posterior.count[slots]), posterior.count[slots]

    def column(pivot: int) -> FloatArray:
        between = posterior.prior_between(slots[[pivot]], slots)[0]
        return root[pivot] * root * between

    chosen, _ = pivoted(count * posterior.prior[slots], column, most)
    return slots[chosen]


class SVGPOptions(SparseOptions):
    """Sparse variational Gaussian process at its optimum: exact while every arm is a point."""

    label = "SVGP"
    engine = "SVGP"
    short: ClassVar[Mapping[str, str]] = {"inducing_points": "m", "choice": ""}
    taken_by: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("slots", "batch_size", "steps", "natural_rate", "adam_rate", "device"),
        "Model 'svgp-gpytorch' (method 'algorithm-3')",
    )

    inducing_points: Annotated[int, Field(ge=1)] = Field(
        default=POINTS, description="largest number of inducing points"
    )
    choice: Choice = Field(
        default="pivoted",
        description="choice of the points once there are more arms: pivoted (the arms that others "
        "explain least), most-used",
    )

    def rule(self) -> Chosen:
        """Return the rule of the inducing points."""
        return Chosen(self.inducing_points, self.choice)
