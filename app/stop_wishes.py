"""Inputs of the stops of a plan: each is a field of `PlanRequest`, with its range and sentence."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from literal import literal
from state import WHILE_CLOSED, key, starting

from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.fields import CHARGER
from evroute.planning.request import entries

NUMBERS = {
    "stop_from": ("Arrive at a station with at least (%)", 5.0),
    "stop_to": ("Leave a station with at most (%)", 5.0),
    "stop_minutes": ("Minutes of a stop beside charging", 1.0),
    "least_kw": ("Power of a socket, at least (kW)", 1.0),
}
"""Label and step of each field that is a number."""
ANY, PERCENT = "any charge", "at least"
ENDS = {ANY: "any charge", PERCENT: "a charge (%)", CHARGER: "enough to reach a station"}
"""Words of each wish for the charge at the end."""


def inputs_of_arrival(value: float | str) -> dict[str, Any]:
    """Return the inputs that show a value of ``arrive``."""
    return {"arrive_how": CHARGER} if value == CHARGER else {"arrive_how": PERCENT, "arrive": value}


def ask_stops(roads: RoadNetwork) -> dict[str, Any]:
    """Ask in a chip for the wishes of a plan that may charge on the way, and return them by name.

    Parameters
    ----------
    roads
        Network whose stations are offered.
    """
    how = starting("arrive_how", ANY, list(ENDS))
    percent = starting("arrive", 20.0, _range("arrive"))
    for name in NUMBERS:
        starting(name, float(entries()[name].default), _range(name))
    avoided = starting("avoid_stations", [])
    title = {ANY: "Stops", PERCENT: f"Stops, arrive with {percent:g} %"}
    with st.popover(literal(title.get(how, "Stops, arrive near a station")), key="chip:stops"):
        st.radio(
            "Charge at the end", list(ENDS), format_func=ENDS.__getitem__, key=key("arrive_how")
        )
        low, high = _range("arrive")
        st.slider(
            "Charge at the end, at least (%)",
            low,
            high,
            step=1.0,
            key=key("arrive"),
            persist_state=WHILE_CLOSED,
            format="%g",
            disabled=how != PERCENT,
        )
        given = {name: _ask_number(name) for name in NUMBERS}
        st.multiselect(
            "Stations to avoid: name, charging network or id",
            _offered(roads, avoided),
            key=key("avoid_stations"),
            accept_new_options=True,
        )
    arrive = {PERCENT: percent, CHARGER: CHARGER}.get(how)
    return given | {"arrive": arrive, "avoid_stations": avoided}


def _ask_number(name: str) -> float:
    """Ask for a number by its form, and return it."""
    label, step = NUMBERS[name]
    low, high = _range(name)
    return st.number_input(
        literal(label),
        low,
        high,
        step=step,
        format="%g",
        key=key(name),
        persist_state=WHILE_CLOSED,
        help=literal(entries()[name].form.help),
    )


def _range(name: str) -> tuple[float, float]:
    """Return the least and the greatest value of an input. The least of more than 0 is 1."""
    limits = entries()[name].form.limits
    return float(limits.get("minimum", 1.0)), float(limits["maximum"])


def _offered(roads: RoadNetwork, avoided: Sequence[str]) -> list[str]:
    """Return the texts by which stations can be avoided: networks and names, and those avoided."""
    found = stations(roads)
    networks = sorted({each.network for each in found if each.network})
    names = sorted({each.name for each in found})
    return list(dict.fromkeys([*avoided, *networks, *names]))
