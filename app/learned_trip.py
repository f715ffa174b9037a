"""The trip that the page Learn drives: the one planned last, named places, or a named trip."""

from functools import partial

import example
import memory
import streamlit as st
from cache import first_trip, network
from literal import literal
from naming import is_place, place_label
from own_routes import places_address
from search_component import Choice, search
from state import GIVEN, ask, key, starting

from evroute.network.places.suggestions import suggest
from evroute.network.road_network import RoadNetwork
from evroute.planning.places import load_trips

PLANNED = "planned_trip"
"""Trip of the page Plan that this page has taken over."""
ENDS = "learned_ends:"
"""Places that are chosen so far, by network."""
BETWEEN = " to "


def follow_plan(names: list[str]) -> None:
    """Take the trip over that was planned since the last visit, and its network.

    Parameters
    ----------
    names
        Networks that simulations can use.
    """
    places = st.session_state.get(key("stops"), ())
    where = st.session_state.get(key("network"))
    trip = where, BETWEEN.join([places[0], places[-1]]) if all(places) and places else ""
    if trip == st.session_state.get(PLANNED) or not trip[1] or where not in names:
        return
    st.session_state[PLANNED] = trip
    by_address = {"own_trip", "known_network"} & set(st.session_state.get(GIVEN, {}))
    if by_address or example.is_shown():
        return
    st.session_state[key("known_network")] = where
    named = st.session_state.get(key("trip"))
    st.session_state[key("own_trip")] = "" if named else trip[1]
    if named:
        st.session_state[key(f"trip:{where}")] = named


def ask_trip(network_name: str) -> str:
    """Ask for the trip by its places, and return it as an experiment takes it.

    Parameters
    ----------
    network_name
        Name of the network.
    """
    roads, trips = network(network_name), load_trips(network_name)
    starting("own_trip", "")
    named = ""
    if trips:
        named = starting(f"trip:{network_name}", first_trip(roads), list(trips))
    own = st.session_state[key("own_trip")].strip()
    ends = _ends(roads, own)
    if not own:
        chosen = st.session_state.get(f"{ENDS}{network_name}", ["", ""])
        ends = [trips[named].origin, trips[named].destination] if named else chosen
    recent = memory.load()[0].recent(roads.name)
    for row, label in enumerate(("From", "To")):
        search(
            label,
            place_label(roads, ends[row]) if ends[row] else "",
            key=f"learn:{row}",
            address=places_address(roads),
            placeholder="Street & street",
            on_choice=partial(_take, roads, ends, row),
            recent=[(place_label(roads, each), each) for each in recent],
        )
    if own and not all(ends):
        st.caption(literal(own))
    return own or str(named)


def ask_named(network_name: str) -> None:
    """Ask for a named trip, or for a text such as random trips.

    Parameters
    ----------
    network_name
        Name of the network.
    """
    roads, trips = network(network_name), load_trips(network_name)
    if trips:
        ask(
            st.selectbox,
            "Named trip",
            f"trip:{network_name}",
            then=_take_named,
            options=list(trips),
            format_func=lambda name: BETWEEN.join(
                place_label(roads, end) for end in (trips[name].origin, trips[name].destination)
            ),
        )
    ask(
        st.text_input,
        "Trips as a text",
        "own_trip",
        placeholder="PLACE to PLACE",
        help="Names as on the page Plan, or: random 2-5 km",
    )


def _ends(roads: RoadNetwork, text: str) -> list[str]:
    """Return the two places of a text. Empty ones if it names no two places."""
    parts = text.split(BETWEEN)
    for cut in range(1, len(parts)):
        ends = [BETWEEN.join(parts[:cut]), BETWEEN.join(parts[cut:])]
        if all(is_place(roads, end) for end in ends):
            return ends
    return ["", ""]


def _take_named() -> None:
    st.session_state[key("own_trip")] = ""


def _take(roads: RoadNetwork, ends: list[str], row: int, choice: Choice) -> None:
    """Set one end of the trip. A text that is no place becomes the likeliest one."""
    text = choice["text"]
    if text and not choice["chosen"] and not is_place(roads, text):
        text = next((each.text for each in suggest(roads, text, most=1)), "")
    changed = [*ends[:row], text, *ends[row + 1 :]]
    st.session_state[f"{ENDS}{roads.name}"] = changed
    if all(changed):
        st.session_state[key("own_trip")] = BETWEEN.join(changed)
