"""Outcome of learning trips in memory, before anything is written."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evroute.errors import EvrouteError
from evroute.learning.base import Belief, learn_in_turn
from evroute.learning.measured import MeasuredTrip

UNLEARNABLE = (
    ArithmeticError,
    AssertionError,
    EvrouteError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Errors of learning that set a trip aside."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of learning trips in memory.

    trips: those learned, in order.  before: number of them that were learned before this call.
    predictions: of the others.  refused: trips that cannot be learned, and why.
    """

    learner: Belief
    trips: list[MeasuredTrip]
    before: int
    predictions: list[dict[str, Any]]
    refused: dict[str, str]


def learn_all(
    learner: Belief,
    trips: Sequence[MeasuredTrip],
    again: Callable[[], Belief],
    on_progress: Callable[[int, int], None],
) -> Outcome:
    """Learn trips in memory, and set those aside that cannot be learned.

    Parameters
    ----------
    learner
        Belief that has learned none of the trips, or the first of them.
    trips
        All trips, in order.
    again
        Returns ``learner`` as it was.
    on_progress
        Called with the number of trips learned and of trips to learn.
    """
    before = learner.trips
    predictions: list[dict[str, Any]] = []
    try:
        for row in learn_in_turn(learner, trips[before:]):
            predictions.append(row)
            on_progress(len(predictions), len(trips) - before)
        check_numbers(learner)
    except UNLEARNABLE:
        log.debug("a trip cannot be learned, learning one by one", exc_info=True)
        return _learn_one_by_one(again, trips)
    return Outcome(learner, list(trips), before, predictions, {})


def _learn_one_by_one(again: Callable[[], Belief], trips: Sequence[MeasuredTrip]) -> Outcome:
    """Learn trips that can be learned.

    A trip that fails can leave a part of itself in the belief. Learning begins again without it.
    """
    refused: dict[str, str] = {}
    while True:
        learner = again()
        before = learner.trips
        predictions: list[dict[str, Any]] = []
        left = [trip for trip in trips if trip.trip not in refused]
        for trip in left[before:]:
            try:
                predictions += learn_in_turn(learner, [trip])
                check_numbers(learner)
            except UNLEARNABLE as error:
                refused[trip.trip] = f"it cannot be learned ({_line(error)})"
                break
        else:
            return Outcome(learner, left, before, predictions, refused)


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def check_numbers(learner: Belief) -> None:
    """Check that a belief has finite numbers only, so that it can plan."""
    for name, array in learner.state().items():
        if np.issubdtype(np.asarray(array).dtype, np.floating) and not np.isfinite(array).all():
            raise ArithmeticError(f"the numbers of '{name}' are not finite")
