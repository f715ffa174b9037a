"""Worlds of rough roads, of drifting and of daily congestion, by hand and in closed form."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng
from scipy.stats import t as student

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.physics import Physics
from evroute.worlds.world import load_world

HOUR_S = 3600.0


@pytest.fixture
def build(hill):
    """Return a function that builds a world on the hill, whose zones hold every edge."""

    def build(**options) -> Physics:
        world = load_world({"zone_radius_m": 1e6, "zone_speed_factor": 0.5, **options})
        return world.build(
            Setting(hill, load_vehicle("reference")), Repeated(0, 5), SeedSequence(0)
        )

    return build


def test_rough_errors_have_the_stated_variance_and_correlation() -> None:
    x_m, y_m = default_rng(2).uniform(0, 1500, (2, 60))
    roads = SimpleNamespace(middle_m=np.column_stack([x_m, y_m]), n_edges=60)
    options = load_world({"kind": "rough", "error_std": 0.3, "error_range_m": 500})
    draws = np.array(
        [np.log(options.dissipation_factor(roads, default_rng(seed))) for seed in range(400)]
    )
    error = (draws + 0.5 * 0.3**2) / 0.3
    pairs = default_rng(1).integers(60, size=(2, 2000))
    apart_m = np.hypot(x_m[pairs[0]] - x_m[pairs[1]], y_m[pairs[0]] - y_m[pairs[1]])
    expected = 0.5 * np.exp(-apart_m / 500) + 0.5 * (pairs[0] == pairs[1])
    covariance = (error[:, pairs[0]] * error[:, pairs[1]]).mean(axis=0)
    # a mean of 400 products of unit normal variables has a standard error of at most sqrt(2 / 400)
    assert np.abs(covariance - expected).max() < 5 * np.sqrt(2 / 400)
    assert np.abs(covariance - expected).mean() < np.sqrt(2 / 400)
    assert np.mean((covariance - expected) * (apart_m < 500)) == pytest.approx(0, abs=0.01)


def test_rough_factors_multiply_the_dissipated_energy_alone(build, hill) -> None:
    rough, plain = build(kind="rough"), build(kind="rough", error_std=0)
    factor = rough.conditions.dissipation_factor(hill, default_rng(SeedSequence(0).spawn(8)[6]))
    request = plain.observe(1)
    for edges in ((0, 1, 2, 5), (0, 3, 4, 5)):
        mass_kg, kinetic_j, rise_wh = load_vehicle("reference").mass_kg, 0.0, []
        for edge in edges:
            entered_j = 0.5 * mass_kg * (0.5 * hill.speed_mps[edge]) ** 2
            rise_j = mass_kg * 9.82 * hill.climb_m[edge] + entered_j - kinetic_j
            kinetic_j = entered_j
            rise_wh.append(rise_j / 3600)
        total_wh = [plain.route_wh(request, Route(edges[:k])) for k in range(1, 5)]
        each_wh = np.diff(total_wh, prepend=0.0)
        expected_wh = np.sum(rise_wh + factor[list(edges)] * (each_wh - rise_wh))
        assert rough.route_wh(request, Route(edges)) == pytest.approx(expected_wh)


def test_rough_trips_have_heavy_tails_of_variance_one() -> None:
    options, rng = load_world("rough"), default_rng(0)
    deviates = np.array([options.trip_deviates(rng) for _ in range(4000)])
    for share in (0.5, 0.9, 0.99):
        bound = student.ppf(0.5 + share / 2, 4) / np.sqrt(2)  # the variance of t with 4 is 2
        inside = np.mean(np.abs(deviates[:, 0]) < bound)
        assert abs(inside - share) < 4 * np.sqrt(share * (1 - share) / 4000)


def test_on_rough_roads_times_vary_independently_by_edge(build) -> None:
    world = build(kind="rough", time_std=0)
    route = Route((0, 1, 2, 5))
    expected_s = world.travel_s(world.observe(1))[route.rows]
    logs = np.array(
        [np.log(world.drive(world.observe(t), route).travel_s / expected_s) for t in range(1, 401)]
    )
    np.testing.assert_allclose(logs.std(axis=0), 0.2, rtol=5 / np.sqrt(2 * 400))
    assert np.abs(np.corrcoef(logs.T) - np.eye(4)).max() < 5 / np.sqrt(400)


def test_drift_is_free_flow_then_two_sets_of_zones(denver) -> None:
    world = load_world({"kind": "drift", "changes": [3, 5]}).build(
        Setting(denver, load_vehicle("reference")), Repeated(100, 900), SeedSequence(2)
    )
    slow = [world.travel_s(world.observe(t)) / denver.time_s for t in range(1, 8)]
    for t in (0, 1, 2):
        np.testing.assert_array_equal(slow[t], 1.0)
    np.testing.assert_array_equal(slow[3], slow[4])
    np.testing.assert_array_equal(slow[5], slow[6])
    assert (slow[3] != slow[5]).any()
    assert set(np.round(np.unique(np.concatenate(slow)), 9)) == {1.0, round(1 / 0.3, 9)}
    features = [world.observe(t).arms.features for t in (1, 7)]
    np.testing.assert_array_equal(*features)  # no announcement


def test_daily_zones_change_every_six_hours(denver) -> None:
    world = load_world("daily").build(
        Setting(denver, load_vehicle("reference")), Repeated(100, 900), SeedSequence(2)
    )
    slow = [world.travel_s(world.observe(1 + hour)) / denver.time_s for hour in range(48)]
    quarters = [slow[start] for start in (0, 6, 12, 18)]
    np.testing.assert_array_equal(quarters[0], 1.0)
    assert len({tuple(quarter) for quarter in quarters}) == 4
    for hour, each in enumerate(slow):
        np.testing.assert_array_equal(each, quarters[hour % 24 // 6])
