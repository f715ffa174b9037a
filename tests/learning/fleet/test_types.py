"""Fleets with cars of several types: the joint posterior against a dense one, and at the doors."""

import numpy as np
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app as cli
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.belief import load_belief
from evroute.learning.fleet.scales import STD_OF_CARS
from evroute.learning.fleet.typed_belief import belief_of_types
from evroute.learning.learn import learn
from evroute.learning.trips import trip_belief
from evroute.learning.trips.noise_fit import TripNoiseScale
from evroute.learning.trips.terms import DOWN, KM, MINUTES, UP, coefficient_prior, with_level

from .conftest import LEAF, rows_of

VAN = "ford-e-transit"
NAMES = ("Walnut Street & 33rd Street", "Broadway & 20th Street")
TYPE_OF = {"leaf-1": 0, "leaf-2": 0, "van-1": 1}


def made_rows(rng, prior, n):
    rows = np.zeros((n, len(prior.mean)))
    rows[:, KM] = rng.lognormal(1.5, 0.5, n)
    rows[:, MINUTES] = rows[:, KM] * rng.uniform(1.0, 3.0, n)
    rows[:, UP], rows[:, DOWN] = rng.uniform(0, 60, n), -rng.uniform(0, 60, n)
    rows[:, 4] = rows[:, KM] * rng.uniform(40, 90, n)
    rows[:, 7] = rows[:, MINUTES] * rng.uniform(0, 15, n)
    return with_level(rows, prior)


@pytest.mark.parametrize("car", ["leaf-2", "van-1", None])
def test_the_joint_belief_is_the_dense_posterior(monkeypatch, car) -> None:
    """By one Gaussian over both types' coefficients and all cars' effects, with no structure."""
    monkeypatch.setattr(trip_belief.noise_fit, "is_refit_due", lambda n: False)
    priors = [coefficient_prior(load_vehicle(name)) for name in (LEAF, VAN)]
    p, rng, noise = len(priors[0].mean), np.random.default_rng(3), TripNoiseScale(20.0, 30.0, 15.0)
    belief = belief_of_types(priors, TYPE_OF, noise, field_std=0.0, roads=None)
    cars = list(TYPE_OF)
    # the stated prior: b_1, b_2, then (u, h) of each car
    first, second = priors
    ratio = np.ones(p)
    both = (first.mean != 0) & (second.mean != 0)
    ratio[both] = second.mean[both] / first.mean[both]
    shared = np.diag(0.5 * first.std**2)
    covariance = np.zeros((2 * p + 6, 2 * p + 6))
    covariance[:p, :p] = np.diag(first.std**2)
    covariance[p : 2 * p, p : 2 * p] = np.diag(0.5 * second.std**2) + shared * ratio**2
    covariance[:p, p : 2 * p] = covariance[p : 2 * p, :p] = shared * ratio
    covariance[2 * p :, 2 * p :] = np.diag(np.tile(STD_OF_CARS**2, 3))
    mean = np.concatenate([first.mean, second.mean, np.zeros(6)])
    weights = [prior.by_car(prior.mean) for prior in priors]
    design, energy, variance = [], [], []

    def dense_row(row, name):
        k, whole = TYPE_OF[name], np.zeros(2 * p + 6)
        whole[k * p : (k + 1) * p] = row
        at = 2 * p + 2 * cars.index(name)
        whole[at : at + 2] = row @ weights[k]
        return whole

    for n in range(30):
        name = cars[n % 3]
        k = TYPE_OF[name]
        row = made_rows(rng, priors[k], 1)[0]
        wh = float(row @ priors[k].mean) * rng.normal(1.05 + 0.1 * k, 0.03)
        belief.learn(row, wh, car=name)
        km = row[KM] * (ratio[KM] if k else 1.0)
        design.append(dense_row(row, name))
        energy.append(wh)
        variance.append(float(noise.variance(km)))
    assert belief.trips == 30
    x, v = np.array(design), np.array(variance)
    gain = np.linalg.solve(x @ covariance @ x.T + np.diag(v), x @ covariance).T
    dense_mean = mean + gain @ (np.array(energy) - x @ mean)
    dense = covariance - gain @ x @ covariance
    own = belief.of_car(car)
    k = TYPE_OF.get(car, 0)
    take = np.zeros((p, 2 * p + 6))
    take[:, k * p : (k + 1) * p] = np.eye(p)
    expected = take @ dense @ take.T
    if car is None:  # a Leaf that did not drive
        expected = expected + (weights[0] * STD_OF_CARS**2) @ weights[0].T
    else:
        at = 2 * p + 2 * cars.index(car)
        take[:, at : at + 2] = weights[k]
        expected = take @ dense @ take.T
    scale = np.abs(priors[k].std)
    np.testing.assert_allclose(
        own.regression.mean / scale, take @ dense_mean / scale, rtol=1e-9, atol=1e-9
    )
    found = own.regression.covariance / np.outer(scale, scale)
    np.testing.assert_allclose(found, expected / np.outer(scale, scale), rtol=1e-9, atol=1e-9)


def test_a_type_without_trips_follows_half_of_the_ratio() -> None:
    """Leafs that take a third more make vans take about a sixth more, before any van drove."""
    priors = [coefficient_prior(load_vehicle(name)) for name in (LEAF, VAN)]
    belief = belief_of_types(priors, TYPE_OF, TripNoiseScale(), field_std=0.0, roads=None)
    rng = np.random.default_rng(4)
    for n, row in enumerate(made_rows(rng, priors[0], 200)):
        wh = 1.33 * float(row @ priors[0].mean) * rng.normal(1.0, 0.03)
        belief.learn(row, wh, car=("leaf-1", "leaf-2")[n % 2])
    row = made_rows(rng, priors[1], 1)[0]
    more = belief.of_car("van-1").expect(row).mean_wh / float(row @ priors[1].mean) - 1.0
    assert 0.05 < more < 0.3


@pytest.fixture(scope="module")
def mixed(leaf_setting, tmp_path_factory):
    """Return a table of 4 cars, its table of cars, and the folder that learned both."""
    import pyarrow as pa
    import pyarrow.csv

    place = tmp_path_factory.mktemp("mixed")
    factors = {"leaf-1": 0.9, "leaf-2": 1.1, "van-1": 1.8, "van-2": 2.2}
    pyarrow.csv.write_csv(pa.table(rows_of(leaf_setting, 80, 2, factors)), place / "t.csv")
    lines = [f"{car},{LEAF if car < 'v' else VAN}" for car in factors]
    (place / "cars.csv").write_text("\n".join(["car,vehicle", *lines]) + "\n")
    learned = learn(place / "t.csv", place / "mixed", cars=place / "cars.csv")
    return place, learned


def test_cars_of_two_types_are_learned_and_planned_by_their_own(mixed) -> None:
    place, learned = mixed
    assert learned.new == 80
    belief = load_belief(place / "mixed")
    assert [each.vehicle.name for each in belief.setting.of_types] == [LEAF, VAN]
    shares = belief.car_shares()
    assert shares["leaf-1"].mean < shares["leaf-2"].mean
    assert shares["van-1"].mean < shares["van-2"].mean
    plans = {
        car: evroute.plan("denver", *NAMES, belief=belief, car=car).recommended_route.energy_wh
        for car in ("leaf-1", "leaf-2", "van-1", "van-2")
    }
    assert plans["leaf-1"] < plans["leaf-2"] < plans["van-1"] < plans["van-2"]
    planner = evroute.Planner(belief.network, None, belief)
    assert planner.vehicle.name == LEAF
    assert planner.of_car("van-1").vehicle.name == VAN
    # an unknown car is of the type that the plan names
    of_type = evroute.plan("denver", *NAMES, belief=belief, vehicle=VAN).recommended_route
    assert plans["leaf-2"] < of_type.energy_wh < plans["van-2"]
    known = evroute.plan("denver", *NAMES, belief=belief, car="van-1").recommended_route
    assert of_type.energy_forecast.std_wh > known.energy_forecast.std_wh
    for vehicle, car in ((VAN, "leaf-1"), (LEAF, "van-1")):
        with pytest.raises(
            EvrouteError, match=rf"car '{car}' is of type .*, not .*. Leave that out"
        ):
            evroute.plan("denver", *NAMES, belief=belief, vehicle=vehicle, car=car)
    # eq. 8 of a row is that of the type
    rows = {row["car"]: row for row in learned.trips.to_pylist()}
    assert rows["van-1"]["eq8_wh"] / rows["van-1"]["length_m"] > (
        rows["leaf-1"]["eq8_wh"] / rows["leaf-1"]["length_m"]
    )


def test_a_folder_of_types_comes_back_and_learns_on_without_the_table(mixed, leaf_setting) -> None:
    import pyarrow as pa
    import pyarrow.csv

    place, _ = mixed
    before = load_belief(place / "mixed").state()
    more = rows_of(leaf_setting, 4, 9, {"van-1": 1.8, "leaf-1": 0.9})
    pyarrow.csv.write_csv(pa.table(more), place / "more.csv")
    assert learn(place / "more.csv", place / "mixed").new == 4
    belief = load_belief(place / "mixed")
    assert belief.trips == 84
    rows = "trips/learned_rows"
    n = len(before[rows])
    np.testing.assert_array_equal(belief.state()[rows][:n, :36], before[rows][:, :36])
    again = CliRunner().invoke(cli, ["learn", "--repair", str(place / "mixed"), "--quiet"])
    assert again.exit_code == 0, again.output
    repaired = load_belief(place / "mixed")
    for car, share in belief.car_shares().items():
        assert repaired.car_shares()[car].mean == pytest.approx(share.mean, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"leaf-1,{VAN}\n", "car 'leaf-1' is of type 'ford-e-transit' in the table of cars, and"),
        (f"truck,{VAN}\n", "of car 'other', which is not in"),
    ],
)
def test_a_table_that_contradicts_the_folder_is_refused_in_one_line_and_changes_nothing(
    mixed, leaf_setting, tmp_path, text, line
) -> None:
    import pyarrow as pa
    import pyarrow.csv

    place, _ = mixed
    parts = sorted((place / "mixed" / "measured").iterdir())
    pyarrow.csv.write_csv(
        pa.table(rows_of(leaf_setting, 2, 11, {"other": 1.0})), tmp_path / "t.csv"
    )
    (tmp_path / "cars.csv").write_text("car,vehicle\n" + text)
    with pytest.raises(EvrouteError) as caught:
        learn(tmp_path / "t.csv", place / "mixed", cars=tmp_path / "cars.csv")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted((place / "mixed" / "measured").iterdir()) == parts
