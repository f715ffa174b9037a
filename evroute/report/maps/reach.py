"""Ranges for other programs and as a map: roads with their arrival charges, and the area."""

from typing import Any

import numpy as np

from evroute.network.coordinates import WGS84, transformer
from evroute.network.geo import shapely
from evroute.planning.reach import Reach
from evroute.report.extras import folium
from evroute.report.lines import edge_line

MARGIN_M = 60.0
"""Distance by which the area extends beyond its roads, m."""
GAP_M = 100.0
"""Half the width of the gaps between roads that the area closes, m."""
_TOLERANCE_M = 10.0
_AREA = "#0072b2"


def reach_area(reach: Reach) -> dict[str, Any]:
    """Return the area within reach as a GeoJSON geometry of polygons.

    It holds every road within reach, with a margin of `MARGIN_M`. Gaps between roads narrower than
    twice `GAP_M` belong to it.
    """
    network = reach.network
    lines = network.lines(network.shape_x_m, network.shape_y_m)[reach.within]
    roads = shapely.buffer(shapely.simplify(lines, _TOLERANCE_M), MARGIN_M, quad_segs=2)
    closed = shapely.buffer(shapely.union_all(roads), GAP_M).buffer(-GAP_M)
    project = transformer(network.crs, WGS84).transform

    def degrees(xy: Any) -> Any:
        return np.column_stack(project(xy[:, 0], xy[:, 1])).round(6)

    return shapely.geometry.mapping(shapely.transform(closed.simplify(_TOLERANCE_M), degrees))


def reach_geojson(reach: Reach) -> dict[str, Any]:
    """Return a range as a GeoJSON FeatureCollection (RFC 7946).

    The first feature, of ``kind`` "area", is the area within reach with start_soc_percent,
    reserve_percent and risk. One feature of ``kind`` "road" follows for each edge within reach:
    edge (id), street, and the charge at its end that is exceeded with a probability of 50, 90 and
    99 %: charge_50_percent, charge_90_percent and charge_99_percent, as far as there are forecasts.
    """
    network, battery = reach.network, reach.battery
    request = {
        "kind": "area",
        "start_soc_percent": battery.percent(battery.start_wh),
        "reserve_percent": battery.percent(battery.reserve_wh),
        "risk": reach.risk,
    }
    features = [{"type": "Feature", "geometry": reach_area(reach), "properties": request}]
    for row in np.flatnonzero(reach.within).tolist():
        properties = {"kind": "road", "edge": network.edge_id[row], "street": network.street[row]}
        charges = {
            f"charge_{100 * level:.0f}_percent": round(float(percent[row]), 2)
            for level, percent in reach.charge_percent.items()
        }
        geometry = {"type": "LineString", "coordinates": edge_line(network, row)}
        features.append(
            {"type": "Feature", "geometry": geometry, "properties": properties | charges}
        )
    attribution = network.source.attribution
    return {"type": "FeatureCollection", "attribution": attribution, "features": features}


def reach_map(reach: Reach) -> "folium.Map":
    """Return a self-contained map of a range: its area, and its roads coloured by arrival charge.

    Raises
    ------
    MissingPackageError
        If folium is not installed.
    """
    from evroute.report.maps.network_maps import panel, quantities_map

    charges = {
        f"charge on arrival, % ({level:.0%} of trips have more)": np.where(
            reach.within, percent, np.nan
        )
        for level, percent in reach.charge_percent.items()
    }
    within = np.flatnonzero(reach.within)
    chart, legends = quantities_map(reach.network, charges, within, collapsed=False)
    area = reach_area(reach)
    parts = [area["coordinates"]] if area["type"] == "Polygon" else area["coordinates"]
    outline = [[(lat, lon) for lon, lat in ring] for part in parts for ring in part]
    group = folium.FeatureGroup(name="area", control=False).add_to(chart)
    folium.PolyLine(outline, color=_AREA, weight=3).add_to(group)
    panel("".join(legends), "bottomright").add_to(chart)
    return chart
