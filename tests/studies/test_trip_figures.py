"""The figures of real trips: what `evroute learn` prints for the same trips."""

import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork

PROGRAM = Path(__file__).parents[2] / "studies/trip_figures.py"


def test_trips_are_learned_in_order_of_departure(hill: RoadNetwork) -> None:
    spec = spec_from_file_location("trip_figures", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    figures = module_from_spec(spec)
    sys.modules[spec.name] = figures  # dataclasses look their module up
    spec.loader.exec_module(figures)
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
    expected, shuffled = figures.drive(setting, trips), figures.drive(setting, trips[::-1])
    assert shuffled.measured_wh.tolist() == expected.measured_wh.tolist()
    assert shuffled.expected_wh == pytest.approx(expected.expected_wh, rel=1e-12)
    undated = [replace(trip, departed_s=None) for trip in trips]
    assert figures.drive(setting, undated).measured_wh.tolist() == expected.measured_wh.tolist()
