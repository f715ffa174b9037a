"""Trips: what is asked of a world, round by round."""

from dataclasses import dataclass
from typing import Protocol

S_PER_H = 3600.0


@dataclass(frozen=True, slots=True)
class Trip:
    """Drive from edge ``origin`` to edge ``destination`` (network rows).

    departed_s: since the midnight before the first trip, s.  vehicle: its name or file; empty for
    the run's.
    """

    origin: int
    destination: int
    departed_s: float = 0.0
    vehicle: str = ""
    trip_id: str = ""


class Trips(Protocol):
    """The trips of a run, in order of departure."""

    def trip(self, t: int) -> Trip:
        """Return the trip of round ``t`` (from 1); the same however often and in whatever order it is asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Repeated:
    """One trip for ever, every full hour from midnight on, so that worlds with hours show all of theirs."""

    origin: int
    destination: int

    def trip(self, t: int) -> Trip:
        """Return the trip of round ``t``."""
        return Trip(self.origin, self.destination, departed_s=(t - 1) * S_PER_H, trip_id=str(t))
