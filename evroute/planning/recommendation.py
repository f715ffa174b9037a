"""Recommendation: the detour that pays.

The route of least ``energy + r time`` is recommended if that is less than the fastest's by a least
gain, in Wh and as a share of the trip's energy. Otherwise the fastest: below the least gain there
is no choice to be made. So a recommended route that becomes faster or cheaper stays recommended,
and another one that improves can only take the recommendation itself, as long as the fastest stays
the same.
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
        Least gain: the saved energy less the worth of the extra time, in Wh, and as a share of the
        energy that the fastest route takes where it takes any.
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

    def limits(self, fastest: Totals, taken_wh: float) -> tuple[float, float]:
        """Return the greatest `cost`, Wh, and time, s, of a detour.

        Parameters
        ----------
        fastest
            The fastest route.
        taken_wh
            Sum of its energies above zero, Wh.
        """
        least_wh = max(self.saving_wh, self.saving_share * taken_wh)
        return self.cost(fastest) - least_wh, (1 + self.extra_time) * fastest.time_s

    def best(self, fastest: Totals, taken_wh: float, others: Sequence[Totals]) -> int | None:
        """Return the position of the recommended route among others, or None for the fastest.

        Parameters
        ----------
        fastest, taken_wh
            As in `limits`.
        others
            Routes.
        """
        most_wh, most_s = self.limits(fastest, taken_wh)
        allowed = [
            (self.cost(other), position)
            for position, other in enumerate(others)
            if self.cost(other) <= most_wh and other.time_s <= most_s
        ]
        cost_wh, position = min(allowed, default=(inf, -1))
        return position if cost_wh < self.cost(fastest) else None


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
    first, taken_wh = totals(problem, fastest, battery), problem.positive_wh(fastest)
    most_wh, most_s = rule.limits(first, taken_wh)
    relaxed = problem.cheapest((1.0, rule.per_s))
    bound = rule.cost(totals(problem, relaxed, None))
    if bound > most_wh or bound >= rule.cost(first) - NO_GAP_WH:
        return fastest, NONE_PAYS
    keeping = battery is None or problem.keeps(battery, relaxed)
    routes = [relaxed, *known] if keeping else list(known)
    position = rule.best(first, taken_wh, [totals(problem, each, battery) for each in routes])
    best = fastest if position is None else routes[position]
    least = most_wh if position is None else rule.cost(totals(problem, best, battery))
    exact = f"exact: no detour pays more, with a minute at {rule.wh_per_minute:g} Wh"
    if least - bound < NO_GAP_WH:
        return best, exact
    found, complete = problem.label_search.cheapest(
        battery,
        problem.time_s,
        most_s,
        worth=(1.0, rule.per_s),
        better_than=least,
        effort=FEW_LABELS,
    )
    if found is not None:
        best = found
    if complete:
        return best, NONE_PAYS if best == fastest else exact
    gap_wh = rounded_up(rule.cost(totals(problem, best, battery)) - bound, 10)
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
