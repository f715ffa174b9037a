"""A bounded battery: what it cannot hold is lost, and the charge never falls below a reserve.

Driving an edge of energy E with charge x leaves ``min(capacity, x - E)``, and is not allowed if
that is below the reserve. So regeneration into a full battery is lost, and what an edge really
takes, ``max(E, x - capacity)``, depends on the charge. More charge is never worse later, and with
the potential p = m g dz the real cost keeps ``max(E, x - capacity) - p >= E - p >= 0``: Dijkstra on
the charge, keyed by the shifted cost, is exact. Guided by what an unbounded battery would still
need (A*), it looks at few edges. Exact, too, is the backward search for the least charge to start
with. Eisner, Funke & Storandt (2011),
*Optimal route planning for electric vehicles in large networks*, solve the same problem with
profiles of the start charge.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, freeze
from evroute.errors import EvrouteError, NoRouteError
from evroute.planning.search import Search

TOLERANCE_WH = 1e-9


@dataclass(frozen=True, slots=True)
class Battery:
    """Usable capacity, charge at the start and reserve, Wh.

    Raises
    ------
    EvrouteError
        Unless ``0 <= reserve <= start <= capacity``.
    """

    capacity_wh: float
    start_wh: float
    reserve_wh: float

    def __post_init__(self) -> None:
        if not 0 <= self.reserve_wh <= self.start_wh <= self.capacity_wh:
            raise EvrouteError(
                f"the battery starts with {self.percent(self.start_wh):.0f} % and keeps a reserve of "
                f"{self.percent(self.reserve_wh):.0f} %; needed is 0 <= reserve <= start <= 100"
            )

    @classmethod
    def of_percent(
        cls, capacity_kwh: float, start_percent: float, reserve_percent: float
    ) -> "Battery":
        """Build one from percentages of the usable capacity."""
        capacity_wh = 1000.0 * capacity_kwh
        return cls(
            capacity_wh, capacity_wh * start_percent / 100, capacity_wh * reserve_percent / 100
        )

    def percent(self, charge_wh: float) -> float:
        """Return a charge in percent of the usable capacity."""
        return charge_wh / self.capacity_wh * 100


@dataclass(frozen=True, slots=True, eq=False)
class ChargeTrace:
    """The charge along one route.

    charge_wh: (k + 1,) at the start and after each edge; negative where the battery would have been
    empty.
    lost_wh: regeneration that the full battery did not take.
    """

    charge_wh: FloatArray
    lost_wh: float

    def __post_init__(self) -> None:
        freeze(self, charge_wh=(self.charge_wh, np.float64, (len(self.charge_wh),)))

    @property
    def lowest(self) -> int:
        """Position of the first lowest charge: after how many edges."""
        return int(self.charge_wh.argmin())


def follow(battery: Battery, energy_wh: FloatArray) -> ChargeTrace:
    """Follow the charge over edges of energy (k,) Wh in driving order, beyond the reserve if need be."""
    charge_wh, lost_wh = [battery.start_wh], 0.0
    for edge_wh in energy_wh.tolist():
        left_wh = charge_wh[-1] - edge_wh
        lost_wh += max(0.0, left_wh - battery.capacity_wh)
        charge_wh.append(min(battery.capacity_wh, left_wh))
    return ChargeTrace(np.array(charge_wh), lost_wh)


def greatest_start_wh(capacity_wh: float, energy_wh: FloatArray) -> float:
    """Return the greatest start charge from which no regeneration is lost on edges of energy (k,) Wh, Wh."""
    gained_wh = -np.cumsum(energy_wh)
    return capacity_wh - max(0.0, float(gained_wh.max(initial=0.0)))


class BatterySearch:
    """Searches over the charge; they expect ``energy_wh >= m g dz`` on every edge.

    tail_wh, head_wh: (n,) potential ``m g z`` at the start and at the end of every edge, Wh.
    """

    def __init__(self, search: Search, tail_wh: FloatArray, head_wh: FloatArray) -> None:
        backward = search.line_graph.reversed()
        self._search = search
        self._forward = search.line_graph.indptr.tolist(), search.line_graph.indices.tolist()
        self._backward = backward.indptr.tolist(), backward.indices.tolist()
        self._potential_wh = head_wh - tail_wh
        self._head_wh = head_wh

    def route(
        self, battery: Battery, energy_wh: FloatArray, origin: int, destination: int
    ) -> Route:
        """Return the route that arrives with the most charge and never falls below the reserve.

        Raises
        ------
        NoRouteError
            If there is none; the message says how much charge is missing.
        """
        energy = energy_wh.tolist()
        # the least that an unbounded battery needs after each edge, but for the height of the
        # destination
        guide = (
            self._search.rest(energy_wh - self._potential_wh, destination) - self._head_wh
        ).tolist()
        start, successors = self._forward
        predecessor: dict[int, int] = {}
        queue = [(0.0, battery.start_wh, origin, -1)]
        while queue:
            _, charge_wh, edge, previous = heapq.heappop(queue)
            if edge in predecessor:
                continue
            predecessor[edge] = previous
            # the entry holds the charge before the origin, and after every other edge
            if edge == origin:
                charge_wh = min(battery.capacity_wh, charge_wh - energy[edge])
                if charge_wh < battery.reserve_wh - TOLERANCE_WH:
                    break
            if edge == destination:
                return _path(predecessor, destination)
            for following in successors[start[edge] : start[edge + 1]]:
                if following in predecessor:
                    continue
                left_wh = min(battery.capacity_wh, charge_wh - energy[following])
                if left_wh >= battery.reserve_wh - TOLERANCE_WH:
                    heapq.heappush(queue, (guide[following] - left_wh, left_wh, following, edge))
        raise NoRouteError(self._shortage(battery, energy_wh, origin, destination))

    def least_start_wh(
        self,
        capacity_wh: float,
        reserve_wh: float,
        energy_wh: FloatArray,
        origin: int,
        destination: int,
    ) -> float:
        """Return the least charge before the origin edge from which some route keeps the reserve, Wh.

        Infinite if none exists, or if even a full battery (``capacity_wh``; may be infinite) does
        not do.
        """
        energy, head_wh = energy_wh.tolist(), self._head_wh.tolist()
        start, before = self._backward
        done: set[int] = set()
        # keyed by need + potential at the tail, which never falls along the backward search
        queue = [(reserve_wh + head_wh[destination], destination, reserve_wh)]
        while queue:
            _, edge, after_wh = heapq.heappop(queue)
            if edge in done:
                continue
            need_wh: float = max(reserve_wh, after_wh + energy[edge])
            if need_wh > capacity_wh + TOLERANCE_WH:
                continue
            done.add(edge)
            if edge == origin:
                return need_wh
            for previous in before[start[edge] : start[edge + 1]]:
                if previous not in done:
                    heapq.heappush(queue, (need_wh + head_wh[previous], previous, need_wh))
        return float("inf")

    def _shortage(
        self, battery: Battery, energy_wh: FloatArray, origin: int, destination: int
    ) -> str:
        ends = (energy_wh, origin, destination)
        need_wh = self.least_start_wh(battery.capacity_wh, battery.reserve_wh, *ends)
        if np.isfinite(need_wh):
            return (
                f"no route keeps {battery.percent(battery.reserve_wh):.0f} % when starting with "
                f"{battery.percent(battery.start_wh):.0f} %: needs {(need_wh - battery.start_wh) / 1000:.2f} kWh "
                f"more; start with at least {battery.percent(need_wh):.1f} %"
            )
        unbounded_wh = self.least_start_wh(np.inf, battery.reserve_wh, *ends)
        if np.isfinite(unbounded_wh):
            return (
                f"even a full battery does not keep {battery.percent(battery.reserve_wh):.0f} % all the way: needs "
                f"{(unbounded_wh - battery.capacity_wh) / 1000:.2f} kWh more than its "
                f"{battery.capacity_wh / 1000:.1f} kWh; charge on the way, or take a vehicle with a larger battery"
            )
        return f"no open way leads from edge row {origin} to edge row {destination}"


def _path(predecessor: dict[int, int], destination: int) -> Route:
    edges = [destination]
    while (previous := predecessor[edges[-1]]) >= 0:
        edges.append(previous)
    return Route(tuple(reversed(edges)))
