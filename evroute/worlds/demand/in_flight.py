"""Pending trips: a trip may be planned before the feedback of earlier trips is known."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from evroute.arms import Feedback, Round

Flight = Annotated[int, Field(ge=1)] | Literal["clock"]
"""Number of trips planned before the first is learned, or ``"clock"``: each when it ends."""


class InFlight:
    """Pending feedback, released in the order in which trips end.

    Parameters
    ----------
    flight
        1 releases each trip before the next is planned. ``"clock"`` releases a trip when its
        travel time after its departure is over.
    """

    def __init__(self, flight: Flight = 1) -> None:
        self.flight = flight
        self._under_way: list[tuple[float, Feedback]] = []

    def before(self, request: Round) -> list[Feedback]:
        """Return the feedback released before a request is planned."""
        return self._until(_known(request.departed_s)) if self.flight == "clock" else []

    def after(self, feedback: Feedback) -> list[Feedback]:
        """Add the feedback of a planned trip. Return the feedback released before the next trip."""
        # a count uses no clock: trips end in the order of their departures
        end_s = (
            _known(feedback.departed_s) + float(np.sum(feedback.travel_s))
            if self.flight == "clock"
            else 0.0
        )
        self._under_way.append((end_s, feedback))
        if self.flight == "clock" or len(self._under_way) < self.flight:
            return []
        return [self._under_way.pop(0)[1]]

    def rest(self) -> list[Feedback]:
        """Return all pending feedback, after the last request or for a waiting planner."""
        return self._until(float("inf"))

    def _until(self, now_s: float) -> list[Feedback]:
        self._under_way.sort(key=lambda trip: trip[0])
        ended = [trip for trip in self._under_way if trip[0] <= now_s]
        del self._under_way[: len(ended)]
        return [feedback for _, feedback in ended]


def _known(departed_s: float | None) -> float:
    if departed_s is None:
        raise ValueError("a trip without a time of departure, which in_flight='clock' needs")
    return departed_s
