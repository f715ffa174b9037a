"""The charge that all trips of a day need together, against closed forms and against a plan."""

from pathlib import Path

import numpy as np
import pytest

import evroute
from evroute.energy.driving import conditions
from evroute.errors import NotEnoughChargeError
from evroute.learning.physics_belief import physics_belief
from evroute.planning.battery import Battery
from evroute.planning.dispatch.day_need import DayNeed
from evroute.planning.places import places_of
from evroute.planning.planner import Planner

HOME, WORK, SHOP = (
    "Walnut Street & 33rd Street",
    "Broadway & 20th Street",
    "Blake Street & 17th Street",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("beliefs")
    trips = Path(__file__).parents[2] / "compat" / "trips.csv"
    evroute.learn(trips, path / "trips", network="denver")
    evroute.learn(trips, path / "edges", network="denver", model="exact")
    return path


def planner_of(folder: Path, name: str, **day: float) -> Planner:
    belief = None if name == "physics" else evroute.load_belief(folder / name)
    network = evroute.load_network("denver") if belief is None else belief.network
    return Planner(network, None, belief, conditions=conditions(**day), uncertainty=physics_belief)


def need_of(planner: Planner, *ends: tuple[str, str]) -> DayNeed:
    return DayNeed([(planner, places_of(planner.network, None, each)) for each in ends])


BELIEFS = ["physics", "trips", "edges"]


@pytest.mark.parametrize("name", BELIEFS)
def test_shared_errors_of_trips_add_up_and_their_noise_is_independent(
    name: str, folder: Path
) -> None:
    """n equal trips have the variance n² S + n N, so the third follows from the first two."""
    planner = planner_of(folder, name)
    variance = []
    for n in (1, 2, 3):
        found = need_of(planner, *[(HOME, WORK)] * n).need(0.0, 0.9)
        assert found.mean_wh == pytest.approx(sum(found.trip_wh), rel=1e-6)
        variance.append(found.std_wh**2)
    assert variance[2] == pytest.approx(3 * variance[1] - 3 * variance[0], rel=1e-6)
    shared = (variance[1] - 2 * variance[0]) / 2
    assert 0 < shared < variance[0]
    if name == "physics":  # the prior's coefficients and noise, from the rows of the trip
        day = planner.forecasts.day
        driven = need_of(planner, (HOME, WORK)).driven[0]
        along = day.along(driven.arms, None, driven.stretches)
        root = day.belief.regression.root
        season_wh = day.season_wh_per_minute * driven.time_s.sum() / 60
        assert shared == pytest.approx(along.row @ root @ root.T @ along.row + season_wh**2)


def test_the_covariance_along_two_trips_ends_with_their_variance(folder: Path) -> None:
    planner = planner_of(folder, "trips", temperature_c=10.0)
    day = need_of(planner, (HOME, WORK), (WORK, SHOP))
    traces = day._traces(day._battery(80.0, 0.0))
    assert traces is not None
    forecast = day._forecast(traces)
    covariance = forecast.reached_wh2
    assert covariance[-1, -1] == pytest.approx(forecast.std_wh**2, rel=1e-9)
    first = need_of(planner, (HOME, WORK))
    begin = first._traces(first._battery(80.0, 0.0))
    assert begin is not None
    alone = first._forecast(begin).reached_wh2
    assert covariance[: len(alone), : len(alone)] == pytest.approx(alone, rel=1e-9, abs=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-6 * covariance[-1, -1]


@pytest.mark.parametrize("name", BELIEFS)
@pytest.mark.parametrize("reserve", [0.0, 12.5])
def test_the_need_is_the_least_percent_that_keeps_the_reserve(
    name: str, reserve: float, folder: Path
) -> None:
    planner = planner_of(folder, name, temperature_c=-5.0)
    day = need_of(planner, (HOME, WORK), (WORK, SHOP), (SHOP, HOME))
    before = 0
    for p in (0.5, 0.9, 0.99):
        found = day.need(reserve, p)
        assert day.kept(found.percent - 1, reserve) < p <= day.kept(found.percent, reserve)
        assert found.percent >= max(before, found.expected_percent)
        before = found.percent
    capacity_wh = 1000 * planner.vehicle.battery_kwh
    used_percent = 100 * sum(found.trip_wh) / capacity_wh
    assert found.expected_percent == pytest.approx(reserve + used_percent, abs=0.3)


@pytest.mark.parametrize("name", ["physics", "trips"])
def test_the_needed_charge_of_one_trip_keeps_the_reserve_of_its_plan(
    name: str, folder: Path
) -> None:
    planner = planner_of(folder, name)
    day = need_of(planner, (HOME, WORK))
    for start in (2.0, 3.0, 8.0):
        battery = Battery.of_percent(planner.vehicle.battery_kwh, start, 1.0)
        try:
            route = planner.plan(HOME, WORK, battery=battery, risk=0.5).least_energy
        except NotEnoughChargeError:
            assert day.kept(start, 1.0) < 0.5
            continue
        assert route.charge_forecast is not None
        kept = route.charge_forecast.never_below_reserve
        assert day.kept(start, 1.0) == pytest.approx(kept, abs=1e-9)


def test_a_day_beyond_a_full_battery_is_refused(folder: Path) -> None:
    day = need_of(planner_of(folder, "physics"), *[(HOME, WORK), (WORK, HOME)] * 60)
    with pytest.raises(NotEnoughChargeError, match="keeps 5 % over 120 trips with probability"):
        day.need(5.0, 0.95)
