"""Every kind of world, and every shipped world file, under the same tests.

A world that is added to `WORLDS` is tested here with its default options; `NEEDED` holds options
for kinds that have none by default.
"""

import csv
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from numpy.random import SeedSequence, default_rng

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.testing.base import hold
from evroute.testing.worlds import (
    CHECKS,
    Subject,
    measurements_average_to_the_expectation,
    some_route,
)
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.environment import Environment
from evroute.worlds.world import WORLDS, load_world, shipped_worlds

NEEDED = {
    "sumo": {"survey_trips": 20, "truth_drives": 2},
}
DRIVEN = ("sumo",)
"""Kinds that need a SUMO network, which the data folder has for Monaco."""
CASES = [*WORLDS, *shipped_worlds()]
FREE = [name for name in CASES if name not in DRIVEN]


def measured_table(setting: Setting, path: Path) -> Path:
    """Write measured trips along the route between the ends of trip A, for worlds that replay."""
    route = setting.search.route(setting.network.time_s, *setting.ends("A"))
    rng = default_rng(0)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["trip", "edge", "energy_wh"])
        for trip in range(5):
            for edge in route.edges:
                energy_wh = 1.2 * abs(setting.prior.mean_wh[edge]) * rng.uniform(0.9, 1.1)
                rows.writerow([trip, setting.network.edge_id[edge], energy_wh])
    return path


@pytest.fixture(scope="module")
def setting_of(request: pytest.FixtureRequest) -> Callable[[str], Setting]:
    """Return the setting that a world is built in: Monaco where SUMO drives, else Denver."""
    settings: dict[str, Setting] = {}

    def setting_of(name: str) -> Setting:
        network = "monaco" if name in DRIVEN else "denver"
        if name in DRIVEN:
            pytest.importorskip("libsumo")
        if network not in settings:
            settings[network] = Setting(request.getfixturevalue(network), load_vehicle("reference"))
        return settings[network]

    return setting_of


@pytest.fixture
def build(setting_of, tmp_path) -> Callable[..., Environment]:
    """Return a function that builds a world by name for a seed."""

    def build(name: str, seed: int = 0) -> Environment:
        setting, options = setting_of(name), dict(NEEDED.get(name, {}))
        if name == "replay":
            options["table"] = str(measured_table(setting, tmp_path / "trips.csv"))
        world = load_world({"kind": name} | options if name in WORLDS else name)
        return world.build(setting, Repeated(*setting.ends("A")), SeedSequence(seed))

    return build


@pytest.mark.data
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_protocol(name: str, check: Any, build: Any, setting_of: Any) -> None:
    """SUMO drives a route anew in each round, which takes too long for the averages."""
    if name in DRIVEN and check is measurements_average_to_the_expectation:
        pytest.skip("200 drives of SUMO")
    has_noise = name != "physics"  # without wind or others it has none by default
    hold([check], Subject(partial(build, name), setting_of(name), has_noise))


@pytest.mark.parametrize("name", [name for name in FREE if name != "year"])
def test_the_energy_of_a_route_is_the_sum_over_its_turns(name: str, build, setting_of) -> None:
    """With s of a start and t of a turn, E(abc) = s(a) + t(ab) + t(bc), as E(ab) + E(bc) - E(b).

    In ``year`` a cabin warms up along the route.
    """
    world = build(name)
    request, edges = world.observe(1), some_route(world, setting_of(name)).edges

    def energy_wh(*part: int) -> float:
        return world.route_wh(request, Route(part))

    total = energy_wh(edges[0], edges[1])
    for left, entered in pairwise(edges[1:]):
        total += energy_wh(left, entered) - energy_wh(left)
    assert energy_wh(*edges) == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in FREE if name != "sampled-gp"])
def test_a_way_there_and_back_takes_energy(name: str, build, setting_of) -> None:
    """Heights cancel on a closed way: physics leaves positive energy; draws of a prior may not."""
    world, setting = build(name), setting_of(name)
    request = world.observe(1)
    weights = setting.network.length_m
    there = setting.search.route(weights, request.origin, request.destination)
    back = setting.search.route(weights, request.destination, request.origin)
    assert world.route_wh(request, there) + world.route_wh(request, back) > 0


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in CASES if name != "sampled-gp"])
def test_no_tried_route_takes_less_than_the_best(name: str, build, setting_of) -> None:
    """Worlds drawn from the prior count energies below the climb as the climb: left out here."""
    world, setting = build(name), setting_of(name)
    request = world.observe(1)
    least_wh = world.route_wh(request, world.best_route(request))
    tried = [some_route(world, setting, seed=seed) for seed in range(10)]
    # a survey of few drives estimates the truth
    slack_wh = 0.1 * abs(least_wh) + 20 if name in DRIVEN else 1e-6
    assert min(world.route_wh(request, route) for route in tried) >= least_wh - slack_wh
