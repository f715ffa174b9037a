"""Places of the trip: origin, stops and destination, by name or by the map.

They are texts: a junction's name, "LAT,LON" or an edge id. Empty ones are still to be chosen.
"""

from functools import partial
from typing import TYPE_CHECKING

import example
import memory
import streamlit as st
from naming import is_place, place_label
from own_routes import places_address
from search_component import Choice, search
from state import ignore, key

from evroute.network.places.suggestions import suggest
from evroute.network.road_network import RoadNetwork
from evroute.planning.places import load_trips

if TYPE_CHECKING:
    from map_component import MapEvent

EMPTY = ("", "")
INPUT = "place:"
OFFERED = 5


def chosen() -> list[str]:
    """Return origin, stops and destination."""
    return list(st.session_state.get(key("stops"), EMPTY))


def choose(places: list[str]) -> None:
    """Set origin, stops and destination. The trip is then no named one."""
    if example.is_shown():
        example.leave()
    st.session_state[key("stops")] = places
    st.session_state[key("trip")] = ""


def read_places(roads: RoadNetwork) -> None:
    """Set the places: of a named trip, of this tab, of the home or of the example."""
    _recall(roads.name)
    example.begin(roads)
    trips, known = load_trips(roads.name), st.session_state.get(key("trip"))
    if known in trips:
        ends = trips[known].origin, trips[known].destination
        if all(edge in roads.row_of for edge in ends):
            st.session_state[key("stops")] = list(ends)
    elif known:
        ignore("trip")
        st.session_state[key("trip")] = None
        example.begin(roads)


def _recall(network_name: str) -> None:
    """After a change of the network, put its places of before in the place of the other's."""
    last = st.session_state.get("placed_on", network_name)
    st.session_state["placed_on"] = network_name
    if last != network_name:
        if example.is_of(last):
            example.leave()
        kept = st.session_state.setdefault("places_of", {})
        kept[last] = st.session_state.get(key("stops"), []), st.session_state.get(key("trip"))
        stops, trip = kept.get(network_name, ([], None))
        st.session_state[key("stops")] = list(stops) or list(EMPTY)
        st.session_state[key("trip")] = trip


def take_event(event: "MapEvent") -> None:
    """Change the places by a click, a menu choice or a dragged pin.

    A click on the example starts a trip of one's own.
    """
    is_example = example.is_shown()
    places, kind = chosen(), event["kind"]
    row, at = event.get("row"), event.get("at")
    place = "" if at is None else f"{at[0]:.6f},{at[1]:.6f}"
    if is_example and kind in {"click", "start", "end"}:
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
    address = places_address(roads)
    profile, _ = memory.load()
    recent = [(place_label(roads, each), each) for each in profile.recent(roads.name)]
    for row, place in enumerate(places):
        label = {0: "From", last: "To"}.get(row, f"Stop {row}")
        line = st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", wrap=False)
        with line:
            search(
                label,
                place_label(roads, place) if place else "",
                key=f"{INPUT}{row}",
                address=address,
                placeholder="Street & street, or click the map",
                on_choice=partial(_take_choice, roads, row),
                recent=recent,
            )
        if place and not is_place(roads, place):
            _ask_which(roads, row, place)
        if row == 0:
            line.button("⇅", help="Swap start and destination", on_click=_swap, key="swap")
        elif row < last:
            line.button("✕", help="Remove this stop", on_click=_remove, args=(row,), key=f"x{row}")
        elif all(places):
            line.button("+", help="Add a stop", on_click=_add_stop, key="add_stop")


def _ask_which(roads: RoadNetwork, row: int, text: str) -> None:
    """Offer the places that a text may mean, which is itself none or stands for several."""
    found = {each.label: each.text for each in suggest(roads, text, most=OFFERED)}
    name = f"{INPUT}{row}:{text}"
    if found:
        st.pills(
            "Which one?", list(found), key=name, on_change=_take_offer, args=(row, name, found)
        )


def _take_offer(row: int, name: str, found: dict[str, str]) -> None:
    places, label = chosen(), st.session_state.get(name)
    # a browser that has not yet drawn the last run repeats the inputs of the run before
    if label in found and row < len(places) and name == f"{INPUT}{row}:{places[row]}":
        places[row] = found[label]
        choose(places)


def _take_choice(roads: RoadNetwork, row: int, choice: Choice) -> None:
    """Set a place to a choice. A text that is no place becomes the likeliest one."""
    places, text = chosen(), choice["text"]
    if row >= len(places):
        return
    if text and not choice["chosen"] and not is_place(roads, text):
        text = next((each.text for each in suggest(roads, text, most=1)), text)
    places[row] = text
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
