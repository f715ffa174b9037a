"""The forecast of the fastest route that a plan refuses."""

from evroute.errors import EvrouteError
from evroute.planning.fields import day_of
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.planner import Planner


def refused_fastest(planner: Planner, plan: Plan) -> PlannedRoute | None:
    """Return the route that is fastest without regard to the charge, if the plan refuses it.

    None if it keeps the reserve and the limit of risk, and where the plan charges on the way.

    Parameters
    ----------
    planner, plan
        Planner of the belief, and its plan.
    """
    battery, request = plan.battery, plan.request
    if battery is None or request.charge:
        return None
    wishes = {"soc": None, "reserve": None}
    try:
        fastest = planner.plan(request.model_copy(update=wishes)).routes["time"]
    except EvrouteError:
        return None
    if fastest.route in {planned.route for planned in plan.routes.values()}:
        return None
    described = _on_day(planner, plan).describe(fastest.route, battery)
    assert described.charge is not None
    assert described.charge_forecast is not None
    falls = described.charge.low_wh.min() < battery.reserve_wh
    risky = described.charge_forecast.never_below_reserve < 1.0 - (request.most_risk or 1.0)
    return described if falls or risky else None


def _on_day(planner: Planner, plan: Plan) -> Planner:
    """Return the planner on the day of a plan."""
    given = "conditions" in plan.request.model_fields_set
    conditions = plan.request.conditions if given else planner.conditions
    return planner.of_car(plan.request.car).under(day_of(conditions, plan.request.depart))
