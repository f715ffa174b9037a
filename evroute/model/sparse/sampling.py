"""Drawing a dictionary: each measured arm enters with a probability given by its variance (BKB)."""

import logging
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray, IntArray
from evroute.model.sparse.gp import SparseOptions
from evroute.model.sparse.posterior import SparsePosterior

log = logging.getLogger(__name__)

Sampling = Literal["union", "per_obs"]
"""``per_obs`` is the law of the published loop over measurements. ``union`` its upper bound, the
authors' program.
"""


def probabilities(
    variance: FloatArray, count: FloatArray, q_bar: float, sampling: Sampling
) -> FloatArray:
    """Return the inclusion probability of each distinct arm.

    Parameters
    ----------
    variance
        (k,) scaled variances.
    count
        (k,) numbers of measurements.
    q_bar
        Oversampling.
    sampling
        Law of the probabilities.

    Returns
    -------
    FloatArray
        (k,) in [0, 1].
    """
    if sampling == "union":
        return np.minimum(1.0, q_bar * count * variance)
    return 1.0 - (1.0 - np.minimum(1.0, q_bar * variance)) ** count


def draw(p: FloatArray, rng: np.random.Generator, most: int | None = None) -> IntArray:
    """Return the drawn positions in increasing order: at least one, at most ``most``.

    One uniform number is drawn for each arm, in order, so that equal streams give equal
    dictionaries.

    Parameters
    ----------
    p
        (k,) inclusion probabilities.
    rng
        Source of randomness.
    most
        Cap. The positions of greatest probability are kept.

    Returns
    -------
    IntArray
        Positions.
    """
    drawn = np.flatnonzero(rng.random(len(p)) < p)
    if not len(drawn) and len(p):
        return np.array([int(np.argmax(p))])
    if most is not None and len(drawn) > most:
        return np.sort(drawn[np.argsort(-p[drawn], kind="stable")[:most]])
    return drawn


class DictionaryOptions(SparseOptions):
    """Options of models whose dictionary has a cap."""

    max_dictionary: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="largest number of points in the dictionary"
    )


class RedrawOptions(DictionaryOptions):
    """Options of `Redraw`."""

    q_bar: float = Field(
        default=2.0,
        gt=0,
        description="oversampling: factor from an arm's variance to its probability of entering "
        "the dictionary. 1 is small and rough, 5 accurate",
    )
    sampling: Sampling = Field(
        default="union",
        description="probability of an arm over its measurements: union (their sum), per_obs (as "
        "published)",
    )

    def redraw(self) -> "Redraw":
        """Return a new `Redraw`."""
        return Redraw(q_bar=self.q_bar, sampling=self.sampling, max_dictionary=self.max_dictionary)


@dataclass(slots=True, kw_only=True)
class Redraw:
    """Draws the dictionary of a posterior by BKB's law.

    Parameters
    ----------
    q_bar
        Oversampling, positive.
    sampling
        Law of the probabilities.
    max_dictionary
        Largest number of points, or None.
    keep_first
        Keep the first measured arm (Zenati et al., baseline CBKB).
    """

    q_bar: float
    sampling: Sampling
    max_dictionary: int | None
    keep_first: bool = False
    capped: int = field(default=0, init=False)
    redraws: int = field(default=0, init=False)

    def __call__(
        self,
        posterior: SparsePosterior,
        slots: IntArray,
        variance: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        """Redraw the dictionary.

        Parameters
        ----------
        posterior
            The posterior to change.
        slots
            (k,) candidates.
        variance
            (k,) their scaled variances before the newest measurements.
        rng
            Source of randomness.
        """
        p = probabilities(variance, posterior.count[slots], self.q_bar, self.sampling)
        if self.keep_first:
            p[0] = 1.0
        drawn = draw(p, rng, self.max_dictionary)
        if (
            self.max_dictionary is not None
            and p.sum() > self.max_dictionary
            and len(drawn) == self.max_dictionary
        ):
            if not self.capped:
                log.warning(
                    "the dictionary has reached its cap of %d points. Its guarantees end here",
                    self.max_dictionary,
                )
            self.capped += 1
        self.redraws += 1
        posterior.set_dictionary(slots[drawn])

    def diagnostics(self) -> dict[str, float]:
        """Return the number of draws, and of draws that the cap cut."""
        return {"redraws": float(self.redraws), "capped": float(self.capped)}

    def state(self) -> IntArray:
        """Return both numbers, (2,)."""
        return np.array([self.redraws, self.capped])

    def restore(self, state: IntArray) -> None:
        """Restore both numbers."""
        self.redraws, self.capped = state.tolist()
