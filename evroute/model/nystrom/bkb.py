"""BKB: the dictionary is drawn afresh after every trip, from all arms measured so far.

Source: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Gaussian Process Optimization with Adaptive Sketching:
Scalable and No Regret*, COLT 2019, Algorithm 1. Theirs measures one arm a step; a trip is a batch of as many as it
has edges, all chosen from one posterior, which no theorem of theirs covers.
"""

import logging

import numpy as np
from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.nystrom import radius
from evroute.model.nystrom.everywhere import Everywhere
from evroute.model.nystrom.gp import NystromGP
from evroute.model.nystrom.posterior import Covariance, SparsePosterior
from evroute.model.nystrom.sampling import Sampling, draw, probabilities

log = logging.getLogger(__name__)


class Redraw:
    """Draws the dictionary of a posterior, by BKB's law.

    keep_first: the first arm measured always stays (Zenati et al., baseline CBKB).
    """

    def __init__(
        self, *, q_bar: float, sampling: Sampling, max_dictionary: int | None, keep_first: bool = False
    ) -> None:
        if not 0 < q_bar < np.inf:
            raise ValueError(
                f"q_bar is {q_bar:g}; it must be positive: how many times its variance an arm's chance to enter the "
                "dictionary is (1 small and rough, 5 accurate)"
            )
        if max_dictionary is not None and max_dictionary < 1:
            raise ValueError(f"max_dictionary is {max_dictionary}; the dictionary must be let have at least 1 point")
        self._q_bar = q_bar
        self._sampling = sampling
        self._most = max_dictionary
        self._keep_first = keep_first
        self.capped = 0
        self.redraws = 0

    def __call__(self, posterior: SparsePosterior, slots: IntArray, variance: FloatArray, rng: Generator) -> None:
        """Draw among slots, from variances before their newest measurements."""
        p = probabilities(variance, posterior.count[slots], self._q_bar, self._sampling)
        if self._keep_first:
            p[0] = 1.0
        drawn = draw(p, rng, self._most)
        if self._most is not None and p.sum() > self._most and len(drawn) == self._most:
            if not self.capped:
                log.warning("the dictionary has reached its cap of %d points; its guarantees end here", self._most)
            self.capped += 1
        self.redraws += 1
        posterior.set_dictionary(slots[drawn])


class EveryTrip:
    """BKB's rule: draw after every trip, with the variances before it."""

    def __init__(self, redraw: Redraw) -> None:
        self._redraw = redraw

    def planned(self, posterior: SparsePosterior, arms: Arms, everywhere: Everywhere) -> bool:
        """Hear nothing: there are no batches."""
        return False

    def learn(self, posterior: SparsePosterior, slots: IntArray, whitened: FloatArray, rng: Generator) -> None:
        """Take in what was measured, and draw among all that ever was; the first trip's arms all enter."""
        first = not len(posterior.observed)
        measured = np.union1d(posterior.observed, slots)
        variance = posterior.slot_variance(measured)
        posterior.absorb(slots, whitened)
        if first:
            variance[:] = np.inf
        self._redraw(posterior, measured, variance, rng)

    def radius(self, posterior: SparsePosterior, form: radius.Form, norm_bound: float, delta: float) -> float:
        """Return the radius of BKB."""
        return radius.bkb(
            form,
            n=float(posterior.count.sum()),
            kappa2=float(posterior.prior.max(initial=0.0)),
            ridge=posterior.ridge,
            sum_variance=posterior.effective_dimension(),
            norm_bound=norm_bound,
            delta=delta,
        )

    def diagnostics(self) -> dict[str, float]:
        """Return how often the dictionary was drawn, and how often its cap cut it."""
        return {"redraws": float(self._redraw.redraws), "capped": float(self._redraw.capped)}

    def state(self) -> State:
        """Return those numbers."""
        return {"draws": np.array([self._redraw.redraws, self._redraw.capped])}

    def restore(self, state: State) -> None:
        """Take them over."""
        self._redraw.redraws, self._redraw.capped = state["draws"].tolist()


def bkb(
    kernel: Covariance,
    arms: Arms,
    noise_std_wh: FloatArray,
    rng: Generator,
    *,
    ridge: float = 1.0,
    q_bar: float = 2.0,
    sampling: Sampling = "union",
    max_dictionary: int | None = None,
) -> NystromGP:
    """BKB: a dictionary drawn afresh after every trip.

    ridge: lambda over the noise variance.  q_bar: oversampling.  max_dictionary: most points, those of greatest
    probability.
    """
    rule = EveryTrip(Redraw(q_bar=q_bar, sampling=sampling, max_dictionary=max_dictionary))
    return NystromGP(kernel, arms, noise_std_wh, rng, rule=rule, ridge=ridge, name="BKB")
