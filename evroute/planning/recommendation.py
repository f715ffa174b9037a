"""Recommendation: the detour that pays.

The route of least ``energy + r time`` is recommended if that is less than the fastest's, and if it
saves a least energy against it, in Wh and as a share of the trip's energy. Otherwise the fastest:
below the least saving there is no choice to be made. So a recommended route that becomes faster or
cheaper stays recommended, as long as the fastest stays the same. Another route that improves can
take the recommendation, or give it to the fastest where it then costs the least and saves too
little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Self

from scipy.special import ndtri

from evroute.arms import Route
from evroute.planning.battery import Battery
from evroute.planning.request import PlanRequest
from evroute.planning.searches.search_problem import NO_GAP_WH, SearchProblem, rounded_up

FEW_LABELS = 20_000
"""Effort of searches for rows that nobody asked for."""
NONE_PAYS = "exact: no detour saves enough energy for its time"


class Totals(NamedTuple):
    """Energy from the battery, Wh, and time, s, of a route."""

    energy_wh: float
    time_s: float


@dataclass(frozen=True, slots=True)
class Rule:
    """When a detour pays.

    Parameters
    ----------
    extra_time
        Share by which a recommended route may be slower than the fastest. Infinite for no limit.
    saving_wh, saving_share
        Least saving, in Wh, and as a share of the energy that the fastest route takes where it
        takes any.
    wh_per_minute
        Energy that is worth a minute, Wh.
    """

    extra_time: float
    saving_wh: float
    saving_share: float
    wh_per_minute: float

    @classmethod
    def of(cls, request: PlanRequest) -> Self:
        """Return the rule of a request."""
        extra = request.max_extra_time
        return cls(
            inf if extra is None else extra,
            request.detour_saving_wh,
            request.detour_saving_share,
            request.detour_wh_per_minute,
        )

    @property
    def per_s(self) -> float:
        """Energy that is worth a second, Wh."""
        return self.wh_per_minute / 60

    def cost(self, route: Totals) -> float:
        """Return energy and time of a route as one number, Wh."""
        return route.energy_wh + self.per_s * route.time_s

    def most_s(self, fastest: Totals) -> float:
        """Return the longest time of a detour, s."""
        return (1 + self.extra_time) * fastest.time_s

    def pays(self, route: Totals, fastest: Totals, taken_wh: float) -> bool:
        """Return True if the route of least `cost` is recommended in place of the fastest.

        Parameters
        ----------
        route
            The route of least cost within the longest time.
        fastest
            The fastest route.
        taken_wh
            Sum of its energies above zero, Wh.
        """
        saved_wh = fastest.energy_wh - route.energy_wh
        enough = saved_wh >= max(self.saving_wh, self.saving_share * taken_wh)
        return enough and self.cost(route) < self.cost(fastest)

    def best(self, fastest: Totals, taken_wh: float, others: Sequence[Totals]) -> int | None:
        """Return the position of the recommended route among others, or None for the fastest.

        Parameters
        ----------
        fastest, taken_wh
            As in `pays`.
        others
            Routes.
        """
        most_s = self.most_s(fastest)
        allowed = [
            (self.cost(other), position)
            for position, other in enumerate(others)
            if other.time_s <= most_s
        ]
        _, position = min(allowed, default=(inf, -1))
        return position if allowed and self.pays(others[position], fastest, taken_wh) else None


def totals(problem: SearchProblem, route: Route, battery: Battery | None) -> Totals:
    """Return energy and time of a route.

    Parameters
    ----------
    problem
        The request and its numbers.
    route
        The route.
    battery
        Charge that it begins with, or None.
    """
    return Totals(problem.taken_wh(route, battery), problem.taken_s(route))


def detour(
    problem: SearchProblem,
    rule: Rule,
    fastest: Route,
    battery: Battery | None,
    known: Sequence[Route],
) -> tuple[Route, str]:
    """Return the recommended route and a statement of how far it is certified.

    Parameters
    ----------
    problem
        The request and its numbers.
    rule
        When a detour pays.
    fastest
        The fastest route within the battery.
    battery
        Charge that bounds the routes, or None.
    known
        Further routes that keep the reserve.
    """
    first = totals(problem, fastest, battery)
    most_s = rule.most_s(first)
    relaxed = problem.cheapest((1.0, rule.per_s))
    bound = rule.cost(totals(problem, relaxed, None))
    if bound >= rule.cost(first) - NO_GAP_WH:
        return fastest, NONE_PAYS

    def cost(route: Route) -> float:
        return rule.cost(totals(problem, route, battery))

    keeping = battery is None or problem.keeps(battery, relaxed)
    routes = [fastest, relaxed, *known] if keeping else [fastest, *known]
    best = min((each for each in routes if problem.taken_s(each) <= most_s), key=cost)
    complete = cost(best) - bound < NO_GAP_WH
    if not complete:
        found, complete = problem.label_search.cheapest(
            battery,
            problem.time_s,
            most_s,
            worth=(1.0, rule.per_s),
            better_than=cost(best),
            effort=FEW_LABELS,
        )
        best = best if found is None else found
    gap_wh = rounded_up(cost(best) - bound, 10)
    if not rule.pays(totals(problem, best, battery), first, problem.positive_wh(fastest)):
        best, none = fastest, NONE_PAYS
    else:
        none = f"exact: no detour pays more, with a minute at {rule.wh_per_minute:g} Wh"
    if complete:
        return best, none
    return best, f"within {gap_wh:.1f} Wh of what a detour can pay, a minute counted in"


@dataclass(frozen=True, slots=True)
class Saving:
    """Expected saving of a route against the fastest, by a belief.

    Parameters
    ----------
    mean_wh, std_wh
        Expected saving and its standard deviation, Wh. Energies that both routes share cancel, and
        the noise of single trips is left out.
    """

    mean_wh: float
    std_wh: float

    def interval_wh(self, level: float = 0.9) -> tuple[float, float]:
        """Return the central interval of the expected saving with a probability, Wh."""
        half_wh = float(ndtri(0.5 + level / 2)) * self.std_wh
        return self.mean_wh - half_wh, self.mean_wh + half_wh

    @property
    def told_apart(self) -> bool:
        """Whether the 90 % interval leaves out 0."""
        low_wh, high_wh = self.interval_wh()
        return low_wh > 0 or high_wh < 0
