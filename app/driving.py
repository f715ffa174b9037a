"""Driving: what is left of a planned trip from where the car is, by the charge that it shows.

The car is dragged along the way on the map or by a slider, or its place is written. The plan stays
as it is, and nothing of the drive is kept.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from literal import sentence
from map_component import MapEvent
from naming import place_point
from road_files import LatLon

from evroute.errors import EvrouteError
from evroute.network.geo import shapely
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.track import BESIDE_M, M_PER_DEGREE, Track
from evroute.report.lines import route_line

CAR_ROW = -1
"""Row of the car among the pins."""
DRIVEN_KM, SHOWN, WRITTEN = "driven_km", "charge_now", "car_place"
"""Keys of the kilometres driven, the charge shown, %, and the place of the car as written."""
DRAGGED = "car_dragged"
"""Key of where the car was dragged to, degrees."""
MOVED = "car_moved"
"""Key of whether the map still shows the car elsewhere."""


@dataclass(frozen=True)
class Way:
    """A route as a line in a plane.

    Parameters
    ----------
    line
        The line, degrees times ``scale``.
    scale
        (2,) metres per degree of longitude and latitude.
    km
        Length as driven, km.
    """

    line: Any
    scale: np.ndarray
    km: float

    @classmethod
    def of(cls, roads: RoadNetwork, planned: PlannedRoute) -> "Way":
        """Return it for a route of a plan."""
        points = np.array(route_line(roads, planned.stretches))
        scale = np.array([np.cos(np.radians(points[0, 1])), 1.0]) * M_PER_DEGREE
        return cls(shapely.LineString(points * scale), scale, planned.length_m / 1000)

    def nearest(self, place: LatLon) -> tuple[float, float]:
        """Return the kilometres along the way that are nearest to a place, and how far it is, m."""
        point = shapely.Point(np.array(place[::-1]) * self.scale)
        share = self.line.project(point, normalized=True)
        return round(share * self.km, 1), self.line.distance(point)

    def place(self, km: float) -> LatLon:
        """Return latitude and longitude of a place along the way."""
        point = self.line.interpolate(min(km / self.km, 1.0), normalized=True)
        lon, lat = np.array([point.x, point.y]) / self.scale
        return float(lat), float(lon)


def car_pin(roads: RoadNetwork, planned: PlannedRoute) -> dict[str, Any]:
    """Return the car as a pin of the map, halfway at first.

    Parameters
    ----------
    roads, planned
        The network and the route that is driven.
    """
    way, dragged = Way.of(roads, planned), st.session_state.pop(DRAGGED, None)
    if dragged:
        st.session_state[DRIVEN_KM], _ = way.nearest(dragged)
    km = min(st.session_state.get(DRIVEN_KM, round(way.km / 2, 1)), round(way.km, 1))
    st.session_state[DRIVEN_KM] = km
    text = "The car. Drag it along the way"
    return {"row": CAR_ROW, "label": "◉", "text": text, "at": way.place(km), "stop": False}


def take_car(event: MapEvent) -> None:
    """Move the car to where it was dragged to."""
    st.session_state[DRAGGED] = event["at"]
    st.session_state[WRITTEN] = ""


def driving(roads: RoadNetwork, plan: Plan, name: str) -> None:
    """Ask where the car is and what charge it shows, and say what is left of the trip.

    Parameters
    ----------
    roads, plan
        The network, and the plan.
    name
        The row that is driven.
    """
    way = Way.of(roads, plan.routes[name])
    km = st.slider("Driven (km)", 0.0, round(way.km, 1), step=0.1, key=DRIVEN_KM, on_change=_move)
    percent = st.number_input("Charge now (%)", 0.0, 100.0, None, 1.0, format="%g", key=SHOWN)
    written = st.text_input("or a place on the way: a name, or LAT,LON", key=WRITTEN)
    try:
        place = _written(roads, way, written) if written else way.place(km)
        left = replace(plan, recommended=name).after(Track.at(*place, percent=percent))
    except EvrouteError as error:
        st.info(sentence(str(error)))
        return
    for words in left.sentences:
        st.write(sentence(words))


def _written(roads: RoadNetwork, way: Way, text: str) -> LatLon:
    """Return the place that was written, if it is on the way."""
    place = place_point(roads, text)
    _, beside_m = way.nearest(place)
    if beside_m > BESIDE_M:
        raise EvrouteError(f"this place is {beside_m:.0f} m beside the way. Plan from there")
    return place


def _move() -> None:
    st.session_state[WRITTEN] = ""
    st.session_state[MOVED] = True
