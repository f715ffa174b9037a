"""Rows of a plan: their routes, each with a statement of its certificate.

Rows are ``energy``, ``time`` and ``distance``; ``energy-limited``, least energy within 15 % extra
time, where ``energy`` takes longer and the request has no limit of its own; ``cost``, least money
for energy and time, where the time has a value; and alternatives. One of them is recommended.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.planning.battery import Battery
from evroute.planning.charge.stops import ChargingStop
from evroute.planning.request import PlanRequest
from evroute.planning.searches.search_problem import SearchProblem, least_energy
from evroute.planning.searches.tradeoff import between, cheapest_within
from evroute.planning.weights import DEFAULT_SEARCH

RECOMMENDED_EXTRA_TIME = 0.15
"""Share by which the recommended route may be slower than the fastest, if no limit is given."""
FEW_LABELS = 20_000
"""Effort for the row ``energy-limited``, which nobody asked for."""


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


def choose_rows(
    problem: SearchProblem, fastest: Route, request: PlanRequest, battery: Battery | None
) -> Rows:
    """Return the rows of a plan.

    Parameters
    ----------
    problem
        The request and its numbers.
    fastest
        The fastest route without a battery.
    request
        The wishes of the plan.
    battery
        Charge at the start and reserve; each route is the best of those that keep the reserve. None
        for no bounds.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached with this charge.
    """
    extra = request.max_extra_time
    legs, quickest = problem.legs, fastest
    shortest = legs.route(problem.length_m)
    cheapest = legs.route(problem.weights(request.search))
    least, proof = least_energy(problem, cheapest, battery, request.search)
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
    if extra is None and request.search == DEFAULT_SEARCH and problem.taken_s(least) > usual_s:
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
    if request.price is not None and request.time_value is not None:
        recommended = "cost"
        worth = per_wh, per_s = request.price / 1000, request.time_value / 3600
        cheapest = legs.route(per_wh * problem.weights() + per_s * problem.time_s)
        known = [routes[name] for name in routes if name != "distance"]
        routes[recommended], proofs[recommended] = cheapest_within(
            problem, worth, limit_s, battery, known, (cheapest, quickest)
        )
    if request.alternatives:
        chosen = between(problem, battery, fastest, least, request.alternatives)
        routes |= {f"alternative-{rank}": route for rank, route in enumerate(chosen, start=1)}
    return Rows(routes, proofs, recommended)
