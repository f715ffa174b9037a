"""BBKB and its exact ancestors: mean and dictionary are frozen while a batch of trips is planned.

Sources: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Near-linear Time Gaussian Process
Optimization with Adaptive Batching and Resparsification*, ICML 2020, Algorithm 1; Desautels, Krause
& Burdick, *Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit
optimization*, JMLR 2014 (``batch-ucb``); Kandasamy, Krishnamurthy, Schneider & Poczos,
*Parallelised Bayesian optimisation via Thompson sampling*, 2018 (``batch-ts``). Within a batch only
variances change, as if all planned arms had been measured already (hallucination).
"""

import logging
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.model.base import State
from evroute.model.sparse import radius
from evroute.model.sparse.all_edges_cache import AllEdgesCache
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.sampling import Redraw
from evroute.model.sparse.stopping import StopRule, stop_bound

Mode = Literal["strict", "soft"]
"""``strict``: after the rule has closed a batch, nothing is planned until the batch is measured, as
published. ``soft``: measurements are used as they arrive. Open pulls move to the next batch.
"""

log = logging.getLogger(__name__)


@dataclass
class _Trip:
    """The planned arms of a trip and its measurements.

    A trip without a plan has none of the former.
    """

    planned: IntArray
    waiting: bool = True
    measured: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    whitened: FloatArray = field(default_factory=lambda: np.empty(0))


class Batches:
    """The rule of BBKB.

    Without a `Redraw` every planned arm enters the dictionary, which is then exact.

    A batch planned with an empty dictionary closes at once: planning does not shrink its variances.

    Parameters
    ----------
    redraw
        Draws the dictionary, or None for the exact posterior.
    stop_rule
        Bound that closes a batch. None closes by the number of trips alone, and variances ignore
        planned arms.
    threshold
        C, at least 1.
    mode
        Treatment of a closed batch, see `Mode`.
    max_trips
        Largest number of trips in a batch, at least 1.
    """

    def __init__(
        self,
        redraw: Redraw | None,
        *,
        stop_rule: StopRule | None,
        threshold: float,
        mode: Mode,
        max_trips: int,
    ) -> None:
        self._redraw = redraw
        self._threshold = threshold
        self._mode = mode
        self._max_trips = max_trips
        self._bound = None if stop_rule is None else stop_bound(stop_rule, threshold)
        self._trips: list[_Trip] = []
        self._closed = False
        self._planned = 0
        self._picks = 0
        self.criterion = 1.0
        self.batches = 0
        self.last_trips = 0
        self.last_picks = 0
        self.exceeded = 0
        self._log_sum = np.zeros(2)

    def planned(
        self,
        posterior: SparsePosterior,
        arms: Arms,
        everywhere: AllEdgesCache,
        rng: np.random.Generator,
    ) -> bool:
        """Add a planned trip to the batch. Close the batch if its bound then exceeds the threshold.

        Parameters
        ----------
        posterior
            The posterior. Pulls are hallucinated in it.
        arms
            The distinct arms of the trip.
        everywhere
            All reference arms.
        rng
            Draws the dictionary.

        Returns
        -------
        bool
            Whether the belief changed.

        Raises
        ------
        EvrouteError
            In strict mode, if the batch is closed and not wholly measured.
        """
        if self._closed:
            waiting = sum(trip.waiting for trip in self._trips)
            if self.waits:
                raise EvrouteError(
                    f"the batch is closed and {waiting} planned trips were not measured yet. Give "
                    "their feedback "
                    "first, or take mode = 'soft'"
                )
            if waiting < len(self._trips):
                self._settle(posterior, rng)
            else:
                self.exceeded += 1
        slots = posterior.slots(arms.id, arms.features)
        self._trips.append(_Trip(slots))
        self._pull(posterior, slots, everywhere)
        return True

    def learn(
        self,
        posterior: SparsePosterior,
        slots: IntArray,
        whitened: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        """Store measurements until the batch closes. In strict mode, until it is measured.

        A trip that was not planned closes the batch. Its measurements are learned at once.

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
        mine = self._answered(posterior, slots)
        for trip in mine:
            trip.waiting = False
        if mine:
            mine[0].measured, mine[0].whitened = slots, whitened
        else:
            self._trips.append(_Trip(slots[:0], False, slots, whitened))
            self._closed = True
        complete = not any(trip.waiting for trip in self._trips)
        if self._closed and (complete or self._mode == "soft" or not mine):
            self._settle(posterior, rng)

    @property
    def waits(self) -> bool:
        """Whether, in strict mode, the batch is closed and not wholly measured."""
        return self._closed and self._mode == "strict" and any(trip.waiting for trip in self._trips)

    def radius(
        self, posterior: SparsePosterior, form: radius.Form, norm_bound: float, delta: float
    ) -> float:
        """Return the radius of BBKB.

        Parameters
        ----------
        posterior
            The posterior of the batch.
        form
            One of ``radius.FORMS``.
        norm_bound
            F, of the whitened residuals.
        delta
            Failure probability.
        """
        return radius.bbkb(
            form,
            log_sum=float(self._log_sum[0]),
            log_sum_3=float(self._log_sum[1]),
            threshold=self._threshold,
            ridge=posterior.ridge,
            norm_bound=norm_bound,
            delta=delta,
        )

    def diagnostics(self) -> dict[str, float]:
        """Return the number of batches and their sizes."""
        return (self._redraw.diagnostics() if self._redraw else {}) | {
            "batches": float(self.batches),
            "batch_trips": float(self._planned),
            "batch_picks": float(self._picks),
            "last_batch_trips": float(self.last_trips),
            "stop_criterion": self.criterion,
            "planned_beyond": float(self.exceeded),
        }

    def state(self) -> State:
        """Return pending trips and running sums."""
        trips, none = self._trips, np.empty(0, dtype=np.int64)
        lengths = [(len(trip.planned), len(trip.measured), trip.waiting) for trip in trips]
        counts = (
            self._planned,
            self._picks,
            self.batches,
            self.last_trips,
            self.last_picks,
            self.exceeded,
        )
        return {
            "trips": np.array(lengths, dtype=np.int64).reshape(-1, 3),
            "planned": np.concatenate([none, *(trip.planned for trip in trips)]),
            "measured": np.concatenate([none, *(trip.measured for trip in trips)]),
            "whitened": np.concatenate([np.empty(0), *(trip.whitened for trip in trips)]),
            "draws": self._redraw.state() if self._redraw else np.zeros(2, dtype=np.int64),
            "counts": np.array([self._closed, *counts], dtype=np.int64),
            "sums": np.array([self.criterion, *self._log_sum]),
        }

    def restore(self, state: State) -> None:
        """Restore a state."""
        planned, measured, _ = np.cumsum(state["trips"], axis=0)[:-1].T
        parts = zip(
            np.split(state["planned"], planned),
            state["trips"][:, 2].astype(bool).tolist(),
            np.split(state["measured"], measured),
            np.split(state["whitened"], measured),
            strict=False,
        )
        self._trips = [_Trip(*part) for part in parts]
        if self._redraw:
            self._redraw.restore(state["draws"])
        closed, *counts = state["counts"].tolist()
        (
            self._planned,
            self._picks,
            self.batches,
            self.last_trips,
            self.last_picks,
            self.exceeded,
        ) = counts
        self._closed = bool(closed)
        self.criterion, *log_sum = state["sums"].tolist()
        self._log_sum = np.array(log_sum)

    def _pull(self, posterior: SparsePosterior, slots: IntArray, everywhere: AllEdgesCache) -> None:
        if self._redraw is None:
            for slot in slots.tolist():
                posterior.span(slot)
        if self._bound is not None:
            posterior.hallucinate(slots)
            self.criterion = self._bound(posterior, everywhere)
        self._planned += 1
        self._picks += len(slots)
        full = self.criterion > self._threshold or self._planned >= self._max_trips
        self._closed = self._closed or full or not len(posterior.basis)

    def _answered(self, posterior: SparsePosterior, slots: IntArray) -> list[_Trip]:
        """Return the planned trips that a measurement answers.

        These are the first trip over exactly its arms, else all trips over a subset of them.
        """
        edges = set(posterior.arms.id[slots].tolist())
        waiting = [trip for trip in self._trips if trip.waiting]
        over = [set(posterior.arms.id[trip.planned].tolist()) for trip in waiting]
        for trip, planned in zip(waiting, over, strict=True):
            if planned == edges:
                return [trip]
        return [trip for trip, planned in zip(waiting, over, strict=True) if planned <= edges]

    def _settle(self, posterior: SparsePosterior, rng: np.random.Generator) -> None:
        """Learn the stored measurements, redraw the dictionary, start a new batch."""
        arrived = [trip for trip in self._trips if not trip.waiting]
        self._trips = [trip for trip in self._trips if trip.waiting]
        slots = np.concatenate([trip.measured for trip in arrived])
        whitened = np.concatenate([trip.whitened for trip in arrived])
        measured = np.union1d(posterior.observed, slots)
        variance = posterior.slot_variance(measured, pending=False)
        of_each = variance[np.searchsorted(measured, slots)]
        self._log_sum += [np.log1p(of_each).sum(), np.log1p(3.0 * of_each).sum()]
        if self._bound is not None:
            for trip in arrived:
                posterior.hallucinate(trip.planned, -1.0)
        posterior.absorb(slots, whitened)
        if self._redraw is None:
            for slot in np.setdiff1d(slots, posterior.dictionary).tolist():
                posterior.span(slot)
        else:
            self._redraw(posterior, measured, variance, rng)
        self.batches += 1
        self.last_trips, self.last_picks = self._planned, self._picks
        self._planned, self._picks = (
            len(self._trips),
            sum(len(trip.planned) for trip in self._trips),
        )
        self._closed, self.criterion = False, 1.0
