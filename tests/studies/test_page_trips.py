"""The figures of real trips: what `evroute learn` prints for the same trips."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from studies.pages.trips import drive


def test_trips_are_learned_in_order_of_departure(hill: RoadNetwork) -> None:
    setting = Setting(hill, load_vehicle())
    rng = np.random.default_rng(0)
    routes = [[hill.row_of[name] for name in names] for names in (("up", "down"), ("east", "west"))]
    trips = [
        MeasuredTrip(
            str(k),
            np.array(routes[k % 2]),
            rng.uniform(50.0, 250.0, 2),
            np.full(2, 100.0),
            86_400.0 * k,
        )
        for k in range(8)
    ]
    expected, shuffled = drive(setting, trips), drive(setting, trips[::-1])
    assert shuffled.measured_wh.tolist() == expected.measured_wh.tolist()
    assert shuffled.expected_wh == pytest.approx(expected.expected_wh, rel=1e-12)
    undated = [replace(trip, departed_s=None) for trip in trips]
    assert drive(setting, undated).measured_wh.tolist() == expected.measured_wh.tolist()
