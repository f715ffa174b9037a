"""Every column is the derivative of eq. 8 by one number, as differences of eq. 8 say."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.longitudinal import energy_parts
from evroute.energy.regressors import NAMES, Regressors
from evroute.energy.vehicle import load_vehicle
from evroute.network import context
from evroute.network.road_network import RoadNetwork

STEP = 1e-6


@pytest.fixture(params=[0.0, 800.0])
def vehicle(request):
    return replace(load_vehicle("reference"), auxiliary_w=request.param)


def halved(network: RoadNetwork) -> tuple[np.ndarray, np.ndarray]:
    """Contexts in which some edges are driven at half the speed limit, and those speeds."""
    features = context.build(network).features.copy()
    features[1:4, 1] /= 2
    speed_mps = network.speed_mps.copy()
    speed_mps[1:4] /= 2
    return features, speed_mps


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("mass", lambda car, h: replace(car, mass_kg=car.mass_kg * (1 + h))),
        ("rolling", lambda car, h: replace(car, rolling=car.rolling * (1 + h))),
        ("drag", lambda car, h: replace(car, drag=car.drag * (1 + h))),
        ("auxiliary", lambda car, h: replace(car, auxiliary_w=car.auxiliary_w + 1000 * h)),
    ],
)
def test_a_number_of_the_vehicle(hill: RoadNetwork, vehicle, name: str, change) -> None:
    features, speed_mps = halved(hill)
    column = Regressors(hill, vehicle).of(np.arange(7), features)[:, NAMES.index(name)]
    energy_wh = [
        energy_parts(change(vehicle, h), hill.length_m, hill.climb_m, speed_mps).total_wh
        for h in (0.0, STEP)
    ]
    np.testing.assert_allclose(column, (energy_wh[1] - energy_wh[0]) / STEP, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "from_east", "from_north"), [("wind from east", 1, 0), ("wind from north", 0, 1)]
)
def test_wind(hill: RoadNetwork, vehicle, name: str, from_east: int, from_north: int) -> None:
    features, speed_mps = halved(hill)
    column = Regressors(hill, vehicle).of(np.arange(7), features)[:, NAMES.index(name)]
    east_m, north_m = (at[hill.head] - at[hill.tail] for at in (hill.x_m, hill.y_m))
    headwind = (from_east * east_m + from_north * north_m) / np.hypot(east_m, north_m)
    energy_wh = [
        energy_parts(
            vehicle, hill.length_m, hill.climb_m, speed_mps, headwind_mps=h * headwind
        ).total_wh
        for h in (-STEP, STEP)
    ]
    np.testing.assert_allclose(
        column, (energy_wh[1] - energy_wh[0]) / (2 * STEP), rtol=1e-4, atol=1e-6
    )


def test_a_road_to_the_east_has_the_wind_from_the_east_against_it_and_none_from_the_north(
    hill, vehicle
) -> None:
    column = Regressors(hill, vehicle).of(np.arange(7), context.build(hill).features)
    east, north = (NAMES.index(f"wind from {where}") for where in ("east", "north"))
    into, home = hill.row_of["in"], hill.row_of["home"]
    assert column[into, east] > 0 > column[home, east]
    np.testing.assert_allclose(column[[into, home], north], 0, atol=1e-12)
    drag_wh = energy_parts(vehicle, hill.length_m, hill.climb_m, hill.speed_mps).drag_wh
    assert column[into, east] == pytest.approx(2 * drag_wh[into] / hill.speed_mps[into])


def test_a_road_that_ends_where_it_begins_has_no_wind(make_network, vehicle) -> None:
    ring = make_network(
        [("ring", 0, 0), ("a", 0, 1)], [(0, 0, 0), (1000, 0, 0)], length_m=[800, 1000]
    )
    column = Regressors(ring, vehicle).of(np.arange(2), context.build(ring).features)
    assert np.array_equal(column[0, -2:], [0, 0])


def test_every_edge_of_a_city_has_finite_columns(denver: RoadNetwork, vehicle) -> None:
    columns = Regressors(denver, vehicle).of(
        np.arange(denver.n_edges), context.build(denver).features
    )
    assert columns.shape == (denver.n_edges, 6)
    assert np.isfinite(columns).all()
