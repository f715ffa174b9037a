"""Trips in flight at once: a trip is planned before those that are still under way have told what they measured."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from evroute.arms import Feedback, Round

Flight = Annotated[int, Field(ge=1)] | Literal["clock"]
"""So many trips are planned before the first of them tells; or each tells when it ends."""


class InFlight:
    """Feedback that is not yet known; it comes in the order in which trips end.

    flight: 1 for trips that end before the next is planned.  ``"clock"``: a trip ends when its travel time after its
    departure is over.
    """

    def __init__(self, flight: Flight = 1) -> None:
        self.flight = flight
        self._under_way: list[tuple[float, Feedback]] = []

    def before(self, request: Round) -> list[Feedback]:
        """Return what has come in until a request is planned."""
        return self._until(request.departed_s) if self.flight == "clock" else []

    def after(self, feedback: Feedback) -> list[Feedback]:
        """Take what a trip that was just planned will measure; return what comes in before the next one."""
        # a count knows no clock: trips end in the order of their departures
        end_s = (
            feedback.departed_s + float(np.sum(feedback.travel_s))
            if self.flight == "clock"
            else 0.0
        )
        self._under_way.append((end_s, feedback))
        if self.flight == "clock" or len(self._under_way) < self.flight:
            return []
        return [self._under_way.pop(0)[1]]

    def rest(self) -> list[Feedback]:
        """Return all that is still under way: after the last request, or where a planner waits for it."""
        return self._until(float("inf"))

    def _until(self, now_s: float) -> list[Feedback]:
        self._under_way.sort(key=lambda trip: trip[0])
        ended = [trip for trip in self._under_way if trip[0] <= now_s]
        del self._under_way[: len(ended)]
        return [feedback for _, feedback in ended]
