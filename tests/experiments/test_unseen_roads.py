"""Predictions on unseen roads after five trips, in worlds whose physics departs from eq. 8."""

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.methods.method import Method, make_model
from evroute.methods.setting import Setting
from evroute.planning.weights import potential
from evroute.worlds.demand.trips import Trip
from evroute.worlds.world import load_world

NOISE = {"noise_share": 0.15, "noise_spread": 0.5, "trip_std": 0.03}
WORLDS = {
    "mass": {"payload_kg": 400},
    "wind": {"wind_mps": 8, "wind_from_deg": 200},
    "auxiliary": {"auxiliary_w": 2000},
}
N_TRIPS = 5


class Errands:
    """Trips along given routes."""

    def __init__(self, routes: list[Route]) -> None:
        self.routes = routes

    def trip(self, t: int) -> Trip:
        route = self.routes[t - 1]
        return Trip(route.edges[0], route.edges[-1], trip_id=str(t))


def errands(setting: Setting, rng: np.random.Generator, n: int) -> list[Route]:
    """Return eq. 8's routes of random trips."""
    weights = potential(
        setting.arms.prior_mean_wh, np.zeros(len(setting.arms)), setting.potential_wh
    )
    ends = (rng.integers(0, len(setting.arms), 2).tolist() for _ in range(10 * n))
    routes = (setting.search.route(weights, *pair) for pair in ends if pair[0] != pair[1])
    return [route for route in routes if len(route) >= 10][:n]


@pytest.fixture(scope="module")
def setting(denver) -> Setting:
    return Setting(denver, load_vehicle("reference"))


@pytest.mark.parametrize("world_name", WORLDS)
@pytest.mark.parametrize("model_name", ["physics", "physics+gp"])
def test_the_error_of_the_arrival_charge_on_unseen_roads_is_halved(
    setting, model_name, world_name
) -> None:
    before_wh, after_wh = [], []
    for seed in range(3):
        rng = default_rng(seed)
        driven, others = errands(setting, rng, N_TRIPS), errands(setting, rng, 30)
        conditions = load_world({"kind": "physics", **NOISE, **WORLDS[world_name]})
        world = conditions.build(setting, Errands(driven), SeedSequence(seed))
        model = make_model(Method(model=model_name, index="greedy"), setting, default_rng(seed))
        for t, route in enumerate(driven, 1):
            model.update(world.drive(world.observe(t), route))
        truth_wh = world.expected_wh(world.observe(1))
        seen = np.unique(np.concatenate([route.rows for route in driven]))
        for route in others:
            unseen = np.setdiff1d(route.rows, seen)
            before_wh.append((setting.arms.prior_mean_wh - truth_wh)[unseen].sum())
            after_wh.append((model.posterior(setting.arms).mean_wh - truth_wh)[unseen].sum())
    assert np.abs(after_wh).mean() < 0.5 * np.abs(before_wh).mean()
