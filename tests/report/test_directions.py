"""The link to Google Maps: read back from its address."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.report.directions import google_maps_link, stop_positions
from evroute.report.lines import route_line

START = "East 16th Avenue & Washington Street"
END = "Blake Street & 27th Street"


def planned(network: RoadNetwork, *via: str) -> Plan:
    return Planner(network, "nissan-leaf-40").plan(START, END, via=via)


def points_of(link: str) -> dict[str, list[tuple[float, float]]]:
    """Return latitudes and longitudes of origin, destination and waypoints."""
    query = parse_qs(urlsplit(link).query)
    return {
        name: [
            (float(point.split(",")[0]), float(point.split(",")[1]))
            for point in query[name][0].split("|")
        ]
        for name in ("origin", "destination", "waypoints")
        if name in query
    }


def metres(
    network: RoadNetwork, point: tuple[float, float], line: list[tuple[float, float]]
) -> float:
    """Return the distance of a point from the nearest point of a dense line."""
    lon, lat = np.array(line).T
    share = np.linspace(0, 1, 40)
    lons = (lon[:-1, None] + np.diff(lon)[:, None] * share).ravel()
    lats = (lat[:-1, None] + np.diff(lat)[:, None] * share).ravel()
    east = (lons - point[1]) * np.cos(np.radians(point[0]))
    return float(np.hypot(east, lats - point[0]).min() * 111_195)


def test_the_link_has_both_ends_and_points_on_the_route(denver: RoadNetwork) -> None:
    plan = planned(denver)
    for name, row in plan.routes.items():
        link = google_maps_link(denver, plan, name)
        assert link is not None
        assert link.startswith("https://www.google.com/maps/dir/?api=1&")
        assert "travelmode=driving" in link
        found, line = points_of(link), route_line(denver, row.stretches)
        assert found["origin"] == [pytest.approx(line[0][::-1])]
        assert found["destination"] == [pytest.approx(line[-1][::-1])]
        waypoints = found.get("waypoints", [])
        assert len(waypoints) <= 3
        assert all(metres(denver, point, line) < 5 for point in waypoints)


def test_stops_of_the_request_are_via_points(denver: RoadNetwork) -> None:
    plan = planned(denver, "17th Avenue & Pearl Street")
    name = plan.recommended
    (position,) = stop_positions(plan, plan.routes[name])
    link = google_maps_link(denver, plan, name)
    assert link is not None
    edge = plan.routes[name].route.edges[position]
    stretch = plan.routes[name].stretches[position : position + 1]
    assert any(
        metres(denver, point, route_line(denver, stretch)) < 5
        for point in points_of(link)["waypoints"]
    ), f"edge {edge} is passed"


def test_more_stops_than_a_link_can_have_give_none(denver: RoadNetwork) -> None:
    plan = planned(denver)
    edges = plan.routes["time"].edges
    many = replace(plan, via=edges[1:5])
    assert google_maps_link(denver, many, "time") is None
    assert google_maps_link(denver, replace(plan, via=edges[1:4]), "time") is not None
