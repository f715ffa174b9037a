"""Map of the dashboard and cards of the routes: components of Streamlit, drawn with Leaflet.

The scripts are constants; all text from data travels as JSON and becomes text nodes. The roads of a
network, up to megabytes, are fetched once from an address of their own. The view of the map
survives reruns, a change of page and a reload.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import streamlit as st
from cache import BY_DIGEST
from streamlit.runtime import exists, get_instance

from evroute.arrays import FloatArray
from evroute.network.road_network import RoadNetwork
from evroute.report.colours import Classes
from evroute.report.lines import LonLat, road_lines
from evroute.report.maps.network_maps import class_lines

LatLon = tuple[float, float]
LAST_EVENT = "last_event"
NAME_EVERY_M = 600.0
STRAIGHT = 0.9
"""Least ratio of the distance of its ends to the length of a road that bears a name."""


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_map, _cards = (
    st.components.v2.component(
        f"evroute_{name}",
        html=f'<div class="evroute-{name}"></div>',
        css=_read(f"{name}.css"),
        js="".join(map(_read, scripts)),
        isolate_styles=False,  # Leaflet's style sheet is one of the page
    )
    for name, scripts in (("map", ("map.js", "names.js")), ("cards", ("cards.js",)))
)


class MapEvent(TypedDict):
    """A click, drag or choice of the driver.

    id: time on the driver's clock, ms.  kind: ``click``, ``start``, ``stop``, ``end``, ``move``,
    ``remove``, ``route`` or ``layer``.  at: latitude and longitude, None for some kinds.  row: of
    the moved or removed place.  name: of the
    route or layer.
    """

    id: int
    kind: str
    at: LatLon | None
    row: int | None
    name: str


def show_map(
    roads: RoadNetwork,
    *,
    key: str,
    height: str,
    drawn: dict[str, Any],
    bounds: tuple[LatLon, LatLon] | None = None,
    on_event: Callable[[MapEvent], None] | None = None,
) -> None:
    """Show a map of a network.

    Parameters
    ----------
    roads
        The network.
    key
        Session key of the map.
    height
        Height as CSS, such as ``480px``.
    drawn
        Contents above the roads: ``classes``, ``legends`` (`classes_of`), ``routes``, ``pins``,
        ``spots``, ``hint``, ``dim``, ``click`` and ``layers`` (`layers.layers_data`).
    bounds
        South-west and north-east corner that are shown first, degrees; None for all roads.
    on_event
        Called with each event; None if the map takes none.
    """
    empty = {"classes": [], "routes": [], "pins": [], "spots": [], "hint": "", "dim": False}
    _map(
        key=key,
        data=empty
        | {
            "click": "",
            "legends": [],
            "layers": [],
            "view": f"{key}-{roads.digest[:16]}",
            "roads": address(f"roads-{roads.content_digest}", _lines_json(roads)),
            "names": address(f"names-{roads.content_digest}", _names_json(roads)),
            "attribution": roads.source.attribution,
            "bounds": bounds or _extent(roads),
            "height": height,
        }
        | drawn,
        on_event_change=partial(_take, key, on_event),
    )


def show_cards(
    cards: Sequence[dict[str, Any]],
    *,
    key: str,
    above: str,
    dim: bool,
    on_event: Callable[[MapEvent], None],
) -> None:
    """Show the cards of the routes.

    Parameters
    ----------
    cards
        From `cards.cards_of`.
    key
        Session key of the cards.
    above
        Line above the cards; empty for none.
    dim
        True if they belong to an earlier request.
    on_event
        Called with an event of the kind ``route`` after a click.
    """
    data = {"cards": list(cards), "above": above, "dim": dim}
    _cards(key=key, data=data, on_event_change=partial(_take, key, on_event))


def _take(key: str, on_event: Callable[[MapEvent], None] | None) -> None:
    """Pass an event on, once: Streamlit repeats those of a run that another event interrupts."""
    event = st.session_state[key].get("event")
    if on_event and event and event["id"] > st.session_state.get(LAST_EVENT, 0):
        st.session_state[LAST_EVENT] = event["id"]
        on_event(event)


def classes_of(roads: RoadNetwork, values: FloatArray, classes: Classes) -> dict[str, Any]:
    """Return the contents of a map whose roads are coloured by a quantity.

    Parameters
    ----------
    roads
        The network.
    values
        (n,) quantity of each edge; edges of NaN are left out.
    classes
        Classes of the quantity.
    """
    lines = [
        {"colour": colour, "weight": weight, "lines": [flipped(line) for line in lines]}
        for colour, weight, lines in class_lines(roads, values, classes)
    ]
    return {"classes": lines, "legends": [legend(classes)]}


def legend(classes: Classes) -> dict[str, Any]:
    """Return title and entries of a legend."""
    entries = list(zip(classes.colours, classes.labels, strict=True))
    return {"title": classes.title, "entries": entries}


def flipped(line: Sequence[LonLat]) -> list[LatLon]:
    """Return a line as latitudes and longitudes."""
    return [(lat, lon) for lon, lat in line]


def address(name: str, contents: bytes) -> str:
    """Register contents, JSON, with the server for this tab and return their address."""
    if not exists():
        return f"/{name}.json"
    return str(get_instance().media_file_mgr.add(contents, "application/json", name))


@st.cache_data(max_entries=8, show_spinner=False, hash_funcs=BY_DIGEST)
def _lines_json(roads: RoadNetwork) -> bytes:
    return json_of([flipped(line) for line in road_lines(roads)])


@st.cache_data(max_entries=8, show_spinner=False, hash_funcs=BY_DIGEST)
def _names_json(roads: RoadNetwork) -> bytes:
    return json_of(street_names(roads))


def json_of(lines: Any) -> bytes:
    """Return contents for `address`."""
    return json.dumps(lines, separators=(",", ":"), ensure_ascii=False).encode()


def street_names(roads: RoadNetwork) -> list[tuple[str, float, float, float, float]]:
    """Return names with the ends of a straight road each, the longest first.

    A street has one name in each square of `NAME_EVERY_M`, on its longest road there.

    Returns
    -------
    list of tuple
        Name, latitude and longitude of one end, latitude and longitude of the other.
    """
    first, last = roads.shape_start[:-1], roads.shape_start[1:] - 1
    x, y = roads.shape_x_m, roads.shape_y_m
    straight_m = np.hypot(x[last] - x[first], y[last] - y[first])
    named = np.array([bool(name) for name in roads.street])
    rows = np.flatnonzero(named & (straight_m > STRAIGHT * roads.length_m))
    rows = rows[np.argsort(-straight_m[rows], kind="stable")]
    squares = np.column_stack([x[first], y[first]])[rows] // NAME_EVERY_M
    lon, lat = roads.lon_lat
    found = {}
    for row, square in zip(rows.tolist(), squares.tolist(), strict=True):
        ends = [round(float(each[at[row]]), 6) for at in (first, last) for each in (lat, lon)]
        found.setdefault((roads.street[row], *square), (roads.street[row], *ends))
    return list(found.values())


def _extent(roads: RoadNetwork) -> tuple[LatLon, LatLon]:
    lon, lat = roads.junction_lon_lat
    return (
        (float(lat.min()), float(lon.min())),
        (float(lat.max()), float(lon.max())),
    )
