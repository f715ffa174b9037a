"""Labels of the routes of a plan, and their numbers in one line."""

from evroute.network.places.names import edge_label
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import ROW_LABELS, SMALL_WH, Plan, PlannedRoute, energy_text


def distinct_routes(plan: Plan) -> dict[str, str]:
    """Return the rows with different routes, the recommended one first, and their joint labels.

    A label is "least energy, fastest" where two rows are one route.
    """
    labels: dict[str, str] = {}
    for name in dict.fromkeys([plan.recommended, *plan.routes]):
        planned = plan.routes[name]
        same = next((known for known in labels if plan.routes[known].route == planned.route), None)
        if same is None:
            labels[name] = ROW_LABELS[name]
        else:
            labels[same] += f", {ROW_LABELS[name]}"
    return labels


def totals(planned: PlannedRoute) -> str:
    """Return the energy, time and length of a route in one line."""
    return (
        f"{energy_text(planned.energy_wh)}, {planned.time_s / 60:.1f} min, "
        f"{planned.length_m / 1000:.1f} km"
    )


def lowest_charge(network: RoadNetwork, plan: Plan) -> str:
    """Return the lowest charge of the recommended route and its place; empty without a battery."""
    least = plan.recommended_route
    if plan.battery is None or least.charge is None:
        return ""
    lowest = least.charge.lowest
    where = "at the start"
    if lowest:
        driven = least.route.rows[:lowest]
        length_km = network.length_m[driven].sum() / 1000
        where = f"after {length_km:.1f} km, on {edge_label(network, int(driven[-1]))}"
    return f"lowest charge {plan.battery.percent(float(least.charge.low_wh[lowest])):.1f} % {where}"


_CAUSES = {
    "climb": "less climbing",
    "rolling": "a shorter way",
    "drag": "lower speeds",
    "auxiliary": "less time for heating and lights",
    "turning": "fewer stops and turns",
    "lost": "less regeneration lost to a full battery",
    "learned": "roads that took less on past trips",
}


def reason(network: RoadNetwork, plan: Plan, name: str) -> str:
    """Return why a row is as it is: the recommended one against the fastest, others against it.

    Parameters
    ----------
    network
        The roads.
    plan
        The routes.
    name
        The row.

    Returns
    -------
    str
        The greatest cause of a saving and the differences in time and energy.
    """
    row, best = plan.routes[name], plan.recommended_route
    fastest = plan.routes["time"]
    if row.route == best.route == fastest.route:
        least = plan.routes["energy"].route == best.route
        return f"no route is faster{' or takes less energy' if least else ''}"
    against = fastest if row.route == best.route else best
    amount = _amount(plan, row.energy_wh - against.energy_wh)
    words = f"{_off_time(row.time_s - against.time_s)}, {amount or 'the same energy'}"
    if against is best:
        return f"{words} than recommended" if amount else words
    cause = _greatest_cause(network, row, against)
    return f"{cause}: {words}" if cause else words


def _amount(plan: Plan, off_wh: float) -> str:
    """Return a difference in energy as text; empty if it is zero once rounded."""
    small = max(planned.energy_wh for planned in plan.routes.values()) < SMALL_WH
    amount = f"{abs(off_wh):.0f} Wh" if small else f"{abs(off_wh) / 1000:.2f} kWh"
    if float(amount.split()[0]) == 0:
        return ""
    return f"{amount} {'more' if off_wh > 0 else 'less'}"


def _greatest_cause(network: RoadNetwork, row: PlannedRoute, against: PlannedRoute) -> str:
    """Return the part of a route's energy that saves most; empty if the route saves nothing."""
    saved_wh = {
        cause: against.parts_wh.get(cause, 0.0) - row.parts_wh.get(cause, 0.0) for cause in _CAUSES
    }
    cause = max(saved_wh, key=lambda cause: saved_wh[cause])
    if row.energy_wh >= against.energy_wh or saved_wh[cause] <= 0:
        return ""
    if cause == "climb" and (street := _steepest_street(network, row, against)):
        return f"avoids the climb on {street}"
    return _CAUSES[cause]


def _steepest_street(network: RoadNetwork, row: PlannedRoute, against: PlannedRoute) -> str:
    """Return the street of the greatest climb that a route avoids; empty if it has no name."""
    avoided = set(against.route.edges) - set(row.route.edges)
    edge = max(avoided, key=lambda edge: network.ascent_m[edge], default=None)
    if edge is None or network.ascent_m[edge] <= 0:
        return ""
    return network.street[edge]


def _off_time(off_s: float) -> str:
    """Return a difference in time as text."""
    if abs(off_s) < 1:
        return "as fast"
    amount = f"{abs(off_s):.0f} s" if abs(off_s) < 60 else f"{abs(off_s) / 60:.0f} min"
    return f"{amount} {'longer' if off_s > 0 else 'less'}"
