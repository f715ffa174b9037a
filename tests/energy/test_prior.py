import numpy as np
import pytest

from evroute.energy import prior
from evroute.energy.vehicle import load_vehicle
from evroute.errors import UnknownNameError
from evroute.network.road_network import RoadNetwork
from evroute.planning.spaces.edge_space import EdgeSpace


def test_parts_sum_to_the_mean_and_spreads_are_shares_of_its_standard_deviation(
    hill: RoadNetwork,
) -> None:
    fitted = prior.fit(hill, load_vehicle("reference"))
    p = prior.edge_parts(hill, load_vehicle("reference"))
    assert fitted.mean_wh == pytest.approx(p.climb_wh + p.rolling_wh + p.drag_wh + p.auxiliary_wh)
    assert fitted.std_wh == pytest.approx(0.25 * np.std(fitted.mean_wh))
    assert fitted.noise_std_wh == pytest.approx(0.1 * np.std(fitted.mean_wh))


def test_the_potential_of_a_closed_walk_is_zero(hill: RoadNetwork) -> None:
    fitted = prior.fit(hill, load_vehicle("reference"))
    over = [hill.row_of[e] for e in ("in", "up", "down", "out", "home")]
    assert fitted.potential_wh[over].sum() == pytest.approx(0, abs=1e-9)


def test_arms_carry_the_prior_mean_and_unit_variance_contexts(hill: RoadNetwork) -> None:
    fitted = prior.fit(hill, load_vehicle("reference"))
    arms = EdgeSpace(hill, load_vehicle("reference")).reference
    assert np.array_equal(arms.prior_mean_wh, fitted.mean_wh)
    # every edge of the hill has one speed limit: that column stays unscaled, the others have unit
    # variance
    assert arms.features.std(axis=0) == pytest.approx([1, 0, 1])


@pytest.mark.parametrize("city", ["denver", "monaco", "luxembourg"])
def test_no_edge_of_a_real_network_falls_below_its_potential(
    city: str, request: pytest.FixtureRequest
) -> None:
    fitted = prior.fit(request.getfixturevalue(city), load_vehicle("reference"))
    assert fitted.dissipated_wh.min() > 0


def test_a_dissipation_spread_is_a_quarter_of_the_energy_that_an_edge_dissipates(
    hill: RoadNetwork,
) -> None:
    fitted = prior.fit(hill, load_vehicle("reference"), "dissipation")
    assert fitted.std_wh == pytest.approx(0.25 * (fitted.mean_wh - fitted.potential_wh))


def test_an_unknown_spread_is_refused(hill: RoadNetwork) -> None:
    with pytest.raises(UnknownNameError, match="There are paper, dissipation"):
        prior.fit(hill, load_vehicle("reference"), "guess")
