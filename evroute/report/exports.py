"""Plans for other programs: GeoJSON (RFC 7946) and GPX 1.1."""

from typing import Any
from xml.etree import ElementTree

from evroute import __version__
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, PlannedRoute
from evroute.report.colours import ROUTE_LABELS
from evroute.report.lines import edge_heights, edge_line, route_line

_GPX = "http://www.topografix.com/GPX/1/1"


def route_geojson(network: RoadNetwork, plan: Plan) -> dict[str, Any]:
    """Return a plan as a GeoJSON FeatureCollection.

    Each route of the plan is one feature of ``kind`` "route" with its totals, and one of ``kind`` "edge" for every
    edge in driving order: edge (id), street, length_m, speed_mps, climb_m, energy_wh, wh_per_km, and soc_percent
    at its end where the plan has a battery. Positions carry no height: RFC 7946 wants it above the ellipsoid, which
    road data rarely tell.
    """
    features = []
    for name, planned in plan.routes.items():
        features.append(_feature(route_line(network, planned.route.rows), _totals(name, plan, planned)))
        for position, row in enumerate(planned.route.edges):
            properties = {"kind": "edge", "route": name} | _edge(network, plan, planned, position)
            features.append(_feature(edge_line(network, row), properties))
    return {"type": "FeatureCollection", "attribution": network.source.attribution, "features": features}


def route_gpx(network: RoadNetwork, plan: Plan) -> str:
    """Return a plan as GPX 1.1: one track for each route, with the heights of the network in metres."""
    root = ElementTree.Element("gpx", {"xmlns": _GPX, "version": "1.1", "creator": f"evroute {__version__}"})
    metadata = ElementTree.SubElement(root, "metadata")
    _text(metadata, "name", f"{plan.network}: {plan.origin} to {plan.destination}")
    _text(metadata, "desc", network.source.attribution)
    for name, planned in plan.routes.items():
        track = ElementTree.SubElement(root, "trk")
        _text(track, "name", ROUTE_LABELS[name])
        _text(
            track,
            "desc",
            f"{planned.energy_wh / 1000:.2f} kWh, {planned.length_m / 1000:.1f} km, {planned.time_s / 60:.1f} min "
            f"({plan.vehicle})",
        )
        segment = ElementTree.SubElement(track, "trkseg")
        last = None
        for row in planned.route.edges:
            for (lon, lat), height_m in zip(edge_line(network, row), edge_heights(network, row), strict=True):
                if (lon, lat) != last:
                    point = ElementTree.SubElement(segment, "trkpt", {"lat": str(lat), "lon": str(lon)})
                    _text(point, "ele", f"{height_m:.1f}")
                last = (lon, lat)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _feature(line: list[tuple[float, float]], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": "LineString", "coordinates": line}, "properties": properties}


def _totals(name: str, plan: Plan, planned: PlannedRoute) -> dict[str, Any]:
    totals = {
        "kind": "route",
        "route": name,
        "vehicle": plan.vehicle,
        "energy_wh": round(planned.energy_wh, 3),
        "wh_per_km": round(planned.wh_per_km, 3),
        "length_m": round(planned.length_m, 1),
        "time_s": round(planned.time_s, 1),
        "climb_m": round(planned.climb_m, 1),
        "descent_m": round(planned.descent_m, 1),
    }
    if plan.battery is not None and planned.charge is not None:
        charge_wh = planned.charge.charge_wh
        totals["min_soc_percent"] = round(plan.battery.percent(float(charge_wh.min())), 3)
        totals["arrival_soc_percent"] = round(plan.battery.percent(float(charge_wh[-1])), 3)
    return totals


def _edge(network: RoadNetwork, plan: Plan, planned: PlannedRoute, position: int) -> dict[str, Any]:
    row = planned.route.edges[position]
    energy_wh, length_m = float(planned.edge_wh[position]), float(network.length_m[row])
    edge = {
        "edge": network.edge_id[row],
        "street": network.street[row],
        "length_m": round(length_m, 1),
        "speed_mps": round(float(network.speed_mps[row]), 3),
        "climb_m": round(float(network.climb_m[row]), 2),
        "energy_wh": round(energy_wh, 3),
        "wh_per_km": round(energy_wh / length_m * 1000, 1),
    }
    if plan.battery is not None and planned.charge is not None:
        edge["soc_percent"] = round(plan.battery.percent(float(planned.charge.charge_wh[position + 1])), 3)
    return edge


def _text(parent: ElementTree.Element, tag: str, text: str) -> None:
    ElementTree.SubElement(parent, tag).text = text
