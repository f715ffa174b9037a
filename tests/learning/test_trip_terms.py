"""Terms of trips: by hand, and eq. 8 where the two agree."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3
from evroute.energy.driving import DrivingConditions, air_density_kgpm3
from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import load_vehicle
from evroute.learning.trips import terms as trip_terms
from evroute.learning.trips.terms import (
    DrivenEdges,
    coefficient_prior,
    full_battery_term,
    potential_slope,
)
from evroute.network.heights.pieces import Pieces

VEHICLE = load_vehicle("reference")
EDGES = {
    "length_m": np.array([1000.0, 500.0]),
    "up_m": np.array([20.0, 0.0]),
    "down_m": np.array([0.0, -30.0]),
    "pace_spm": np.array([0.1, 0.05]),
}


def edge_terms(edges: DrivenEdges, **conditions: float) -> FloatArray:
    """Return the terms of edges on a day, (k, 11)."""
    day, prior = DrivingConditions(**conditions), coefficient_prior(VEHICLE)
    numbers = trip_terms.edge_numbers(VEHICLE, edges, day)
    return trip_terms.joined(numbers, trip_terms.joining(VEHICLE, day, prior))


def test_terms_by_hand() -> None:
    terms = edge_terms(DrivenEdges(**EDGES), auxiliary_w=VEHICLE.auxiliary_w + 600.0)
    area = 0.5 * 1.2 * VEHICLE.drag * VEHICLE.front_m2
    minutes = [100 / 60, 25 / 60]
    expected = [
        [
            1.0,
            20.0,
            0.0,
            minutes[0],
            area * 1000 * 10.0**2 / 3600,
            0.0,
            10 * minutes[0],
            0,
            0,
            0,
            0,
        ],
        [
            0.5,
            0.0,
            -30.0,
            minutes[1],
            area * 500 * 20.0**2 / 3600,
            0.0,
            10 * minutes[1],
            0,
            0,
            0,
            0,
        ],
    ]
    prior = coefficient_prior(VEHICLE).mean
    for of_edge in expected:
        of_edge[trip_terms.LEVEL] = float(np.dot(of_edge, prior))
    np.testing.assert_allclose(terms, expected)


def test_unknown_charge_and_auxiliary_power_leave_their_terms_out() -> None:
    terms = edge_terms(DrivenEdges(**EDGES))
    assert terms.shape == (2, 11)
    assert not terms[:, trip_terms.AUXILIARY].any()
    assert not full_battery_term(VEHICLE, np.nan, np.array([-50.0, -100.0])).any()


def test_charge_by_edge_fades_above_the_threshold_alone() -> None:
    charge = np.array([99.0, 80.0])
    car, returned_wh = replace(VEHICLE, full_battery_percent=79.0), np.array([-50.0, -100.0])
    assert full_battery_term(car, charge, returned_wh) == pytest.approx([2.0 * 50.0, 0.1 * 100.0])


def test_standing_counts_as_creeping() -> None:
    slow = edge_terms(DrivenEdges(**EDGES | {"pace_spm": np.array([50.0, 0.001])}))
    area = 0.5 * 1.2 * VEHICLE.drag * VEHICLE.front_m2
    assert slow[:, trip_terms.DRAG] == pytest.approx(
        [area * 1000 * 1.0**2 / 3600, area * 500 * 40.0**2 / 3600]
    )


def test_the_prior_mean_of_level_and_steep_climbing_edges_is_eq_8() -> None:
    length_m, climb_m, speed_mps = np.array([1000.0, 400.0]), np.array([0.0, 20.0]), 15.0
    eq8 = energy_parts(VEHICLE, length_m, climb_m, np.full(2, speed_mps)).total_wh
    terms = edge_terms(DrivenEdges(length_m, climb_m, np.zeros(2), np.full(2, 1 / speed_mps)))
    # eq. 8 rolls on the level part of the road, sqrt(400² - 20²) of 400 m
    level = np.array([0.0, 1.0 - np.sqrt(1 - 0.05**2)])
    rolling = terms[:, 0] * coefficient_prior(VEHICLE).mean[0]
    np.testing.assert_allclose(
        terms @ coefficient_prior(VEHICLE).mean - rolling * level, eq8, rtol=1e-12
    )


def test_the_prior_is_physical_and_lies_in_the_cone_of_the_coefficients() -> None:
    prior = coefficient_prior(replace(VEHICLE, full_battery_fade=0.3))
    assert len(prior.mean) == 11
    assert prior.mean[trip_terms.FADE] == 0.3
    assert np.all(prior.cone @ prior.mean >= 0)
    wrong = {"km": -1.0, "minutes": -1.0, "drag": -1.0, "full battery": -1.0, "metres down": -1.0}
    wrong |= {"heating": -1.0, "warm-up": -1.0, "cooling": -1.0}
    for name, value in wrong.items():
        broken = prior.mean.copy()
        broken[trip_terms.NAMES.index(name)] = value
        assert (prior.cone @ broken < 0).sum() == 1
    steep = prior.mean.copy()
    steep[trip_terms.DOWN] = steep[trip_terms.UP] + 1
    assert (prior.cone @ steep < 0).sum() == 1


def test_the_potential_lies_between_metres_down_and_up() -> None:
    coefficients = np.array([100.0, 5.0, 3.0, 8.0, 1.1, 0.0, 1.0])
    assert [potential_slope(coefficients, weight) for weight in (4.0, 2.0, 9.0)] == [4.0, 3.0, 5.0]


def test_payload_wind_and_air_scale_weight_and_drag() -> None:
    usual = edge_terms(DrivenEdges(**EDGES))
    day = edge_terms(
        DrivenEdges(**EDGES, headwind_mps=np.array([-15.0, 10.0])),
        payload_kg=VEHICLE.mass_kg,
        temperature_c=-10.0,
    )
    denser = air_density_kgpm3(-10.0) / AIR_DENSITY_KGPM3
    weight = [trip_terms.KM, trip_terms.UP, trip_terms.DOWN]
    np.testing.assert_allclose(day[:, weight], 2 * usual[:, weight])
    # 10 and 20 m/s in denser air: -5 and 30 m/s against it, the first from behind
    expected = usual[:, trip_terms.DRAG] * denser * [-((5 / 10) ** 2), (30 / 20) ** 2]
    np.testing.assert_allclose(day[:, trip_terms.DRAG], expected)
    np.testing.assert_allclose(day[:, trip_terms.MINUTES], usual[:, trip_terms.MINUTES])


def test_pieces_that_fall_return_energy_within_an_edge_that_takes_some() -> None:
    prior = coefficient_prior(VEHICLE).mean
    heights_m = np.array([40.0, 80.0, 40.0])
    table = {"start": np.array([0, 3, 3]), "height_m": heights_m.astype(np.float32)}
    hill = Roads(Pieces.from_table(table, np.array([2000.0, 500.0]), np.zeros(2), np.zeros(2)))
    terms = edge_terms(
        DrivenEdges(
            np.array([2000.0, 500.0]),
            np.array([80.0, 0.0]),
            np.array([-80.0, 0.0]),
            np.full(2, 0.1),
        ),
    )
    level_wh = terms[:, [0, 3, 4]] @ prior[[0, 3, 4]]
    falling_wh = level_wh[0] / 4 - 40.0 * prior[trip_terms.DOWN]
    assert falling_wh < 0 < level_wh[1]
    found = trip_terms.returned_by_pieces(hill, np.array([0, 1, 0]), terms[[0, 1, 0]], prior, 1.0)
    assert found == pytest.approx([2 * falling_wh, 0.0, 2 * falling_wh])
    level = Roads(None)
    flat = trip_terms.returned_by_pieces(level, np.arange(2), terms, prior, 1.0)
    assert flat.tolist() == np.minimum(terms @ prior, 0.0).tolist()


class Roads:
    """A network by its pieces alone."""

    def __init__(self, pieces: Pieces | None) -> None:
        self.pieces = pieces
