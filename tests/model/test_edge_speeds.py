"""EdgeSpeeds by hand: log-normal travel times, eq. 8 at the speed that they say."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.energy.longitudinal import energy_parts
from evroute.energy.regressors import Regressors
from evroute.energy.vehicle import load_vehicle
from evroute.model.independent import EdgeSpeeds, EdgeSpeedsOptions
from evroute.planning.spaces.edge_space import EdgeSpace

VEHICLE = replace(load_vehicle("reference"), auxiliary_w=1500.0)
NOISE_WH = np.full(7, 5.0)


@pytest.fixture
def arms(hill) -> Arms:
    return EdgeSpace(hill, VEHICLE).reference


@pytest.fixture
def model(hill) -> EdgeSpeeds:
    return EdgeSpeeds(Regressors(hill, VEHICLE), NOISE_WH, options=EdgeSpeedsOptions())


def timed(arms: Arms, edges, travel_s) -> Feedback:
    edges = np.array(edges)
    energy_wh = arms.prior_mean_wh[edges] + 1000.0
    travel_s = np.array(travel_s, dtype=float)
    return Feedback(
        edges, arms.features[edges], arms.prior_mean_wh[edges], energy_wh, travel_s=travel_s
    )


def energy_at(hill, speed_mps) -> np.ndarray:
    return energy_parts(VEHICLE, hill.length_m, hill.climb_m, speed_mps).total_wh


def test_twice_the_time_is_shrunk_towards_the_assumed_speed(hill, arms, model) -> None:
    model.update(timed(arms, [0, 3], 2 * hill.length_m[[0, 3]] / hill.speed_mps[[0, 3]]))
    # precisions 1/0.16 and 1/0.04: four fifths of log 2
    speed_mps = hill.speed_mps.copy()
    speed_mps[[0, 3]] /= 2**0.8
    np.testing.assert_allclose(
        model.posterior(arms).mean_wh, energy_at(hill, speed_mps), rtol=1e-12
    )


def test_the_deviation_is_the_derivative_by_the_log_of_time(hill, arms, model) -> None:
    model.update(timed(arms, [3], [300.0]))
    slowness = 0.8 * np.log(300.0 / 120.0)
    step = 1e-6
    std = np.full(7, 0.4)
    std[3] = (1 / 0.16 + 1 / 0.04) ** -0.5
    at = np.zeros(7)
    at[3] = slowness
    by_slowness_wh = (
        energy_at(hill, hill.speed_mps * np.exp(-at - step))
        - energy_at(hill, hill.speed_mps * np.exp(-at + step))
    ) / (2 * step)
    np.testing.assert_allclose(
        model.posterior(arms).std_wh, np.abs(by_slowness_wh) * std, rtol=1e-6
    )


def test_times_that_were_not_measured_and_energies_teach_nothing(arms, model) -> None:
    model.update(timed(arms, [0, 1], [np.nan, np.nan]))
    np.testing.assert_array_equal(model.posterior(arms).mean_wh, arms.prior_mean_wh)
    model.update(timed(arms, [0, 1], [200.0, np.nan]))
    np.testing.assert_array_equal(model.posterior(arms).mean_wh[1:], arms.prior_mean_wh[1:])
    assert model.posterior(arms).mean_wh[0] != arms.prior_mean_wh[0]


def test_slowness_is_relative_to_the_speed_of_the_round(hill, arms, model) -> None:
    features = arms.features.copy()
    features[:, 1] /= 2
    jammed = Arms(arms.id, features, energy_at(hill, hill.speed_mps / 2))
    model.update(
        timed(jammed, [0], [2 * hill.length_m[0] / hill.speed_mps[0]])
    )  # as slow as was known
    np.testing.assert_allclose(model.posterior(jammed).mean_wh, jammed.prior_mean_wh, rtol=1e-12)


def test_a_time_that_is_not_positive_is_refused(arms, model) -> None:
    with pytest.raises(ValueError, match=r"took 0 s on an edge. Travel times must be positive"):
        model.update(timed(arms, [0], [0.0]))
