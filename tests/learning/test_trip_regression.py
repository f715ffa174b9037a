"""Regression of trips: by hand, against the batch solution, and against a dense joint Gaussian."""

from pathlib import Path

import numpy as np
import pytest

from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior, TripRegression

PAGE = Path(__file__).parents[2] / "docs" / "explanation.md"


def test_one_trip_by_hand() -> None:
    regression = TripRegression(np.array([100.0]), np.array([50.0]))
    regression.update(np.array([4.0]), 600.0, 4 * 50.0**2)
    assert regression.mean == pytest.approx([140.0])
    assert regression.covariance == pytest.approx(np.array([[500.0]]))
    assert regression.variance(np.array([2.0])) == pytest.approx(2000.0)


def test_the_trip_of_the_page_has_its_numbers() -> None:
    """docs/explanation.md works one trip by hand: its table is the prior and the trip."""
    text = PAGE.read_text(encoding="utf-8").split("## What a car learns")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|") and " ± " in line][1:]
    cells = [line.split("|")[1:-1] for line in lines]
    x = np.array([float(row[1].replace(",", "")) for row in cells])
    mean, std = np.array([[float(n) for n in row[2].split("±")] for row in cells]).T
    noise_wh2 = float(TripNoiseScale(42.0, 50.0, 13.0).variance(np.array([10.0]))[0])
    regression = TripRegression(mean, std)
    expected_wh, known_wh2 = float(x @ mean), regression.variance(x)
    regression.update(x, 1200.0, noise_wh2)
    stated = [float(row[5]) for row in cells]
    np.testing.assert_allclose(regression.mean, stated, atol=0.006)
    assert [float(row[4].replace(",", "")) for row in cells] == pytest.approx((x * std) ** 2, abs=1)
    for number in (
        *(expected_wh, known_wh2, noise_wh2, np.sqrt(known_wh2 + noise_wh2), np.sqrt(known_wh2)),
        *(float(x @ regression.mean), np.sqrt(regression.variance(x))),
    ):
        assert f"{number:,.0f}" in text


@pytest.mark.parametrize("seed", range(3))
def test_trips_in_any_order_equal_the_batch_solution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, prior_mean = 200, np.array([100.0, 4.3, -3.8, 8.0])
    prior_std = np.array([50.0, 1.5, 1.5, 8.0])
    rows = rng.gamma(2.0, [2.0, 40.0, 40.0, 5.0], (n, 4))
    noise_wh2 = 40.0**2 + 50.0**2 * rows[:, 0]
    energy_wh = rows @ [125.0, 4.6, -4.2, 11.0] + rng.normal(0, np.sqrt(noise_wh2))
    # the batch: generalised least squares with the prior as four more observations
    weight = 1 / np.sqrt(np.append(noise_wh2, prior_std**2))
    system = np.vstack([rows, np.eye(4)]) * weight[:, np.newaxis]
    batch = np.linalg.lstsq(system, np.append(energy_wh, prior_mean) * weight, rcond=None)[0]
    one_by_one = TripRegression(prior_mean, prior_std)
    for i in rng.permutation(n):
        one_by_one.update(rows[i], energy_wh[i], noise_wh2[i])
    rebuilt = TripRegression(prior_mean, prior_std)
    rebuilt.rebuild(rows, energy_wh, noise_wh2)
    covariance = np.linalg.inv(system.T @ system)
    for regression in (one_by_one, rebuilt):
        np.testing.assert_allclose(regression.mean, batch, rtol=1e-9)
        np.testing.assert_allclose(regression.covariance, covariance, rtol=1e-9, atol=1e-12)


def test_weights_of_a_gaussian_process_join_as_coefficients() -> None:
    """Equal to the dense joint Gaussian of b and 30 edges, cross-covariance included."""
    rng = np.random.default_rng(0)
    n, edges = 25, 30
    root = np.linalg.cholesky(
        400.0 * np.exp(-np.abs(np.subtract.outer(np.arange(edges), np.arange(edges))) / 5.0)
    )
    passes = rng.poisson(0.3, (n, edges)).astype(float)
    terms = rng.gamma(2.0, [2.0, 5.0], (n, 2))
    energy_wh, noise_wh2 = rng.normal(500.0, 200.0, n), rng.uniform(1e3, 1e4, n)
    mean, std = np.array([120.0, 10.0]), np.array([30.0, 6.0])
    joint = TripRegression(np.append(mean, np.zeros(edges)), np.append(std, np.ones(edges)))
    rows = np.hstack([terms, passes @ root])
    for row, energy, noise in zip(rows, energy_wh, noise_wh2, strict=True):
        joint.update(row, energy, noise)
    prior = np.zeros((2 + edges, 2 + edges))
    prior[:2, :2], prior[2:, 2:] = np.diag(std**2), root @ root.T
    design = np.hstack([terms, passes])
    gain = np.linalg.solve(design @ prior @ design.T + np.diag(noise_wh2), design @ prior).T
    posterior = prior - gain @ design @ prior
    to_edges = np.eye(2 + edges)
    to_edges[2:, 2:] = root
    np.testing.assert_allclose(
        to_edges @ joint.mean,
        np.append(mean, np.zeros(edges)) + gain @ (energy_wh - terms @ mean),
        atol=1e-9 * 120,
    )
    ours = to_edges @ joint.covariance @ to_edges.T
    np.testing.assert_allclose(ours, posterior, atol=1e-9 * 900)
    assert np.abs(posterior[:2, 2:]).max() > 1.0


def test_a_prior_of_mixed_sizes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"CoefficientPrior.std has shape \(2,\), expected \(3,\)"):
        CoefficientPrior(np.zeros(3), np.ones(2), np.zeros((0, 3)))
