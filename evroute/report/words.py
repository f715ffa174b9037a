"""Labels of the routes of a plan, and their numbers in one line."""

from typing import TYPE_CHECKING

from evroute.network.names import edge_label
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import ROW_LABELS, Plan, PlannedRoute, energy_text
from evroute.report.mean_interval import half_interval

if TYPE_CHECKING:
    import pandas as pd

LAST_TRIPS = 50
LEVEL = 0.95
"""Of the interval of the mean saving over the worlds."""


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
    return (
        f"lowest charge {plan.battery.percent(float(least.charge.charge_wh[lowest])):.1f} % {where}"
    )


_PARTS = {
    "climb": "for the climb",
    "rolling": "in rolling",
    "drag": "against the air",
    "auxiliary": "for heating and lights",
    "turning": "in turns",
    "lost": "that a full battery cannot take back",
    "learned": "by learned differences of its roads",
    "held": "by raising learned energies to the physical minimum",
}


def why(plan: Plan) -> str:
    """Return why the recommended route takes less than the fastest: length, speed, energy parts.

    Empty if they are one route. Parts that differ by less than 1 Wh are left out.
    """
    least, fastest = plan.recommended_route, plan.routes["time"]
    if least.route == fastest.route:
        return ""
    speeds = [f"{3.6 * each.length_m / each.time_s:.0f} km/h" for each in (least, fastest)]
    off_m = least.length_m - fastest.length_m
    length = (
        f"{abs(off_m) / 1000:.1f} km {'longer' if off_m > 0 else 'shorter'}"
        if abs(off_m) >= 50
        else "as long"
    )
    names = [name for name in _PARTS if name in least.parts_wh.keys() | fastest.parts_wh.keys()]
    off_wh = {
        name: least.parts_wh.get(name, 0.0) - fastest.parts_wh.get(name, 0.0) for name in names
    }
    parts = [
        f"{energy_text(abs(off))} {'more' if off > 0 else 'less'} {_PARTS[name]}"
        for name, off in sorted(off_wh.items(), key=lambda item: item[1])
        if abs(off) >= 1
    ]
    takes = f": it takes {', '.join(parts)}" if parts else ""
    return (
        f"the route of {ROW_LABELS[plan.recommended]} is {length} and driven at {speeds[0]} on "
        f"average in place of {speeds[1]}{takes}"
    )


def learned(rounds: "pd.DataFrame") -> list[str]:
    """Return a sentence per panel of `charts`: the method of least regret and its final saving.

    Means over the worlds, the saving with half its 95 % interval by Student's t; over the last 50
    trips.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    from evroute.report.charts import panel_labels

    trips, sentences = int(rounds["t"].max()), []
    for panel, group in rounds.assign(panel=panel_labels(rounds)).groupby("panel"):
        of_run = group.groupby(["method", "run"])["regret_wh"].sum()
        regret_wh = of_run.groupby(level="method").mean().sort_values()
        best, *others = regret_wh.index
        against = ", ".join(f"{regret_wh[method]:,.0f} Wh ({method})" for method in others)
        late = group[(group["method"] == best) & (group["t"] > trips - LAST_TRIPS)]
        saved = (late["eq8_wh"] - late["true_wh"]).groupby(late["run"]).mean()
        share = abs(saved.mean()) / abs(late["eq8_wh"].mean())
        margin = f" ± {half_interval(saved.to_numpy(), LEVEL):.0f}" if len(saved) > 1 else ""
        shares = (
            f"{share:.1%}; ±: {LEVEL:.0%} over the worlds" if len(saved) > 1 else f"{share:.1%}"
        )
        sentences.append(
            f"{panel}: {best} has the least regret, {regret_wh[best]:,.0f} Wh in {trips} trips"
            f"{f', against {against}' if against else ''}. In the last {min(trips, LAST_TRIPS)} of "
            "them it takes "
            f"{abs(saved.mean()):.0f}{margin} Wh {'less' if saved.mean() >= 0 else 'more'} per "
            f"trip ({shares}) "
            f"than the route that physics alone would choose."
        )
    return sentences
