"""Charging stops: where to stop and how much to charge, for the least time or another aim.

Labels per state of the legs in the order of a lower bound of the cost on arrival (A*). A stop is at
the end of an edge with a socket, and takes the time beside charging and the time of the charging
function. A label has all charges that its route may have left since its last stop, with the cost of
each (`searches.stop_loops`): the charge to leave with is not rounded. At the next stop the charge
on arrival is decided. Where less bought before and more here costs less, the car arrives with less.
So for a given order of stops, charges lie at corners: corners of a charging function, a limit, or
just enough for the tightest point ahead. More charge is never worse later. So a label is cut only
if another one of its state has, for each of its charges, as much at no more cost. The first label
that arrives is the best plan.

The bound of a label with charge s is the cost left, or the cost of the route for which cost and
energy at the power of the best socket cost least in sum, less the cost to charge s at that power.
One set-up is added where s does not suffice for the least energy left. Driving takes at least the
expected energy, and charging at least energy by power, so the bound never exceeds the cost. Charges
that lose regeneration which fades near a full battery are whole per cents.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.planning.battery import Battery
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.chargers import Charger, ChargingStop, StopWishes, Visit, stops_at
from evroute.planning.charge.stop_bounds import FAR_BEYOND, EnergiesLeft, StopBounds, needs_stop
from evroute.planning.searches.charge_steps import Steps
from evroute.planning.searches.compiled import read_only, run
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.searches.segments import Pace, Sockets
from evroute.planning.searches.settle import Costs
from evroute.planning.searches.stop_loops import settle_stops

GREATEST_EFFORT = 500_000
"""Number of labels after which a search stops."""
FEW = 100_000
"""Number of labels after which a search begins anew with bounds that reach further."""
GREEDS = ((2.0, GREATEST_EFFORT), (10.0, 2**62))
"""Factors of the cost that is left, with their efforts, where the effort runs out."""
NEAR = 1e-9
USUAL = StopWishes()


@dataclass(frozen=True, slots=True, eq=False)
class StopPlan:
    """A route with stops, its charges not rounded.

    Parameters
    ----------
    route, visits
        The route, and its stops.
    cost, bound
        Its cost, and a lower bound on the cost of any plan.
    """

    route: Route
    visits: tuple[Visit, ...]
    cost: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether no plan costs less."""
        return self.bound == self.cost

    def of_least_time(self, shown_s: float, *, stops: bool) -> str:
        """Return how far a plan is certified to be the fastest, if this one is of least time.

        Parameters
        ----------
        shown_s
            Its time with charges rounded up, s.
        stops
            Whether it stops.
        """
        late_s = max(shown_s - self.bound, 0.0)
        if not self.exact:
            return f"the search ended early: at most {late_s / 60:.1f} min longer than the best"
        proof = "exact: no plan arrives earlier"
        if not stops:
            return proof
        return f"{proof}, but for rounding charges up to whole per cents ({late_s:.0f} s)"


@dataclass(eq=False)
class LeastTime:
    """Plans of least time of one request, each found once, and the bounds that they share.

    Parameters
    ----------
    problem
        The request where routes may stop, and its numbers.
    chargers, wishes
        As in `charging_stops`.
    """

    problem: SearchProblem
    chargers: Sequence[Charger]
    wishes: StopWishes
    _plans: dict[Battery, StopPlan | None] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def aim(self) -> Aim:
        """The costs."""
        return Aim.least_time(self.problem, self.chargers, self.wishes)

    @cached_property
    def left(self) -> EnergiesLeft:
        """Bounds by expected energies, which hold for raised ones too."""
        return EnergiesLeft(self.problem)

    def plan(self, battery: Battery) -> StopPlan | None:
        """Return the plan of a charge at the start, or None for none."""
        if battery not in self._plans:
            self._plans[battery] = self.plan_of(self.problem, battery)
        return self._plans[battery]

    def plan_of(self, problem: SearchProblem, battery: Battery) -> StopPlan | None:
        """Return the plan by the energies of a problem, which are at least the expected ones."""
        given = problem, battery, self.chargers, self.aim, self.wishes
        return best_plan(*given, left=self.left)


def charging_stops(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    wishes: StopWishes = USUAL,
    *,
    effort: int = GREATEST_EFFORT,
) -> tuple[Route, tuple[ChargingStop, ...], str] | None:
    """Return the fastest route with any number of stops, its stops, and how far it is certified.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Charge at the start, and the reserve that is kept everywhere.
    chargers
        Sockets that fit the car.
    wishes
        Wishes for the stops.
    effort
        Labels after which a search gives way to one that is not exact.

    Returns
    -------
    found
        None if no plan keeps the reserve.
    """
    aim = Aim.least_time(problem, chargers, wishes)
    plan = best_plan(problem, battery, chargers, aim, wishes, effort=effort)
    return None if plan is None else shown(problem, battery, plan, wishes)


def shown(
    problem: SearchProblem, battery: Battery, plan: StopPlan, wishes: StopWishes
) -> tuple[Route, tuple[ChargingStop, ...], str]:
    """Return the route of a plan of least time, its stops rounded up, and its certificate.

    Parameters
    ----------
    problem, battery, wishes
        As in `charging_stops`.
    plan
        A plan of least time.
    """
    route, stops = stops_at(problem, battery, plan.route, plan.visits, wishes)
    shown_s = problem.taken_s(route) + sum(stop.time_s for stop in stops)
    return route, stops, plan.of_least_time(shown_s, stops=bool(stops))


def best_plan(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    aim: Aim,
    wishes: StopWishes = USUAL,
    *,
    effort: int = GREATEST_EFFORT,
    left: EnergiesLeft | None = None,
) -> StopPlan | None:
    """Return the plan of least cost with any number of stops, or None if none keeps the reserve.

    Parameters
    ----------
    problem, battery, chargers, wishes, effort
        As in `charging_stops`.
    aim
        The costs.
    left
        Energies left, and bounds, that several searches of the request share.
    """
    left = EnergiesLeft(problem) if left is None else left
    arrive_wh = wishes.arrive_wh(battery)
    stops = needs_stop(problem, battery, left.rest_wh, arrive_wh)
    if stops and not chargers:
        return None
    known = left.bounds(battery, chargers, aim, stops=stops)
    given = problem, battery, chargers, aim, wishes, known
    labels, reached = _settled(*given, (1.0, min(effort, FEW)))
    if not labels and reached < np.inf and effort > FEW:
        known = left.bounds(battery, chargers, aim, stops=stops, beyond=FAR_BEYOND)
        given = *given[:-1], known
        labels, reached = _settled(*given, (1.0, effort))
    cost = reached
    for greed, most in GREEDS:
        if labels or cost == np.inf:
            break
        labels, cost = _settled(*given, (greed, most))
    if not labels:
        return None
    return StopPlan(*_followed(problem, battery, chargers, labels), cost, reached)


def _followed(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    labels: Sequence[tuple[int, int, int, float, float]],
) -> tuple[Route, tuple[Visit, ...]]:
    """Return route and stops of labels (`stop_loops.settle_stops`) in driving order."""
    n_edges = problem.legs.search.line_graph.n_edges
    edges: list[int] = []
    stopped: list[tuple[Charger, int]] = []
    left_wh: list[float] = []
    net_wh = 0.0
    for state, stops, charger, net_since_wh, low_wh in labels:
        if stops:
            left_wh.append(low_wh + net_wh)
            stopped.append((chargers[charger], len(edges)))
        else:
            edges.append(state % n_edges)
        net_wh = net_since_wh
    left_wh.append(labels[-1][4] + net_wh)
    # the first is the charge at the start
    visits = (
        Visit(used, after, battery.percent(charge_wh))
        for (used, after), charge_wh in zip(stopped, left_wh[1:], strict=True)
    )
    return problem.legs.driven(tuple(edges)), tuple(visits)


def _settled(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    aim: Aim,
    wishes: StopWishes,
    known: StopBounds,
    pace: tuple[float, int],
) -> tuple[list[tuple[int, int, int, float, float]], float]:
    """Return the labels of the best plan, and the bound of the cost at which the search stopped."""
    legs, n_edges = problem.legs, problem.legs.search.line_graph.n_edges
    entries = sorted((node, row) for row, each in enumerate(chargers) for node in each.nodes)
    edges, rows = np.array(entries, dtype=np.int64).reshape(-1, 2).T
    first = np.append(0, np.cumsum(np.bincount(edges, minlength=n_edges)))
    whole_wh = battery.capacity_wh / 100
    labels, bound = run(
        legs.search,
        settle_stops,
        legs.ways(),
        Steps(read_only(problem.charge.start), read_only(problem.charge.step_wh)),
        battery.charges(),
        Costs(read_only(aim.arm_cost), read_only(known.rest_wh), read_only(known.rest)),
        problem.label_search.warming(None, battery.lossless_wh, left=False),
        Sockets(
            read_only(first),
            read_only(rows),
            read_only(aim.table),
            read_only(_corners(aim.table)),
            read_only(known.rest_both),
            read_only(known.by_quick),
            read_only(known.by_slow),
            read_only(known.to_quick_wh),
            read_only(known.slow),
        ),
        Pace(
            per_wh=float(known.per_wh),
            slow_per_wh=float(known.slow_per_wh),
            from_wh=float(battery.start_wh) if aim.credit else wishes.arrive_wh(battery),
            setup=float(aim.setup) if chargers else np.inf,
            low_wh=float(wishes.from_percent * whole_wh),
            high_wh=float(wishes.to_percent * whole_wh),
            arrive_wh=wishes.arrive_wh(battery),
            credit=float(aim.credit),
            credit_wh=float(battery.start_wh),
            least_credit=-np.inf if aim.unlimited else 0.0,
            greed=pace[0],
            effort=pace[1],
            near=NEAR,
        ),
    )
    return labels[::-1], bound


def _corners(table: FloatArray) -> IntArray:
    """Return the next whole per cent above each at which a slope changes, (c, 101). 101 for none.

    table: (c, 101) costs from empty.
    """
    slope = np.diff(table)
    same = np.isclose(slope[:, :-1], slope[:, 1:], rtol=1e-12, atol=0.0)
    at = np.where(same, 101, np.arange(1, 100))
    ends = np.full((len(table), 1), 101)
    following = np.hstack([at, ends, ends])
    return np.minimum.accumulate(following[:, ::-1], axis=1)[:, ::-1]
