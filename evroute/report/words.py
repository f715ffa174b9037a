"""What the routes of a plan are called, and their numbers in one line."""

from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, PlannedRoute, energy_text

ROUTE_LABELS = {
    "energy": "least energy",
    "time": "fastest",
    "distance": "shortest",
    **{f"alternative-{rank}": f"alternative {rank}" for rank in range(1, 6)},
}


def distinct_routes(plan: Plan) -> dict[str, str]:
    """Return the names of the routes that differ, with labels that say which are one: "least energy, fastest"."""
    labels: dict[str, str] = {}
    for name, planned in plan.routes.items():
        same = next((known for known in labels if plan.routes[known].route == planned.route), None)
        if same is None:
            labels[name] = ROUTE_LABELS[name]
        else:
            labels[same] += f", {ROUTE_LABELS[name]}"
    return labels


def totals(planned: PlannedRoute) -> str:
    """Return the energy, time and length of a route in one line."""
    return f"{energy_text(planned.energy_wh)}, {planned.time_s / 60:.1f} min, {planned.length_m / 1000:.1f} km"


def lowest_charge(network: RoadNetwork, plan: Plan) -> str:
    """Return the lowest charge along the least-energy route and where that is; nothing without a battery."""
    least = plan.routes["energy"]
    if plan.battery is None or least.charge is None:
        return ""
    lowest = least.charge.lowest
    where = "at the start"
    if lowest:
        edge = least.route.edges[lowest - 1]
        street = f", {network.street[edge]}" if network.street[edge] else ""
        where = f"after {lowest} of {len(least.route)} edges, {network.edge_id[edge]}{street}"
    return f"lowest charge {plan.battery.percent(float(least.charge.charge_wh[lowest])):.1f} % {where}"
