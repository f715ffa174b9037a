"""Layers that are switched on, drawn once for the same inputs, and passed on to the map."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from layers import LAYERS, Asked, Drawn, layer_named
from literal import sentence
from map_component import address, bounds_of, classes_of, legend_of_marks
from request import Request
from road_files import LatLon, json_of

from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner

STATION = ("dot", "#ffffff")
"""Mark of the points of a layer, as the map draws them."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A drawn layer as the page shows it; contents: JSON; corners: points around its roads."""

    words: str
    contents: bytes
    legends: tuple[dict[str, Any], ...]
    corners: tuple[LatLon, ...] = ()


def asked_of(request: Request) -> Asked:
    """Return the part of the inputs of a plan that layers may depend on."""
    return Asked(request.places[0], request.battery, request.risk)


def shown_layers(request: Request, planner: Planner) -> dict[str, Shown]:
    """Return the layers that are switched on, each kept for reruns with the same inputs.

    A layer that cannot be drawn is left out. The page shows the reason.
    """
    shown = {}
    asked = asked_of(request)
    for name in request.layers:
        layer, kept = layer_named(name), f"last_layer_{name}"
        inputs, last = layer.depends(asked), st.session_state.get(kept)
        if last is None or last[0] is not planner or last[1] != inputs:
            try:
                last = planner, inputs, contents_of(planner.network, layer.draw(asked, planner))
            except EvrouteError as error:
                st.error(sentence(str(error)))
                continue
            st.session_state[kept] = last
        shown[name] = last[2]
    return shown


def contents_of(roads: RoadNetwork, drawn: Drawn) -> Shown:
    """Return a layer's contents as the map takes them."""
    lines: dict[str, Any] = {"classes": [], "legends": []}
    if drawn.classes is not None and drawn.values is not None:
        lines = classes_of(roads, drawn.values, drawn.classes)
    points = [{"at": (lat, lon), "text": text} for lat, lon, text in drawn.points]
    contents = json_of({"classes": lines["classes"], "points": points})
    legends = [*lines["legends"]]
    if drawn.mark:
        legends.append(legend_of_marks({drawn.mark: STATION}))
    at = [point for each in lines["classes"] for line in each["lines"] for point in line]
    return Shown(drawn.words, contents, tuple(legends), bounds_of(at) or ())


def layers_data(request: Request | None, shown: dict[str, Shown]) -> list[dict[str, Any]]:
    """Return name, label, switch and address of the contents of each layer, for the map."""
    return [
        {
            "name": name,
            "label": layer_named(name).label,
            "shown": request is not None and name in request.layers,
            "url": address(name, shown[name].contents) if name in shown else "",
            "wide": name in shown and bool(shown[name].corners),
        }
        for name in LAYERS
    ]
