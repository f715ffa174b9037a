"""BKB, CBKB and CBBKB: the dictionary is redrawn from all measured arms.

Sources: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Gaussian Process Optimization with
Adaptive Sketching: Scalable and No Regret*, COLT 2019, Algorithm 1; Zenati et al. 2022 (EK-UCB),
with the baselines CBKB and CBBKB. The papers measure one arm a step. A trip is a batch of one arm
for each edge, all chosen from one posterior, which their theorems do not cover.
"""

import numpy as np
from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.nystrom import radius
from evroute.model.nystrom.all_edges_cache import AllEdgesCache
from evroute.model.nystrom.gp import NystromGP
from evroute.model.nystrom.posterior import SparsePosterior
from evroute.model.nystrom.sampling import Redraw, Sampling
from evroute.model.nystrom.whitened import Covariance


class Redrawn:
    """Redraw once 1 + the summed variance of new measurements exceeds a threshold; 1 is every trip.

    Parameters
    ----------
    redraw
        Draws the dictionary.
    threshold
        At least 1.
    """

    def __init__(self, redraw: Redraw, threshold: float = 1.0) -> None:
        if not 1 <= threshold < np.inf:
            raise ValueError(
                f"threshold is {threshold:g}; it must be at least 1: 1 plus the largest sum "
                "of variances measured since the last dictionary; larger means fewer dictionaries"
            )
        self._redraw = redraw
        self._threshold = threshold
        self._sum = 1.0

    def planned(
        self, posterior: SparsePosterior, arms: Arms, everywhere: AllEdgesCache, rng: Generator
    ) -> bool:
        """Return False: plans are ignored, every measurement is learned at once.

        Parameters
        ----------
        posterior
            The posterior.
        arms
            The distinct arms of the trip.
        everywhere
            All reference arms.
        rng
            Source of randomness.
        """
        return False

    def learn(
        self, posterior: SparsePosterior, slots: IntArray, whitened: FloatArray, rng: Generator
    ) -> None:
        """Learn measurements and redraw the dictionary with variances before them.

        All arms of the first trip enter.

        Parameters
        ----------
        posterior
            The posterior to update.
        slots
            (k,) slots of the measured arms.
        whitened
            (k,) residuals over noise deviations.
        rng
            Draws the dictionary.
        """
        first = not len(posterior.observed)
        measured = np.union1d(posterior.observed, slots)
        variance = np.full(len(measured), np.inf) if first else posterior.slot_variance(measured)
        self._sum += float(variance[np.searchsorted(measured, slots)].sum())
        posterior.absorb(slots, whitened)
        if self._sum > self._threshold:
            self._redraw(posterior, measured, variance, rng)
            self._sum = 1.0

    @property
    def waits(self) -> bool:
        """Always False."""
        return False

    def radius(
        self, posterior: SparsePosterior, form: radius.Form, norm_bound: float, delta: float
    ) -> float:
        """Return the radius of BKB.

        Parameters
        ----------
        posterior
            The posterior.
        form
            One of ``radius.FORMS``.
        norm_bound
            F, of the whitened residuals.
        delta
            Failure probability.
        """
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
        """Return the number of draws, and of draws that the cap cut."""
        return self._redraw.diagnostics()

    def state(self) -> State:
        """Return the diagnostics and the summed variance."""
        return {"draws": self._redraw.state(), "sum": np.array(self._sum)}

    def restore(self, state: State) -> None:
        """Restore a state."""
        self._redraw.restore(state["draws"])
        self._sum = float(state["sum"])


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
    """BKB: a dictionary redrawn after every trip.

    Parameters
    ----------
    kernel, arms, noise_std_wh, rng
        As for `bbkb.bbkb`.
    ridge
        lambda over the noise variance, positive.
    q_bar
        Oversampling, positive.
    sampling
        Law of the inclusion probabilities.
    max_dictionary
        Largest number of dictionary points, those of greatest probability; None for no cap.
    """
    rule = Redrawn(Redraw(q_bar=q_bar, sampling=sampling, max_dictionary=max_dictionary))
    return NystromGP(kernel, arms, noise_std_wh, rng, rule=rule, ridge=ridge, name="BKB")


def cbkb(
    kernel: Covariance,
    arms: Arms,
    noise_std_wh: FloatArray,
    rng: Generator,
    *,
    ridge: float = 1.0,
    q_bar: float = 10.0,
    max_dictionary: int | None = None,
) -> NystromGP:
    """CBKB: BKB as the baseline of EK-UCB; the first arm is always kept and oversampled ten times.

    Parameters
    ----------
    kernel, arms, noise_std_wh, rng, ridge, q_bar, max_dictionary
        As for `bkb`.
    """
    redraw = Redraw(q_bar=q_bar, sampling="per_obs", max_dictionary=max_dictionary, keep_first=True)
    return NystromGP(
        kernel, arms, noise_std_wh, rng, rule=Redrawn(redraw), ridge=ridge, name="CBKB"
    )


def cbbkb(
    kernel: Covariance,
    arms: Arms,
    noise_std_wh: FloatArray,
    rng: Generator,
    *,
    ridge: float = 1.0,
    threshold: float = 10.0,
    q_bar: float | None = None,
    max_dictionary: int | None = None,
) -> NystromGP:
    """CBBKB: the baseline of EK-UCB that redraws once the summed new variance reaches a threshold.

    Parameters
    ----------
    kernel, arms, noise_std_wh, rng, ridge, max_dictionary
        As for `bkb`.
    threshold
        At least 1.
    q_bar
        Oversampling; None for ten times the threshold.
    """
    oversampling = 10.0 * threshold if q_bar is None else q_bar
    redraw = Redraw(
        q_bar=oversampling, sampling="per_obs", max_dictionary=max_dictionary, keep_first=True
    )
    rule = Redrawn(redraw, threshold)
    return NystromGP(kernel, arms, noise_std_wh, rng, rule=rule, ridge=ridge, name="CBBKB")
