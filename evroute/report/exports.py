"""Plans for other programs: GeoJSON (RFC 7946) and GPX 1.1."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from evroute import __version__
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.answers import document
from evroute.planning.plan import Plan, PlannedRoute
from evroute.report.lines import LonLat, driven_lines, edge_heights, route_line, stop_places
from evroute.report.words import totals

_GPX = "http://www.topografix.com/GPX/1/1"


def route_geojson(network: RoadNetwork, plan: Plan) -> dict[str, Any]:
    """Return a plan as a GeoJSON FeatureCollection.

    Each route is one feature of ``kind`` "route" with the values of ``answers.document``, followed
    by one feature of ``kind`` "edge" for every edge in driving order: edge (id), street, length_m,
    speed_mps, climb_m, ascent_m, descent_m, energy_wh, wh_per_km, and soc_percent at its end if
    the plan has a battery.
    Positions have no height: RFC 7946 requires it above the ellipsoid, which road data rarely hold.
    """
    features, routes = [], document(plan)["routes"]
    for name, planned in plan.routes.items():
        values = {
            key: value for key, value in routes[name].items() if key not in ("edges", "streets")
        }
        values["recommended"] = name == plan.recommended
        properties = {
            "kind": "route",
            "route": name,
            "vehicle": plan.vehicle,
            "wh_per_km": planned.wh_per_km,
        }
        features.append(_feature(route_line(network, planned.stretches), properties | values))
        for position in range(len(planned.edges)):
            of_edge = {"kind": "edge", "route": name} | _edge(network, plan, planned, position)
            line = route_line(network, planned.stretches[position : position + 1])
            features.append(_feature(line, of_edge))
    return {
        "type": "FeatureCollection",
        "attribution": network.source.attribution,
        "features": features,
    }


def route_gpx(network: RoadNetwork, plan: Plan) -> str:
    """Return the recommended route of a plan as a GPX 1.1 track, with heights in m.

    Charging stops are way points.
    """
    planned = plan.recommended_route
    root = ElementTree.Element(
        "gpx", {"xmlns": _GPX, "version": "1.1", "creator": f"evroute {__version__}"}
    )
    _text(ElementTree.SubElement(root, "metadata"), "desc", network.source.attribution)
    for stop, (lon, lat) in stop_places(network, planned).items():
        point = ElementTree.SubElement(root, "wpt", {"lat": str(lat), "lon": str(lon)})
        _text(point, "name", stop.advice)
        _text(point, "desc", f"{stop.plug}, {stop.time_s / 60:.0f} min")
    track = ElementTree.SubElement(root, "trk")
    _text(track, "name", f"{plan.network}: {plan.titles[0]} to {plan.titles[-1]}")
    _text(track, "desc", f"{plan.label(plan.recommended)}: {totals(planned)} ({plan.vehicle})")
    segment = ElementTree.SubElement(track, "trkseg")
    last = None
    for (lon, lat), height_m in _track(network, planned.stretches):
        if (lon, lat) != last:
            point = ElementTree.SubElement(segment, "trkpt", {"lat": str(lat), "lon": str(lon)})
            _text(point, "ele", f"{height_m:.1f}")
        last = (lon, lat)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _track(network: RoadNetwork, driven: Stretches) -> Iterator[tuple[LonLat, float]]:
    """Yield the points of a route, degrees, with heights, m. Points of a turn have one height."""
    ends = zip(driven.edge.tolist(), driven.from_m.tolist(), driven.to_m.tolist(), strict=True)
    for part, (turn, line) in zip(ends, driven_lines(network, driven), strict=True):
        height_m = float(network.elevation_m[network.tail[part[0]]])
        yield from ((point, height_m) for point in turn)
        yield from zip(line, edge_heights(network, *part).tolist(), strict=True)


def _feature(line: list[tuple[float, float]], properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "Feature",
        "geometry": {"type": "LineString", "coordinates": line},
        "properties": properties,
    }


def _edge(network: RoadNetwork, plan: Plan, planned: PlannedRoute, position: int) -> dict[str, Any]:
    row = planned.route.edges[position]
    part = planned.stretches[position : position + 1]
    energy_wh, length_m = float(planned.edge_wh[position]), float(planned.edge_m[position])
    gained_m, lost_m = (float(height_m[0]) for height_m in part.heights(network))
    edge = {
        "edge": network.edge_id[row],
        "street": network.street[row],
        "length_m": round(length_m, 1),
        "speed_mps": round(float(network.speed_mps[row]), 3),
        "climb_m": round(gained_m - lost_m, 2),
        "ascent_m": round(gained_m, 2),
        "descent_m": round(lost_m, 2),
        "energy_wh": round(energy_wh, 3),
        "wh_per_km": round(energy_wh / length_m * 1000, 1) if length_m else 0.0,
    }
    if plan.battery is not None and planned.charge is not None:
        edge["soc_percent"] = round(
            plan.battery.percent(float(planned.charge.charge_wh[position + 1])), 3
        )
    return edge


def _text(parent: ElementTree.Element, tag: str, text: str) -> None:
    ElementTree.SubElement(parent, tag).text = text
