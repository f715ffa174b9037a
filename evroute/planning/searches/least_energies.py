"""Least energies of many requests: over whole edges, and between positions, on common weights.

After a cold start each request has two searches (`heating.WarmUp.lines`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.network.places.positions import Position
from evroute.planning.batch import Energies, cheapest, joined, lesser, totals
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
    """

    def __init__(self, numbers: ArmNumbers, search: Search) -> None:
        self.numbers = numbers
        self.search = search
        self._weights: dict[float, FloatArray] = {}
        self._hierarchies: dict[float, Contracted] = {}

    def weights(self, per_s: float) -> FloatArray:
        """Return the energies above the rise of the potential along a line of the warm-up, (a,) Wh.

        Parameters
        ----------
        per_s
            Energy of a second, Wh.
        """
        if per_s not in self._weights:
            problem = problem_over(self.numbers, self.search, 0, ())
            self._weights[per_s] = problem.weighed(per_s) if per_s else problem.weights()
        return self._weights[per_s]

    def _contracted(self, per_s: float) -> Contracted:
        """Return the hierarchy of these weights. It is kept."""
        if per_s not in self._hierarchies:
            given = self.numbers.network, self.search, self.weights(per_s)
            self._hierarchies[per_s] = Contracted(*given)
        return self._hierarchies[per_s]

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
        arms_of_routes, halt_wh = self.numbers.space.arms_of_routes, self.numbers.halt_wh
        problem = problem_over(self.numbers, self.search, 0, ())

        def along(per_s: float) -> Energies:
            built = per_s in self._hierarchies
            paid = pays(self.numbers.network, origin, destination, built=built)
            weights, fast = self.weights(per_s), self._contracted(per_s) if paid else None
            found = cheapest(self.search, weights, origin, destination, fast)
            return totals(problem, weights, arms_of_routes, *found, halt_wh)

        return self._least(along)

    def _least(self, along: Callable[[float], Energies]) -> Energies:
        """Return the routes of least energy with their warm-ups.

        A warm-up is the lesser of two lines of the time, so one of the routes along them is best.

        Parameters
        ----------
        along
            Function that returns the best routes along a line, by its Wh/s, without the warm-up.
        """
        found: list[tuple[Energies, FloatArray]] = []
        for per_s, wh in self.numbers.warm_up.lines:
            plain = along(per_s)
            least_wh = plain.energy_wh + per_s * plain.time_s + wh - plain.within_wh
            warmed_wh = plain.energy_wh + self.numbers.warm_up.after(plain.time_s)
            found.append((replace(plain, energy_wh=warmed_wh), least_wh))
        (best, least_wh), *others = found
        for other, other_wh in others:
            least_wh = np.minimum(least_wh, other_wh)
            best = lesser(best, other, least_wh)
        return best

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
        others = self._least(lambda per_s: self._between_positions(cut, per_s))
        return joined([pair is not None for pair in whole], over, others)

    def route(self, starts: Sequence[Position], ends: Sequence[Position]) -> Route | None:
        """Return the route of least energy between positions, or None if there is none.

        Parameters
        ----------
        starts, ends
            Positions at one of which it begins, and at one of which it ends.
        """
        found: list[tuple[float, Route]] = []
        for per_s, _ in self.numbers.warm_up.lines:
            if (route := self._found(starts, ends, per_s, None)[0]) is not None:
                charge = self.numbers.warmed(self.numbers.driven(route))
                found.append((float(charge.energy_wh.sum()), route))
        return min(found, key=lambda each: each[0])[1] if found else None

    def _found(
        self,
        starts: Sequence[Position],
        ends: Sequence[Position],
        per_s: float,
        fast: Contracted | None,
    ) -> tuple[Route | None, float]:
        """Return the route, and by how much its energy may exceed the least, Wh.

        Parameters
        ----------
        starts, ends
            As in `route`.
        per_s
            Energy of a second along a line of the warm-up, Wh.
        fast
            A hierarchy in place of the search, or None for the search, which is exact.
        """
        own = OwnArms(self.numbers, self.search)
        own.add_starts(starts)
        own.add_ends(starts, ends)
        arms = own.driven()
        energy_wh = arms.energy_wh + per_s * arms.time_s if per_s else arms.energy_wh
        pieces = [own.place(piece.arm) for piece in own.pieces]
        least_wh = min((float(energy_wh[place]) for place in pieces), default=np.inf)
        edges, cost_wh, bound_wh = self._between(own, energy_wh, per_s, fast)
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
        self, own: OwnArms, energy_wh: FloatArray, per_s: float, fast: Contracted | None
    ) -> tuple[tuple[int, ...], float, float]:
        """Return edges, energy and a lower bound, Wh, of the best route that leaves its first edge.

        Parameters
        ----------
        own
            Starts and exits.
        energy_wh
            (c,) energies of the arms of the request, Wh.
        per_s, fast
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
            edges, cost_wh = self.search.between(self.weights(per_s), *given)
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

    def _between_positions(self, requests: Sequence[Places], per_s: float) -> Energies:
        """Return the best routes along a line of q requests that have candidates or begin inside.

        Parameters
        ----------
        requests
            The requests.
        per_s
            As in `weights`.
        """
        sums, within_wh = np.full((len(requests), 3), np.nan), np.zeros(len(requests))
        routes: list[tuple[int, ...]] = []
        first = np.array([request.starts[0].edge for request in requests], dtype=np.int64)
        last = np.array([request.ends[0].edge for request in requests], dtype=np.int64)
        paid = len(requests) and pays(
            self.numbers.network, first, last, built=per_s in self._hierarchies
        )
        fast = self._contracted(per_s) if paid else None
        for number, request in enumerate(requests):
            route, within_wh[number] = self._found(request.starts, request.ends, per_s, fast)
            routes.append(() if route is None else route.edges)
            if route is not None:
                driven = self.numbers.driven(route)
                each = driven.energy_wh, driven.length_m, driven.time_s
                sums[number] = [np.add.accumulate(values)[-1] for values in each]
        wh, metres, seconds = sums.T
        start = np.cumsum([0, *map(len, routes)])
        edge = np.array([row for route in routes for row in route], dtype=np.int64)
        return Energies(wh, metres, seconds, within_wh, edge, start)
