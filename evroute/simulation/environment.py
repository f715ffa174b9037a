"""What a world offers to the loop: requests, measurements, and the truth for the judge alone."""

from typing import Protocol

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray


class Environment(Protocol):
    """A world in which trips are driven (Algorithm 1, lines 2 and 5)."""

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` (from 1) and the edges that are open in it."""
        ...

    def drive(self, request: Round, route: Route) -> Feedback:
        """Drive a route and return what each of its edges took."""
        ...

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the true expected energy of the round's arms, (a,) Wh; ``regret`` alone may read it."""
        ...
