"""Least charges that a request needs where stations may be used, and charges that reach them.

Backward, as in `shortage`: the least charge after every edge. Where the need after an edge with a
station is at most the greatest charge there, the need on arrival is the least charge at stations.
That lowers keys, so such a state is entered again, each once: the passes are at most one more than
the states with a station. Forward likewise: the most charge after every edge, where a station that
is reached fills the battery.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError, require
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.chargers import Charger, StopWishes
from evroute.planning.charge.shortage import backwards, least_needs
from evroute.planning.searches import lower_bounds
from evroute.planning.searches.charge_steps import Steps
from evroute.planning.searches.compiled import read_only, run
from evroute.planning.searches.need_loop import Stations, settle_charges
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.searches.settle import BEFORE_START

SPARE_WH = 1e-6
"""Energy by which sums along ways may differ in rounding, Wh."""


class Need(NamedTuple):
    """Least charge, Wh, and the first station at which the rest is charged, or "" for none."""

    charge_wh: float
    station: str


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """Least charges after s states.

    Parameters
    ----------
    need_wh
        (s,) least charge, Wh. Infinite where the battery holds none.
    station
        (s,) number of the first station at which the rest is charged, -1 for none.
    names
        Names of the stations.
    """

    need_wh: FloatArray
    station: IntArray
    names: Sequence[str]

    def at(self, state: int) -> Need | None:
        """Return the least charge after a state and its station, or None if none is held.

        Parameters
        ----------
        state
            The state.
        """
        if not self.need_wh[state] < np.inf:
            return None
        number = int(self.station[state])
        return Need(float(self.need_wh[state]), self.names[number] if number >= 0 else "")


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
        """Return the least charge at the start with any stops, or infinite if a full one fails.

        Parameters
        ----------
        battery
            Capacity and reserve. The charge at the start does not matter.
        """
        needs = self._needs_near_starts(battery)
        least = min(self._at_starts(battery, needs), default=Need(np.inf, ""))
        held = least.charge_wh <= battery.capacity_wh + TOLERANCE_WH
        return least if held else Need(np.inf, "")

    def _needs_near_starts(self, battery: Battery) -> "Needs":
        """Return needs after states, exact where they may lead to the least charge at the start.

        The route of least energy bounds that charge. So a station matters only where a car gets
        from a start with as much, and the search ends once it has all these stations.
        """
        problem, legs = self.problem, self.problem.legs
        try:
            least = legs.route(problem.weights())
        except NoRouteError:
            return self.needs(battery)
        most_wh = battery.capacity_wh
        if legs.halts is None or max(least.edges) < legs.halts.first:
            arms = legs.arms_of_route(least)
            most_wh = min(problem.charge.before_all(battery, self.end_wh, arms), most_wh)
        # else it goes on from a halt, where a car has to stop
        first = legs.own_turns()[BEFORE_START][0][1]
        most_wh += float(problem.tail_wh[first]) + SPARE_WH
        states = np.array(list(self._states()), dtype=np.int64)
        after_wh = legs.after_wh(problem.head_wh)
        order_wh = self.least_wh + after_wh[states % legs.search.line_graph.n_edges]
        excess_wh = problem.excess_wh
        limit_wh = max(most_wh - float(order_wh.min(initial=np.inf)), 0.0) + excess_wh + SPARE_WH
        edges = sorted({each.edge for each in legs.starts})
        since_wh = lower_bounds.since(legs, problem.weights(), edges, limit=limit_wh)
        since_wh = np.maximum(since_wh - excess_wh, 0.0)
        near = states[order_wh + since_wh[states] <= most_wh]
        roots = [*self._ends(battery, {})]
        until = near.tolist(), most_wh
        back = backwards(legs, problem.head_wh, roots, until, since_wh)
        found = least_needs(legs, problem.charge, back, battery, self._stations(None))
        return Needs(*found, self.names)

    def _at_starts(self, battery: Battery, needs: "Needs") -> Iterator[Need]:
        """Yield the least charge at the start for each way to begin, by needs after it."""
        legs, charge = self.problem.legs, self.problem.charge
        ends = Need(self.end_wh, "")
        for into, arm in legs.own_turns()[BEFORE_START]:
            after = ends if into >= legs.n_states else needs.at(into)
            if after is not None:
                yield Need(charge.before(battery, after.charge_wh, arm), after.station)

    def needs(self, battery: Battery, known: Mapping[int, str] | None = None) -> "Needs":
        """Return the least charge after each state, of those that a battery holds.

        Parameters
        ----------
        battery
            Capacity and reserve.
        known
            Stations by state at which routes may end. Then none is used on the way.
        """
        problem, legs = self.problem, self.problem.legs
        back = backwards(legs, problem.head_wh, [*self._ends(battery, known or {})])
        stations = self._stations(known)
        found = least_needs(legs, problem.charge, back, battery, stations)
        return Needs(*found, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stations, each once."""
        return tuple(dict.fromkeys(self.stations.values()))

    def _stations(self, known: Mapping[int, str] | None) -> Stations:
        """Return the stations as the loops take them. ``known`` as in `needs`."""
        legs, number = self.problem.legs, {name: k for k, name in enumerate(self.names)}
        n_nodes = legs.search.line_graph.n_edges
        at, ending = np.full(n_nodes, -1), np.full(legs.n_states, -1)
        used = np.full(legs.n_states, known is not None, dtype=np.int8)
        last = (len(legs.stops) - 1) * n_nodes
        for node, name in self.stations.items():
            at[node] = number[name]
        for state, name in (known or {}).items():
            ending[state] = number[name]
        for edge in legs.stops[-1]:
            used[last + edge] = 1
        return Stations(
            read_only(at),
            read_only(ending),
            read_only(used),
            float(self.least_wh),
            float(self.most_wh),
            n_nodes if legs.halts is None else legs.halts.first,
        )

    def _ends(self, battery: Battery, known: Mapping[int, str]) -> Iterator[tuple[int, float, int]]:
        """Yield the states at which routes may end, the charges there, and their stations."""
        legs, names = self.problem.legs, self.names
        last = (len(legs.stops) - 1) * legs.search.line_graph.n_edges
        for edge in legs.stops[-1]:
            yield last + edge, self.end_wh, -1
        for each in legs.exits:
            need_wh = self.problem.charge.before(battery, self.end_wh, each.arm)
            yield last + each.before, need_wh, -1
        for state, name in known.items():
            yield state, self.least_wh, names.index(name)

    def charges(self, battery: Battery) -> dict[int, float]:
        """Return the most charge at each station that is reached with any stops, by state, Wh.

        Parameters
        ----------
        battery
            Charge at the start, capacity and reserve.
        """
        problem, legs, graph = self.problem, self.problem.legs, self.problem.legs.search.line_graph
        roots = list[tuple[int, float, int]]()
        for into, arm in legs.own_turns()[BEFORE_START]:
            begun = problem.charge.take(np.array([arm])).along(battery)
            if into < legs.n_states and begun.low_wh[1] >= battery.reserve_wh - TOLERANCE_WH:
                roots.append((into, float(begun.charge_wh[1]), -1))
        turns = backwards(legs, problem.head_wh, roots)._replace(
            ahead=1,
            first=read_only(graph.indptr),
            beyond=read_only(graph.indices),
            arm=read_only(legs.search.entering),
        )
        most_wh, _ = run(
            legs.search,
            settle_charges,
            turns,
            Steps(read_only(problem.charge.start), read_only(problem.charge.step_wh)),
            battery.charges(),
            self._stations(None),
        )
        held = ((state, float(most_wh[state])) for state in self._states())
        return {state: charge_wh for state, charge_wh in held if charge_wh > -np.inf}

    def _states(self) -> Iterator[int]:
        """Yield the states at stations."""
        n_nodes = self.problem.legs.search.line_graph.n_edges
        for leg in range(len(self.problem.legs.stops)):
            yield from (leg * n_nodes + node for node in self.stations)

    def station_at(self, state: int) -> str:
        """Return the name of the station at a state.

        Parameters
        ----------
        state
            A state of `charges`.
        """
        return self.stations[state % self.problem.legs.search.line_graph.n_edges]

    def gap(self, battery: Battery) -> tuple[float, str, str] | None:
        """Return by how much the gap is too long that is so by least, Wh, and its two ends.

        The ends are stations, or "" for the start and the destination. A whole warm-up leaves at
        the start. Stations that are reached
        with a full charge lie before the gap, and those from which the destination is reached
        behind it. None if no way leads to the destination.

        Parameters
        ----------
        battery
            Capacity and reserve of a battery with which even a full charge fails.
        """
        held_wh = battery.capacity_wh - self.problem.warm_up.whole_wh
        full = replace(battery, start_wh=max(held_wh, battery.reserve_wh))
        least = self.needs(full)
        behind = {
            state: self.station_at(state)
            for state in self._states()
            if least.need_wh[state] <= self.least_wh + TOLERANCE_WH
        }
        unbounded = replace(full, capacity_wh=np.inf, fade=0.0)
        needs, gaps = self.needs(unbounded, behind), list[tuple[float, str, str]]()
        for state, held_wh in self.charges(full).items():
            if (need := needs.at(state)) is not None:
                gaps.append((need.charge_wh - held_wh, self.station_at(state), need.station))
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
    last = (len(legs.stops) - 1) * legs.search.line_graph.n_edges
    needs = StationNeeds.of(problem, battery, chargers, StopWishes())
    known = {last + node: name for node, name in needs.stations.items()}
    found = replace(needs, end_wh=np.inf).needs(battery, known)
    ends = [float(found.need_wh[last + edge]) for edge in legs.stops[-1]]
    for node, arm in legs.beyond:
        if (need := found.at(last + node)) is not None:
            need_wh = need.charge_wh
            ends.append(need_wh if arm is None else charge.before(battery, need_wh, arm))
    least_wh = min(ends, default=np.inf)
    require(
        least_wh <= battery.capacity_wh,
        "no charging station is within reach of the destination, even with a full battery. Leave "
        "out arrive",
    )
    return battery.percent(float(least_wh))
