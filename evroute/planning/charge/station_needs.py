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
        Names of the stations by the edge at whose end they are.
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
            {edge: each.station for each in chargers for edge in each.edges},
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
        charge, legs = self.problem.charge, self.problem.legs
        needs = self.needs(battery)
        found = [Need(charge.before(battery, self.end_wh, piece.arm), "") for piece in legs.pieces]
        for start in legs.starts:
            if (0, start.edge) in needs:
                after = needs[0, start.edge]
                found.append(
                    Need(charge.before(battery, after.charge_wh, start.arm), after.station)
                )
        least = min(found, default=Need(np.inf, ""))
        held = least.charge_wh <= battery.capacity_wh + TOLERANCE_WH
        return least if held else Need(np.inf, "")

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
        search, legs = self.problem.legs.search, self.problem.legs
        first, before, arms = search.turns_into
        charge, after_wh = self.problem.charge, self.problem.head_wh[search.starts].tolist()
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
            state = leg, edge
            if state in found and need.charge_wh >= found[state].charge_wh - TOLERANCE_WH:
                continue
            found[state] = need
            stops = known is None and edge in self.stations and state not in used
            if stops and self.least_wh < need.charge_wh <= self.most_wh + TOLERANCE_WH:
                used.add(state)
                reach(leg, edge, Need(self.least_wh, self.stations[edge]))
            turns = slice(first[edge], first[edge + 1])
            begins = (leg - 1, leg) if leg and edge in legs.stops[leg - 1] else (leg,)
            for previous, arm in zip(before[turns].tolist(), arms[turns].tolist(), strict=True):
                need_wh = charge.before(battery, need.charge_wh, arm)
                for of_leg in begins:
                    reach(of_leg, previous, Need(need_wh, need.station))
        return found

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
        after_wh = self.problem.head_wh[legs.search.starts].tolist()
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
        charge = self.problem.charge
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
        for start in self.problem.legs.starts:
            if (0, start.edge) in needs:
                after = needs[0, start.edge]
                need_wh = charge.before(unbounded, after.charge_wh, start.arm)
                gaps.append((need_wh - full.start_wh, "", after.station))
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
    known = {(last, edge): name for edge, name in needs.stations.items()}
    found = replace(needs, end_wh=np.inf).needs(battery, known)
    ends = [found[last, edge].charge_wh for edge in legs.stops[last] if (last, edge) in found]
    for each in legs.exits:
        if (last, each.edge) in found:
            # a position on the road: the whole road is driven
            whole = legs.search.starts.start + each.edge
            ends.append(charge.before(battery, found[last, each.edge].charge_wh, whole))
    least_wh = min(ends, default=np.inf)
    require(
        least_wh <= battery.capacity_wh,
        "no charging station is within reach of the destination, even with a full battery; leave "
        "out arrive",
    )
    return battery.percent(float(least_wh))
