"""Maps of a network that the browser keeps: each rerun sends only the layers above the roads.

The grey roads, up to megabytes, are served as a separate script, once for each network and tab. The
view of a tab survives reruns and a change of page.
"""

from collections.abc import Callable, Sequence
from typing import Any

import folium
import numpy as np
import streamlit as st
from branca.element import MacroElement
from cache import BY_DIGEST
from jinja2 import Template
from streamlit.runtime import exists, get_instance
from streamlit_folium import st_folium

from evroute.network.road_network import RoadNetwork
from evroute.report.leaflet import Leaflet
from evroute.report.maps import base_map, roads_script

LEAFLET = Leaflet(js="/app/static/leaflet/leaflet.js", css="/app/static/leaflet/leaflet.css")
_SAME_VIEW = """{% macro script(this, kwargs) %}
(function (map, place) {
    try {
        var kept = JSON.parse(sessionStorage.getItem(place));
        if (kept) { map.setView(kept.slice(0, 2), kept[2], {animate: false}); }
        map.on("moveend", function () {
            var at = map.getCenter();
            sessionStorage.setItem(place, JSON.stringify([at.lat, at.lng, map.getZoom()]));
        });
    } catch (refused) { /* a browser that keeps nothing shows all of the network */ }
})({{ this._parent.get_name() }}, "evroute-{{ this.digest }}");
{% endmacro %}"""


class _SameView(MacroElement):
    _template = Template(_SAME_VIEW)

    def __init__(self, digest: str) -> None:
        super().__init__()
        self.digest = digest


def show_map(
    roads: RoadNetwork,
    layers: Sequence[folium.FeatureGroup],
    *,
    key: str,
    height: int,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Show layers over the roads of a network.

    Parameters
    ----------
    roads
        The network.
    layers
        Layers above the roads.
    key
        Session key of the map; a click is stored there.
    height
        Height of the map, pixels.
    on_click
        Called after a click; None to ignore clicks.
    """
    chart = base_map(roads, LEAFLET, np.arange(roads.n_edges), roads_address(roads))
    _SameView(roads.digest[:16]).add_to(chart)
    st_folium(
        chart,
        key=key,
        height=height,
        use_container_width=True,
        returned_objects=["last_clicked"] if on_click else [],
        feature_group_to_add=list(layers),
        layer_control=folium.LayerControl(collapsed=False),
        on_change=on_click,
    )


def roads_address(roads: RoadNetwork) -> str:
    """Register the script of the roads with the server for this tab and return its address."""
    if not exists():
        return "/roads.js"
    address: Any = get_instance().media_file_mgr.add(
        _script(roads), "text/javascript", f"roads-{roads.digest}"
    )
    return str(address)


@st.cache_data(max_entries=8, show_spinner=False, hash_funcs=BY_DIGEST)
def _script(roads: RoadNetwork) -> bytes:
    return roads_script(roads).encode()
