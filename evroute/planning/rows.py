"""Rows of a plan: its options, and their routes with a statement of their certificate.

Rows are ``energy``, ``time`` and ``distance``; ``energy-limited``, least energy within 15 % extra
time, where ``energy`` takes longer and the request has no limit of its own; ``cost``, least money
for energy and time, where the time has a value; and alternatives. One of them is recommended.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.errors import require
from evroute.planning.battery import Battery
from evroute.planning.charge.stops import ChargingStop
from evroute.planning.numbers import check_risk
from evroute.planning.searches.search_problem import SearchProblem, least_energy
from evroute.planning.searches.tradeoff import between, cheapest_within
from evroute.planning.weights import DEFAULT_SEARCH, check_search

RECOMMENDED_EXTRA_TIME = 0.15
"""Share by which the recommended route may be slower than the fastest, if no limit is given."""
FEW_LABELS = 20_000
"""Effort for the row ``energy-limited``, which nobody asked for."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options of one plan, beside its places.

    Parameters
    ----------
    search
        Weight rule; all but ``potential`` are for comparison and go with neither battery, time
        limit nor value of time.
    battery
        Start charge and reserve; each route is the best of those that keep the reserve. None for
        no bounds.
    max_extra_time
        Share by which all rows but ``distance`` may be slower than the fastest, >= 0. Without it a
        row ``energy-limited`` is recommended where least energy takes over 15 % longer.
    alternatives
        Greatest number of further routes on the convex hull of time and energy, between the fastest
        and that of least energy; ``alternative-1`` is the fastest of them.
    price, time_value
        Price of energy, money per kWh, and value of time, money per hour; with both, the row
        ``cost`` is recommended.
    risk
        Greatest probability of ever falling below the reserve, in (0, 0.5]: each route is the best
        of those that keep it. It needs a battery, and a belief or an uncertainty. None to go by
        expected energies.
    charge
        Whether to charge on the way where no route keeps the reserve, or the limit of risk: the
        plan then has one row, ``charge``, the fastest with stops (`charging`). It needs a battery
        and the charging stations of the network.

    Raises
    ------
    UnknownNameError
        If there is no such weight rule.
    EvrouteError
        If a number is out of its range, or options contradict each other.
    """

    search: str = DEFAULT_SEARCH
    battery: Battery | None = None
    max_extra_time: float | None = None
    alternatives: int = 0
    price: float | None = None
    time_value: float | None = None
    risk: float | None = None
    charge: bool = False

    def __post_init__(self) -> None:
        check_search(self.search)
        battery, extra, price, value = (
            self.battery,
            self.max_extra_time,
            self.price,
            self.time_value,
        )
        require(
            self.search == DEFAULT_SEARCH or (battery, extra, value) == (None, None, None),
            f"a battery, a time limit or a value of time goes with search '{DEFAULT_SEARCH}', "
            f"not with '{self.search}'",
        )
        if self.risk is not None:
            check_risk(self.risk)
            require(battery, "a risk needs the charge at the start; give start and reserve")
            require(
                not self.alternatives,
                "a risk does not go with alternatives; leave one of them out",
            )
        if self.charge:
            require(battery, "charging on the way needs the charge at the start; give it")
            require(
                (extra, value, self.alternatives) == (None, None, 0),
                "charging on the way takes the least time; leave out the extra time, "
                "alternatives and the value of time",
            )
        if extra is not None:
            require(0 <= extra < np.inf, f"the extra time is {extra:.0%}; it must be 0 % or more")
        if price is not None:
            require(0 < price < np.inf, f"the price is {price:g}; it must be more than 0 per kWh")
        if value is not None:
            require(
                0 <= value < np.inf,
                f"the value of time is {value:g}; it must be 0 or more per hour",
            )
            require(price is not None, "a value of time needs the price of energy; give both")


@dataclass(frozen=True, slots=True)
class Rows:
    """Routes by the names of their rows.

    Parameters
    ----------
    routes
        Routes by row.
    proofs
        How far each optimum is certified, by row.
    recommended
        The recommended row.
    stops
        Stops of the row ``charge``.
    """

    routes: dict[str, Route]
    proofs: dict[str, str]
    recommended: str
    stops: tuple[ChargingStop, ...] = ()


def choose_rows(problem: SearchProblem, fastest: Route, options: PlanOptions) -> Rows:
    """Return the rows of a plan.

    Parameters
    ----------
    problem
        The request and its numbers.
    fastest
        The fastest route without a battery.
    options
        Options of the plan.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached with this charge.
    """
    battery, extra = options.battery, options.max_extra_time
    legs, quickest = problem.legs, fastest
    shortest = legs.route(problem.length_m)
    cheapest = legs.route(problem.weights(options.search))
    least, proof = least_energy(problem, cheapest, battery, options.search)
    caveat = ""
    if battery is not None:
        fastest, found = problem.keeping_reserve(battery, problem.time_s, fastest, least)
        shortest, also = problem.keeping_reserve(battery, problem.length_m, shortest, least)
        if not (found and also):
            caveat = (
                "; the fastest or shortest that keeps the reserve was not found, "
                "this route replaces it"
            )
    limit_s = np.inf if extra is None else (1 + extra) * problem.taken_s(fastest)
    if problem.taken_s(least) > limit_s:
        least, proof = cheapest_within(
            problem, (1.0, 0.0), limit_s, battery, [fastest], (cheapest, quickest)
        )
    routes, proofs = {"energy": least, "time": fastest, "distance": shortest}, {}
    proofs["energy"], recommended = proof + caveat, "energy"
    usual_s = (1 + RECOMMENDED_EXTRA_TIME) * problem.taken_s(fastest)
    if extra is None and options.search == DEFAULT_SEARCH and problem.taken_s(least) > usual_s:
        recommended = "energy-limited"
        routes[recommended], proofs[recommended] = cheapest_within(
            problem,
            (1.0, 0.0),
            usual_s,
            battery,
            [fastest],
            (cheapest, quickest),
            effort=FEW_LABELS,
        )
    if options.price is not None and options.time_value is not None:
        recommended = "cost"
        worth = per_wh, per_s = options.price / 1000, options.time_value / 3600
        cheapest = legs.route(per_wh * problem.weights() + per_s * problem.time_s)
        known = [routes[name] for name in routes if name != "distance"]
        routes[recommended], proofs[recommended] = cheapest_within(
            problem, worth, limit_s, battery, known, (cheapest, quickest)
        )
    if options.alternatives:
        chosen = between(problem, battery, fastest, least, options.alternatives)
        routes |= {f"alternative-{rank}": route for rank, route in enumerate(chosen, start=1)}
    return Rows(routes, proofs, recommended)
