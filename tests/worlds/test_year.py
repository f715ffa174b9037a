"""The world of the seasons: temperatures, stands, and its best route against enumeration."""

import numpy as np
import pytest
from numpy.random import SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.world import load_world
from evroute.worlds.year import YearWorld


@pytest.fixture(scope="module")
def setting() -> Setting:
    return Setting(load_network("denver"), load_vehicle("reference"))


def world_of(setting: Setting, seed: int = 0, **options: object) -> YearWorld:
    world = load_world({"kind": "year", **options})
    made = world.build(setting, Repeated(*setting.ends("A")), SeedSequence(seed))
    assert isinstance(made, YearWorld)
    return made


def test_a_year_has_its_mean_its_seasons_and_its_days(setting: Setting) -> None:
    world = world_of(setting, weather_c=0, day_c=0)
    starts = [world.start(t) for t in range(1, 401)]
    temperature_c = np.array([start.temperature_c for start in starts])
    assert temperature_c.mean() == pytest.approx(10.0, abs=0.05)
    assert temperature_c.max() == pytest.approx(21.0, abs=0.05)
    assert temperature_c.min() == pytest.approx(-1.0, abs=0.05)
    assert temperature_c[0] > 20.0  # July
    days = np.array([start.departed_s for start in starts]) // 86_400
    assert days[0] == 0
    assert days[-1] == 364


def test_a_trip_takes_more_in_the_cold_and_most_after_a_long_stand(setting: Setting) -> None:
    world = world_of(setting, noise_share=0, trip_std=0)
    route = setting.search.route(setting.network.time_s, *setting.ends("A"))
    starts = {t: world.start(t) for t in range(1, 401)}
    more_wh = {t: world.route_wh(world.observe(t), route) for t in range(1, 401, 4)}
    cold = [t for t in more_wh if starts[t].temperature_c < 0]
    mild = [t for t in more_wh if 20 <= starts[t].temperature_c <= 24]
    assert min(more_wh[t] for t in cold) > max(more_wh[t] for t in mild)
    after_long = [more_wh[t] for t in cold if starts[t].parked_s > 14_000]
    after_short = [more_wh[t] for t in cold if starts[t].parked_s < 3_001]
    assert np.median(after_long) > np.median(after_short)


def test_the_measured_energy_without_noise_is_the_expected_one(setting: Setting) -> None:
    world = world_of(setting, noise_share=0, trip_std=0)
    route = setting.search.route(setting.network.length_m, *setting.ends("A"))
    for t in (1, 150, 300):
        request = world.observe(t)
        measured_wh = world.drive(request, route).energy_wh.sum()
        assert measured_wh == pytest.approx(world.route_wh(request, route), rel=1e-12)


def test_no_route_at_any_constant_power_is_better_than_the_best(setting: Setting) -> None:
    """A grid of powers, 30 times finer than the searches of the world, finds none."""
    world = world_of(setting, season_c=25, noise_share=0)
    search = setting.search
    entered = search.line_graph.indices
    for t in (40, 200, 230):
        request = world.observe(t)
        truth = world._truth(request)
        best_wh = world.route_wh(request, world.best_route(request))
        for watts in np.linspace(0.0, 8_000.0, 30):
            weights = truth.weight_wh + watts / 3600.0 * truth.time_s[entered]
            route = search.by_turns.route(weights, request.origin, request.destination)
            assert best_wh <= world.route_wh(request, route) + 1e-9
