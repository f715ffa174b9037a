"""Places of the trip: origin, stops and destination, by name or by the map.

They are texts: a junction's name, "LAT,LON" or an edge id. Empty ones are still to be chosen.
"""

from typing import TYPE_CHECKING

import streamlit as st
from cache import first_trip
from literal import literal
from naming import hits, place_label
from state import key

from evroute.network.places.names import labels
from evroute.network.road_network import RoadNetwork
from evroute.planning.places import load_trips

if TYPE_CHECKING:
    from map_component import MapEvent

EMPTY = ("", "")
INPUT = "place:"
HITS = ":hits"


def chosen() -> list[str]:
    """Return origin, stops and destination."""
    return list(st.session_state.get(key("stops"), EMPTY))


def choose(places: list[str]) -> None:
    """Set origin, stops and destination; the trip is then no named one."""
    st.session_state[key("stops")] = places
    st.session_state[key("trip")] = ""


def read_places(roads: RoadNetwork) -> bool:
    """Set the places to those of a named trip if there is one, and on the first visit an example.

    Returns
    -------
    bool
        True if the places are those of the example.
    """
    _recall(roads.name)
    trips, known = load_trips(roads.name), st.session_state.get(key("trip"))
    if known is None and not any(chosen()) and trips:
        known = first_trip(roads)
        st.session_state["example"] = roads.name
    if known in trips:
        ends = trips[known].origin, trips[known].destination
        if all(edge in roads.row_of for edge in ends):
            st.session_state[key("trip")] = known
            st.session_state[key("stops")] = list(ends)
    elif known:
        st.session_state[key("trip")] = None
        return read_places(roads)
    return is_example()


def _recall(network_name: str) -> None:
    """After a change of the network, put its places of before in the place of the other's."""
    last = st.session_state.get("placed_on", network_name)
    st.session_state["placed_on"] = network_name
    if last != network_name:
        kept = st.session_state.setdefault("places_of", {})
        kept[last] = st.session_state.get(key("stops"), []), st.session_state.get(key("trip"))
        stops, trip = kept.get(network_name, ([], None))
        st.session_state[key("stops")] = list(stops) or list(EMPTY)
        st.session_state[key("trip")] = trip


def is_example() -> bool:
    """Return whether the places are those of the example."""
    shown = st.session_state.get("example"), st.session_state.get(key("network"))
    return bool(st.session_state.get(key("trip"))) and shown[0] == shown[1]


def take_event(event: "MapEvent") -> None:
    """Change the places by a click, a menu choice or a dragged pin.

    A click on the example starts a trip of one's own.
    """
    example = is_example()
    places, kind = chosen(), event["kind"]
    row, at = event.get("row"), event.get("at")
    place = "" if at is None else f"{at[0]:.6f},{at[1]:.6f}"
    if example and kind in {"click", "start", "end"}:
        places = list(EMPTY)
    if kind == "click" and "" in places:
        places[places.index("")] = place
    elif kind == "start":
        places[0] = place
    elif kind == "end":
        places[-1] = place
    elif kind == "stop":
        places.insert(len(places) - 1, place)
    elif kind == "move" and row is not None:
        places[row] = place
    elif kind == "remove" and row is not None:
        del places[row]
    choose(places)


def ask_places(roads: RoadNetwork) -> None:
    """Ask for origin, stops and destination by name, with buttons to swap, add and remove."""
    places = chosen()
    last = len(places) - 1
    names = labels(roads)
    for row, place in enumerate(places):
        label = {0: "From", last: "To"}.get(row, f"Stop {row}")
        line = st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", wrap=False)
        shown = place_label(roads, place)  # one option for each label: Streamlit finds them by it
        options = [place, *(each for each in names if each != shown)] if place else names
        name = f"{INPUT}{row}:{place}"
        line.selectbox(
            literal(label),
            options,
            index=options.index(place) if place else None,
            format_func=lambda each: place_label(roads, each),
            key=name,
            placeholder="Street & street, or click the map",
            accept_new_options=True,
            on_change=_take_input,
            args=(roads, row, name),
        )
        if len(found := hits(roads, place) if place else []) > 1:
            chooser = name + HITS
            st.pills(
                "Which one?", found, key=chooser, on_change=_take_input, args=(roads, row, chooser)
            )
        if row == 0:
            line.button("⇅", help="Swap start and destination", on_click=_swap, key="swap")
        elif row < last:
            line.button("✕", help="Remove this stop", on_click=_remove, args=(row,), key=f"x{row}")
    if all(places):
        st.button("+ Add a stop", on_click=_add_stop, type="tertiary", key="add_stop")


def _take_input(roads: RoadNetwork, row: int, name: str) -> None:
    places, text = chosen(), st.session_state.get(name)
    # a browser that has not yet drawn the last run repeats the inputs of the run before
    shown = row < len(places) and name.removesuffix(HITS) == f"{INPUT}{row}:{places[row]}"
    if not text or not shown:
        return
    found = hits(roads, text)
    places[row] = found[0] if len(found) == 1 else text
    choose(places)


def _swap() -> None:
    choose(chosen()[::-1])


def _remove(row: int) -> None:
    places = chosen()
    del places[row]
    choose(places)


def _add_stop() -> None:
    places = chosen()
    places.insert(len(places) - 1, "")
    choose(places)
