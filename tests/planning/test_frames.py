"""Plans and ranges as tables of lines."""

import numpy as np
import pytest

import evroute
from evroute.network.road_network import RoadNetwork


@pytest.fixture(scope="module")
def ends() -> dict[str, str]:
    return {"origin": "Blake Street & 17th Street", "destination": "Broadway & 20th Street"}


def test_a_plan_is_one_line_for_each_route(denver: RoadNetwork, ends: dict[str, str]) -> None:
    plan = evroute.plan(denver, **ends)
    table = plan.to_geodataframe()
    assert list(table.index) == list(plan.routes)
    assert table["energy_wh"].tolist() == [each.energy_wh for each in plan.routes.values()]
    assert table.index[table["recommended"]].tolist() == [plan.recommended]
    assert table.crs == "EPSG:4326"
    metric = table.to_crs(denver.crs)
    for name, planned in plan.routes.items():
        edges = list(planned.route.edges)
        first, last = metric.geometry[name].coords[0], metric.geometry[name].coords[-1]
        tail, head = denver.tail[edges[0]], denver.head[edges[-1]]
        drawn_m = sum(_length_m(denver, edge) for edge in edges)
        assert metric.geometry[name].length >= drawn_m - 1e-3
        assert np.hypot(first[0] - denver.x_m[tail], first[1] - denver.y_m[tail]) < 30
        assert np.hypot(last[0] - denver.x_m[head], last[1] - denver.y_m[head]) < 30


def _length_m(network: RoadNetwork, edge: int) -> float:
    points = slice(network.shape_start[edge], network.shape_start[edge + 1])
    return float(
        np.hypot(np.diff(network.shape_x_m[points]), np.diff(network.shape_y_m[points])).sum()
    )


def test_a_range_is_one_line_for_each_road_within_reach(
    denver: RoadNetwork, ends: dict[str, str]
) -> None:
    reach = evroute.reachable(denver, origin=ends["origin"], soc_percent=2, reserve_percent=1)
    table = reach.to_geodataframe()
    assert 0 < len(table) == reach.within.sum() < denver.n_edges
    assert table["length_m"].sum() == pytest.approx(reach.length_m)
    held = reach.charge_percent[0.5][reach.within]
    assert table["charge_percent_50"].to_numpy() == pytest.approx(held)
