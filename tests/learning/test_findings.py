"""Sentences on what was learned, and the regression that beliefs are compared with."""

from pathlib import Path

import numpy as np
import pytest

from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.learning.baseline import online_regression
from evroute.learning.findings import errors, intervals
from evroute.learning.learn import learn
from evroute.learning.measured import MeasuredTrip
from evroute.learning.route_pairs import driven_pairs
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.sentences import (
    FIELDS,
    contradictions,
    distinguishable,
    heating,
    refusals,
)
from evroute.learning.trips.terms import HEATING, NAMES, coefficient_prior
from evroute.learning.trips.trip_belief import TripBelief
from evroute.methods.setting import Setting


def test_the_regression_expects_each_trip_from_earlier_ones() -> None:
    rng = np.random.default_rng(0)
    km, climb_m, descent_m = rng.uniform(1, 20, 8), rng.uniform(0, 90, 8), rng.uniform(0, 90, 8)
    exact_wh = 120 * km + 5 * climb_m - 3 * descent_m
    expected = online_regression(km, climb_m, descent_m, exact_wh)
    assert np.isnan(expected[:3]).all()
    np.testing.assert_allclose(expected[3:], exact_wh[3:])
    # two trips of one km that differ weigh as much as one of two km that lies between
    noisy = online_regression(
        np.array([1.0, 1.0, 2.0, 4.0]), np.zeros(4), np.zeros(4), np.array([100.0, 200.0, 400.0, 0])
    )
    assert noisy[3] == pytest.approx(4 * (100 + 200 + 400) / (1 + 1 + 2))


def test_errors_and_intervals_are_counted() -> None:
    columns = {
        "energy_wh": np.array([100.0, -100.0]),
        "predicted_wh": np.array([120.0, -90.0]),
        "eq8_wh": np.array([200.0, -100.0]),
        "low90_wh": np.array([105.0, -130.0]),
        "high90_wh": np.array([135.0, -60.0]),
    }
    sentence = errors(columns)
    assert "trips 1 to 2" in sentence
    assert "before learning trips 1 to 2: 15 Wh a trip, 15.0% of the energy" in sentence
    assert "physics alone 50 Wh a trip, 50.0% of the energy" in sentence
    assert list(intervals(columns)) == ["90 % intervals held 1 of 2 trips, mean width 50 Wh"]
    unknown = columns | {"low90_wh": np.full(2, np.nan)}
    assert not list(intervals(unknown))


@pytest.fixture
def belief() -> TripBelief:
    prior = coefficient_prior(load_vehicle("nissan-leaf-40"), driving=True)
    p, std = len(prior.mean), prior.std.copy()
    std[0] = 30.0
    return TripBelief(CoefficientPrior(np.zeros(p), std, np.zeros((0, p))))


def test_a_coefficient_far_from_the_vehicle_file_names_its_field(belief) -> None:
    assert not list(contradictions(belief))
    for _ in range(40):
        belief.learn(np.eye(len(NAMES))[0], 160.0)
    (sentence,) = contradictions(belief)
    assert "the coefficient of km is 5 prior deviations above" in sentence
    assert "rolling or mass_kg" in sentence


def test_every_coefficient_has_a_field_of_the_vehicle_file() -> None:
    std = np.linspace(0.5, 9.0, len(NAMES))
    prior = CoefficientPrior(np.zeros(len(NAMES)), std, np.zeros((0, len(NAMES))))
    belief = TripBelief(prior)
    belief.regression.set(5.0 * prior.std, np.diag(prior.std))
    belief.restore(belief.state())
    assert len(list(contradictions(belief))) == len(NAMES) == len(FIELDS)


def test_only_learned_heating_is_stated(belief) -> None:
    """60 trips at -2 °C without a cold start teach heating, 3 Wh per K and minute, alone."""
    assert heating(belief) == ""
    rng = np.random.default_rng(0)
    for k in range(60):
        row = np.zeros(len(NAMES))
        row[0], row[HEATING] = rng.uniform(1.0, 9.0), (k % 2) * 20.0 * rng.uniform(5.0, 20.0)
        belief.learn(row, 3.0 * row[HEATING] + rng.normal(0.0, 20.0))
    sentence = heating(belief)
    assert sentence.startswith("heating takes 3.0 ± 0.")
    assert sentence.endswith("Wh per minute and kelvin below 18 °C")
    assert "cold start" not in sentence


def test_routes_are_told_apart_by_the_noise_of_ten_trips_each(belief) -> None:
    km = np.array([4.0, 1.0, 9.0])
    sd_wh = np.sqrt(42**2 + 35**2 * 4 + 8**2 * 16)
    sentence = distinguishable(belief, km)
    assert sentence.startswith("two routes of 4.0 km can be told apart after 10 trips on each")
    assert f"differ by {1.28 * sd_wh * np.sqrt(0.2):.0f} Wh or more" in sentence


def test_refused_trips_are_named(belief) -> None:
    row = np.eye(len(NAMES))[0]
    for energy_wh in (0.0, 90_000.0, 0.0):
        belief.learn(row, energy_wh)
    (sentence,) = refusals(belief, ["a", "b", "c"])
    assert "1 trip not learned, with an energy over 8 deviations" in sentence
    assert "expected one: b." in sentence


def test_the_deviation_of_roads_is_stated_where_it_is_more_than_noise(hill) -> None:
    noise = TripNoiseScale(42.0, 50.0, 30.0)
    roads = TripEnergies(Setting(hill, load_vehicle("reference"))).places.choice.words
    assert (
        roads(5.0, noise.root_km_wh, 7)
        == "single roads differ from these numbers by nothing beyond noise"
    )
    words = roads(30.0, noise.root_km_wh, 7)
    assert "a kilometre of a single road differs from these numbers by 30 Wh" in words
    assert words.endswith("learned on 7 stretches")


def test_pairs_of_routes_that_were_driven_are_compared(hill) -> None:
    energies = TripEnergies(Setting(hill, load_vehicle("reference")), physics="eq8")
    over, round_, home = (
        np.array([hill.row_of[edge] for edge in edges])
        for edges in (("in", "up", "down", "out"), ("in", "east", "west", "out"), ("home",))
    )
    driven = [(over, 500), (round_, 620), (home, 9), (over, 540), (round_, 700), (round_, 660)]
    trips = [
        MeasuredTrip(str(i), edge, np.full(len(edge), wh / len(edge)), np.full(len(edge), np.nan))
        for i, (edge, wh) in enumerate(driven)
    ]
    mean_wh = energies.under(EQ8_CONDITIONS).mean_wh
    expected_wh = mean_wh[round_].sum() - mean_wh[over].sum()
    # variances of the means: (20² + 20²)/1/2 and (40² + 40²)/2/3
    error_wh = np.sqrt(400.0 + 1600.0 / 3)
    assert driven_pairs(energies, trips) == [
        f"the route of trip '5' against the route of '3' (3 and 2 trips): measured "
        f"{660 - 520:+.0f} ± {error_wh:.0f} Wh, expected {expected_wh:+.0f} Wh"
    ]
    assert not driven_pairs(energies, trips[:3])


def test_whole_per_cents_of_short_trips_are_said_beside_the_battery(tmp_path) -> None:
    """Two trips of 1 % of 52 kWh each, between whole per cents."""
    example = Path(__file__).parents[2] / "data/examples/notebook.csv"
    found = learn(example, tmp_path / "own", network="denver", vehicle="renault-zoe").findings
    (line,) = (each for each in found if "single trips tell nothing" in each)
    assert line.startswith(
        "the charge is shown in whole per cents of 52 kWh, and a trip takes 1 of"
    )
