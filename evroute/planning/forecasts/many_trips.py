"""Many trips at once: moments of their energies and bounds of their risks, without forecasts."""

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
    """

    arms: IntArray
    first: IntArray
    stretches: Stretches
    begin_wh: FloatArray
    end_wh: FloatArray
    low_wh: FloatArray

    @property
    def trip(self) -> IntArray:
        """(k,) trip of each arm."""
        count = np.diff(np.append(self.first, len(self.arms)))
        return np.repeat(np.arange(len(self.first)), count)


@runtime_checkable
class ManyTrips(Protocol):
    """A day of a belief whose errors have one distribution in multiples of their deviation."""

    def moments_of_trips(
        self, arms: IntArray, first: IntArray, charge_wh: FloatArray, stretches: Stretches
    ) -> tuple[FloatArray, FloatArray]:
        """Return expected energies, (r,) Wh, and variances, (r,) Wh², of r trips.

        The variances are the squared deviations of their forecasts (`Day.forecast`).

        Parameters
        ----------
        arms
            (k,) arms of all trips, one trip after the other.
        first
            (r,) position of the first arm of each trip. Each has an arm.
        charge_wh
            (k,) expected charge at the start of each arm, Wh.
        stretches
            The part of the edge of each arm that is driven.
        """

    def passage_bounds(self, trips: TripsTogether, reserve_wh: float) -> FloatArray:
        """Return upper bounds of the probabilities that trips ever fall below a reserve, (r,).

        Parameters
        ----------
        trips
            The r trips.
        reserve_wh
            The reserve, Wh.
        """
