"""The example of a first visit: a trip whose fastest route keeps the charge in too few trips."""

from dataclasses import dataclass

import memory
import streamlit as st
from cache import first_trip
from state import forget_change, key, put

from evroute.network.road_network import RoadNetwork
from evroute.planning.places import load_trips


@dataclass(frozen=True)
class Example:
    """Places of a trip, and the charge that it starts with, %."""

    places: tuple[str, ...]
    soc: int


EXAMPLES = {
    "denver": Example(("Stout Street & 18th Street", "East 19th Avenue & Emerson Street"), 11),
}
"""Examples by network. Others show one of their named trips, with the usual charge."""
USUAL_SOC = 80
SHOWN = "example"


def begin(roads: RoadNetwork) -> None:
    """Set the places of a new visit: home if there is a profile, else the example's."""
    if any(st.session_state.get(key("stops"), ())) or st.session_state.get(key("trip")) is not None:
        return
    st.session_state[key("trip")] = ""
    if memory.exists():
        profile, _ = memory.load()
        st.session_state[key("stops")] = [profile.home.get(roads.name, ""), ""]
        return
    example = EXAMPLES.get(roads.name)
    if example is None and (trips := load_trips(roads.name)):
        trip = trips[first_trip(roads)]
        example = Example((trip.origin, trip.destination), USUAL_SOC)
    if example is None:
        return
    st.session_state[key("stops")] = list(example.places)
    st.session_state[SHOWN] = roads.name, example
    if key("soc") not in st.session_state:
        st.session_state[key("soc")] = example.soc


def is_shown() -> bool:
    """Return True if the places are the example's."""
    name, _ = st.session_state.get(SHOWN, ("", None))
    return is_of(st.session_state.get(key("network"), name))


def is_of(network: str) -> bool:
    """Return True if the places are those of the example of a network."""
    name, example = st.session_state.get(SHOWN, ("", None))
    places = tuple(st.session_state.get(key("stops"), ()))
    return example is not None and (name, example.places) == (network, places)


def leave() -> None:
    """Give a trip of one's own the usual charge, unless the driver chose another one."""
    _, example = st.session_state[SHOWN]
    if st.session_state.get(key("soc")) == example.soc:
        put("soc", USUAL_SOC)
        forget_change("soc")
