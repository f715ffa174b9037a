"""Drift: free flow, then congested zones, then other congested zones, without announcement."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evroute.worlds.conditions import Congested


class Drift(Congested):
    """Options of the world whose congestion changes between trips.

    Parameters
    ----------
    changes
        Last round of free flow, and last round of the first set of zones.
    """

    zone_sets: ClassVar[int] = 2

    kind: Literal["drift"] = "drift"
    changes: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] = (70, 140)

    def congested_zones(self, t: int, departed_s: float) -> int:
        """Return the set of zones that is congested in round ``t``: 0, then 1, then 2."""
        return sum(t > last for last in self.changes)
