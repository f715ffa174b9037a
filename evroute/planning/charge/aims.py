"""Aims of plans with charging stops, as costs of driving, charging and arriving.

The least energy driven is the energy charged plus the charge that is lost on arrival, so that
charge left over costs nothing. Of plans that take as much energy the fastest is the best, since a
second costs `TIE_WH`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from evroute.arrays import FloatArray
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger, StopWishes
from evroute.planning.searches.search_problem import SearchProblem

TIE_WH = 1e-7
"""Energy that a second costs where energies are equal, Wh."""


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """The cost that a plan keeps least.

    Parameters
    ----------
    arm_cost
        (a,) cost of driving each arm.
    table
        (c, 101) cost of each charger from empty to each whole per cent.
    setup
        Cost of a stop beside charging.
    credit
        Cost of each Wh by which the charge on arrival is below the charge at the start.
    unlimited
        Whether each Wh above the charge at the start saves as much.
    """

    arm_cost: FloatArray
    table: FloatArray
    setup: float
    credit: float = 0.0
    unlimited: bool = False

    @classmethod
    def least_time(
        cls, problem: SearchProblem, chargers: Sequence[Charger], wishes: StopWishes
    ) -> Self:
        """Return the aim of least time, s.

        Parameters
        ----------
        problem
            The request and its numbers.
        chargers
            Sockets that fit the car.
        wishes
            Wishes for the stops.
        """
        return cls(problem.time_s, _tables_s(chargers), wishes.setup_s)

    @classmethod
    def least_energy(
        cls,
        problem: SearchProblem,
        battery: Battery,
        chargers: Sequence[Charger],
        wishes: StopWishes,
    ) -> Self:
        """Return the aim of least energy driven, Wh, with lost regeneration. Ties by time.

        Parameters
        ----------
        problem, chargers, wishes
            As in `least_time`.
        battery
            Usable capacity.
        """
        charged_wh = battery.capacity_wh * np.arange(101.0) / 100
        return cls(
            TIE_WH * problem.time_s,
            charged_wh + TIE_WH * _tables_s(chargers),
            TIE_WH * wishes.setup_s,
            credit=1.0,
            unlimited=True,
        )

    @classmethod
    def least_money(
        cls,
        problem: SearchProblem,
        battery: Battery,
        chargers: Sequence[Charger],
        wishes: StopWishes,
        worth: tuple[float, float],
    ) -> Self:
        """Return the aim of least money: own energy, charges at stations, and time.

        Own energy is the charge at the start less that on arrival, at least 0: charge bought beyond
        that has no value.

        Parameters
        ----------
        problem, chargers, wishes
            As in `least_time`.
        battery
            Usable capacity.
        worth
            Own price of one Wh, and value of one second, money.
        """
        per_wh, per_s = worth
        charged_wh = battery.capacity_wh * np.arange(101.0) / 100
        paid = [each.paid(charged_wh, each.time_s, wishes.own_price) for each in chargers]
        table = np.array(paid, dtype=float).reshape(-1, 101) + per_s * _tables_s(chargers)
        return cls(per_s * problem.time_s, table, per_s * wishes.setup_s, credit=per_wh)

    def per_wh(self, battery: Battery) -> float:
        """Return the least cost of one Wh, charged anywhere or missing on arrival."""
        if not len(self.table):
            return self.credit
        least = float(np.diff(self.table).min()) / (battery.capacity_wh / 100)
        return min(least, self.credit) if self.credit else least


def _tables_s(chargers: Sequence[Charger]) -> FloatArray:
    """Return the time from empty to each whole per cent of each charger, (c, 101) s."""
    return np.array([each.time_s for each in chargers]).reshape(-1, 101)
