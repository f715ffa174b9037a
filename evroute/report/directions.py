"""A link that opens a route in Google Maps, which chooses its own way between few via points.

Source: Google, *Maps URLs*: a browser of a phone takes at most three via points.
https://developers.google.com/maps/documentation/urls/get-started
"""

from urllib.parse import urlencode

import numpy as np

from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.via_points import MOST, via_points
from evroute.report.lines import LonLat, edge_line, route_line, stop_places

ADDRESS = "https://www.google.com/maps/dir/?"


def google_maps_link(network: RoadNetwork, plan: Plan, name: str) -> str | None:
    """Return the address of a row in Google Maps, or None if it stops more often than a link can.

    The stops of the request and those to charge are via points. The others are chosen so that the
    ways between them are least ambiguous.

    Parameters
    ----------
    network, plan
        The roads and the plan.
    name
        Row of the plan.
    """
    planned = plan.routes[name]
    stops = stop_positions(plan, planned)
    if len(stops) > MOST:
        return None
    edges = np.array(planned.route.edges)
    positions, _ = via_points(network, edges, passed=sorted(stops))
    stations = {
        stop.after_edges - 1: place for stop, place in stop_places(network, planned).items()
    }
    points = [
        stations[position] if position in stations else _middle(network, int(edges[position]))
        for position in positions
    ]
    line = route_line(network, planned.stretches)
    texts = {
        "api": "1",
        "origin": _text(line[0]),
        "destination": _text(line[-1]),
        "travelmode": "driving",
    }
    if points:
        texts["waypoints"] = "|".join(map(_text, points))
    return ADDRESS + urlencode(texts, safe=",")


def stop_positions(plan: Plan, planned: PlannedRoute) -> set[int]:
    """Return the positions among the edges of a route of its stops, those to charge included.

    Parameters
    ----------
    plan, planned
        The plan and one of its routes.
    """
    found = {stop.after_edges - 1 for stop in planned.stops}
    position = 0
    for edge in plan.via:
        position = planned.edges.index(edge, position + 1)
        found.add(position)
    return found


def _middle(network: RoadNetwork, edge: int) -> LonLat:
    """Return the point halfway along an edge, degrees."""
    return edge_line(network, edge, 0.0, float(network.length_m[edge]) / 2)[-1]


def _text(point: LonLat) -> str:
    lon, lat = point
    return f"{lat:.6f},{lon:.6f}"
