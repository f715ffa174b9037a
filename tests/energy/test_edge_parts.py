"""Eq. 8 of some edges of a network, beside eq. 8 of all of them."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.arms import Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import edge_parts
from evroute.energy.vehicle import load_vehicle
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.effects import energy_by_change, energy_by_condition

DAY = DrivingConditions(
    temperature_c=-7.0, wind_mps=6.0, wind_from_deg=200.0, speed_factor=0.9, payload_kg=120.0
)


def test_parts_of_some_edges_are_the_rows_of_all_parts(denver: RoadNetwork) -> None:
    rows, car = np.array([5, 3, 3, denver.n_edges - 1]), load_vehicle()
    every, some = edge_parts(denver, car, DAY), edge_parts(denver, car, DAY, rows)
    for name in every.__slots__:
        assert np.array_equal(getattr(every, name)[rows], getattr(some, name))


def test_effects_are_differences_of_the_eq8_of_all_edges(denver: RoadNetwork) -> None:
    route, car = Route((0, 7, 20, 21)), load_vehicle()

    def route_wh(conditions: DrivingConditions) -> float:
        return float(edge_parts(denver, car, conditions).total_wh[[0, 7, 20, 21]].sum())

    found = energy_by_condition(denver, car, DAY, route)
    calm = replace(DAY, wind_mps=0.0)
    empty = replace(DAY, payload_kg=0.0)
    assert set(found) == {"temperature_c", "wind_mps", "speed_factor", "payload_kg"}
    assert found["wind_mps"] == pytest.approx(route_wh(DAY) - route_wh(calm), abs=1e-9)
    assert found["payload_kg"] == pytest.approx(route_wh(DAY) - route_wh(empty), abs=1e-9)
    assert energy_by_change(denver, car, car, DAY, route) == {}
