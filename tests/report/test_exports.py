"""GeoJSON and GPX, read back by other programs."""

import json
from pathlib import Path

import geopandas
import numpy as np
import pytest

from evroute.door.plan import plan
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan
from evroute.report.exports import route_geojson, route_gpx


@pytest.fixture
def charged(hill: RoadNetwork) -> Plan:
    return plan(hill, waypoints=("in", "out"), soc_percent=50)


def test_geojson_opens_elsewhere_with_one_feature_per_route_and_per_edge(
    hill: RoadNetwork, charged: Plan, tmp_path: Path
) -> None:
    path = tmp_path / "plan.geojson"
    path.write_text(json.dumps(route_geojson(hill, charged)))
    features = geopandas.read_file(path)
    assert features.crs.to_epsg() == 4326
    assert (features["kind"] == "route").sum() == 3
    for name, planned in charged.routes.items():
        edges = features[(features["kind"] == "edge") & (features["route"] == name)]
        assert list(edges["edge"]) == list(planned.edges)
        assert edges["energy_wh"].sum() == pytest.approx(planned.energy_wh, abs=0.01)
        assert edges["length_m"].sum() == pytest.approx(planned.length_m, abs=0.5)
        assert edges["soc_percent"].iloc[-1] == pytest.approx(
            charged.battery.percent(planned.charge.charge_wh[-1]), abs=0.01
        )


def test_geojson_lines_join_up(hill: RoadNetwork, charged: Plan) -> None:
    features = route_geojson(hill, charged)["features"]
    whole = next(f for f in features if f["properties"]["kind"] == "route")
    parts = [
        f["geometry"]["coordinates"] for f in features if f["properties"].get("route") == "energy"
    ][1:]
    assert [parts[0][0], *(part[-1] for part in parts)] == whole["geometry"]["coordinates"]


def test_geojson_is_plain_json_and_names_its_source(denver: RoadNetwork) -> None:
    document = route_geojson(denver, plan(denver, trip="A"))
    assert (
        json.loads(json.dumps(document, allow_nan=False))["attribution"]
        == denver.source.attribution
    )
    assert "OpenStreetMap" in document["attribution"]


def test_gpx_is_the_recommended_route_with_its_heights(
    hill: RoadNetwork, charged: Plan, tmp_path: Path
) -> None:
    path = tmp_path / "plan.gpx"
    path.write_text(route_gpx(hill, charged), encoding="utf-8")
    tracks = geopandas.read_file(path, layer="tracks")
    assert len(tracks) == 1
    points = geopandas.read_file(path, layer="track_points")
    rows = charged.recommended_route.route.rows
    junctions = [hill.tail[rows[0]], *hill.head[rows]]
    np.testing.assert_allclose(points["ele"], hill.elevation_m[junctions], atol=0.05)
    lon, lat = hill.junction_lon_lat
    np.testing.assert_allclose(points.geometry.x, lon[junctions], atol=1e-6)
    np.testing.assert_allclose(points.geometry.y, lat[junctions], atol=1e-6)
