"""Sandberg et al., eq. 8 with Table 2, against numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evroute.energy.longitudinal import energy_parts, potential_wh
from evroute.energy.vehicle import Vehicle, load_vehicle

REFERENCE = load_vehicle("reference")


def one_edge(
    vehicle: Vehicle, length_m: float, climb_m: float, speed_mps: float
) -> dict[str, float]:
    parts = energy_parts(vehicle, np.array([length_m]), np.array([climb_m]), np.array([speed_mps]))
    return {name: float(getattr(parts, name)[0]) for name in (*parts.__slots__, "total_wh")}


def test_a_level_kilometre_at_10_mps() -> None:
    # rolling 1830 * 9.82 * 0.01 * 1000 = 179,706 J; drag 0.5 * 0.35 * 2.6 * 1.2 * 1000 * 100 =
    # 54,600 J
    edge = one_edge(REFERENCE, 1000, 0, 10)
    assert edge["rolling_wh"] == pytest.approx(179_706 / 3600 / 0.98)
    assert edge["drag_wh"] == pytest.approx(54_600 / 3600 / 0.98)
    assert edge["climb_wh"] == 0
    assert edge["total_wh"] == pytest.approx(66.413265, rel=1e-7)


def test_a_steep_descent_returns_less_than_it_took_in() -> None:
    # 30 m down: -1830 * 9.82 * 30 = -539,118 J, plus rolling on sqrt(1000² - 30²) m, plus drag;
    # times 0.96
    force_j = -539_118 + 179.706 * np.sqrt(1000**2 - 30**2) + 54_600
    assert one_edge(REFERENCE, 1000, -30, 10)["total_wh"] == pytest.approx(force_j * 0.96 / 3600)


def test_auxiliary_power_costs_its_travel_time() -> None:
    vehicle = load_vehicle("renault-zoe")
    assert one_edge(vehicle, 1000, 0, 10)["auxiliary_wh"] == pytest.approx(250 * 100 / 3600)


@given(
    length_m=st.floats(0.1, 5000),
    grade=st.floats(-1, 1),
    speed_mps=st.floats(0.5, 50),
    name=st.sampled_from(["reference", "tesla-model-3", "renault-zoe"]),
)
def test_energy_never_falls_below_the_potential(
    length_m: float, grade: float, speed_mps: float, name: str
) -> None:
    vehicle = load_vehicle(name)
    climb = np.array([grade * length_m])
    total = energy_parts(vehicle, np.array([length_m]), climb, np.array([speed_mps])).total_wh
    assert total[0] >= potential_wh(vehicle, climb)[0]


@given(climb_m=st.floats(0, 500), speed_mps=st.floats(1, 40))
def test_a_round_trip_over_a_hill_never_costs_less_than_the_flat_one(
    climb_m: float, speed_mps: float
) -> None:
    # the hill road has the same horizontal length, so it is longer
    length = float(np.hypot(1000, climb_m))
    there = one_edge(REFERENCE, length, climb_m, speed_mps)["total_wh"]
    back = one_edge(REFERENCE, length, -climb_m, speed_mps)["total_wh"]
    assert there + back >= 2 * one_edge(REFERENCE, 1000, 0, speed_mps)["total_wh"] - 1e-9
