"""Tabs about the plan and its selected route, from all routes to the trip itself.

They are closed at first.
"""

import io
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import segno
import streamlit as st
from after_trip import after_trip
from cards import cards_of, distinct_rows
from driving import MOVED, driving
from literal import sentence
from map_component import MapEvent, show_cards, show_energy, show_tab_names
from request import Request, currency_sign
from state import key

from evroute.network.places.names import stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.plan import SMALL_WH, Plan, PlannedRoute, gained
from evroute.report.colours import PART_COLOURS
from evroute.report.directions import google_maps_link
from evroute.report.exports import route_gpx
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
MORE, ENERGY, STREETS, EXPORT = "More routes", "Energy", "Streets", "Export"
DRIVING, AFTER = "Driving", "Arrived"
TAB = "tab"
"""Key of the name of the open tab, empty if none is open."""
CHOSEN = "chosen_route"
"""Key of whether a route was chosen in *More routes* and the page still shows another one."""
LEAST_WH = 0.5
"""Of a shown part of the energy."""
CODE_WIDTH = 200
"""Of the code of a link, pixels."""


@st.fragment
def show_tabs(request: Request, plan: Plan, name: str, notes: list[str], *, refuses: bool) -> None:
    """Show the tabs of a plan. Only the open one has contents, and opening one runs this alone.

    Parameters
    ----------
    request, plan
        Inputs and routes.
    name
        The selected row.
    notes
        Sentences below the parts of the energy.
    refuses
        Whether the plan refuses a faster route.
    """
    roads, planned = request.network, plan.routes[name]
    rows = list(distinct_rows(plan))
    names = [MORE] if len(rows) > 1 else []
    names += [ENERGY, STREETS, EXPORT, DRIVING, AFTER]
    opened = st.session_state.get(TAB, "")
    if st.session_state.pop(MOVED, False):
        st.rerun()  # the car on the map
    show_tab_names(names, opened, key="tabs", on_event=_open)
    if opened == MORE and len(rows) > 1:
        cards = cards_of(roads, plan, rows, name, currency=currency_sign(), refuses=refuses)
        show_cards(cards, key="more", is_list=True, on_event=_select)
        if st.session_state.pop(CHOSEN, False):
            st.rerun()  # the map and the numbers of the page are of the other route
    elif opened == ENERGY:
        show_energy(energy_parts(planned))
        for note in notes:
            st.caption(sentence(note))
    elif opened == STREETS:
        table = street_table(roads, planned)
        st.dataframe(table, hide_index=True, column_config=STREET_FORMATS)
    elif opened == EXPORT:
        export(roads, plan, name)
    elif opened == DRIVING:
        driving(roads, plan, name)
    elif opened == AFTER:
        after_trip(request, plan, name)


def _open(event: MapEvent) -> None:
    """Open the clicked tab, or close it if it is open."""
    before = st.session_state.get(TAB, "")
    st.session_state[TAB] = "" if before == event["name"] else event["name"]
    st.session_state[MOVED] = DRIVING in (before, event["name"])


def _select(event: MapEvent) -> None:
    st.session_state[key("route")] = event["name"]
    st.session_state[CHOSEN] = True


def export(roads: RoadNetwork, plan: Plan, name: str) -> None:
    """Offer a row as files, and on a phone.

    Parameters
    ----------
    roads, plan
        Network and plan.
    name
        The row.
    """
    st.download_button(
        "GPX",
        partial(route_gpx, roads, replace(plan, recommended=name)),
        f"{roads.name}-route.gpx",
        on_click="ignore",
    )
    on_a_phone(roads, plan, name)
    st.caption("The address of this page reopens this plan. The page Advanced has it as GeoJSON.")


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
        st.caption("Google Maps takes three stops on the way. This trip has more. Use the GPX.")
        return
    st.link_button("Open in Google Maps", link)
    code = io.BytesIO()
    segno.make(link, micro=False).save(code, kind="svg", scale=4, light="white", xmldecl=False)
    st.image(code.getvalue().decode(), width=CODE_WIDTH, alt="Code of the link to Google Maps")
    st.caption(
        "Scan the code with a phone. Google Maps chooses its own way, between at most three via "
        "points. The GPX has the route itself. The link gives Google start and end of the trip."
    )


def energy_parts(planned: PlannedRoute) -> list[dict[str, Any]]:
    """Return the parts of the energy of a route for `map_component.show_energy`.

    Parts below half a watt-hour are left out. They have the unit of the whole.

    Parameters
    ----------
    planned
        The route.
    """
    small = abs(planned.energy_wh) < SMALL_WH
    return [
        {
            "label": PARTS[part],
            "colour": PART_COLOURS[part],
            "text": f"{energy_wh:.0f} Wh" if small else f"{gained(energy_wh / 1000, 2)} kWh",
            "size": abs(energy_wh),
            "recovered": energy_wh < 0.0,
        }
        for part, energy_wh in planned.parts_wh.items()
        if abs(energy_wh) >= LEAST_WH
    ]


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
