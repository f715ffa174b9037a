"""Shortage: the charge or capacity that a request misses where no route keeps the reserve.

The backward search for the least start charge is exact: a need plus the potential never falls on
the way back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.bisection import least_that_succeeds
from evroute.energy.heating import WarmUp
from evroute.errors import NoRouteError, NotEnoughChargeError
from evroute.planning.battery import TOLERANCE_WH, Battery, whole_percent
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.searches import lower_bounds
from evroute.planning.searches.charge_steps import Steps
from evroute.planning.searches.compiled import read_only, run
from evroute.planning.searches.legs import Legs, Start
from evroute.planning.searches.need_loop import (
    Begins,
    Stations,
    Turns,
    needs_before,
    settle_charges,
)
from evroute.planning.searches.search import no_way

MOST_ENDS = 20
"""Number of starts up to which a search looks for each, to end early."""
NEAR_WH = 1e-6
"""Charge by which the least one after a cold start may be too great, Wh."""
STEP_WH = 10.0
"""Missing energies are rounded up to a multiple of this, Wh."""
MOST_GROWTH = 1e6
"""Sizes of a battery up to which a sufficient one is sought."""


@dataclass(frozen=True, slots=True)
class Warming:
    """The warm-up of one request after a cold start.

    Parameters
    ----------
    warm_up
        Its energy over the time driven.
    time_s
        (a,) travel time of each arm, s.
    known
        Function that returns routes that are likely to need little, NoRouteError if there is none.
    most_charge
        Function that returns the route that arrives with the most charge and keeps the reserve.
    """

    warm_up: WarmUp
    time_s: FloatArray
    known: Callable[[], Sequence[Route]]
    most_charge: Callable[[Battery], Route | None]


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
        Charge functions of the arms. Their energies are not below the rise of the potential.
    weights
        (a,) energy above that rise, Wh, which leads searches to the start. None if it is not known.
    warming
        The warm-up, or None for none.
    """

    legs: Legs
    head_wh: FloatArray
    charge: ChargeFunctions
    weights: FloatArray | None = None
    warming: Warming | None = None

    def least_start_wh(self, battery: Battery, least: Route | None = None) -> float:
        """Return the least charge at the start with a route that keeps the reserve, Wh.

        Infinite if no route exists, or a full battery does not suffice. The capacity may be
        infinite. The charge of ``battery`` at the start does not matter.

        Parameters
        ----------
        battery
            Capacity and reserve.
        least
            The route of least energy without a battery, which may spare a search. None for none.
        """
        if self.warming is not None:
            return self._least_cold_wh(battery, self.warming)
        if least is not None:
            arms = self.legs.arms_of_route(least)
            need_wh = self.charge.before_all(battery, battery.reserve_wh, arms)
            if need_wh <= self._least_above_wh(battery, arms) + TOLERANCE_WH:
                return _within(battery, need_wh)
        needs_wh = [
            self.charge.before(battery, battery.reserve_wh, piece.arm) for piece in self.legs.pieces
        ]
        needs_wh += self.least_from_wh(battery, self.legs.starts)
        return _within(battery, min(needs_wh))

    def _least_cold_wh(self, battery: Battery, warming: Warming) -> float:
        """Return the least charge at the start after a cold start, Wh, to `NEAR_WH`.

        A search backwards does not know the time since the start. So as long as a route keeps the
        reserve with less than is known to suffice, what that one needs suffices.
        """
        try:
            known = warming.known()
        except NoRouteError:
            return np.inf
        need_wh = min(self._of_route_wh(battery, warming, route) for route in known)
        while True:
            start_wh = min(need_wh - NEAR_WH, battery.capacity_wh)
            if start_wh < battery.reserve_wh:
                return need_wh
            found = warming.most_charge(replace(battery, start_wh=start_wh))
            if found is None:
                return _within(battery, need_wh)
            need_wh = min(self._of_route_wh(battery, warming, found), start_wh)

    def _of_route_wh(self, battery: Battery, warming: Warming, route: Route) -> float:
        """Return the least charge at the start of a route after a cold start, Wh."""
        arms = self.legs.arms_of_route(route)
        drawn_wh = warming.warm_up.along(warming.time_s[arms])
        warmed = self.charge.take(arms).beginning(drawn_wh)
        return warmed.before_all(battery, battery.reserve_wh, np.arange(len(arms)))

    def _least_above_wh(self, battery: Battery, arms: IntArray) -> float:
        """Return a lower bound of `least_start_wh`, from the arms of least energy, Wh.

        A route takes at least their energy. It ends with at least the reserve, and with more where
        its last arm dips below the charge that it ends with.
        """
        last = {each.arm for each in self.legs.exits} | {each.arm for each in self.legs.pieces}
        ends_wh = [
            self.charge.before(battery, battery.reserve_wh, arm) - float(self.charge.energy_wh[arm])
            for arm in last
        ]
        return float(self.charge.energy_wh[arms].sum()) + min(ends_wh, default=battery.reserve_wh)

    def least_starts_wh(self, battery: Battery) -> FloatArray:
        """Return the least charge at the beginning of every edge to drive to the end, (n,) Wh.

        After a cold start it suffices for the lesser of two bounds of the warm-up: its rate all the
        way, and the whole of it at the start.

        Parameters
        ----------
        battery
            As in `least_start_wh`, with the same meaning of infinity.
        """
        if self.warming is not None:
            warm_up, warm = self.warming.warm_up, replace(self, warming=None)
            drawn = self.charge.beginning(warm_up.wh_per_s * self.warming.time_s)
            needs_wh = (
                replace(warm, charge=drawn).least_starts_wh(battery),
                warm.least_starts_wh(battery) + warm_up.whole_wh,
            )
            least_wh = np.minimum(*needs_wh)
            return np.where(least_wh <= battery.capacity_wh + TOLERANCE_WH, least_wh, np.inf)
        starts = self.legs.search.starts
        arms = np.arange(starts.start, starts.stop)
        end_wh, _ = least_needs(self.legs, self.charge, self._back(battery, ()), battery)
        need_wh: FloatArray = run(
            self.legs.search,
            needs_before,
            Steps(read_only(self.charge.start), read_only(self.charge.step_wh)),
            battery.charges(),
            Begins(read_only(arms), read_only(end_wh[: len(arms)])),
        )
        for piece in self.legs.pieces:
            of_piece_wh = self.charge.before(battery, battery.reserve_wh, piece.arm)
            need_wh[piece.edge] = min(need_wh[piece.edge], of_piece_wh)
        return np.where(need_wh <= battery.capacity_wh + TOLERANCE_WH, need_wh, np.inf)

    def least_from_wh(self, battery: Battery, starts: Sequence[Start]) -> list[float]:
        """Return the least charge at each of some starts, Wh. Infinite where no route exists.

        Parameters
        ----------
        battery
            Capacity and reserve.
        starts
            Starts in the first leg.
        """
        edges = sorted({each.edge for each in starts})
        until = edges if len(edges) <= MOST_ENDS else []
        end_wh, _ = least_needs(self.legs, self.charge, self._back(battery, until), battery)
        return [
            self.charge.before(battery, float(end_wh[each.edge]), each.arm)
            if end_wh[each.edge] < np.inf
            else np.inf
            for each in starts
        ]

    def _back(self, battery: Battery, until: Sequence[int]) -> Turns:
        """Return the turns back from the destination. The search ends after some states."""
        legs, last = self.legs, len(self.legs.stops) - 1
        first = last * legs.search.line_graph.n_edges
        roots = [(first + edge, battery.reserve_wh, -1) for edge in legs.stops[last]]
        for each in legs.exits:
            need_wh = self.charge.before(battery, battery.reserve_wh, each.arm)
            roots.append((first + each.before, need_wh, -1))
        since_wh = None
        if until and self.weights is not None:
            since_wh = lower_bounds.since(legs, self.weights, until)
        most_wh = -np.inf if until else np.inf
        return backwards(legs, self.head_wh, roots, (until, most_wh), since_wh)

    def error(self, battery: Battery, least: Route | None) -> NotEnoughChargeError:
        """Return the error with the missing charge or capacity. A plan with that much succeeds.

        Parameters
        ----------
        battery
            Charge at the start, capacity and reserve.
        least
            The route of least energy without a battery, or None, as in `least_start_wh`.
        """
        held = f"{battery.percent(battery.reserve_wh):.4g} %"
        start_percent = battery.percent(battery.start_wh)
        need_wh = self.least_start_wh(battery, least)
        if need_wh <= battery.capacity_wh + TOLERANCE_WH:
            least_percent = whole_percent(battery, need_wh)
            return NotEnoughChargeError(
                f"no route keeps {held} when starting with {start_percent:.4g} %: needs "
                f"{_steps(need_wh - battery.start_wh) * STEP_WH / 1000:.2f} kWh more. "
                f"Start with at least {least_percent} %",
                least_percent,
            )
        if not np.isfinite(self.least_start_wh(replace(battery, capacity_wh=np.inf), least)):
            return NotEnoughChargeError(no_way(self.legs.starts[0].edge, self.legs.destinations[0]))
        if battery.reserve_wh == battery.capacity_wh:
            return NotEnoughChargeError(
                f"a reserve of {held} leaves no charge to drive with. Choose a smaller reserve"
            )
        missing_wh = self._least_missing_wh(replace(battery, start_wh=battery.capacity_wh), least)
        return NotEnoughChargeError(
            f"even a full battery does not keep {held} all the way: needs {missing_wh / 1000:.2f} "
            f"kWh more than its {battery.capacity_wh / 1000:.4g} kWh when starting with 100 %. "
            "Charge on the way, or take a vehicle with a larger battery",
            missing_wh=missing_wh,
        )

    def _least_missing_wh(self, battery: Battery, least: Route | None) -> float:
        """Return the least multiple of `STEP_WH` by which a sufficient battery is larger, Wh.

        Start and reserve keep their percentages, the start above the reserve. A larger battery then
        has more to use and more room for regeneration, so the bisection finds the least. Where
        regeneration fades it finds a sufficient one.
        """

        def suffices(larger: Battery) -> bool:
            return self.least_start_wh(larger, least) <= larger.start_wh + TOLERANCE_WH / 2

        usable = (battery.start_wh - battery.reserve_wh) / battery.capacity_wh
        unbounded = replace(battery, capacity_wh=np.inf, reserve_wh=0.0)
        # no smaller battery has the charge that even an unbounded one needs
        least_wh = self.least_start_wh(unbounded, least) / usable - battery.capacity_wh
        return least_growth_wh(battery, suffices, least_wh)


def grown(battery: Battery, more_wh: float) -> Battery:
    """Return a larger battery, with start and reserve in the same per cents.

    Parameters
    ----------
    battery
        The battery.
    more_wh
        Further capacity, Wh.
    """
    size = (battery.capacity_wh + more_wh) / battery.capacity_wh
    return replace(
        battery,
        capacity_wh=size * battery.capacity_wh,
        start_wh=size * battery.start_wh,
        reserve_wh=size * battery.reserve_wh,
    )


def least_growth_wh(
    battery: Battery, suffices: Callable[[Battery], bool], least_wh: float
) -> float:
    """Return the least multiple of `STEP_WH` by which a sufficient battery is larger, Wh.

    Infinite if one of `MOST_GROWTH` times the size does not suffice.

    Parameters
    ----------
    battery
        A battery that does not suffice. Start and reserve keep their per cents.
    suffices
        Function of a larger battery that turns from False to True once.
    least_wh
        Energy below which no growth suffices, Wh.
    """

    def enough(steps: int) -> bool:
        return suffices(grown(battery, STEP_WH * steps))

    first = max(1, _steps(least_wh))
    most = first + _steps(MOST_GROWTH * battery.capacity_wh)
    steps = least_that_succeeds(enough, first, most, first)
    return np.inf if steps is None else STEP_WH * steps


def backwards(
    legs: Legs,
    head_wh: FloatArray,
    roots: Sequence[tuple[int, float, int]],
    until: tuple[Sequence[int], float] = ((), np.inf),
    since_wh: FloatArray | None = None,
) -> Turns:
    """Return the turns of a request backwards, for the loops of needs.

    Parameters
    ----------
    legs, head_wh
        The legs, and the potential after each arm, (a,) Wh.
    roots
        States at which routes end, the charges needed there, Wh, and numbers of their stations.
    until
        States after which the search ends, and the bound of the order, as `Turns` has them.
    since_wh
        (s,) lower bounds of the energy above the potential from these to each state, Wh. None if
        they are not known.
    """
    first, before, arm = legs.search.turns_into
    states = np.array([state for state, _, _ in roots], dtype=np.int64)
    stations = np.array([station for _, _, station in roots], dtype=np.int64)
    return Turns(
        0,
        read_only(first),
        read_only(before),
        read_only(arm),
        legs.ways().ends,
        read_only(legs.after_wh(head_wh)),
        read_only(states),
        read_only(np.array([need_wh for _, need_wh, _ in roots], dtype=np.float64)),
        read_only(stations),
        read_only(np.array(until[0], dtype=np.int64)),
        float(until[1]),
        read_only(np.zeros(legs.n_states) if since_wh is None else since_wh),
    )


def least_needs(
    legs: Legs,
    charge: ChargeFunctions,
    back: Turns,
    battery: Battery,
    stations: Stations | None = None,
) -> tuple[FloatArray, IntArray]:
    """Return the least charge after each state, Wh, and the number of its first station, (s,).

    Parameters
    ----------
    legs, charge, back
        The request and its turns backwards.
    battery
        Capacity and reserve.
    stations
        Stations that may be used, or None for none.
    """
    n_states, n_nodes = len(back.ends), legs.search.line_graph.n_edges
    if stations is None:
        none, unused = np.full(n_states, -1), np.ones(n_states, dtype=np.int8)
        at = read_only(np.full(n_nodes, -1))
        stations = Stations(at, read_only(none), read_only(unused), 0.0, np.inf, n_nodes)
    steps = Steps(read_only(charge.start), read_only(charge.step_wh))
    numbers = battery.charges()
    found: tuple[FloatArray, IntArray] = run(
        legs.search, settle_charges, back, steps, numbers, stations
    )
    return found


def _within(battery: Battery, need_wh: float) -> float:
    """Return a charge that is needed, infinite if the battery does not hold it, Wh."""
    return need_wh if need_wh <= battery.capacity_wh + TOLERANCE_WH else np.inf


def _steps(energy_wh: float) -> int:
    """Return the least number of `STEP_WH` that reaches an energy, to half the tolerance."""
    return ceil((energy_wh - TOLERANCE_WH / 2) / STEP_WH)
