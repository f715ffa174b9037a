"""SearchProblem: one request with the numbers of the arms."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.heating import NO_WARM_UP, WarmUp
from evroute.planning.battery import TOLERANCE_WH, Battery, ChargeTrace
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.shortage import Shortage, Warming
from evroute.planning.searches.labels import LabelSearch
from evroute.planning.searches.legs import Legs
from evroute.planning.searches.lower_bounds import Rests, excess_wh
from evroute.planning.spaces.request_arrays import RequestArrays
from evroute.planning.weights import DEFAULT_SEARCH, WEIGHT_RULES, at_least_0

NO_GAP_WH = 1e-6
TIE_PER_WH = 1e-9
"""Seconds or metres added for each Wh, so that energy decides between equally fast routes."""


@dataclass(frozen=True)
class SearchProblem:
    """One request, and the numbers of a arms.

    Parameters
    ----------
    legs
        The legs of the request.
    time_s, length_m
        (a,) travel time and length of the edge of each arm.
    charge
        Charge functions of the arms. Their energies are the expected ones, not below the rise of
        the potential. The same numbers are shown.
    noise_std_wh
        Function that returns the standard deviation of one measurement of each arm, (a,), for the
        weight rules.
    tail_wh, head_wh
        (a,) potential before and after each arm.
    own
        The last c of the arms, which only this request has: rows of the arms of the network, and
        the share of the edge of each that is driven, (c,).
    arrays
        Where these arrays are from, or None if no other request shares them.
    warm_up
        Energy of warming up over the time driven, which no arm includes.
    """

    legs: Legs
    time_s: FloatArray
    length_m: FloatArray
    charge: ChargeFunctions
    noise_std_wh: Callable[[], FloatArray]
    tail_wh: FloatArray
    head_wh: FloatArray
    own: tuple[IntArray, FloatArray] | None = None
    arrays: RequestArrays | None = None
    warm_up: WarmUp = NO_WARM_UP

    @property
    def energy_wh(self) -> FloatArray:
        """(a,) expected energy of each arm, Wh."""
        return self.charge.energy_wh

    @property
    def label_search(self) -> LabelSearch:
        """Searches with a battery or two costs."""
        given = self.legs, self.head_wh, self.charge, self.excess_wh
        return LabelSearch(*given, self.weights(), self.rests, self.time_s, self.warm_up)

    @property
    def shortage(self) -> Shortage:
        """Charges that the request needs."""
        given = self.legs, self.head_wh, self.charge, self.weights()
        if not self.warm_up:
            return Shortage(*given)
        labels = self.label_search
        warming = Warming(
            self.warm_up,
            self.time_s,
            lambda: self.cheapest_by_line((1.0, 0.0)),
            lambda battery: labels.most_charge(battery)[0],
        )
        return Shortage(*given, warming)

    @cached_property
    def rests(self) -> Rests:
        """Lower bounds that the searches of this request share."""
        return Rests(self.legs)

    @cached_property
    def above_wh(self) -> FloatArray:
        """(a,) energy of each arm above the rise of the potential, Wh.

        It may be below 0 at halts, where cars go on in another direction than they came.
        """
        return self._combined(_above, self.energy_wh, self.tail_wh, self.head_wh)

    @cached_property
    def excess_wh(self) -> float:
        """By how much sums of the weights along a route exceed those of `above_wh`, Wh."""
        return excess_wh(self.legs, self.above_wh)

    def follow(
        self, battery: Battery, route: Route, stops: Sequence[tuple[int, float]] = ()
    ) -> ChargeTrace:
        """Return the charge along a route with its warm-up, also below the reserve.

        Parameters
        ----------
        battery
            Charge at the start.
        route
            The route.
        stops
            As in `ChargeFunctions.along`.
        """
        key = route, battery, tuple(stops)
        if key not in self._followed:
            self._followed[key] = self._driven(route).along(battery, stops)
        return self._followed[key]

    @cached_property
    def _followed(self) -> dict[Hashable, ChargeTrace]:
        return {}

    def _driven(self, route: Route) -> ChargeFunctions:
        """Return the charge functions of the arms of a route, with its warm-up. Made once."""
        if route not in self._functions:
            arms = self.legs.arms_of_route(route)
            driven = self.charge.take(arms)
            if self.warm_up.whole_wh:
                driven = driven.beginning(self.warm_up.along(self.time_s[arms]))
            self._functions[route] = driven
        return self._functions[route]

    @cached_property
    def _functions(self) -> dict[Route, ChargeFunctions]:
        return {}

    def weights(self, rule: str = DEFAULT_SEARCH) -> FloatArray:
        """Return the weights (a,) of the arms by a weight rule, Wh. They must not be changed."""
        return self._weights if rule == DEFAULT_SEARCH else self._weighted(rule)

    @cached_property
    def _weights(self) -> FloatArray:
        return self._combined(at_least_0, self.above_wh)

    def _weighted(self, rule: str) -> FloatArray:
        rise_wh = self.head_wh - self.tail_wh
        return WEIGHT_RULES[rule](self.energy_wh, self.noise_std_wh(), rise_wh)

    def _combined(
        self, of: Callable[..., FloatArray], *arrays: FloatArray, by: tuple[float, ...] = ()
    ) -> FloatArray:
        """Return values that a function makes of arrays, as `RequestArrays.combined` does."""
        return of(*arrays, *by) if self.arrays is None else self.arrays.combined(of, *arrays, by=by)

    def once(self, name: Hashable, of: Callable[[], FloatArray], *arrays: FloatArray) -> FloatArray:
        """Return values that do not depend on the request, computed once for many requests.

        Parameters
        ----------
        name, of, *arrays
            As in `RequestArrays.once`.
        """
        return of() if self.arrays is None else self.arrays.once(name, of, *arrays)

    def weighed(self, per_s: float) -> FloatArray:
        """Return the weights of energy and time, (a,) Wh.

        Parameters
        ----------
        per_s
            Energy that is worth a second, Wh.
        """
        return self._combined(_sum, self.weights(), self.time_s, by=(per_s,))

    @cached_property
    def fastest(self) -> Route:
        """The fastest route without a battery. NoRouteError if there is no route."""
        return self.least(self.time_s)

    @cached_property
    def lines(self) -> tuple[tuple[float, float], ...]:
        """Lines of the time driven, Wh/s and Wh, of which the lesser one is the warm-up.

        Where even the fastest route takes longer than the warm-up, it is one for all routes.
        """
        lines = self.warm_up.lines
        if self.warm_up and self.taken_s(self.fastest) >= self.warm_up.whole_s:
            return lines[:1]
        return lines

    def along_line(self, worth: tuple[float, float], line: tuple[float, float]) -> FloatArray:
        """Return the weights of a cost of energy and time along a line of the warm-up, (a,).

        Parameters
        ----------
        worth
            Cost of one Wh, and of one second.
        line
            One of `lines`. Its Wh are left out.
        """
        per_wh, per_s = worth
        per_s += per_wh * line[0]
        if per_wh == 1.0:
            return self.weighed(per_s) if per_s else self.weights()
        return per_wh * self.weights() + per_s * self.time_s

    def cheapest_by_line(self, worth: tuple[float, float]) -> list[Route]:
        """Return the cheapest route along each of the `lines`, without a battery.

        Parameters
        ----------
        worth
            Cost of one Wh, > 0, and of one second.
        """
        if worth not in self._cheapest:
            self._cheapest[worth] = [
                self.legs.route(self.along_line(worth, line)) for line in self.lines
            ]
        return self._cheapest[worth]

    @cached_property
    def _cheapest(self) -> dict[tuple[float, float], list[Route]]:
        return {}

    def cheapest(self, worth: tuple[float, float]) -> Route:
        """Return the route of least cost of energy, warm-up included, and time, without a battery.

        Parameters
        ----------
        worth
            Cost of one Wh, > 0, and of one second.
        """
        return self.cheaper(worth, self.cheapest_by_line(worth))

    def cheaper(self, worth: tuple[float, float], routes: Sequence[Route]) -> Route:
        """Return the route of least cost of energy and time among some, without a battery.

        Parameters
        ----------
        worth
            Cost of one Wh, and of one second.
        routes
            One or more routes.
        """
        if len(routes) == 1:
            return routes[0]
        per_wh, per_s = worth

        def cost(route: Route) -> float:
            return per_wh * self.taken_wh(route, None) + per_s * self.taken_s(route)

        return min(routes, key=cost)

    def least(self, cost: FloatArray) -> Route:
        """Return the route of least additive cost. Of equal ones the route of least energy.

        Parameters
        ----------
        cost
            (a,) time, s, or length, m, of each arm.

        Raises
        ------
        NoRouteError
            If there is no route.
        """
        return self.legs.route(self.with_ties(cost))

    def with_ties(self, cost: FloatArray) -> FloatArray:
        """Return costs (a,) whose sums differ where energies do: by `TIE_PER_WH`."""
        return self.summed(cost, TIE_PER_WH)

    def summed(self, cost: FloatArray, per_wh: float) -> FloatArray:
        """Return the sum of a cost and the weights, (a,).

        Parameters
        ----------
        cost
            (a,) cost of each arm.
        per_wh
            Cost of one Wh.
        """
        return self._combined(_sum, cost, self.weights(), by=(per_wh,))

    def taken_s(self, route: Route) -> float:
        """Return the travel time of a route, s."""
        return self.legs.total(self.time_s, route)

    def positive_wh(self, route: Route) -> float:
        """Return the sum of the energies above zero along the profile of a route, Wh."""
        driven = self.charge.take(self.legs.arms_of_route(route))
        return float(np.maximum(driven.step_wh, 0.0).sum())

    def taken_wh(self, route: Route, battery: Battery | None) -> float:
        """Return the energy of a route, warm-up and lost regeneration included, Wh."""
        taken_wh = self.legs.total(self.energy_wh, route)
        if self.warm_up.whole_wh:
            taken_wh += float(self.warm_up.after(self.taken_s(route)))
        return taken_wh + (self.follow(battery, route).lost_wh if battery else 0.0)

    def most_charge(self, battery: Battery, least: Route | None = None) -> Route:
        """Return the route that arrives with the most charge and keeps the reserve, as `fullest`.

        Parameters
        ----------
        battery, least
            As in `fullest`, and so are errors.
        """
        return self.fullest(battery, least)[0]

    def fullest(self, battery: Battery, least: Route | None = None) -> tuple[Route, bool]:
        """Return the route that arrives with the most charge and keeps the reserve.

        The second value is True if it is proven that no route arrives with more.

        Parameters
        ----------
        battery
            The charge that bounds the route.
        least
            The route of least energy without a battery, which may spare searches. None for none.

        Raises
        ------
        NotEnoughChargeError
            If there is none. The message states the missing charge.
        """
        least_wh = -np.inf if least is None else self.taken_wh(least, None)
        found, proven = None, True
        # a bounded battery only adds energy
        if battery.start_wh - least_wh >= battery.reserve_wh - NO_GAP_WH:
            found, proven = self.label_search.most_charge(battery)
        if found is None:
            raise self.shortage.error(battery, least)
        return found, proven

    def keeping_reserve(
        self, battery: Battery, cost: FloatArray, best: Route, drivable: Route
    ) -> tuple[Route, bool]:
        """Return the route of least ``cost`` that keeps the reserve, and whether it was found.

        Parameters
        ----------
        battery
            The charge that bounds the route.
        cost
            (a,) cost of each arm, s or m.
        best
            The route of least cost without a battery.
        drivable
            A route that keeps the reserve. It is returned where the effort runs out.
        """
        if self.keeps(battery, best):
            return best, True
        found, _ = self.label_search.cheapest(battery, cost, worth=(TIE_PER_WH, 1.0))
        return found or drivable, found is not None

    def keeps(self, battery: Battery, route: Route) -> bool:
        """Return True if the charge never falls below the reserve on a route."""
        return float(self.follow(battery, route).low_wh.min()) >= battery.reserve_wh - TOLERANCE_WH


def _above(
    energy_wh: FloatArray, tail_wh: FloatArray, head_wh: FloatArray, out: FloatArray | None = None
) -> FloatArray:
    rise_wh = np.subtract(head_wh, tail_wh, out=out)
    return np.subtract(energy_wh, rise_wh, out=rise_wh)


def _sum(
    first: FloatArray, second: FloatArray, by: float, out: FloatArray | None = None
) -> FloatArray:
    product = np.multiply(by, second, out=out)
    return np.add(first, product, out=product)


def gap_text(gap_wh: float) -> str:
    """Return an upper bound on an excess in words."""
    return f"within {rounded_up(gap_wh, 10):.1f} Wh of the least"


def rounded_up(gap: float, parts: int) -> float:
    """Return a gap rounded up to the next of ``parts`` parts of one, at least 0."""
    return float(np.ceil(parts * max(gap, 0.0)) / parts)
