"""Many trips at once: bounds of their risks without forecasts."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.heights.stretches import Stretches


@dataclass(frozen=True, slots=True, eq=False)
class TripsTogether:
    """Trips of k arms, one trip after the other, with their charges by expected energies.

    Parameters
    ----------
    arms
        (k,) arms.
    first
        (r,) position of the first arm of each trip. Each has an arm.
    stretches
        The part of the edge of each arm that is driven.
    begin_wh, end_wh, low_wh
        (k,) charge at the start and at the end of each arm, and the lowest after its start, Wh.
    size
        Capacity over that of the car of the day, which loses regeneration above a share of it.
    """

    arms: IntArray
    first: IntArray
    stretches: Stretches
    begin_wh: FloatArray
    end_wh: FloatArray
    low_wh: FloatArray
    size: float = 1.0

    @property
    def trip(self) -> IntArray:
        """(k,) trip of each arm."""
        count = np.diff(np.append(self.first, len(self.arms)))
        return np.repeat(np.arange(len(self.first)), count)


@runtime_checkable
class ManyTrips(Protocol):
    """A day of a belief whose errors have one distribution in multiples of their deviation."""

    def passage_bounds(
        self, trips: TripsTogether, reserve_wh: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return bounds of the probabilities that trips ever fall below a reserve, (r,).

        Parameters
        ----------
        trips
            The r trips.
        reserve_wh
            The reserve, Wh.

        Returns
        -------
        least, most
            (r,) lower and upper bounds.
        """
