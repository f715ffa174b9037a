"""Tabs about the selected route: energy, streets, export, after the trip."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import segno
import streamlit as st
from after_trip import after_trip
from literal import sentence
from request import Request

from evroute.network.places.names import stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.plan import Plan, PlannedRoute
from evroute.report.colours import PART_COLOURS
from evroute.report.directions import google_maps_link
from evroute.report.exports import route_geojson, route_gpx
from evroute.report.words import counts

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


STREET_FORMATS = {
    "Street": st.column_config.TextColumn(width=170),
    "km": st.column_config.NumberColumn(format="%.2f", width=50),
    "kWh": st.column_config.NumberColumn(format="%.2f", width=55),
    "lights": st.column_config.NumberColumn(format="%d", width=50),
}
"""Digits and widths of `street_table`, pixels."""
CODE_WIDTH = 200
"""Of the code of a link, pixels."""


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
    energy, streets, export, after = st.tabs(["Energy", "Streets", "Export", "After the trip"])
    with energy:
        st.altair_chart(energy_bar(planned), theme="streamlit")
        for note in notes:
            st.caption(sentence(note))
    streets.dataframe(
        street_table(roads, planned),
        hide_index=True,
        column_config=STREET_FORMATS,
    )
    with export:
        st.download_button(
            "GPX",
            partial(route_gpx, roads, replace(plan, recommended=name)),
            f"{roads.name}-route.gpx",
            on_click="ignore",
        )
        on_a_phone(roads, plan, name)
        st.download_button(
            "GeoJSON",
            lambda: json.dumps(route_geojson(roads, plan)),
            f"{roads.name}-route.geojson",
            on_click="ignore",
        )
        st.caption("The address of this page reopens this plan.")
    with after:
        after_trip(request, plan, name)


def on_a_phone(roads: RoadNetwork, plan: Plan, name: str) -> None:
    """Offer a row in Google Maps: a link, and its code for the camera of a phone.

    Parameters
    ----------
    roads, plan
        Network and plan.
    name
        The row.
    """
    link = google_maps_link(roads, plan, name)
    if link is None:
        st.caption("Google Maps takes three stops on the way; this trip has more. Use the GPX.")
        return
    st.link_button("Open in Google Maps", link)
    code = io.BytesIO()
    segno.make(link, micro=False).save(code, kind="svg", scale=4, light="white", xmldecl=False)
    st.image(code.getvalue().decode(), width=CODE_WIDTH, alt="Code of the link to Google Maps")
    st.caption(
        "Scan the code with a phone. Google Maps chooses its own way, between at most three via "
        "points. The GPX has the route itself. The link gives Google start and end of the trip."
    )


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


def street_table(roads: RoadNetwork, planned: PlannedRoute) -> dict[str, list[Any]]:
    """Return the streets of a route in driving order: length (km), energy (kWh), traffic lights.

    A light counts for the street that leads to it.
    """
    edges = np.asarray(planned.route.edges)
    parts = [part for _, part in stretches(roads, edges.tolist())]
    lights = [counts(roads, edges[part.start : part.stop + 1])["traffic light"] for part in parts]
    return {
        "Street": [street.name for street in planned.streets],
        "km": [street.length_m / 1000 for street in planned.streets],
        "kWh": [street.energy_wh / 1000 for street in planned.streets],
        "lights": lights,
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
