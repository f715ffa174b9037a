"""Charge over arms with terrain inside.

Driving an arm turns a charge s into ``f(s) = min(s - net, out)`` if ``s >= in``, and is not allowed
below: net is the energy of the arm, in the least charge that keeps the reserve at every point of
it, out the charge that a full battery leaves with (Eisner, Funke & Storandt 2011). Here f is kept
as the steps between the points at which the energy of the arm turns from falling to rising or
back. Composed step by step they are exactly f, and stay exact where regeneration fades before the
battery is full (`battery`), which the triple (in, net, out) does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray, IntArray, expanded, freeze
from evroute.network.heights.pieces import Pieces, summed
from evroute.planning.battery import Battery, ChargeTrace, follow
from evroute.planning.searches.charge_steps import Steps, before_arm


@dataclass(frozen=True, eq=False)
class ChargeFunctions:
    """The charge functions of a arms.

    Parameters
    ----------
    energy_wh
        (a,) energy of each arm where nothing is lost, net, Wh.
    start
        (a + 1,) arm i has the steps ``start[i]`` to ``start[i + 1]``, at least one.
    step_wh
        (r,) energies of the steps in driving order, Wh. The steps of an arm sum to its energy.
    """

    energy_wh: FloatArray
    start: IntArray
    step_wh: FloatArray

    def __post_init__(self) -> None:
        a, r = len(self.energy_wh), len(self.step_wh)
        freeze(
            self,
            energy_wh=(self.energy_wh, np.float64, (a,)),
            start=(self.start, np.int64, (a + 1,)),
            step_wh=(self.step_wh, np.float64, (r,)),
        )

    @classmethod
    def of_one_step(cls, energy_wh: FloatArray) -> "ChargeFunctions":
        """Return the functions of arms of one slope each, energies (a,) Wh."""
        return cls(energy_wh, np.arange(len(energy_wh) + 1), energy_wh)

    @classmethod
    def of_pieces(
        cls, pieces: Pieces, piece_wh: FloatArray, edge: IntArray, energy_wh: FloatArray
    ) -> "ChargeFunctions":
        """Return the functions of arms over the pieces of their edges.

        The energy of an arm beyond its pieces' energy, turning or learned, is spread evenly over
        its length.

        Parameters
        ----------
        pieces
            The pieces of the n edges.
        piece_wh
            (q,) energy of each piece by physics, Wh.
        edge
            (a,) edge of each arm.
        energy_wh
            (a,) energy of each arm, Wh.
        """
        row, arm = pieces.of(edge)
        count = np.bincount(arm, minlength=len(edge))
        each_wh = piece_wh[row]
        each_wh += ((energy_wh - summed(each_wh, arm, len(edge))) / count)[arm]
        return cls._of_steps(each_wh, arm, energy_wh)

    @classmethod
    def of_parts(
        cls, piece_wh: FloatArray, length_m: FloatArray, arm: IntArray, energy_wh: FloatArray
    ) -> "ChargeFunctions":
        """Return the functions of c arms over parts of pieces, as `of_pieces` does.

        Parameters
        ----------
        piece_wh, length_m
            (q,) energy by physics, Wh, and length of each part, m.
        arm
            (q,) position of its arm, rising. Each arm has a part.
        energy_wh
            (c,) energy of each arm, Wh.
        """
        driven_m = summed(length_m, arm, len(energy_wh))
        rest_wh = energy_wh - summed(piece_wh, arm, len(energy_wh))
        share = length_m / np.where(driven_m > 0.0, driven_m, 1.0)[arm]
        first = np.searchsorted(arm, np.arange(len(energy_wh)))
        share[first[driven_m <= 0.0]] = 1.0
        return cls._of_steps(piece_wh + share * rest_wh[arm], arm, energy_wh)

    @classmethod
    def _of_steps(
        cls, each_wh: FloatArray, arm: IntArray, energy_wh: FloatArray
    ) -> "ChargeFunctions":
        """Return the functions of arms from energies of pieces, joined where their sign stays."""
        first = np.flatnonzero(
            np.concatenate([[True], (np.diff(arm) > 0) | (np.diff(each_wh >= 0) != 0)])
        )
        return cls(
            energy_wh,
            np.searchsorted(arm[first], np.arange(len(energy_wh) + 1)),
            np.add.reduceat(each_wh, first),
        )

    def take(self, arms: IntArray) -> "ChargeFunctions":
        """Return the functions of arms (k,), in their order. An arm may repeat."""
        row, place = expanded(self.start, arms)
        start = np.searchsorted(place, np.arange(len(arms) + 1))
        return ChargeFunctions(self.energy_wh[arms], start, self.step_wh[row])

    def joined(self, others: "ChargeFunctions") -> "ChargeFunctions":
        """Return these functions, then the functions of other arms."""
        return ChargeFunctions(
            np.concatenate([self.energy_wh, others.energy_wh]),
            np.concatenate([self.start, self.start[-1] + others.start[1:]]),
            np.concatenate([self.step_wh, others.step_wh]),
        )

    def ending(self, ends: IntArray, last_wh: FloatArray) -> "ChargeFunctions":
        """Return the functions with one more step at the end of some arms.

        Parameters
        ----------
        ends
            (j,) different rows of arms, rising.
        last_wh
            (j,) energy of the step, Wh.
        """
        energy_wh, more = self.energy_wh.copy(), np.zeros(len(self.start), dtype=np.int64)
        energy_wh[ends] += last_wh
        more[ends + 1] = 1
        step_wh = np.insert(self.step_wh, self.start[ends + 1], last_wh)
        return ChargeFunctions(energy_wh, self.start + np.cumsum(more), step_wh)

    def beginning(self, first_wh: FloatArray) -> "ChargeFunctions":
        """Return the functions with more energy on the first step of each arm, (a,) Wh."""
        step_wh = self.step_wh.copy()
        step_wh[self.start[:-1]] += first_wh
        return ChargeFunctions(self.energy_wh + first_wh, self.start, step_wh)

    def deepest_wh(self) -> float:
        """Return the least energy inside any arm less that at its ends, Wh, at most 0."""
        taken_wh = np.append(0.0, np.cumsum(self.step_wh))
        before_wh = taken_wh[self.start[:-1]]
        least_wh = np.minimum.reduceat(taken_wh[1:], self.start[:-1]) - before_wh
        return float((least_wh - np.minimum(self.energy_wh, 0.0)).min(initial=0.0))

    def along(self, battery: Battery, stops: Sequence[tuple[int, float]] = ()) -> ChargeTrace:
        """Return the charge over the arms in their order, also below the reserve.

        Parameters
        ----------
        battery
            Charge at the start.
        stops
            Number of arms driven before each stop, and charge after it, %. At a stop the charge is
            that on arrival.
        """
        if not stops:
            return follow(battery, self.step_wh, self.start)
        ends = pairwise([0, *(after for after, _ in stops), len(self.energy_wh)])
        starts_wh = battery.start_wh, *(battery.capacity_wh * (to / 100) for _, to in stops)
        legs = list[ChargeTrace]()
        for (begin, end), start_wh in zip(ends, starts_wh, strict=True):
            start = self.start[begin : end + 1]
            step_wh = self.step_wh[start[0] : start[-1]]
            legs.append(follow(replace(battery, start_wh=start_wh), step_wh, start - start[0]))
        return ChargeTrace(
            np.concatenate([leg.charge_wh[k > 0 :] for k, leg in enumerate(legs)]),
            np.concatenate([leg.low_wh[k > 0 :] for k, leg in enumerate(legs)]),
            np.concatenate([leg.step_wh for leg in legs]),
            sum(leg.lost_wh for leg in legs),
        )

    def before(self, battery: Battery, end_wh: float, arm: int) -> float:
        """Return the least charge before an arm that keeps the reserve on it, Wh.

        Infinite if no charge that the battery holds does.

        Parameters
        ----------
        battery
            Capacity and reserve.
        end_wh
            Least charge after the arm, Wh.
        arm
            Row of the arm.
        """
        return _before(battery, end_wh, self.step_wh[self.start[arm] : self.start[arm + 1]])

    def before_all(self, battery: Battery, end_wh: float, arms: IntArray) -> float:
        """Return the least charge before arms that keeps the reserve on all of them, Wh.

        Parameters
        ----------
        battery, end_wh
            As in `before`, with the same meaning of infinity.
        arms
            (k,) arms in driving order.
        """
        return _before(battery, end_wh, self.take(arms).step_wh)


def _before(battery: Battery, end_wh: float, step_wh: FloatArray) -> float:
    """Return the least charge before steps (r,) Wh in driving order, as `before` does."""
    steps = Steps(np.array([0, len(step_wh)]), step_wh)
    return float(before_arm(steps, battery.charges(), end_wh, 0))
