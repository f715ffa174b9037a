"""Least energies of many requests: over whole edges, and between positions, on common weights."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.network.places.positions import Position
from evroute.planning.batch import Energies, cheapest, joined, totals
from evroute.planning.forecasts.heating import DayHeating
from evroute.planning.places import Places, whole_ends
from evroute.planning.searches.between import OwnArms, problem_over
from evroute.planning.searches.cch import Contracted, pays
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.search import Search
from evroute.planning.spaces.arm_numbers import ArmNumbers


class LeastEnergies:
    """Searches for routes of least energy on one network.

    Parameters
    ----------
    numbers
        Numbers of the a arms.
    search
        The search over them.
    heating
        Heating and cooling of the day, which each trip departs with.
    """

    def __init__(self, numbers: ArmNumbers, search: Search, heating: DayHeating) -> None:
        self.numbers = numbers
        self.search = search
        self.heating = heating

    @cached_property
    def weights(self) -> FloatArray:
        """(a,) energy above the rise of the potential, Wh."""
        return problem_over(self.numbers, self.search, 0, ()).weights()

    @cached_property
    def _contracted(self) -> Contracted:
        return Contracted(self.numbers.network, self.search, self.weights)

    def over_edges(
        self, origins: Sequence[int] | IntArray, destinations: Sequence[int] | IntArray
    ) -> Energies:
        """Return the least-energy routes of requests between whole edges.

        Parameters
        ----------
        origins, destinations
            (q,) network rows of the first and the last edge of each request.

        Raises
        ------
        EvrouteError
            If a request ends where it begins.
        """
        origin, destination = (np.asarray(rows, dtype=np.int64) for rows in (origins, destinations))
        paid = pays(self.numbers.network, origin, destination, built="_contracted" in vars(self))
        fast = self._contracted if paid else None
        problem = problem_over(self.numbers, self.search, 0, ())
        found = cheapest(self.search, self.weights, origin, destination, fast)
        arms_of_routes, halt_wh = self.numbers.space.arms_of_routes, self.numbers.halt_wh
        return self.heating.added(totals(problem, arms_of_routes, *found, halt_wh))

    def between(self, requests: Sequence[Places]) -> Energies:
        """Return the least-energy routes of requests between positions.

        Parameters
        ----------
        requests
            The q requests, without places on the way.
        """
        whole = [whole_ends(self.numbers.network, each) for each in requests]
        ends = [each for each in whole if each is not None]
        cut = [each for each, pair in zip(requests, whole, strict=True) if pair is None]
        over = self.over_edges([pair[0] for pair in ends], [pair[1] for pair in ends])
        others = self.heating.added(self._between_positions(cut))
        return joined([pair is not None for pair in whole], over, others)

    def route(self, starts: Sequence[Position], ends: Sequence[Position]) -> Route | None:
        """Return the route of least energy between positions, or None if there is none.

        Parameters
        ----------
        starts, ends
            Positions at one of which it begins, and at one of which it ends.
        """
        return self._found(starts, ends, None)[0]

    def _found(
        self, starts: Sequence[Position], ends: Sequence[Position], fast: Contracted | None
    ) -> tuple[Route | None, float]:
        """Return the route, and by how much its energy may exceed the least, Wh.

        Parameters
        ----------
        starts, ends
            As in `route`.
        fast
            A hierarchy in place of the search, or None for the search, which is exact.
        """
        own = OwnArms(self.numbers, self.search)
        own.add_starts(starts)
        own.add_ends(starts, ends)
        energy_wh = own.driven().energy_wh
        pieces = [own.place(piece.arm) for piece in own.pieces]
        least_wh = min((float(energy_wh[place]) for place in pieces), default=np.inf)
        edges, cost_wh, bound_wh = self._between(own, energy_wh, fast)
        within_wh = max(min(cost_wh, least_wh) - bound_wh, 0.0) if edges else 0.0
        if cost_wh < least_wh:
            start_m = {each.edge: each.from_m for each in own.starts}[edges[0]]
            end_m = {each.edge: each.to_m for each in own.exits}[edges[-1]]
            return Route(edges, start_m, end_m), within_wh
        for piece, place in zip(own.pieces, pieces, strict=True):
            if energy_wh[place] == least_wh:
                return Route((piece.edge,), piece.from_m, piece.to_m), within_wh
        return None, 0.0

    def _between(
        self, own: OwnArms, energy_wh: FloatArray, fast: Contracted | None
    ) -> tuple[tuple[int, ...], float, float]:
        """Return edges, energy and a lower bound, Wh, of the best route that leaves its first edge.

        Parameters
        ----------
        own
            Starts and exits.
        energy_wh
            (c,) energies of the arms of the request, Wh.
        fast
            As in `_found`.
        """
        if not own.exits:
            return (), np.inf, np.inf
        states = self.numbers.states
        begun = np.array([each.edge for each in own.starts])
        start = self.search.starts.start + begun
        start_wh = energy_wh[: len(begun)] - states.state_wh[states.head[start]]
        before, last, exit_wh = self._exits(own, energy_wh)
        lowest_wh = start_wh.min(), exit_wh.min()
        given = (
            Ends(begun, start_wh - lowest_wh[0]),
            Ends(before, exit_wh - lowest_wh[1]),
        )
        if fast is None:
            edges, cost_wh = self.search.between(self.weights, *given)
            bound_wh = cost_wh
        else:
            edges, cost_wh, bound_wh = fast.between(*given)
        if not edges:
            return (), np.inf, np.inf
        ends_on = int(last[np.flatnonzero(before == edges[-1])[0]])
        added_wh = float(lowest_wh[0] + lowest_wh[1])
        return (*edges, ends_on), cost_wh + added_wh, bound_wh + added_wh

    def _exits(self, own: OwnArms, energy_wh: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return edges before, last edges and energies of exits, each edge before once, (x,).

        The energies, Wh, count from the potential before the last edge.

        Parameters
        ----------
        own, energy_wh
            As in `_between`.
        """
        place = np.array([own.place(each.arm) for each in own.exits])
        before = np.array([each.before for each in own.exits])
        last = np.array([each.edge for each in own.exits])
        states = self.numbers.states
        tail_wh = states.state_wh[states.tail[np.array(own.arms)[place]]]
        exit_wh = energy_wh[place] + tail_wh
        order = np.lexsort((exit_wh, before))
        first = np.unique(before[order], return_index=True)[1]
        chosen = order[first]
        return before[chosen], last[chosen], exit_wh[chosen]

    def _between_positions(self, requests: Sequence[Places]) -> Energies:
        """Return the least-energy routes of q requests that have candidates or begin inside."""
        sums, within_wh = np.full((len(requests), 3), np.nan), np.zeros(len(requests))
        routes: list[tuple[int, ...]] = []
        first = np.array([request.starts[0].edge for request in requests], dtype=np.int64)
        last = np.array([request.ends[0].edge for request in requests], dtype=np.int64)
        paid = len(requests) and pays(
            self.numbers.network, first, last, built="_contracted" in vars(self)
        )
        fast = self._contracted if paid else None
        for number, request in enumerate(requests):
            route, within_wh[number] = self._found(request.starts, request.ends, fast)
            routes.append(() if route is None else route.edges)
            if route is not None:
                driven = self.numbers.driven(route)
                each = driven.energy_wh, driven.length_m, driven.time_s
                sums[number] = [np.add.accumulate(values)[-1] for values in each]
        wh, metres, seconds = sums.T
        start = np.cumsum([0, *map(len, routes)])
        edge = np.array([row for route in routes for row in route], dtype=np.int64)
        return Energies(wh, metres, seconds, within_wh, edge, start)
