"""A route at other hours, by the traffic that trips have shown."""

from cards import minutes

from evroute.planning.plan import Plan, energy_text
from evroute.planning.planner import Planner

HOURS = {"night": 3, "morning": 9, "afternoon": 15, "evening": 21}
"""An hour of each quarter of the day. Learned speeds differ by quarter."""
SAME_S = 30.0
UNKNOWN = "traffic is unknown until your trips show it"


def departures(planner: Planner, plan: Plan) -> str:
    """Return minutes and energy of the recommended route by quarter of the day, in words.

    Parameters
    ----------
    planner, plan
        Planner of the day, and its plan.
    """
    if plan.minutes_from == "map":
        return UNKNOWN
    route = plan.recommended_route.route
    found = {name: planner.leaving(3600.0 * hour).describe(route) for name, hour in HOURS.items()}
    times_s = [each.time_s for each in found.values()]
    if max(times_s) - min(times_s) < SAME_S:
        return "your trips show the same traffic at all hours of this route"
    listed = ", ".join(
        f"{name} {minutes(each.time_s)} and {energy_text(each.energy_wh)}"
        for name, each in found.items()
    )
    return f"this route by your trips: {listed}"
