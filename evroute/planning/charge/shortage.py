"""Shortage: the charge or capacity that a request misses where no route keeps the reserve.

The backward search for the least start charge is exact: a need plus the potential never falls on
the way back.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import NotEnoughChargeError
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.searches.legs import Legs, Start
from evroute.planning.searches.search import no_way

STEP_WH = 10.0
"""Missing energies are rounded up to a multiple of this, Wh."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """Charges that one request needs.

    Parameters
    ----------
    legs
        The legs of the request.
    head_wh
        (a,) potential after each arm, Wh.
    charge
        Charge functions of the arms; their energies are not below the rise of the potential.
    """

    legs: Legs
    head_wh: FloatArray
    charge: ChargeFunctions

    def least_start_wh(self, battery: Battery) -> float:
        """Return the least charge at the start with a route that keeps the reserve, Wh.

        Infinite if no route exists, or a full battery does not suffice. The capacity may be
        infinite; the charge of ``battery`` at the start does not matter.
        """
        needs_wh = [
            self.charge.before(battery, battery.reserve_wh, piece.arm) for piece in self.legs.pieces
        ]
        needs_wh += self.least_from_wh(battery, self.legs.starts)
        return _within(battery, min(needs_wh))

    def least_starts_wh(self, battery: Battery) -> FloatArray:
        """Return the least charge at the beginning of every edge to drive to the end, (n,) Wh.

        Parameters
        ----------
        battery
            As in `least_start_wh`, with the same meaning of infinity.
        """
        starts = self.legs.search.starts
        whole = (Start(edge, arm) for edge, arm in enumerate(range(starts.start, starts.stop)))
        need_wh = np.array(self.least_from_wh(battery, tuple(whole)))
        for piece in self.legs.pieces:
            of_piece_wh = self.charge.before(battery, battery.reserve_wh, piece.arm)
            need_wh[piece.edge] = min(need_wh[piece.edge], of_piece_wh)
        return np.where(need_wh <= battery.capacity_wh + TOLERANCE_WH, need_wh, np.inf)

    def least_from_wh(self, battery: Battery, starts: Sequence[Start]) -> list[float]:
        """Return the least charge at each of some starts, Wh; infinite where no route exists.

        Parameters
        ----------
        battery
            Capacity and reserve.
        starts
            Starts in the first leg.
        """
        missing = {each.edge for each in starts}
        end_wh: dict[int, float] = {}
        for leg, edge, need_wh in self._settled(battery):
            if leg == 0 and edge in missing:
                end_wh[edge] = need_wh
                missing.remove(edge)
            if not missing:
                break
        return [
            self.charge.before(battery, end_wh[each.edge], each.arm)
            if each.edge in end_wh
            else np.inf
            for each in starts
        ]

    def _settled(self, battery: Battery) -> Iterator[tuple[int, int, float]]:
        """Yield leg, edge and least charge after the edge, Wh, of routes, backwards."""
        search, legs = self.legs.search, self.legs
        most_wh = battery.capacity_wh + TOLERANCE_WH
        first, before, arms = search.turns_into
        after_wh = self.head_wh[search.starts].tolist()
        done: set[tuple[int, int]] = set()
        # keyed by the charge needed after an edge + potential there
        queue: list[tuple[float, int, int, float]] = []

        def need(leg: int, edge: int, need_wh: float) -> None:
            if need_wh <= most_wh:
                heapq.heappush(queue, (need_wh + after_wh[edge], leg, edge, need_wh))

        last = len(legs.stops) - 1
        for edge in legs.stops[last]:
            need(last, edge, battery.reserve_wh)
        for each in legs.exits:
            need(last, each.before, self.charge.before(battery, battery.reserve_wh, each.arm))
        while queue:
            _, leg, edge, end_wh = heapq.heappop(queue)
            if (leg, edge) in done:
                continue
            done.add((leg, edge))
            yield leg, edge, end_wh
            turns = slice(first[edge], first[edge + 1])
            begins = (leg - 1, leg) if leg and edge in legs.stops[leg - 1] else (leg,)
            for previous, arm in zip(before[turns].tolist(), arms[turns].tolist(), strict=True):
                need_wh = self.charge.before(battery, end_wh, arm)
                for of_leg in begins:
                    need(of_leg, previous, need_wh)

    def error(self, battery: Battery) -> NotEnoughChargeError:
        """Return the error with the missing charge or capacity; a plan with that much succeeds."""
        held = f"{battery.percent(battery.reserve_wh):.4g} %"
        start_percent = battery.percent(battery.asked_wh)
        need_wh = self.least_start_wh(battery) + battery.warm_up_wh
        if need_wh <= battery.capacity_wh + TOLERANCE_WH:
            least_percent = ceil(battery.percent(need_wh) - 1e-9)
            while battery.capacity_wh * (least_percent / 100) < need_wh - TOLERANCE_WH / 2:
                least_percent += 1
            return NotEnoughChargeError(
                f"no route keeps {held} when starting with {start_percent:.4g} %: needs "
                f"{_steps(need_wh - battery.asked_wh) * STEP_WH / 1000:.2f} kWh more; "
                f"start with at least {least_percent} %",
                least_percent,
            )
        if not np.isfinite(self.least_start_wh(replace(battery, capacity_wh=np.inf))):
            return NotEnoughChargeError(no_way(self.legs.starts[0].edge, self.legs.destinations[0]))
        if battery.reserve_wh == battery.capacity_wh:
            return NotEnoughChargeError(
                f"a reserve of {held} leaves no charge to drive with; choose a smaller reserve"
            )
        full = battery.start_wh == battery.reserve_wh
        missing_wh = self._least_missing_wh(
            replace(battery, start_wh=battery.capacity_wh) if full else battery
        )
        return NotEnoughChargeError(
            f"even a full battery does not keep {held} all the way: needs {missing_wh / 1000:.2f} "
            f"kWh more than its {battery.capacity_wh / 1000:.4g} kWh when starting with "
            f"{100 if full else start_percent:.4g} %; charge on the way, or take a vehicle with a "
            "larger battery"
        )

    def _least_missing_wh(self, battery: Battery) -> float:
        """Return the least multiple of `STEP_WH` by which a sufficient battery is larger, Wh.

        Start and reserve keep their percentages, the start above the reserve. A larger battery then
        has more to use and more room for regeneration, so the bisection finds the least; where
        regeneration fades it finds a sufficient one.
        """
        start, reserve = battery.start_wh, battery.reserve_wh

        def suffices(steps: int) -> bool:
            size = (battery.capacity_wh + STEP_WH * steps) / battery.capacity_wh
            larger = replace(
                battery,
                capacity_wh=size * battery.capacity_wh,
                start_wh=size * start,
                reserve_wh=size * reserve,
            )
            return self.least_start_wh(larger) <= larger.start_wh + TOLERANCE_WH / 2

        usable = (start - reserve) / battery.capacity_wh
        unbounded_wh = self.least_start_wh(replace(battery, capacity_wh=np.inf, reserve_wh=0.0))
        # no smaller battery has the charge that even an unbounded one needs
        low = max(0, _steps(unbounded_wh / usable - battery.capacity_wh) - 1)
        high = low + 1
        while not suffices(high):
            low, high = high, 2 * high - low + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if suffices(middle) else (middle, high)
        return STEP_WH * high


def _within(battery: Battery, need_wh: float) -> float:
    """Return a charge that is needed, infinite if the battery does not hold it, Wh."""
    return need_wh if need_wh <= battery.capacity_wh + TOLERANCE_WH else np.inf


def _steps(energy_wh: float) -> int:
    """Return the least number of `STEP_WH` that reaches an energy, to half the tolerance."""
    return ceil((energy_wh - TOLERANCE_WH / 2) / STEP_WH)
