"""Daily: congested zones that differ by the quarter of the day; the learner is not informed."""

from typing import ClassVar, Literal

from evroute.worlds.conditions import Congested
from evroute.worlds.demand.trips import S_PER_H


class Daily(Congested):
    """Options of the world of free flow at night and other zones in each quarter of the day."""

    zone_sets: ClassVar[int] = 3

    kind: Literal["daily"] = "daily"

    def congested_zones(self, t: int, departed_s: float) -> int:
        """Return the set of zones that is congested: 0 before 6 h, then 1, 2 and 3 to midnight."""
        return int(departed_s / S_PER_H % 24 // 6)
