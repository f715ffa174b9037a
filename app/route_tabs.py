"""Tabs about the selected route: energy, charge and height, streets, export, after the trip."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import streamlit as st
from after_trip import after_trip
from literal import sentence
from request import Request

from evroute.arrays import FloatArray
from evroute.network.road_network import RoadNetwork
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.plan import Plan, PlannedRoute
from evroute.report.colours import PART_COLOURS
from evroute.report.exports import route_geojson, route_gpx
from evroute.report.lines import route_heights

WIDTH = 270
PARTS = {
    "climb": "height",
    "rolling": "rolling",
    "drag": "air",
    "auxiliary": "heating, lights",
    "warm-up": "warming up",
    "turning": "stops, turns",
    "lost": "lost, battery full",
    "learned": "learned on trips",
    "held": "corrected",
}
"""Parts of the energy for drivers."""
STOP_FORMATS = {
    name: st.column_config.NumberColumn(format=digits, width=width)
    for name, digits, width in (
        ("arrive %", "%.0f", 62),
        ("to %", "%d", 45),
        ("min", "%.0f", 45),
        ("kWh", "%.2f", 50),
    )
} | {"Charge at": st.column_config.TextColumn(width=125)}
"""Digits and widths of `stops_table`, pixels."""


def show_tabs(request: Request, plan: Plan, name: str, notes: list[str]) -> None:
    """Show the tabs of a row.

    Parameters
    ----------
    request, plan
        Inputs and routes.
    name
        The selected row.
    notes
        Sentences below the chart of the energy.
    """
    roads, planned = request.network, plan.routes[name]
    energy, charge, streets, export, after = st.tabs(
        ["Energy", "Charge & height", "Streets", "Export", "After the trip"]
    )
    with energy:
        st.altair_chart(energy_bar(planned), theme="streamlit")
        for note in notes:
            st.caption(sentence(note))
    charge.altair_chart(charge_and_height(roads, plan, name), width="content", theme="streamlit")
    streets.dataframe(
        street_table(planned),
        hide_index=True,
        column_config={
            "km": st.column_config.NumberColumn(format="%.2f"),
            "Wh": st.column_config.NumberColumn(format="%.0f"),
        },
    )
    with export:
        st.download_button(
            "GeoJSON",
            lambda: json.dumps(route_geojson(roads, plan)),
            f"{roads.name}-route.geojson",
            on_click="ignore",
        )
        st.download_button(
            "GPX", partial(route_gpx, roads, plan), f"{roads.name}-route.gpx", on_click="ignore"
        )
        st.caption("The address of this page reopens this plan.")
    with after:
        after_trip(request, plan, name)


def energy_bar(planned: PlannedRoute) -> alt.Chart:
    """Draw the parts of the energy of a route, kWh: used right of 0, recovered left of 0."""
    parts = {
        part: energy_wh / 1000
        for part, energy_wh in planned.parts_wh.items()
        if abs(energy_wh) >= 0.5
    }
    records = [{"part": PARTS[part], "kwh": round(kwh, 4)} for part, kwh in parts.items()]
    scale = alt.Scale(
        domain=[PARTS[part] for part in parts], range=[PART_COLOURS[part] for part in parts]
    )
    chart: alt.Chart = (
        alt.Chart(alt.Data(values=records))
        .mark_bar(size=28)
        .encode(
            x=alt.X("kwh:Q", title="energy (kWh)", stack="zero", axis=alt.Axis(tickCount=5)),
            color=alt.Color(
                "part:N", scale=scale, legend=alt.Legend(title=None, orient="top", columns=3)
            ),
            tooltip=["part:N", alt.Tooltip("kwh:Q", title="kWh", format=".2f")],
        )
        .properties(height=130)
    )
    return chart


def charge_and_height(roads: RoadNetwork, plan: Plan, name: str) -> Any:
    """Draw charge (%) and height (m) of a row over the distance, with the reserve and 90 % band."""
    planned, battery = plan.routes[name], plan.battery
    assert battery is not None
    assert planned.charge is not None
    km = np.concatenate([[0.0], np.cumsum(planned.edge_m)]) / 1000
    percent, after = planned.charge.charge_wh / battery.capacity_wh * 100, planned.stops
    rows_after = [stop.after_edges for stop in after]
    ramps = np.array(rows_after, dtype=int) + 1, [float(stop.to_percent) for stop in after]
    charge = _curve(
        np.insert(km, ramps[0], km[rows_after]), np.insert(percent, *ramps), "charge (%)"
    )
    reserve = battery.percent(battery.reserve_wh)
    if forecast := planned.charge_forecast:
        low, high = forecast.band_percent.T
        records = [{"km": at, "low": a, "high": b} for at, a, b in zip(km, low, high, strict=True)]
        band = alt.Chart(alt.Data(values=records)).mark_area(opacity=0.25)
        charge = band.encode(x="km:Q", y="low:Q", y2="high:Q") + charge
    if planned.charge.low_wh.min() < battery.capacity_wh * (reserve + 10) / 100:
        rule = alt.Chart(alt.Data(values=[{"value": reserve}]))
        charge += rule.mark_rule(aria=False, color="#b03a2e", strokeDash=[2, 2]).encode(y="value:Q")
    at_m, height_m = route_heights(roads, planned.stretches)
    height = _curve(at_m / 1000, height_m, "height (m)", axis_title="distance (km)")
    return alt.vconcat(charge, height, spacing=8, autosize="pad").resolve_scale(x="shared")


def street_table(planned: PlannedRoute) -> dict[str, list[Any]]:
    """Return the streets of a route in driving order, with length (km) and energy (Wh)."""
    return {
        "Street": [street.name for street in planned.streets],
        "km": [street.length_m / 1000 for street in planned.streets],
        "Wh": [street.energy_wh for street in planned.streets],
    }


def stops_table(stops: Sequence[ChargingStop]) -> dict[str, list[Any]]:
    """Return charging stops in driving order: place, charges (%), time (min) and energy (kWh)."""
    return {
        "Charge at": [
            f"{stop.station} ({stop.assumed} assumed)" if stop.assumed else stop.station
            for stop in stops
        ],
        "arrive %": [stop.arrive_percent for stop in stops],
        "to %": [stop.to_percent for stop in stops],
        "min": [stop.time_s / 60 for stop in stops],
        "kWh": [stop.energy_wh / 1000 for stop in stops],
    }


def _curve(km: FloatArray, values: FloatArray, title: str, *, axis_title: str | None = None) -> Any:
    records = [
        {"km": round(at, 4), "value": round(value, 3)}
        for at, value in zip(km.tolist(), values.tolist(), strict=True)
    ]
    axis = alt.Axis(grid=False, labels=axis_title is not None)
    return (
        alt.Chart(alt.Data(values=records))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("km:Q", title=axis_title, axis=axis, scale=alt.Scale(nice=False)),
            y=alt.Y(
                "value:Q", title=title, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=False)
            ),
            tooltip=[
                alt.Tooltip("km:Q", format=".2f"),
                alt.Tooltip("value:Q", title=title, format=".1f"),
            ],
        )
        .properties(width=WIDTH, height=100)
    )
