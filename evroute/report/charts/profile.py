"""Profiles along the routes of a plan (altair): height, and charge if the plan has a battery."""

from io import StringIO
from typing import Any

from evroute.arrays import FloatArray
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan
from evroute.report.colours import ROUTE_COLOURS, route_style
from evroute.report.extras import alt
from evroute.report.lines import charge_points, route_heights
from evroute.report.words import distinct_routes

_WIDTH = 400
_HEIGHT = 110


def profiles(network: RoadNetwork, plan: Plan) -> dict[str, "alt.Chart | alt.LayerChart"]:
    """Draw profiles over the distance (km) of each route: ``height`` (m), ``charge`` (%).

    ``charge`` needs a battery. A dotted line marks the reserve where the charge comes near it. With
    a belief, a band holds the charge of the recommended route in 90 % of the trips.
    """
    battery = plan.battery
    heights, charges = [], []
    for name, label in distinct_routes(plan).items():
        planned = plan.routes[name]
        heights += _points(label, *route_heights(network, planned.stretches))
        if battery is not None and planned.charge is not None:
            charges += _points(label, *charge_points(planned, battery).T[:2])
    charts = {"height": _curves(plan, heights, "height (m)")}
    if battery is not None:
        charts["charge"] = _curves(plan, charges, "charge (%)")
        if (best := plan.recommended_route).charge_forecast:
            at_m, _, low, high = charge_points(best, battery).T
            band = [
                point | {"high": top}
                for point, top in zip(_points("", at_m, low), high.round(3).tolist(), strict=True)
            ]
            area = alt.Chart(alt.Data(values=band)).mark_area(
                color=ROUTE_COLOURS["energy"], opacity=0.15
            )
            charts["charge"] = area.encode(x="km:Q", y="value:Q", y2="high:Q") + charts["charge"]
        reserve, values = battery.percent(battery.reserve_wh), [point["value"] for point in charges]
        if reserve >= 2 * min(values) - max(values):
            rule = alt.Chart(alt.Data(values=[{"value": reserve}])).mark_rule(
                aria=False, color="#b03a2e", strokeDash=[2, 2]
            )
            charts["charge"] += rule.encode(y="value:Q")
    return charts


def svg(chart: "alt.TopLevelMixin") -> str:
    """Return a chart as an SVG document."""
    document = StringIO()
    chart.save(document, format="svg")
    return document.getvalue()


def _points(label: str, at_m: FloatArray, values: FloatArray) -> list[dict[str, Any]]:
    """Return a record for each value."""
    pairs = zip((at_m / 1000).round(4).tolist(), values.round(3).tolist(), strict=True)
    return [{"route": label, "km": at, "value": value} for at, value in pairs]


def _curves(plan: Plan, points: list[dict[str, Any]], title: str) -> Any:
    names = distinct_routes(plan)
    labels = list(names.values())
    colours = alt.Scale(
        domain=labels,
        range=[route_style(name, plan.recommended)[0] for name in names],
    )
    dashes = alt.Scale(
        domain=labels, range=[list(route_style(name, plan.recommended)[1]) for name in names]
    )
    legend = alt.Legend(
        title=None, orient="top", symbolType="stroke", symbolSize=400, labelLimit=300
    )
    return (
        alt.Chart(alt.Data(values=points))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "km:Q",
                title="distance (km)",
                axis=alt.Axis(grid=False),
                scale=alt.Scale(nice=False),
            ),
            y=alt.Y(
                "value:Q", title=title, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=False)
            ),
            order="km:Q",
            color=alt.Color("route:N", scale=colours, legend=legend),
            strokeDash=alt.StrokeDash("route:N", scale=dashes),
            tooltip=[
                "route:N",
                alt.Tooltip("km:Q", format=".2f"),
                alt.Tooltip("value:Q", title=title, format=".1f"),
            ],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
