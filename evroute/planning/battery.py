"""A bounded battery: excess regeneration is lost, and the charge never falls below a reserve.

Driving an edge of energy E with charge x leaves ``min(capacity, x - E)``, and is not allowed if
that is below the reserve. So regeneration into a full battery is lost, and the actual energy of an
edge, ``max(E, x - capacity)``, depends on the charge. More charge is never worse later, and with
the potential p = m g dz the actual cost keeps ``max(E, x - capacity) - p >= E - p >= 0``: Dijkstra
on the charge, keyed by the shifted cost, is exact. Guided by the remaining energy of an unbounded
battery (A*), it visits few edges. The backward search for the least start charge is exact, too.
Eisner, Funke & Storandt (2011), *Optimal route planning for electric vehicles in large networks*,
solve the same problem with profiles of the start charge.

Above `Battery.full_percent` a share of regeneration may be lost before the battery is full
(`energy.full_battery`): the charge after an edge still rises with the charge before it and is never
above that of a battery without this loss, so all of the above holds.
"""

import heapq
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, freeze
from evroute.energy.full_battery import FullBattery
from evroute.errors import EvrouteError, NotEnoughChargeError
from evroute.planning.search import Search

TOLERANCE_WH = 1e-9
STEP_WH = 10.0
"""Missing energies are rounded up to a multiple of this, Wh."""


@dataclass(frozen=True, slots=True)
class Battery:
    """Usable capacity, charge at the start and reserve, and what is lost near a full charge.

    Parameters
    ----------
    capacity_wh, start_wh, reserve_wh
        Usable capacity, charge at the start, and reserve, Wh.
    full_percent
        Charge above which regeneration fades, %.
    fade
        Share of regeneration lost per 10 % above ``full_percent``; 0 for none.

    Raises
    ------
    EvrouteError
        Unless ``0 <= reserve <= start <= capacity``.
    """

    capacity_wh: float
    start_wh: float
    reserve_wh: float
    full_percent: float = 100.0
    fade: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.reserve_wh <= self.start_wh <= self.capacity_wh:
            raise EvrouteError(
                f"the battery starts with {self.percent(self.start_wh):.0f} % and keeps a reserve "
                "of "
                f"{self.percent(self.reserve_wh):.0f} %; needed is 0 <= reserve <= start <= 100"
            )

    @classmethod
    def of_percent(
        cls, capacity_kwh: float, start_percent: float, reserve_percent: float
    ) -> "Battery":
        """Return a battery from percentages of the usable capacity.

        Parameters
        ----------
        capacity_kwh
            Usable capacity, kWh.
        start_percent, reserve_percent
            Charge at the start, and the reserve, %.

        Raises
        ------
        EvrouteError
            Unless ``0 <= reserve <= start <= 100``.
        """
        capacity_wh = 1000.0 * capacity_kwh
        return cls(
            capacity_wh, capacity_wh * (start_percent / 100), capacity_wh * (reserve_percent / 100)
        )

    def charged(self) -> "Battery":
        """Return the battery with a full charge at the start."""
        return replace(self, start_wh=self.capacity_wh)

    def percent(self, charge_wh: float) -> float:
        """Return a charge in percent of the usable capacity."""
        return charge_wh / self.capacity_wh * 100

    @property
    def lossless_wh(self) -> float:
        """Charge up to which no regeneration is lost, Wh."""
        return self.capacity_wh * (self.full_percent / 100) if self.fade else self.capacity_wh

    def after(self, charge_wh: float, energy_wh: float) -> float:
        """Return the charge after an edge, Wh.

        charge_wh: before the edge.  energy_wh: of the edge where nothing is lost.
        """
        left_wh = charge_wh - energy_wh
        if energy_wh >= 0.0 or left_wh <= self.lossless_wh:
            return min(left_wh, self.capacity_wh)
        after = self._full.after(self.percent(charge_wh), energy_wh)
        return self.capacity_wh * (after / 100)

    def before(self, charge_wh: float, energy_wh: float) -> float:
        """Return the least charge before an edge that leaves ``charge_wh``, Wh; see `after`."""
        if energy_wh >= 0.0 or charge_wh <= self.lossless_wh:
            return charge_wh + energy_wh
        return self.capacity_wh * (self._full.before(self.percent(charge_wh), energy_wh) / 100)

    @property
    def _full(self) -> FullBattery:
        return FullBattery(self.full_percent, self.fade, self.capacity_wh / 100)


@dataclass(frozen=True, slots=True, eq=False)
class ChargeTrace:
    """The charge along one route.

    charge_wh: (k + 1,) at the start and after each edge; negative below empty.
    lost_wh: regeneration lost because the battery was full.
    """

    charge_wh: FloatArray
    lost_wh: float

    def __post_init__(self) -> None:
        freeze(self, charge_wh=(self.charge_wh, np.float64, (len(self.charge_wh),)))

    @property
    def lowest(self) -> int:
        """Number of edges driven at the first lowest charge."""
        return int(self.charge_wh.argmin())


def follow(battery: Battery, energy_wh: FloatArray) -> ChargeTrace:
    """Return the charge over edges of energy (k,) Wh in driving order, also below the reserve."""
    charge_wh, lost_wh = [battery.start_wh], 0.0
    for edge_wh in energy_wh.tolist():
        left_wh = battery.after(charge_wh[-1], edge_wh)
        lost_wh += charge_wh[-1] - edge_wh - left_wh
        charge_wh.append(left_wh)
    return ChargeTrace(np.array(charge_wh), lost_wh)


def greatest_start_wh(battery: Battery, energy_wh: FloatArray) -> float:
    """Return the greatest start charge without lost regeneration on edges of energy (k,) Wh, Wh."""
    gained_wh = -np.cumsum(energy_wh)
    return battery.lossless_wh - max(0.0, float(gained_wh.max(initial=0.0)))


class BatterySearch:
    """Searches over the charge; they expect ``energy_wh >= m g dz`` on every edge.

    Parameters
    ----------
    search
        A search over the n edges.
    tail_wh, head_wh
        (n,) potential ``m g z`` at the start and at the end of every edge, Wh.
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

        Parameters
        ----------
        battery
            Bounds of the charge.
        energy_wh
            (n,) energy of every edge, Wh.
        origin, destination
            First and last edge.

        Raises
        ------
        NotEnoughChargeError
            If there is none; the message states the missing charge.
        """
        energy = energy_wh.tolist()
        # the least that an unbounded battery needs after each edge, but for the height of the
        # destination
        guide = (
            self._search.rest(energy_wh - self._potential_wh, destination) - self._head_wh
        ).tolist()
        start, successors = self._forward
        lossless_wh = battery.lossless_wh
        predecessor: dict[int, int] = {}
        queue = [(0.0, battery.start_wh, origin, -1)]
        while queue:
            _, charge_wh, edge, previous = heapq.heappop(queue)
            if edge in predecessor:
                continue
            predecessor[edge] = previous
            # the entry holds the charge before the origin, and after every other edge
            if edge == origin:
                charge_wh = battery.after(charge_wh, energy[edge])
                if charge_wh < battery.reserve_wh - TOLERANCE_WH:
                    break
            if edge == destination:
                return _path(predecessor, destination)
            for following in successors[start[edge] : start[edge + 1]]:
                if following in predecessor:
                    continue
                left_wh = charge_wh - energy[following]
                if left_wh > lossless_wh:
                    left_wh = battery.after(charge_wh, energy[following])
                if left_wh >= battery.reserve_wh - TOLERANCE_WH:
                    heapq.heappush(queue, (guide[following] - left_wh, left_wh, following, edge))
        raise self._shortage(battery, energy_wh, origin, destination)

    def least_start_wh(
        self, battery: Battery, energy_wh: FloatArray, origin: int, destination: int
    ) -> float:
        """Return the least charge before the origin edge with a route that keeps the reserve, Wh.

        Infinite if no route exists, or a full battery does not suffice.

        Parameters
        ----------
        battery
            Capacity, may be infinite, and reserve; its charge at the start does not matter.
        energy_wh
            (n,) energy of every edge, Wh.
        origin, destination
            First and last edge.
        """
        energy, head_wh = energy_wh.tolist(), self._head_wh.tolist()
        reserve_wh, lossless_wh = battery.reserve_wh, battery.lossless_wh
        start, before = self._backward
        done: set[int] = set()
        # keyed by need + potential at the tail, which never falls along the backward search
        queue = [(reserve_wh + head_wh[destination], destination, reserve_wh)]
        while queue:
            _, edge, after_wh = heapq.heappop(queue)
            if edge in done:
                continue
            need_wh: float = after_wh + energy[edge]
            if after_wh > lossless_wh:
                need_wh = battery.before(after_wh, energy[edge])
            need_wh = max(reserve_wh, need_wh)
            if need_wh > battery.capacity_wh + TOLERANCE_WH:
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
    ) -> NotEnoughChargeError:
        """Return the error with the missing charge or capacity; a plan with that much succeeds."""
        ends = (energy_wh, origin, destination)
        held = f"{battery.percent(battery.reserve_wh):.4g} %"
        start_percent = battery.percent(battery.start_wh)
        need_wh = self.least_start_wh(battery, *ends)
        if np.isfinite(need_wh):
            least_percent = ceil(battery.percent(need_wh) - 1e-9)
            while battery.capacity_wh * (least_percent / 100) < need_wh - TOLERANCE_WH / 2:
                least_percent += 1
            return NotEnoughChargeError(
                f"no route keeps {held} when starting with {start_percent:.4g} %: needs "
                f"{_steps(need_wh - battery.start_wh) * STEP_WH / 1000:.2f} kWh more; "
                f"start with at least {least_percent} %",
                least_percent,
            )
        if not np.isfinite(self.least_start_wh(replace(battery, capacity_wh=np.inf), *ends)):
            return NotEnoughChargeError(
                f"no open way leads from edge row {origin} to edge row {destination}"
            )
        if battery.reserve_wh == battery.capacity_wh:
            return NotEnoughChargeError(
                f"a reserve of {held} leaves no charge to drive with; choose a smaller reserve"
            )
        full = battery.start_wh == battery.reserve_wh
        missing_wh = self._least_missing_wh(battery.charged() if full else battery, *ends)
        return NotEnoughChargeError(
            f"even a full battery does not keep {held} all the way: needs {missing_wh / 1000:.2f} "
            f"kWh more than its {battery.capacity_wh / 1000:.4g} kWh when starting with "
            f"{100 if full else start_percent:.4g} %; charge on the way, or take a vehicle with a "
            "larger battery"
        )

    def _least_missing_wh(
        self, battery: Battery, energy_wh: FloatArray, origin: int, destination: int
    ) -> float:
        """Return the least multiple of `STEP_WH` by which a sufficient battery is larger, Wh.

        Start and reserve keep their percentages, the start above the reserve. A larger battery then
        has more to use and more room for regeneration, so the bisection finds the least; where
        regeneration fades it finds a sufficient one.
        """
        ends = (energy_wh, origin, destination)
        start, reserve = battery.start_wh, battery.reserve_wh

        def suffices(steps: int) -> bool:
            size = (battery.capacity_wh + STEP_WH * steps) / battery.capacity_wh
            larger = replace(
                battery,
                capacity_wh=size * battery.capacity_wh,
                start_wh=size * start,
                reserve_wh=size * reserve,
            )
            return self.least_start_wh(larger, *ends) <= larger.start_wh + TOLERANCE_WH / 2

        usable = (start - reserve) / battery.capacity_wh
        unbounded = replace(battery, capacity_wh=np.inf, reserve_wh=0.0)
        unbounded_wh = self.least_start_wh(unbounded, *ends)
        # no smaller battery has the charge that even an unbounded one needs
        low = max(0, _steps(unbounded_wh / usable - battery.capacity_wh) - 1)
        high = low + 1
        while not suffices(high):
            low, high = high, 2 * high - low + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if suffices(middle) else (middle, high)
        return STEP_WH * high


def _steps(energy_wh: float) -> int:
    """Return the least number of `STEP_WH` that reaches an energy, to half the tolerance."""
    return ceil((energy_wh - TOLERANCE_WH / 2) / STEP_WH)


def _path(predecessor: dict[int, int], destination: int) -> Route:
    edges = [destination]
    while (previous := predecessor[edges[-1]]) >= 0:
        edges.append(previous)
    return Route(tuple(reversed(edges)))
