"""ConsumptionFactor against the normal-normal formulas for one number."""

import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.model.coefficients import ConsumptionFactor

POTENTIAL_WH = np.array([0.0, 50.0, -80.0])
PRIOR_WH = np.array([100.0, 90.0, -60.0])
DISSIPATED_WH = np.array([100.0, 40.0, 20.0])
ARMS = Arms(np.arange(3), np.zeros((3, 3)), PRIOR_WH)


def model(factor_std=0.25) -> ConsumptionFactor:
    return ConsumptionFactor(POTENTIAL_WH, np.array([5.0, 6.0, 7.0]), factor_std=factor_std)


def drive(edges, energy_wh) -> Feedback:
    edges = np.array(edges)
    return Feedback(edges, ARMS.features[edges], PRIOR_WH[edges], np.array(energy_wh, dtype=float))


def test_one_measurement_is_the_scalar_formula() -> None:
    learned = model(factor_std=0.25)
    learned.update(drive([0], [130.0]))  # measured c - 1 = 0.3 with deviation 5 / 100
    variance = 1 / (1 / 0.25**2 + 1 / 0.05**2)
    deviation = variance * 0.3 / 0.05**2
    belief = learned.posterior(ARMS)
    np.testing.assert_allclose(
        belief.mean_wh, POTENTIAL_WH + (1 + deviation) * DISSIPATED_WH, rtol=1e-12
    )
    np.testing.assert_allclose(belief.std_wh, DISSIPATED_WH * np.sqrt(variance), rtol=1e-12)
    found = learned.coefficients()
    assert (found.names, found.units) == (("consumption",), ("share",))
    assert found.mean[0] == pytest.approx(deviation)
    assert found.std[0] == pytest.approx(np.sqrt(variance))
    assert found.prior_std[0] == 0.25


@pytest.mark.parametrize("noise_std_wh", [0.0, -1.0, np.inf, np.nan])
def test_one_edge_without_a_noise_is_refused(noise_std_wh) -> None:
    with pytest.raises(ValueError, match=r"noise_std_wh must be \d positive numbers"):
        ConsumptionFactor(POTENTIAL_WH, np.array([5.0, noise_std_wh, 7.0]), factor_std=0.25)


def test_measurements_are_weighted_by_dissipated_energy() -> None:
    learned = model()
    learned.update(drive([0, 1, 2, 1], [110.0, 95.0, -50.0, 99.0]))
    w, noise = np.array([100.0, 40.0, 20.0, 40.0]), np.array([5.0, 6.0, 7.0, 6.0])
    over_wh = np.array([10.0, 5.0, 10.0, 9.0])
    precision = 1 / 0.25**2 + np.sum(w**2 / noise**2)
    assert learned.coefficients().mean[0] == pytest.approx(
        np.sum(w * over_wh / noise**2) / precision, rel=1e-12
    )
    assert learned.coefficients().std[0] == pytest.approx(precision**-0.5, rel=1e-12)


def test_more_consumption_makes_a_road_downhill_return_less() -> None:
    learned = model()
    learned.update(drive([0, 0, 0], [150.0] * 3))
    assert learned.posterior(ARMS).mean_wh[2] > PRIOR_WH[2]


def test_draws_scale_all_edges_together() -> None:
    drawn_wh = model().sample_many(ARMS, np.random.default_rng(0), 4000)
    factor = (drawn_wh - POTENTIAL_WH) / DISSIPATED_WH
    np.testing.assert_allclose(factor, factor[:, :1] * np.ones(3), rtol=1e-12)
    assert factor[:, 0].mean() == pytest.approx(1, abs=4 * 0.25 / np.sqrt(4000))
    assert factor[:, 0].std() == pytest.approx(0.25, abs=4 * 0.25 / np.sqrt(8000))


def test_a_state_under_another_prior_is_refused() -> None:
    with pytest.raises(
        ValueError, match="not the state of a consumption factor model of 3 edges with these prior"
    ):
        model(factor_std=0.1).restore(model().state())
