"""BBKB and its exact ancestors: mean and dictionary stand still while a batch of trips is planned.

Sources: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Near-linear Time Gaussian Process
Optimization with Adaptive Batching and Resparsification*, ICML 2020, Algorithm 1; Desautels, Krause
& Burdick,
*Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization*, JMLR
2014 (``batch-ucb``); Kandasamy, Krishnamurthy, Schneider & Poczos, *Parallelised Bayesian
optimisation via Thompson sampling*, 2018 (``batch-ts``). Within a batch only variances change, as
if what was planned had been measured already (hallucination).
"""

import logging
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.model.base import State
from evroute.model.nystrom import radius
from evroute.model.nystrom.all_edges_cache import AllEdgesCache
from evroute.model.nystrom.posterior import SparsePosterior
from evroute.model.nystrom.sampling import Redraw
from evroute.model.nystrom.stopping import StopRule, stop_bound

Mode = Literal["strict", "soft"]
"""``strict``: once the rule stops a batch nothing is planned before all of it was measured, as published; ``soft``:
what has arrived is taken in, and pulls still to come are carried over into the next batch."""

log = logging.getLogger(__name__)


@dataclass
class _Trip:
    """What was planned, and what was measured once it was; one nobody planned has no plan."""

    planned: IntArray
    waiting: bool = True
    measured: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    whitened: FloatArray = field(default_factory=lambda: np.empty(0))


class Batches:
    """The rule of BBKB; without a `Redraw` every arm planned enters the dictionary, which is then exact.

    A batch planned without any dictionary closes at once: variances there shrink by nothing that is
    planned.

    stop_rule: with none variances do not know what is planned, and the number of trips alone closes
    a batch.
    threshold: C, at least 1.  max_trips: a batch closes after as many in any case.
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
        if not 1 <= threshold < np.inf:
            raise ValueError(
                f"threshold is {threshold:g}; it must be at least 1: the factor by which variances "
                "may have shrunk "
                "before a batch closes; 1 is one trip a batch"
            )
        if max_trips < 1:
            raise ValueError(f"max_batch_trips is {max_trips}; a batch has at least 1 trip")
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
        self, posterior: SparsePosterior, arms: Arms, everywhere: AllEdgesCache, rng: Generator
    ) -> bool:
        """Add a plan to the batch; it closes with the plan with which the rule exceeds its threshold.

        Raises
        ------
        EvrouteError
            In strict mode, if the batch is closed and part of it was not measured yet.
        """
        if self._closed:
            waiting = sum(trip.waiting for trip in self._trips)
            if self.waits:
                raise EvrouteError(
                    f"the batch is closed and {waiting} planned trips were not measured yet; give "
                    "their feedback "
                    "first, or take mode = 'soft'"
                )
            if waiting < len(self._trips):
                self._settle(posterior, rng)
            else:
                self.exceeded += 1
        slots = posterior.slots(arms.edge, arms.features)
        self._trips.append(_Trip(slots))
        self._pull(posterior, slots, everywhere)
        return True

    def learn(
        self, posterior: SparsePosterior, slots: IntArray, whitened: FloatArray, rng: Generator
    ) -> None:
        """Keep what was measured until the batch closes and, in strict mode, until all of it was measured.

        What nobody planned closes the batch: it is learned at once.
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
        """Whether the batch is closed, in strict mode, and part of it not measured."""
        return self._closed and self._mode == "strict" and any(trip.waiting for trip in self._trips)

    def radius(
        self, posterior: SparsePosterior, form: radius.Form, norm_bound: float, delta: float
    ) -> float:
        """Return the radius of BBKB."""
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
        """Return sizes of batches and how many there were."""
        drawn = self._redraw.diagnostics() if self._redraw else {}
        return drawn | {
            "batches": float(self.batches),
            "batch_trips": float(self._planned),
            "batch_picks": float(self._picks),
            "last_batch_trips": float(self.last_trips),
            "stop_criterion": self.criterion,
            "planned_beyond": float(self.exceeded),
        }

    def state(self) -> State:
        """Return what waits, and all sums."""
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
        """Take them over."""
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
                posterior.grow(slot)
        if self._bound is not None:
            posterior.hallucinate(slots)
            self.criterion = self._bound(posterior, everywhere)
        self._planned += 1
        self._picks += len(slots)
        full = self.criterion > self._threshold or self._planned >= self._max_trips
        self._closed = self._closed or full or not len(posterior.basis)

    def _answered(self, posterior: SparsePosterior, slots: IntArray) -> list[_Trip]:
        """Return the plans that a measurement answers: the first over just its edges, else all over no others."""
        edges = set(posterior.arms.edge[slots].tolist())
        waiting = [trip for trip in self._trips if trip.waiting]
        over = [set(posterior.arms.edge[trip.planned].tolist()) for trip in waiting]
        for trip, planned in zip(waiting, over, strict=True):
            if planned == edges:
                return [trip]
        return [trip for trip, planned in zip(waiting, over, strict=True) if planned <= edges]

    def _settle(self, posterior: SparsePosterior, rng: Generator) -> None:
        """Take in what was measured, draw the dictionary with the variances at the start of the batch, begin anew."""
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
                posterior.answer(trip.planned)
        posterior.absorb(slots, whitened)
        if self._redraw is None:
            for slot in np.setdiff1d(slots, posterior.dictionary).tolist():
                posterior.grow(slot)
        else:
            self._redraw(posterior, measured, variance, rng)
        self.batches += 1
        self.last_trips, self.last_picks = self._planned, self._picks
        self._planned, self._picks = (
            len(self._trips),
            sum(len(trip.planned) for trip in self._trips),
        )
        self._closed, self.criterion = False, 1.0
