"""Wishes for the stops of a plan that may charge on the way."""

from collections.abc import Sequence

import streamlit as st
from inputs import ANY, PERCENT, ask, start
from literal import literal

from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.request import OF_STOPS


def ask_stops(roads: RoadNetwork) -> None:
    """Ask in a chip for the wishes of a plan that may charge on the way.

    Parameters
    ----------
    roads
        Network whose stations are offered.
    """
    how, percent = start("arrive_how"), start("arrive")
    title = {ANY: "Stops", PERCENT: f"Stops, arrive with {percent:g} %"}
    with st.popover(literal(title.get(how, "Stops, arrive near a station")), key="chip:stops"):
        ask("arrive_how")
        for name in OF_STOPS:
            offered = {}
            if name == "arrive":
                offered = {"disabled": how != PERCENT}
            elif name == "avoid_stations":
                offered = {"options": _offered(roads, start(name))}
            ask(name, **offered)


def _offered(roads: RoadNetwork, avoided: Sequence[str]) -> list[str]:
    """Return the texts by which stations can be avoided: networks and names, and those avoided."""
    found = stations(roads)
    networks = sorted({each.network for each in found if each.network})
    names = sorted({each.name for each in found})
    return list(dict.fromkeys([*avoided, *networks, *names]))
