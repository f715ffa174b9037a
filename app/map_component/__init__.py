"""Components of the page Plan: its map, drawn with Leaflet, cards of routes, tabs, energy by cause.

The scripts are constants. All text from data travels as JSON and becomes text nodes. The roads of a
network, up to megabytes, are fetched once from an address of their own. The view of the map
survives reruns, a change of page and a reload.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import streamlit as st
from own_routes import file_addresses
from road_files import LatLon, flipped
from streamlit.runtime import exists, get_instance

from evroute.arrays import FloatArray
from evroute.network.road_network import RoadNetwork
from evroute.report.colours import Classes, visit_classes
from evroute.report.maps.network_maps import class_lines

LAST_EVENT = "last_event"
OTHER_ROUTE = "#5f7fb8"
"""Colour of routes that are not selected, as in ``map.js``."""
SPOT = "#f1c40f"
CHARGE_SPOT = "#56b4e9"
"""Colours of marks on a route, and of those of stops to charge."""


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_SCRIPTS = {
    "map": ("map.js", "fetched.js", "labels.js", "panels.js", "names.js", "route.js", "way.js"),
    "cards": ("cards.js",),
    "tabs": ("tabs.js",),
    "energy": ("energy.js",),
}
_map, _cards, _tabs, _energy = (
    st.components.v2.component(
        f"evroute_{name}",
        html=f'<div class="evroute-{name}"></div>',
        css=_read(f"{name}.css"),
        js="".join(map(_read, scripts)),
        isolate_styles=False,  # Leaflet's style sheet is one of the page
    )
    for name, scripts in _SCRIPTS.items()
)


class MapEvent(TypedDict):
    """A click, drag or choice of the driver.

    id: time on the driver's clock, ms.  kind: ``click``, ``start``, ``stop``, ``end``, ``move``,
    ``remove``, ``route``, ``layer`` or ``tab``.  at: latitude and longitude, None for some kinds.
    row: of the moved or removed place.  name: of the route, layer or tab.
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
        ``spots``, ``hint``, ``dim``, ``click``, ``layers`` (`map_layers.layers_data`) and ``way``
        (`charge_way.charge_way`).
    bounds
        South-west and north-east corner that are shown first, degrees, or None for all roads.
    on_event
        Called with each event, or None if the map takes none.
    """
    key = key.replace("__", "_-")  # Streamlit refuses the former in a key of a component
    empty = {"classes": [], "routes": [], "pins": [], "spots": [], "hint": "", "dim": False}
    _map(
        key=key,
        data=empty
        | {
            "click": "",
            "legends": [],
            "layers": [],
            "way": None,
            "view": f"{key}-{roads.digest[:16]}",
            "attribution": roads.source.attribution,
            "bounds": bounds or _extent(roads),
            "height": height,
        }
        | file_addresses(roads)
        | drawn,
        on_event_change=partial(_take, key, on_event),
    )


def show_cards(
    cards: Sequence[dict[str, Any]],
    *,
    key: str,
    lines: Sequence[str] = (),
    dim: bool = False,
    is_list: bool = False,
    on_event: Callable[[MapEvent], None],
) -> None:
    """Show the cards of routes.

    Parameters
    ----------
    cards
        From `cards.cards_of`.
    key
        Session key of the cards.
    lines
        Lines below the cards.
    dim
        True if they belong to an earlier request.
    is_list
        True if no card is large.
    on_event
        Called with an event of the kind ``route`` after a click.
    """
    data = {"cards": list(cards), "lines": list(lines), "dim": dim, "list": is_list}
    _cards(key=key, data=data, on_event_change=partial(_take, key, on_event))


def show_tab_names(
    names: Sequence[str], opened: str, *, key: str, on_event: Callable[[MapEvent], None]
) -> None:
    """Show the names of tabs.

    Parameters
    ----------
    names, opened
        The names, and the open one, or empty for none.
    key
        Session key of the tabs.
    on_event
        Called with an event of the kind ``tab`` after a click.
    """
    data = {"names": list(names), "open": opened}
    _tabs(key=key, data=data, on_event_change=partial(_take, key, on_event))


def show_energy(parts: Sequence[dict[str, Any]]) -> None:
    """Show the energy of a route by cause.

    Parameters
    ----------
    parts
        ``label``, ``colour``, ``text`` with the unit, ``size`` (a share of the bar) and
        ``recovered`` of each.
    """
    _energy(key="energy", data={"parts": list(parts)})


def _take(key: str, on_event: Callable[[MapEvent], None] | None) -> None:
    """Pass an event on, once: Streamlit repeats events of a run that another interrupts."""
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
        (n,) quantity of each edge. Edges of NaN are left out.
    classes
        Classes of the quantity.
    """
    if is_dark() and classes.title == visit_classes(1).title:
        classes = replace(classes, colours=classes.colours[::-1])  # most is brightest
    lines = [
        {"colour": colour, "weight": weight, "lines": [flipped(line) for line in lines]}
        for colour, weight, lines in class_lines(roads, values, classes)
    ]
    return {"classes": lines, "legends": [legend(classes)]}


def is_dark() -> bool:
    """Return True if the user's browser shows the page in dark."""
    return st.context.theme.type == "dark"


def legend(classes: Classes) -> dict[str, Any]:
    """Return title and entries of a legend, each with colour, label and kind of mark."""
    entries = zip(classes.colours, classes.labels, strict=True)
    return {"title": classes.title, "entries": [(*each, "line") for each in entries]}


def legend_of_marks(marks: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Return a legend without a title: kind of mark (``line``, ``dot``) and colour by label."""
    entries = [(colour, label, kind) for label, (kind, colour) in marks.items()]
    return {"title": "", "entries": entries}


def bounds_of(corners: list[LatLon]) -> tuple[LatLon, LatLon] | None:
    """Return the south-west and north-east corner around points, or None without points."""
    if not corners:
        return None
    lats, lons = zip(*corners, strict=True)
    return (min(lats), min(lons)), (max(lats), max(lons))


def address(name: str, contents: bytes) -> str:
    """Register contents, JSON, with the server for this tab and return their address."""
    if not exists():
        return f"/{name}.json"
    return str(get_instance().media_file_mgr.add(contents, "application/json", name))


def _extent(roads: RoadNetwork) -> tuple[LatLon, LatLon]:
    lon, lat = roads.junction_lon_lat
    return (
        (float(lat.min()), float(lon.min())),
        (float(lat.max()), float(lon.max())),
    )
