"""Errors of trips by car: intervals rest on the car's own errors, and so does the test for changes.

The spread of the next error of a car follows `learning.intervals` with the car's own scores. The
Student t that joins them is fitted to the trips of all cars. A car that is not known has the scores
of all cars. Each car has its own test for changes (`learning.change`). An alarm is one car's
matter: a flat tyre, another driver. Only if several cars raise one within `WITHIN` of their trips
are the roads judged: at least `FEWEST`, and at least the share `SHARE` of all cars. Trips of one
car without a name have one test, whose alarm is of roads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.learning.change import ChangeTest, restored_days, stored_days
from evroute.learning.intervals import ErrorSpread, PastErrors

WITHIN = 30
FEWEST = 3
SHARE = 0.25
KEPT = 480
"""Scores of a car that are kept. The weight of older ones is below one in 200."""
KEPT_OF_ALL = 1000
NEVER = -1
MOST_SCORE = 60_000.0


@dataclass(slots=True)
class _OfCar:
    """Errors of one car.

    Parameters
    ----------
    scores
        Scores with their sign, the newest last.
    test
        Test for changes.
    since
        Number of its trips since its last alarm. `NEVER` if there was none.
    """

    scores: list[float] = field(default_factory=list)
    test: ChangeTest = field(default_factory=ChangeTest)
    since: int = NEVER


class CarErrors:
    """Errors of past trips, by car where cars have names.

    Attributes
    ----------
    all
        Errors of all trips. With the test of the one car where cars have no names.
    """

    def __init__(self) -> None:
        self.all = PastErrors(signed=True)
        self._by_car: dict[str, _OfCar] = {}
        self._alarmed: set[str] = set()

    @property
    def changed(self) -> bool:
        """Whether the errors became larger, of so many cars that it is the roads."""
        if not self._by_car:
            return self.all.changed
        recent = sum(self._by_car[car].since <= WITHIN for car in self._alarmed)
        n = len(self._by_car)
        return recent >= max(min(FEWEST, n), ceil(SHARE * n))

    def renew(self, car: str) -> bool:
        """Begin the test of a named car anew if it detects a change, and return whether it did.

        Parameters
        ----------
        car
            Name of the car. Any other name has no test.
        """
        of_car = self._by_car.get(car)
        if of_car is None or not of_car.test.detected:
            return False
        of_car.test, of_car.since = ChangeTest(), 0
        self._alarmed.add(car)
        return True

    def restart(self) -> None:
        """Begin all tests anew. The spread stays."""
        self.all.restart()
        self._alarmed = set()
        for each in self._by_car.values():
            each.test, each.since = ChangeTest(), NEVER

    def spread(self, car: str | None = "") -> ErrorSpread:
        """Return the distribution of the next error of a car, or None for one that is not known."""
        of_all = self.all.spread
        if not car or car not in self._by_car:
            return of_all
        return ErrorSpread(of_all.nu, of_all.scale, np.array(self._by_car[car].scores), True)

    def add(
        self,
        error_wh: float,
        sd_wh: float,
        unit_wh: float | None = None,
        *,
        car: str = "",
        day: float = np.nan,
    ) -> None:
        """Add the error of one trip.

        Parameters
        ----------
        error_wh, sd_wh, unit_wh, day
            As in `PastErrors.add`.
        car
            The car that drove, or empty where cars have no names.
        """
        if not car:
            self.all.add(error_wh, sd_wh, unit_wh, day)
        elif sd_wh > 0:
            self.all.add_untested(error_wh / sd_wh, KEPT_OF_ALL)
            of_car = self._tested(car, error_wh / (unit_wh or sd_wh), day)
            of_car.scores.append(_short(error_wh / sd_wh))
            del of_car.scores[:-KEPT]

    def refuse(self, error_wh: float, sd_wh: float, *, car: str = "", day: float = np.nan) -> None:
        """Add the error of a trip that is not learned, to the test alone.

        Parameters
        ----------
        error_wh, sd_wh, day
            As in `add`.
        car
            The car that drove, or empty where cars have no names.
        """
        if car:
            self._tested(car, error_wh / sd_wh, day)
        else:
            self.all.refuse(error_wh, sd_wh, day)

    def _tested(self, car: str, score: float, day: float) -> _OfCar:
        """Add a score to the test of a car, and return its errors."""
        of_car = self._by_car.setdefault(car, _OfCar())
        of_car.test.add(_short(score), day)
        of_car.since += of_car.since != NEVER
        return of_car

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the errors as arrays. Without cars the arrays of `PastErrors`."""
        state = self.all.state()
        if not self._by_car:
            return state
        cars = self._by_car.values()
        if len(days := stored_days([day for each in cars for day in each.test.days])):
            state["error_judged_day"] = days
        return state | {
            "error_car": np.array(list(self._by_car), dtype=np.str_),
            "error_since": np.array([each.since for each in cars]),
            "error_counts": np.array([[len(each.scores), len(each.test.scores)] for each in cars]),
            "error_scores": _joined([each.scores for each in cars]),
            "error_judged": _joined([each.test.scores for each in cars]),
        }

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state, as `PastErrors.restore` does."""
        self.all.restore(state)
        self._by_car, self._alarmed = {}, set()
        if "error_car" not in state:
            return
        judged = state.get("error_judged", np.empty(0))
        ends = np.cumsum(state["error_counts"] * (1, bool(len(judged))), axis=0)[:-1].T
        scores, tested = np.split(state["error_scores"], ends[0]), np.split(judged, ends[1])
        days = restored_days(state.get("error_judged_day", np.empty(0)), len(judged))
        days_of = np.split(np.array(days), ends[1])
        for place, (name, since) in enumerate(
            zip(state["error_car"].tolist(), state["error_since"].tolist(), strict=True)
        ):
            test = ChangeTest()
            for score, day in zip(tested[place].tolist(), days_of[place].tolist(), strict=True):
                test.add(_short(score), day)
            kept = list(map(_short, scores[place].tolist()))
            self._by_car[name] = _OfCar(kept, test, since)
        self._alarmed = {car for car, each in self._by_car.items() if each.since != NEVER}


def _joined(parts: list[list[float]]) -> npt.NDArray[np.float16]:
    """Return numbers of all cars, one car after another."""
    return np.array([number for part in parts for number in part], dtype=np.float16)


def _short(score: float) -> float:
    """Return a score as it is kept, in two bytes: to one in 2,000 of it."""
    return float(np.float16(min(max(score, -MOST_SCORE), MOST_SCORE)))
