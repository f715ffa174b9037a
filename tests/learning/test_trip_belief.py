"""TripBelief: causal, restorable, and what it refuses, judges again and suspects."""

import numpy as np
import pytest

from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.trip_belief import TripBelief

PRIOR = CoefficientPrior(
    np.array([100.0, 4.3, 3.8]), np.array([30.0, 1.0, 1.0]), np.array([[0.0, 1.0, -1.0]])
)


def drive(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    km = rng.lognormal(1.3, 0.5, n)
    rows = np.column_stack([km, rng.gamma(2.0, 30.0, n), -rng.gamma(2.0, 30.0, n)])
    return rows, rows @ [120.0, 4.6, 4.2] + rng.normal(0, 40 + 10 * km)


def numbers(belief: TripBelief, row: np.ndarray) -> dict[str, float]:
    return belief.expect(row).numbers()


def test_the_prior_is_expected_before_any_trip() -> None:
    belief = TripBelief(PRIOR, TripNoiseScale(30.0, 40.0, 0.0))
    row = np.array([4.0, 20.0, -10.0])
    expected = belief.expect(row, known_wh2=100.0)
    assert expected.mean_wh == pytest.approx(400 + 86 - 38, abs=1e-9)
    spread = 120.0**2 + 20.0**2 + 10.0**2
    assert expected.sd_wh == pytest.approx(np.sqrt(spread + 900 + 6400 + 100))
    assert (expected.trips, expected.moved_wh) == (0, 0.0)


def test_later_trips_change_no_earlier_expectation() -> None:
    rows, energy_wh = drive(60)
    others, other_wh = drive(60, seed=9)
    one, two = TripBelief(PRIOR), TripBelief(PRIOR)
    for i in range(60):
        changed = i >= 35
        first = one.expect(rows[i])
        one.learn(rows[i], energy_wh[i])
        row, wh = (others[i], other_wh[i]) if changed else (rows[i], energy_wh[i])
        second = two.expect(row)
        two.learn(row, wh)
        if not changed:
            assert first.numbers() == second.numbers()
    assert numbers(one, rows[0]) != numbers(two, rows[0])


def test_it_learns_the_coefficients_in_any_order() -> None:
    """The rebuilt regression forgets the order of the trips; only noise refits could keep it."""
    rows, energy_wh = drive(50)
    forth, back = TripBelief(PRIOR), TripBelief(PRIOR)
    for i in range(50):
        forth.learn(rows[i], energy_wh[i])
        back.learn(rows[49 - i], energy_wh[49 - i])
    # both refit the noise at trip 50, on all rows
    np.testing.assert_allclose(forth.regression.mean, back.regression.mean, rtol=1e-6)
    off = np.abs(forth.regression.mean - [120.0, 4.6, 4.2])
    assert np.all(off < 4 * np.sqrt(np.diag(forth.regression.covariance)))


def test_a_restored_belief_goes_on_bit_for_bit(tmp_path) -> None:
    rows, energy_wh = drive(80)
    energy_wh[[20, 41]] = 1e6
    whole, part, restored = TripBelief(PRIOR), TripBelief(PRIOR), TripBelief(PRIOR)
    for i in range(47):
        part.learn(rows[i], energy_wh[i])
    np.savez(tmp_path / "state.npz", **part.state())
    with np.load(tmp_path / "state.npz") as stored:
        restored.restore(stored)
    for i in range(80):
        expected = whole.expect(rows[i])
        whole.learn(rows[i], energy_wh[i], known_wh2=0.0)
        if i >= 47:
            assert restored.expect(rows[i]).numbers() == expected.numbers()
            restored.learn(rows[i], energy_wh[i])
    assert restored.refused == whole.refused == (20, 41)
    for name, part_of in whole.state().items():
        assert np.array_equal(part_of, restored.state()[name])


def test_a_state_of_other_coefficients_is_refused() -> None:
    other = CoefficientPrior(np.ones(2), np.ones(2), np.zeros((0, 2)))
    with pytest.raises(ValueError, match=r"a state of 3 coefficients \(\), expected 2"):
        TripBelief(other).restore(TripBelief(PRIOR).state())


@pytest.mark.parametrize(
    ("row", "energy_wh", "known_wh2"),
    [
        ([1.0, 0.0, np.nan], 1.0, 0.0),
        ([0.0, 1.0, 1.0], 1.0, 0.0),
        ([1.0, 1.0, 1.0], np.inf, 0.0),
        ([1.0, 1.0, 1.0], 1.0, -1.0),
    ],
)
def test_a_trip_of_bad_numbers_raises(row, energy_wh, known_wh2) -> None:
    belief = TripBelief(PRIOR)
    with pytest.raises(ValueError, match="expected finite numbers"):
        belief.learn(np.array(row), energy_wh, known_wh2)
    assert belief.seen == 0


def test_the_mean_is_held_to_the_cone_and_says_by_how_much() -> None:
    """Trips that return more on the way down than they take up break ``down <= up``."""
    belief = TripBelief(PRIOR)
    for height in (50.0, 100.0, 80.0, 60.0):
        belief.learn(np.array([3.0, height, 0.0]), 330.0 + 2.0 * height)
        belief.learn(np.array([3.0, 0.0, -height]), 330.0 - 6.0 * height)
    assert belief.regression.mean[2] > belief.regression.mean[1]
    b = belief.coefficients
    assert b[2] == pytest.approx(b[1])
    row = np.array([3.0, 10.0, -20.0])
    expected = belief.expect(row)
    assert expected.mean_wh == pytest.approx(row @ b)
    assert expected.moved_wh == pytest.approx(expected.mean_wh - row @ belief.regression.mean)


def test_an_absurd_trip_is_refused_and_leaves_no_trace() -> None:
    rows, energy_wh = drive(40)
    plain, disturbed = TripBelief(PRIOR), TripBelief(PRIOR)
    for i in range(40):
        if i == 15:
            disturbed.learn(rows[0], 50.0 * energy_wh[0])
            assert disturbed.refused == (15,)
        plain.learn(rows[i], energy_wh[i])
        disturbed.learn(rows[i], energy_wh[i])
    assert disturbed.refused == (15,)
    assert numbers(plain, rows[3]) == numbers(disturbed, rows[3])


def test_a_refused_trip_is_learned_once_it_is_believable() -> None:
    """Noise begins at 5 Wh, so 100 Wh off is refused; ten trips later the noise fits at 30 Wh."""
    belief = TripBelief(PRIOR, TripNoiseScale(5.0, 0.1, 0.1))
    rng = np.random.default_rng(5)
    belief.regression.set(
        belief.regression.prior_mean, 1e-3 * belief.regression.root
    )  # coefficients as good as known
    rows = np.column_stack([np.full(12, 3.0), rng.uniform(0, 50, 12), np.zeros(12)])
    truth_wh = rows @ PRIOR.mean
    belief.learn(rows[0], truth_wh[0] + 100.0)
    for i in range(1, 10):
        belief.learn(rows[i], truth_wh[i] + 30.0 * (-1) ** i)
        assert belief.refused == (0,)
    belief.learn(rows[10], truth_wh[10] + 30.0)
    assert belief.refused == ()
    assert belief.trips == 11


def test_garbage_is_never_learned() -> None:
    belief = TripBelief(PRIOR)
    for i in range(60):
        belief.learn(np.array([3.0, 10.0, -10.0]), 1e9 * (-1) ** i)
    assert belief.trips == 0
    assert len(belief.refused) == 60
