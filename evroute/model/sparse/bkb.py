"""BKB and its relatives, which redraw the dictionary from all measured arms.

Sources: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Gaussian Process Optimization with
Adaptive Sketching: Scalable and No Regret*, COLT 2019, Algorithm 1. Zenati et al. 2022 (EK-UCB),
with the baselines CBKB and CBBKB. The papers measure one arm a step. A trip is a batch of one arm
for each edge, all chosen from one posterior, which their theorems do not cover.

BKB, CBKB and CBBKB redraw it once enough variance was measured, BBKB once a batch of trips ends.
`batches.Batches` has BBKB, batch GP-UCB and batch Thompson sampling with their rules.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.sparse import radius
from evroute.model.sparse.batches import Batches, Mode
from evroute.model.sparse.gp import Rule, SparseOptions
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.sampling import DictionaryOptions, Redraw, RedrawOptions
from evroute.model.sparse.stopping import StopRule


class Redrawn(Rule):
    """Redraw once 1 + the summed variance of new measurements exceeds a threshold. 1 is every trip.

    Parameters
    ----------
    redraw
        Draws the dictionary.
    threshold
        At least 1.
    """

    def __init__(self, redraw: Redraw, threshold: float = 1.0) -> None:
        self._redraw = redraw
        self._threshold = threshold
        self._sum = 1.0

    def learn(
        self,
        posterior: SparsePosterior,
        slots: IntArray,
        whitened: FloatArray,
        rng: np.random.Generator,
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
            kappa2=float(posterior.prior.max(initial=posterior.kappa2)),
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


class BKBOptions(RedrawOptions):
    """BKB: a dictionary redrawn after every trip."""

    label = engine = "BKB"

    def rule(self) -> Redrawn:
        """Return the rule of BKB."""
        return Redrawn(self.redraw())


class CBKBOptions(DictionaryOptions):
    """CBKB: BKB as the baseline of EK-UCB. The first arm is always kept, oversampled tenfold."""

    label = engine = "CBKB"

    q_bar: float = Field(default=10.0, gt=0, description="oversampling, see bkb")

    def rule(self) -> Redrawn:
        """Return the rule of CBKB."""
        return Redrawn(_keeping_first(self.q_bar, self.max_dictionary))


class CBBKBOptions(DictionaryOptions):
    """CBBKB: the baseline of EK-UCB that redraws once the summed new variance is large."""

    label = engine = "CBBKB"

    threshold: float = Field(
        default=10.0, ge=1, description="summed variance at which the dictionary is redrawn"
    )
    q_bar: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="oversampling, see bkb; none: ten times the threshold"
    )

    def rule(self) -> Redrawn:
        """Return the rule of CBBKB."""
        q_bar = 10.0 * self.threshold if self.q_bar is None else self.q_bar
        return Redrawn(_keeping_first(q_bar, self.max_dictionary), self.threshold)


def _keeping_first(q_bar: float, max_dictionary: int | None) -> Redraw:
    return Redraw(q_bar=q_bar, sampling="per_obs", max_dictionary=max_dictionary, keep_first=True)


class ModeOptions(SparseOptions):
    """Options of models that learn in batches."""

    mode: Mode = Field(
        default="strict",
        description="strict: a closed batch is measured whole before the next plan; soft: "
        "unfinished trips are carried over",
    )


class StopOptions(ModeOptions):
    """Options of models that close a batch by a bound."""

    stop_rule: StopRule = Field(
        default="local",
        description="rule that closes a batch: local, global, global-local, product",
    )
    threshold: float = Field(
        default=2.0,
        ge=1,
        description="change of variances at which a batch closes. 1 is one trip a batch",
    )
    max_batch_trips: int = Field(default=50, ge=1, description="largest number of trips in a batch")

    def batches(self, redraw: Redraw | None) -> Batches:
        """Return a new rule that closes batches by these options."""
        return Batches(
            redraw,
            stop_rule=self.stop_rule,
            threshold=self.threshold,
            mode=self.mode,
            max_trips=self.max_batch_trips,
        )


class BBKBOptions(RedrawOptions, StopOptions):
    """BBKB: mean and dictionary are renewed once the variances have shrunk by a threshold."""

    label = engine = "BBKB"

    def rule(self) -> Batches:
        """Return the rule of BBKB."""
        return self.batches(self.redraw())


class BatchUCBOptions(StopOptions):
    """Batch GP-UCB: an exact posterior, renewed once the product of running variances is large."""

    label = "Batch GP"
    engine = "batch GP-UCB"

    stop_rule: StopRule = Field(
        default="product", description="rule that closes a batch, see bbkb; product is exact"
    )

    def rule(self) -> Batches:
        """Return the rule of batch GP-UCB."""
        return self.batches(None)


class DelayedOptions(ModeOptions):
    """Exact posterior renewed after batches of fixed size, whose trips ignore each other."""

    label = "Batch GP without hallucination"
    engine = "delayed"

    batch_trips: int = Field(default=30, ge=1, description="trips in a batch")

    def rule(self) -> Batches:
        """Return the rule of batches of fixed size."""
        return Batches(
            None, stop_rule=None, threshold=1.0, mode=self.mode, max_trips=self.batch_trips
        )
