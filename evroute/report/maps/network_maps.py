"""Maps (folium) that draw without a network: Leaflet is embedded, the roads are the background.

OpenStreetMap tiles are a layer that is off by default. Roads are a few multi-line objects, one per
colour class: thousands of separate ones take seconds and megabytes. Text from data reaches folium
through `_text` alone, and a page through `map_page.MapPage`.
"""

from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.places.names import edge_label
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.plan import Plan, PlannedRoute
from evroute.report.charts.profile import profiles, svg
from evroute.report.colours import (
    ENERGY_CLASSES,
    ROUTE_COLOURS,
    Classes,
    route_style,
    value_classes,
)
from evroute.report.extras import folium
from evroute.report.lines import LonLat, edge_line, road_lines, route_line, stop_places, thin_lines
from evroute.report.maps.leaflet import embedded
from evroute.report.maps.page import Figure, MacroElement, MapPage, Template
from evroute.report.words import distinct_routes, totals

_ROAD = "#c4c4c0"
_SPOTS = {"start": "#ffffff", "destination": "#222222", "lowest": "#f1c40f", "charge": "#009e73"}
_STYLE = """<style>
div.leaflet-container { background: #fbfbf9; }
div.leaflet-container .leaflet-control-attribution { font-size: 10px; }
.leaflet-bottom.leaflet-left { margin-bottom: 32px; }
@media (max-width: 480px) {
  .leaflet-top.leaflet-left { top: auto; bottom: 96px; }
  .leaflet-bottom.leaflet-left { margin-bottom: 52px !important; }
  div.leaflet-container .leaflet-control-layers { font-size: 11px; }
}
.evroute-panel { background: rgba(255, 255, 255, .93); padding: 6px 10px;
  border-radius: 4px; line-height: 1.5; box-shadow: 0 1px 4px rgba(0, 0, 0, .3);
  font: 12px sans-serif; color: #222; max-width: 13em; }
</style>"""
_STRIP_STYLE = """<style>
body { display: flex; flex-direction: column; }
.folium-map { flex: 1; height: auto !important; min-height: 0; }
.evroute-strip { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 4px 10px;
  max-height: 45vh; overflow: auto; font: 14px sans-serif; color: #222; background: #fff; }
.evroute-strip p { flex-basis: 100%; margin: 2px 0; }
</style>"""
_PANEL = """{% macro script(this, kwargs) %}
var {{ this.get_name() }} = L.control({position: {{ this.position|tojson }}});
{{ this.get_name() }}.onAdd = function () {
    var panel = L.DomUtil.create("div", "evroute-panel");
    panel.innerHTML = {{ this.html|tojson }};
    L.DomEvent.disableClickPropagation(panel);
    return panel;
};
{{ this.get_name() }}.addTo({{ this._parent.get_name() }});
{% endmacro %}"""
_ATTRIBUTION = """{% macro script(this, kwargs) %}
{{ this._parent.get_name() }}.attributionControl.addAttribution({{ this.html|tojson }});
{% endmacro %}"""


def route_map(network: RoadNetwork, plan: Plan) -> "folium.Map":
    """Return a self-contained map of a plan: routes, legend, profiles of height and charge.

    Raises
    ------
    MissingPackageError
        If folium or altair is not installed.
    """
    chart = base_map(
        network, np.concatenate([planned.route.rows for planned in plan.routes.values()])
    )
    for layer in _route_layers(network, plan):
        layer.add_to(chart)
    panel(ENERGY_CLASSES.legend_html(), "bottomright").add_to(chart)
    folium.LayerControl(collapsed=False).add_to(chart)
    drawings = "".join(svg(drawing) for drawing in profiles(network, plan).values())
    page, element = _page(chart), folium.Element
    page.header.add_child(element(_STRIP_STYLE), name="evroute_strip_style")
    page.html.add_child(
        element(f'<div class="evroute-strip"><p>{_text(plan.verdict)}</p>{drawings}</div>')
    )
    return chart


def values_map(network: RoadNetwork, values: FloatArray, title: str) -> "folium.Map":
    """Return a self-contained map of the roads, coloured by a quantity of each edge.

    Parameters
    ----------
    network
        The roads.
    values
        (n,) quantity of each edge, NaN where it has none.
    title
        The quantity with its unit.

    Raises
    ------
    MissingPackageError
        If folium is not installed.
    """
    edges = np.arange(network.n_edges)
    chart, (legend,) = quantities_map(network, {title: values}, edges, collapsed=False)
    panel(legend, "bottomright").add_to(chart)
    return chart


def quantities_map(
    network: RoadNetwork,
    quantities: Mapping[str, FloatArray],
    around: IntArray,
    *,
    collapsed: bool = True,
) -> tuple["folium.Map", list[str]]:
    """Return a map that shows one of its quantities at a time, and their legends as HTML.

    Parameters
    ----------
    network
        The roads.
    quantities
        (n,) values of each edge by title with unit, NaN where an edge has none. The first is shown.
    around
        (k,) edges to which the map is fitted.
    collapsed
        Whether the list of layers opens on a click.

    Raises
    ------
    MissingPackageError
        If folium is not installed.
    """
    chart, legends = base_map(network, around), list[str]()
    for title, values in quantities.items():
        classes = value_classes(title, values)
        layer = classes_layer(network, values, classes, title)
        layer.overlay, layer.show = len(quantities) == 1, not legends
        layer.add_to(chart)
        legends.append(classes.legend_html())
    folium.LayerControl(collapsed=collapsed).add_to(chart)
    return chart, legends


def class_lines(
    network: RoadNetwork, values: FloatArray, classes: Classes
) -> list[tuple[str, float, list[list[LonLat]]]]:
    """Return colour, width in pixels and lines of each class, higher classes thicker and last.

    Parameters
    ----------
    network
        The roads.
    values
        (n,) quantity of each edge. Edges of NaN are left out.
    classes
        Classes of the quantity.
    """
    shown = np.flatnonzero(np.isfinite(values))
    of_shown = classes.of(values[shown])
    return [
        (colour, 3 + k / 2, thin_lines(network, edges))
        for k, colour in enumerate(classes.colours)
        if len(edges := shown[of_shown == k])
    ]


def classes_layer(
    network: RoadNetwork, values: FloatArray, classes: Classes, name: str
) -> "folium.FeatureGroup":
    """Return the roads coloured by a quantity as a layer.

    Parameters
    ----------
    network, values, classes
        As in `class_lines`.
    name
        Name of the layer.
    """
    layer = folium.FeatureGroup(name=_text(name))
    for colour, weight, lines in class_lines(network, values, classes):
        _lines(lines, color=colour, weight=weight).add_to(layer)
    return layer


def base_map(network: RoadNetwork, around: IntArray) -> "folium.Map":
    """Return a map of the roads in grey, fitted once to edges (k,): a second fit would animate.

    Raises
    ------
    MissingPackageError
        If folium is not installed.
    """
    chart = folium.Map(tiles=None, control_scale=True, font_size="0.8rem", zoom_snap=0.25)
    MapPage().add_child(chart)
    js, css = embedded()
    chart.default_js, chart.default_css = [("leaflet", js)], [("leaflet_css", css)]
    _page(chart).header.add_child(folium.Element(_STYLE), name="evroute_style")
    folium.TileLayer(
        "OpenStreetMap", name="OpenStreetMap tiles (from the internet)", overlay=True, show=False
    ).add_to(chart)
    roads = folium.FeatureGroup(name="roads", control=False).add_to(chart)
    _lines(road_lines(network), color=_ROAD, weight=1.5).add_to(roads)
    _element(_ATTRIBUTION, html=_text(network.source.attribution)).add_to(chart)
    lon, lat = network.junction_lon_lat
    junctions = np.concatenate([network.tail[around], network.head[around]])
    lon, lat = lon[junctions], lat[junctions]
    chart.fit_bounds([[lat.min(), lon.min()], [lat.max(), lon.max()]], padding=(20, 20))
    return chart


def _route_layers(network: RoadNetwork, plan: Plan) -> list["folium.FeatureGroup"]:
    """Return the routes of a plan as layers, the recommended one on top, then its marks."""
    layers = []
    for name, label in reversed(distinct_routes(plan).items()):
        planned = plan.routes[name]
        title = f"{label}: {totals(planned)}"
        layer = folium.FeatureGroup(name=_text(title))
        line = [(lat, lon) for lon, lat in route_line(network, planned.stretches)]
        colour, dashes = route_style(name, plan.recommended)
        if name == plan.recommended:
            folium.PolyLine(line, color=colour, weight=9).add_to(layer)
            for colour, piece, text in stretches(network, planned):
                swapped = [(lat, lon) for lon, lat in piece]
                folium.PolyLine(swapped, color=colour, weight=5, tooltip=_text(text)).add_to(layer)
        else:
            dash = " ".join(str(2 * step) for step in dashes)
            folium.PolyLine(
                line, color=colour, weight=5, dash_array=dash, tooltip=_text(title)
            ).add_to(layer)
        layers.append(layer)
    if plan.request.charge:
        layers.insert(0, _stations_layer(network))
    return [*layers, _marks_layer(network, plan)]


def panel(html: str, position: str) -> Any:
    """Return a box with HTML in a corner of the map, as an element to add to it."""
    return _element(_PANEL, html=_inert(html), position=position)


def stretches(
    network: RoadNetwork, planned: PlannedRoute
) -> Iterator[tuple[str, list[LonLat], str]]:
    """Yield colour, line and text of each piece of a route with one street and energy class.

    The text holds length, difference in height and energy.
    """
    rows, length_m = planned.route.rows, planned.edge_m
    of_edge = ENERGY_CLASSES.of(planned.edge_wh / length_m * 1000)
    names = [network.street[row] for row in rows]
    for (kind, street), group in groupby(
        range(len(rows)), key=lambda i: (int(of_edge[i]), names[i])
    ):
        piece = list(group)
        driven = planned.stretches[np.array(piece)]
        energy_wh, driven_m = planned.edge_wh[piece].sum(), length_m[piece].sum()
        climb_m = driven.pieces(network)[1].sum()
        name = street or edge_label(network, int(rows[piece[len(piece) // 2]]))
        text = (
            f"{name}: {driven_m:,.0f} m, height {climb_m:+.0f} m, "
            f"{energy_wh:,.0f} Wh ({energy_wh / driven_m * 1000:,.0f} Wh per km)"
        )
        yield ENERGY_CLASSES.colours[kind], route_line(network, driven), text


def _text(text: str) -> str:
    """Escape text for folium: HTML in a JavaScript template string in a Jinja template."""
    return _inert(escape(text))


def _inert(html: str) -> str:
    """Return the HTML with the characters of JavaScript and Jinja templates as references."""
    return html.translate({ord(sign): f"&#{ord(sign)};" for sign in "`$\\{}"})


def marks(network: RoadNetwork, plan: Plan, name: str) -> dict[str, LonLat]:
    """Return longitude and latitude of start, destination, stops and lowest charge by texts, °.

    The lowest charge is left out if it is at an end.

    Parameters
    ----------
    network
        Network of the plan.
    plan
        Plan of any request.
    name
        Row of the plan, such as ``"energy"``.
    """
    planned = plan.routes[name]
    edges, charge = planned.route.edges, planned.charge
    driven = planned.stretches
    first, last = route_line(network, driven[:2]), route_line(network, driven[-2:])
    found = {"start": first[0], "destination": last[-1]}
    if plan.battery is not None and charge is not None and 0 < charge.lowest < len(edges):
        percent = plan.battery.percent(float(charge.low_wh.min()))
        at = edge_line(network, edges[charge.lowest - 1])[-1]
        found[f"lowest charge: {percent:.1f} %"] = at
    return found | {stop.mark: at for stop, at in stop_places(network, planned).items()}


def _stations_layer(network: RoadNetwork) -> "folium.FeatureGroup":
    """Return the charging stations as small circles, with name, sockets, powers and prices."""
    layer = folium.FeatureGroup(name="charging stations")
    for station in stations(network):
        folium.CircleMarker(
            (station.lat, station.lon),
            radius=4,
            color=_SPOTS["charge"],
            weight=2,
            fill_color="#ffffff",
            fill_opacity=1,
            tooltip=_text(station.words),
        ).add_to(layer)
    return layer


def _marks_layer(network: RoadNetwork, plan: Plan) -> "folium.FeatureGroup":
    """Return circles at the marks of the recommended route."""
    layer = folium.FeatureGroup(name="ends", control=False)
    for text, (lon, lat) in marks(network, plan, plan.recommended).items():
        folium.CircleMarker(
            (lat, lon),
            radius=7,
            color=ROUTE_COLOURS["energy"],
            weight=3,
            fill_color=next((colour for start, colour in _SPOTS.items() if text.startswith(start))),
            fill_opacity=1,
            tooltip=_text(text),
        ).add_to(layer)
    return layer


def _lines(lines: list[list[LonLat]], **style: Any) -> "folium.PolyLine":
    """Return many lines as one multi-line."""
    return folium.PolyLine([[(lat, lon) for lon, lat in line] for line in lines], **style)


def _page(chart: "folium.Map") -> Figure:
    page = chart.get_root()
    assert isinstance(page, Figure), "every folium map makes itself a page"
    return page


def _element(template: str, **values: str) -> Any:
    element = MacroElement()
    element._template = Template(template)
    vars(element).update(values)
    return element
