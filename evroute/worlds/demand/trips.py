"""Trips: the requests of a run, round by round."""

from dataclasses import dataclass
from typing import Protocol

S_PER_H = 3600.0


@dataclass(frozen=True, slots=True)
class Trip:
    """Drive from edge ``origin`` to edge ``destination``.

    Parameters
    ----------
    origin, destination
        Network rows.
    departed_s
        Departure since the midnight before the first trip, s.
    vehicle
        Name or file of the vehicle, empty for the run's own.
    trip_id
        Name of the trip.
    """

    origin: int
    destination: int
    departed_s: float = 0.0
    vehicle: str = ""
    trip_id: str = ""


class Trips(Protocol):
    """The trips of a run, in order of departure."""

    def trip(self, t: int) -> Trip:
        """Return the trip of round ``t`` (from 1), independent of the order of calls."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same trip every full hour, at all hours of the day.

    Parameters
    ----------
    origin, destination
        Network rows.
    """

    origin: int
    destination: int

    def trip(self, t: int) -> Trip:
        """Return the trip of round ``t``."""
        return Trip(self.origin, self.destination, departed_s=(t - 1) * S_PER_H, trip_id=str(t))
