"""Least charges that a request needs where stations may be used, and charges that reach them.

Backward, as in `shortage`: the least charge after every edge. Where the need after an edge with a
station is at most the greatest charge there, the need on arrival is the least charge at stations.
That lowers keys, so such a state is entered again, each once: the passes are at most one more than
the states with a station. Forward likewise: the most charge after every edge, where a station that
is reached fills the battery.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from evroute.errors import require
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.chargers import Charger, StopWishes
from evroute.planning.searches.label_loops import BEFORE_START
from evroute.planning.searches.search_problem import SearchProblem

State = tuple[int, int]
"""Leg and edge."""


class Need(NamedTuple):
    """Least charge, Wh, and the first station at which the rest is charged; "" for none."""

    charge_wh: float
    station: str


@dataclass(frozen=True, slots=True)
class StationNeeds:
    """Needs and charges of one request with stations.

    Parameters
    ----------
    problem
        The request and its numbers.
    stations
        Names of the stations by the node of the search at which they are.
    least_wh, most_wh
        Least charge on arrival at a station, and greatest charge on leaving it, Wh.
    end_wh
        Least charge at the end, Wh.
    """

    problem: SearchProblem
    stations: Mapping[int, str]
    least_wh: float
    most_wh: float
    end_wh: float

    @classmethod
    def of(
        cls,
        problem: SearchProblem,
        battery: Battery,
        chargers: Sequence[Charger],
        wishes: StopWishes,
    ) -> Self:
        """Return the needs of a request with chargers.

        Parameters
        ----------
        problem
            The request and its numbers.
        battery
            Capacity and reserve.
        chargers
            Sockets that fit the car.
        wishes
            Wishes for the stops.
        """
        unit_wh = battery.capacity_wh / 100
        return cls(
            problem,
            {node: each.station for each in chargers for node in each.nodes},
            max(battery.reserve_wh, unit_wh * wishes.from_percent),
            unit_wh * wishes.to_percent,
            max(battery.reserve_wh, unit_wh * wishes.arrive_percent),
        )

    def least_start(self, battery: Battery) -> Need:
        """Return the least charge at the start with any stops; infinite if a full one fails.

        Parameters
        ----------
        battery
            Capacity and reserve; the charge at the start does not matter.
        """
        least = min(self._at_starts(battery, self.needs(battery)), default=Need(np.inf, ""))
        held = least.charge_wh <= battery.capacity_wh + TOLERANCE_WH
        return least if held else Need(np.inf, "")

    def _at_starts(self, battery: Battery, needs: Mapping[State, Need]) -> Iterator[Need]:
        """Yield the least charge at the start for each way to begin, by needs after it."""
        legs, charge = self.problem.legs, self.problem.charge
        ends = Need(self.end_wh, "")
        for into, arm in legs.own_turns()[BEFORE_START]:
            state = divmod(into, legs.search.line_graph.n_edges)
            after = ends if into >= legs.n_states else needs.get(state)
            if after is not None:
                yield Need(charge.before(battery, after.charge_wh, arm), after.station)

    def needs(
        self, battery: Battery, known: Mapping[State, str] | None = None
    ) -> dict[State, Need]:
        """Return the least charge after the edge of each state, of those that a battery holds.

        Parameters
        ----------
        battery
            Capacity and reserve.
        known
            Stations by state at which routes may end; then none is used on the way.
        """
        legs = self.problem.legs
        charge, after_wh = self.problem.charge, legs.after_wh(self.problem.head_wh).tolist()
        last = len(legs.stops) - 1
        found: dict[State, Need] = {}
        used = {(last, edge) for edge in legs.stops[last]}
        queue: list[tuple[float, int, int, Need]] = []

        def reach(leg: int, edge: int, need: Need) -> None:
            if need.charge_wh <= battery.capacity_wh + TOLERANCE_WH:
                heapq.heappush(queue, (need.charge_wh + after_wh[edge], leg, edge, need))

        for (leg, edge), need in self._ends(battery, known or {}):
            reach(leg, edge, need)
        while queue:
            _, leg, edge, need = heapq.heappop(queue)
            state, need = (leg, edge), self._arriving((leg, edge), need, known)
            if state in found and need.charge_wh >= found[state].charge_wh - TOLERANCE_WH:
                continue
            found[state] = need
            if known is not None and self._halts(edge) and state not in known:
                continue  # no station is used on the way
            stops = known is None and edge in self.stations and state not in used
            if stops and self.least_wh < need.charge_wh <= self.most_wh + TOLERANCE_WH:
                used.add(state)
                reach(leg, edge, Need(self.least_wh, self.stations[edge]))
            for (of_leg, previous), arm in self._turns_into(state):
                need_wh = charge.before(battery, need.charge_wh, arm)
                reach(of_leg, previous, Need(need_wh, need.station))
        return found

    def _turns_into(self, state: State) -> Iterator[tuple[State, int]]:
        """Yield the states before a state, and the arms between."""
        legs, (leg, edge) = self.problem.legs, state
        first, before, arms = legs.search.turns_into
        turns = slice(first[edge], first[edge + 1])
        begins = (leg - 1, leg) if leg and edge in legs.stops[leg - 1] else (leg,)
        for previous, arm in zip(before[turns].tolist(), arms[turns].tolist(), strict=True):
            for of_leg in begins:
                yield (of_leg, previous), arm

    def _halts(self, node: int) -> bool:
        """Return True at a halt, where a car goes on only after a stop."""
        halts = self.problem.legs.halts
        return halts is not None and node >= halts.first

    def _arriving(self, state: State, need: Need, known: Mapping[State, str] | None) -> Need:
        """Return the least charge on arrival at a node, by that to go on; infinite if none does.

        Parameters
        ----------
        state, need
            The node and its leg, and the need behind it.
        known
            As in `needs`.
        """
        if not self._halts(state[1]):
            return need
        if known is not None:
            return Need(self.least_wh, known[state]) if state in known else need
        if need.charge_wh > self.most_wh + TOLERANCE_WH:
            return Need(np.inf, "")
        charges = need.charge_wh > self.least_wh
        return Need(self.least_wh, self.stations[state[1]] if charges else need.station)

    def _ends(self, battery: Battery, known: Mapping[State, str]) -> Iterator[tuple[State, Need]]:
        """Yield the states at which routes may end, and the charge that they need there."""
        legs, last = self.problem.legs, len(self.problem.legs.stops) - 1
        for edge in legs.stops[last]:
            yield (last, edge), Need(self.end_wh, "")
        for each in legs.exits:
            need_wh = self.problem.charge.before(battery, self.end_wh, each.arm)
            yield (last, each.before), Need(need_wh, "")
        for state, name in known.items():
            yield state, Need(self.least_wh, name)

    def charges(self, battery: Battery) -> dict[State, float]:
        """Return the most charge after the edge of each state that is reached with any stops, Wh.

        Parameters
        ----------
        battery
            Charge at the start, capacity and reserve.
        """
        legs, graph = self.problem.legs, self.problem.legs.search.line_graph
        indptr, indices = graph.indptr.tolist(), graph.indices.tolist()
        entering, drive = legs.search.entering.tolist(), self.problem.charge.driven(battery)
        after_wh = legs.after_wh(self.problem.head_wh).tolist()
        found: dict[State, float] = {}
        filled: set[State] = set()
        queue: list[tuple[float, int, int, float]] = []

        def reach(leg: int, edge: int, arm: int, charge_wh: float) -> None:
            left_wh, low_wh = drive(charge_wh, arm)
            if low_wh >= battery.reserve_wh - TOLERANCE_WH and leg < len(legs.stops):
                heapq.heappush(queue, (-(left_wh + after_wh[edge]), leg, edge, left_wh))

        for into, arm in legs.own_turns()[BEFORE_START]:
            reach(*divmod(into, graph.n_edges), arm, battery.start_wh)
        while queue:
            _, leg, edge, left_wh = heapq.heappop(queue)
            state = leg, edge
            if state in found and left_wh <= found[state] + TOLERANCE_WH:
                continue
            found[state] = left_wh
            stops = edge in self.stations and state not in filled and left_wh < self.most_wh
            if stops and left_wh >= self.least_wh - TOLERANCE_WH:
                filled.add(state)
                key = -(self.most_wh + after_wh[edge])
                heapq.heappush(queue, (key, leg, edge, self.most_wh))
            if self._halts(edge) and left_wh < self.most_wh - TOLERANCE_WH:
                continue
            for turn in range(indptr[edge], indptr[edge + 1]):
                into = indices[turn]
                reach(leg + (into in legs.stops[leg]), into, entering[turn], left_wh)
        return found

    def gap(self, battery: Battery) -> tuple[float, str, str] | None:
        """Return by how much the gap is too long that is so by least, Wh, and its two ends.

        The ends are stations, or "" for the start and the destination. Stations that are reached
        with a full charge lie before the gap, and those from which the destination is reached
        behind it. None if no way leads to the destination.

        Parameters
        ----------
        battery
            Capacity and reserve of a battery with which even a full charge fails.
        """
        warmed_wh = max(battery.capacity_wh - battery.warm_up_wh, battery.reserve_wh)
        full = replace(battery, start_wh=warmed_wh)
        behind = {
            state: self.stations[state[1]]
            for state, need in self.needs(full).items()
            if state[1] in self.stations and need.charge_wh <= self.least_wh + TOLERANCE_WH
        }
        unbounded = replace(full, capacity_wh=np.inf, fade=0.0)
        needs = self.needs(unbounded, behind)
        gaps = [
            (needs[state].charge_wh - held_wh, self.stations[state[1]], needs[state].station)
            for state, held_wh in self.charges(full).items()
            if state[1] in self.stations and state in needs
        ]
        for need in self._at_starts(unbounded, needs):
            gaps.append((need.charge_wh - full.start_wh, "", need.station))
        return min(gaps, default=None)


def to_a_station(problem: SearchProblem, battery: Battery, chargers: Sequence[Charger]) -> float:
    """Return the least charge at the end of a request that reaches a station, %.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Capacity and reserve.
    chargers
        Sockets that fit the car.

    Raises
    ------
    EvrouteError
        If no full charge reaches one.
    """
    legs, charge = problem.legs, problem.charge
    last = len(legs.stops) - 1
    needs = StationNeeds.of(problem, battery, chargers, StopWishes())
    known = {(last, node): name for node, name in needs.stations.items()}
    found = replace(needs, end_wh=np.inf).needs(battery, known)
    ends = [found[last, edge].charge_wh for edge in legs.stops[last] if (last, edge) in found]
    for node, arm in legs.beyond:
        if (last, node) in found:
            need_wh = found[last, node].charge_wh
            ends.append(need_wh if arm is None else charge.before(battery, need_wh, arm))
    least_wh = min(ends, default=np.inf)
    require(
        least_wh <= battery.capacity_wh,
        "no charging station is within reach of the destination, even with a full battery; leave "
        "out arrive",
    )
    return battery.percent(float(least_wh))
