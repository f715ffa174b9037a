"""Many trips at once: the moments of their energies by one belief, without their forecasts."""

from typing import Protocol, runtime_checkable

from evroute.arrays import FloatArray, IntArray
from evroute.network.heights.stretches import Stretches


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
