"""A made world of trips with known coefficients: error, coverage, fade, per cents, trip factor.

300 trips in each of 20 seeds; from trip 30 on unless said otherwise.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import stdtrit

from evroute.arrays import FloatArray
from evroute.learning.trips import scales, trip_belief
from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.trip_belief import TripBelief

SEEDS, TRIPS, LATE = 20, 300, slice(30, None)
TRUTH = np.array([125.0, 4.6, 4.2, 11.0, -2.0])
"""Of km, metres up, metres down, minutes and full battery."""
PRIOR_MEAN = np.array([100.0, 4.3, 3.8, 8.0, 0.0])
PRIOR_STD = np.array([50.0, 1.5, 1.5, 8.0, 2.0])
BEFORE = TripNoiseScale(42.0, 50.0, 13.0)
"""Prior of the car of this world, as its noise before the fit."""
FULL = 4
WH_PER_PERCENT = 172.0


@dataclass
class World:
    rows: FloatArray
    noise_free_wh: FloatArray
    energy_wh: FloatArray
    departure_percent: FloatArray
    factor: FloatArray


def make_world(seed: int) -> World:
    rng = np.random.default_rng(seed)
    km = rng.lognormal(1.3, 0.5, TRIPS)
    net_m = rng.normal(0, 30 * np.sqrt(km))
    rough_m = rng.gamma(2, 4, TRIPS) * np.sqrt(km)
    up_m, down_m = np.maximum(net_m, 0) + rough_m, np.minimum(net_m, 0) - rough_m
    minutes = 2.4 * km * rng.lognormal(0, 0.2, TRIPS)
    percent = rng.uniform(30, 97, TRIPS)
    full = np.maximum(percent - 85, 0) / 10 * down_m
    rows = np.column_stack([km, up_m, down_m, minutes, full])
    sd_wh = np.sqrt(40**2 + 50**2 * km)
    noise_wh = rng.standard_t(6, TRIPS) / np.sqrt(6 / 4) * sd_wh
    truth_wh = rows @ TRUTH
    return World(rows, truth_wh, truth_wh + noise_wh, percent, rng.normal(0, 0.15, TRIPS))


@dataclass
class Drive:
    belief: TripBelief
    mean_wh: FloatArray
    half90_wh: FloatArray
    student90_wh: FloatArray

    def held(self, energy_wh: FloatArray) -> FloatArray:
        return np.abs(energy_wh - self.mean_wh) <= self.half90_wh


def drive(
    world: World,
    energy_wh: FloatArray,
    *,
    known_wh2: float = 0.0,
    columns: int = 5,
    noise: TripNoiseScale = BEFORE,
) -> Drive:
    no_cone = np.zeros((0, columns))
    belief = TripBelief(CoefficientPrior(PRIOR_MEAN[:columns], PRIOR_STD[:columns], no_cone), noise)
    expected = []
    for row, wh in zip(world.rows[:, :columns], energy_wh, strict=True):
        expected.append(belief.expect(row, known_wh2))
        belief.learn(row, wh, known_wh2)
    sd_wh = np.array([each.sd_wh for each in expected])
    tails = [each.spread.scale * stdtrit(each.spread.nu, 0.95) for each in expected]
    return Drive(
        belief,
        np.array([each.mean_wh for each in expected]),
        np.array([each.spread.half_width(0.9) for each in expected]) * sd_wh,
        np.array(tails) * sd_wh,
    )


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return [make_world(seed) for seed in range(SEEDS)]


@pytest.fixture(scope="module")
def exact(worlds) -> list[Drive]:
    return [drive(world, world.energy_wh) for world in worlds]


def errors(worlds: list[World], drives: list[Drive]) -> FloatArray:
    """Return |expected - measured|, (20, 300) Wh."""
    pairs = zip(worlds, drives, strict=True)
    return np.array([np.abs(each.mean_wh - world.energy_wh) for world, each in pairs])


def test_the_error_is_nearly_as_small_as_with_known_coefficients(worlds, exact) -> None:
    ours = errors(worlds, exact)
    knowing = np.array([np.abs(world.noise_free_wh - world.energy_wh) for world in worlds])
    ratio = ours[:, LATE].sum(axis=1) / knowing[:, LATE].sum(axis=1)
    assert ratio.max() <= 1.06
    early = ours[:, 10:30].sum(axis=1) / knowing[:, 10:30].sum(axis=1)
    assert early.mean() <= 1.15


def test_intervals_hold_in_each_seed_on_average_and_in_each_third(worlds, exact) -> None:
    held = np.array([each.held(world.energy_wh) for world, each in zip(worlds, exact, strict=True)])
    by_seed = held[:, LATE].mean(axis=1)
    assert by_seed.min() >= 0.85
    assert by_seed.max() <= 0.96
    assert 0.885 <= by_seed.mean() <= 0.915
    thirds = held.reshape(SEEDS, 3, -1).mean(axis=(0, 2))
    assert np.ptp(thirds) <= 0.04
    assert np.abs(thirds - 0.9).max() <= 0.04


def test_coefficients_lie_within_four_deviations(exact) -> None:
    for each in exact:
        sd = np.sqrt(np.diag(each.belief.regression.covariance))
        assert np.all(np.abs(each.belief.regression.mean - TRUTH) <= 4 * sd)


def test_full_descents_are_foretold_by_the_charge(worlds, exact) -> None:
    without = [drive(world, world.energy_wh, columns=4) for world in worlds]
    full = np.array([world.rows[:, FULL] < -30 for world in worlds])
    full[:, :30] = False
    assert 0.03 <= full[:, LATE].mean() <= 0.07
    with_wh, without_wh = errors(worlds, exact), errors(worlds, without)
    ratio = (with_wh * full).sum(axis=1) / (without_wh * full).sum(axis=1)
    assert ratio.mean() <= 0.75
    coefficient = np.array([each.belief.regression.mean[FULL] for each in exact])
    assert coefficient.mean() == pytest.approx(-1.8, abs=0.5)


def test_whole_percents_of_charge_teach_nearly_as_much(worlds, exact) -> None:
    drives = []
    for world in worlds:
        percent = world.departure_percent
        arrival = percent - world.energy_wh / WH_PER_PERCENT
        read_wh = WH_PER_PERCENT * (np.floor(percent) - np.floor(arrival))
        drives.append(drive(world, read_wh, known_wh2=WH_PER_PERCENT**2 / 6))
    ours, theirs = errors(worlds, drives)[:, LATE], errors(worlds, exact)[:, LATE]
    assert (ours.sum(axis=1) / theirs.sum(axis=1)).mean() <= 1.03


def test_intervals_hold_when_each_trip_has_a_factor(worlds) -> None:
    held = []
    for world in worlds:
        energy_wh = world.energy_wh + world.factor * world.noise_free_wh
        held.append(drive(world, energy_wh).held(energy_wh)[LATE].mean())
    assert 0.89 <= np.mean(held) <= 0.92


def test_conformal_intervals_hold_where_the_noise_given_is_ten_times_too_small(
    worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scales, "is_refit_due", lambda n_trips: False)
    monkeypatch.setattr(trip_belief, "REFUSED_SD", np.inf)
    small = TripNoiseScale(BEFORE.trip_wh / 10, BEFORE.root_km_wh / 10, BEFORE.km_wh / 10)
    held, student = [], []
    for world in worlds:
        each = drive(world, world.energy_wh, noise=small)
        held.append(each.held(world.energy_wh)[LATE].mean())
        off_wh = np.abs(each.mean_wh - world.energy_wh)
        student.append((off_wh <= each.student90_wh)[LATE].mean())
    assert np.mean(held) >= 0.84
    assert np.mean(student) <= 0.70
