"""One factor from whole trips."""

import pytest

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.consumption_calibration import ConsumptionCalibration
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.planning.planner import Planner


@pytest.fixture
def correction() -> ConsumptionCalibration:
    return ConsumptionCalibration(Setting(load_network("denver"), load_vehicle()))


def route_of(correction: ConsumptionCalibration) -> Route:
    setting = correction.setting
    return Planner(setting.network, setting.vehicle).plan(*setting.ends("A")).routes["energy"].route


def test_trips_that_dissipate_a_fifth_more_make_a_car_that_does(
    correction: ConsumptionCalibration,
) -> None:
    route, prior = route_of(correction), correction.setting.prior
    total_wh = float((prior.potential_wh + 1.2 * prior.dissipated_wh)[route.rows].sum())
    assert correction.factor == pytest.approx(1.0)
    for _ in range(5):
        correction.learn(route, total_wh)
    assert correction.factor == pytest.approx(1.2, abs=0.02)
    assert correction.trips == 5
    setting = correction.setting
    planned = Planner(setting.network, setting.vehicle, correction.belief).describe(route)
    assert planned.energy_wh == pytest.approx(total_wh, rel=0.02)


def test_a_total_that_cannot_be_is_refused(correction: ConsumptionCalibration) -> None:
    with pytest.raises(EvrouteError, match="times the energy by physics"):
        correction.learn(route_of(correction), 40_000.0)
    assert correction.trips == 0
