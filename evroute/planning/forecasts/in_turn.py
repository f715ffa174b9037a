"""Trips of one car that follow each other, and their joint forecast by one belief.

The coefficients that a belief learned are the same in all trips of a day, so their errors add up.
The noise of each trip is its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from evroute.arrays import FloatArray, IntArray
from evroute.network.heights.stretches import Stretches
from evroute.planning.battery import ChargeTrace
from evroute.planning.forecasts.forecast import EnergyForecast


@dataclass(frozen=True, slots=True, eq=False)
class DrivenTrip:
    """One trip with its expected numbers, as `learned.Day.forecast` takes them.

    Parameters
    ----------
    arms
        (k,) arms in driving order.
    energy_wh
        (k,) expected energies as they are searched and shown, Wh.
    expected
        Charge along the trip, None if unknown.
    stretches
        The part of the edge of each arm that is driven, or None for whole edges.
    """

    arms: IntArray
    energy_wh: FloatArray
    expected: ChargeTrace | None
    stretches: Stretches | None


@runtime_checkable
class ForecastsInTurn(Protocol):
    """A day of a belief with a joint posterior of trips at different hours."""

    def forecast_in_turn(self, days: Sequence[Self], trips: Sequence[DrivenTrip]) -> EnergyForecast:
        """Forecast the energy of trips of one car that follow each other.

        Parameters
        ----------
        days
            Day of each trip, by one belief. They differ in their departures alone.
        trips
            The trips in driving order.
        """
