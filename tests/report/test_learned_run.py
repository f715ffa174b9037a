"""The shipped run of the page Learn: of the roads, the car and the physics of today."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.experiments.experiment import load_experiment
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.setting import load_setting
from evroute.network.road_network import RoadNetwork
from evroute.report.learned_run import LearnedRun
from evroute.resources import data_path

MOST_BYTES = 300_000


@pytest.fixture(scope="module")
def run() -> LearnedRun:
    return LearnedRun.read()


def test_the_run_is_of_its_experiment_and_small(run: LearnedRun) -> None:
    experiment = load_experiment(data_path("learned", "denver.toml"))
    assert data_path("learned", "denver.json").stat().st_size <= MOST_BYTES
    assert (run.network, run.vehicle) == ("denver", experiment.vehicle)
    assert len(run.trips) == experiment.horizon
    assert np.shape(run.learned_wh) == np.shape(run.physics_wh) == (30, experiment.horizon)
    assert experiment.seeds == 30


def test_the_kept_world_has_the_median_regret(run: LearnedRun) -> None:
    final = [each[-1] for each in run.learned_wh]
    assert sorted(final).index(final[run.seed]) == 15


def test_another_network_or_vehicle_is_refused(run: LearnedRun, denver: RoadNetwork) -> None:
    car = load_vehicle(run.vehicle)
    run.check(denver, car)
    with pytest.raises(EvrouteError, match="of other roads than 'denver' of today"):
        run.check(replace(denver, speed_mps=1.01 * denver.speed_mps), car)
    with pytest.raises(EvrouteError, match=r"of another car.*studies/learned_run.py"):
        run.check(denver, replace(car, mass_kg=car.mass_kg + 1))


def test_physics_of_today_gives_the_energies_of_the_run(run: LearnedRun) -> None:
    """A change of the physics changes them, and then the run has to be made again."""
    (played,) = {
        each.method for each in load_experiment(data_path("learned", "denver.toml")).runs()
    }
    belief = LearnedBelief.before_trips(played, load_setting(run.network, run.vehicle))
    road_wh = belief.space.edges.reference.prior_mean_wh
    for route, expected_wh in zip(run.routes, run.routes_wh, strict=True):
        arms, rows = belief.route_arms(Route(tuple(route)))
        assert arms.prior_mean_wh[rows].sum() == pytest.approx(expected_wh, rel=1e-6)
    marked = [trip for trip in run.trips if trip.road is not None]
    assert marked
    for trip in marked:
        assert trip.physics_wh == pytest.approx(road_wh[trip.road], abs=0.06)
        assert trip.learned_wh > trip.physics_wh
        on_one = set(run.routes[trip.learned]) ^ set(run.routes[trip.physics])
        assert trip.road in on_one


def test_bands_and_sentence_by_hand(run: LearnedRun) -> None:
    small = replace(
        run,
        learned_wh=[[100.0, 200.0], [300.0, 400.0]],
        physics_wh=[[100.0, 400.0], [200.0, 900.0]],
    )
    bands = small.bands_kwh()
    assert bands["learned"][:, 0] == pytest.approx([0.2, 0.3])
    assert bands["saved"][1] == pytest.approx([0.35, 0.215, 0.485])
    assert small.sentence(2) == (
        "after 2 trips the learned routes have taken 0.35 kWh less than those by physics (90 % of "
        "the worlds: 0.21 to 0.48 kWh less), and less in 2 of 2 worlds"
    )
    assert "0.05 kWh more than those by physics" in small.sentence(1)
    even = replace(small, physics_wh=small.learned_wh)
    assert (
        even.sentence(1)
        == "after 1 trip the learned routes took as much energy as those by physics"
    )


def test_a_file_of_something_else_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(EvrouteError, match=r"holds no learned run.*studies/learned_run.py"):
        LearnedRun.read(path)
