"""Beliefs on terrain inside edges: the folder keeps it, plans take it, others are refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.energy.longitudinal import at_battery
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.regressors import TurnRegressors
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.terms import DOWN, UP
from evroute.methods.setting import Setting
from evroute.network import context, store
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import ENTRY_SPEED, SPEED, TurnTable
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner


@pytest.fixture
def rolling(hill: RoadNetwork) -> RoadNetwork:
    """The hill, with another of 30 m inside the edge ``east`` and a dip of 20 m inside ``west``."""
    start = np.array([0, 0, 0, 0, 3, 4, 4, 4])
    return hill.with_tables(
        {"profile": {"start": start, "height_m": np.float32([15.0, 30.0, 15.0, -20.0])}}
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"{trip},{edge},60" for trip in "abc" for edge in ("in", "east", "west", "out")]
    path = tmp_path / "trips.csv"
    path.write_text("\n".join(["trip,edge,energy_wh", *rows]), encoding="utf-8")
    return path


def test_columns_of_a_trip_are_sums_of_its_pieces(rolling: RoadNetwork) -> None:
    one, two = (
        TripEnergies(Setting(network, load_vehicle("reference")), physics="eq8")
        for network in (rolling, on_terrain(rolling, "edge"))
    )
    for belief, ascent_m in ((one, 50.0), (two, 0.0)):
        day = belief.under(EQ8_CONDITIONS)
        assert day.rows.of(np.array([3, 4]))[:, UP].sum() == pytest.approx(ascent_m)
        assert day.rows.of(np.array([3, 4]))[:, DOWN].sum() == pytest.approx(-ascent_m)
        rise_wh = day.space.states.head_wh - day.space.states.tail_wh
        assert (day.mean_wh >= rise_wh - 1e-9).all()
    planner = Planner(rolling, load_vehicle("reference"), one)
    route = planner.plan("in", "out").routes["energy"]
    assert route.parts_wh["auxiliary"] >= 0.0
    assert sum(route.parts_wh.values()) == pytest.approx(route.energy_wh)
    full = Battery.of_percent(load_vehicle("reference").battery_kwh, 99.0, 5.0)
    charged = planner.plan("in", "out", battery=full).routes["energy"]
    assert charged.energy_forecast is not None
    assert charged.energy_forecast.mean_wh == pytest.approx(charged.energy_wh, rel=0.05)


@pytest.mark.parametrize("model", ["trips", "physics"])
def test_plans_take_the_terrain_of_the_folder(
    rolling: RoadNetwork, table: Path, tmp_path: Path, model: str
) -> None:
    path = tmp_path / "rolling.npz"
    store.save(rolling, path)
    common = {"network": str(path), "vehicle": "reference", "model": model}
    learned = learn(table, tmp_path / "profile", **common)
    learn(table, tmp_path / "edge", terrain="edge", **common)
    assert learned.trips["climb_m"].to_pylist() == pytest.approx([50.0] * 3)
    roads = store.load(path)
    of_profile, of_edges = (
        load_belief(tmp_path / name, network=roads) for name in ("profile", "edge")
    )
    assert of_profile.network.pieces is not None
    assert of_edges.network.pieces is None
    ascents = [
        Planner(roads, load_vehicle("reference"), belief)
        .plan("in", "out", via=["east"])
        .routes["energy"]
        for belief in (of_profile, of_edges)
    ]
    assert [route.ascent_m for route in ascents] == pytest.approx([50.0, 0.0])
    # a further call keeps the terrain of the folder, and another terrain is refused
    again = learn(table, tmp_path / "edge", **common)
    assert (again.new, again.known) == (0, 3)
    with pytest.raises(EvrouteError, match=r"another configuration .*profile"):
        learn(table, tmp_path / "edge", terrain="profile", **common)


def test_a_belief_of_edges_on_another_profile_is_refused(
    rolling: RoadNetwork, table: Path, tmp_path: Path
) -> None:
    """A belief of trips plans on it: its coefficients are those of the car."""
    path = tmp_path / "rolling.npz"
    store.save(rolling, path)
    learn(table, tmp_path / "out", network=str(path), vehicle="reference", model="physics")
    learn(table, tmp_path / "car", network=str(path), vehicle="reference")
    height_m = 2.0 * np.asarray(rolling.tables["profile"]["height_m"])
    other = rolling.with_tables({"profile": {**rolling.tables["profile"], "height_m": height_m}})
    with pytest.raises(EvrouteError, match="belief about another profile of network 'hill'"):
        load_belief(tmp_path / "out", network=other)
    plain = RoadNetwork(**{f: getattr(rolling, f) for f in rolling.__dataclass_fields__})
    with pytest.raises(EvrouteError, match="network 'hill' has no profile"):
        load_belief(tmp_path / "out", network=plain)
    for roads, ascent_m in ((rolling, 50.0), (other, 100.0), (plain, 0.0)):
        car = load_belief(tmp_path / "car", network=roads)
        plan = Planner(roads, load_vehicle("reference"), car).plan("in", "out", via=["east"])
        assert plan.routes["energy"].ascent_m == pytest.approx(ascent_m)
    words = f"route --network {path} --from in --to out --terrain edge --belief".split()
    told = CliRunner().invoke(app, [*words, str(tmp_path / "out")])
    assert isinstance(told.exception, EvrouteError)
    assert "--belief has its own terrain. Leave --terrain out" in str(told.exception)


@pytest.mark.parametrize("seed", range(5))
def test_turns_over_pieces_of_one_slope_are_turns_over_edges(hill: RoadNetwork, seed: int) -> None:
    rng, car = np.random.default_rng(seed), load_vehicle("nissan-leaf-40")
    table, speed_mps = TurnTable.from_network(hill), rng.uniform(3.0, 30.0, hill.n_edges)
    tail_m, climb_m = hill.elevation_m[hill.tail], hill.climb_m
    inner_m = np.concatenate([tail_m[:, None] + climb_m[:, None] * [0.25, 0.5, 0.75]]).ravel()
    start = 3 * np.arange(hill.n_edges + 1)
    cut = hill.with_tables({"profile": {"start": start, "height_m": inner_m}})
    rows = np.arange(len(table))
    one, many = (
        TurnEnergy(each, car, table, free_flow=bool(seed % 2)).mean_wh(rows, speed_mps)
        for each in (hill, cut)
    )
    assert many == pytest.approx(one, abs=1e-9)


def test_a_change_of_speed_is_helped_by_the_pieces_against_it() -> None:
    car = replace(load_vehicle("reference"), propulsion_efficiency=0.8, recuperation_efficiency=0.5)
    taken_wh, returned_wh = np.array([40.0, 40.0, 40.0]), np.array([-20.0, -20.0, 0.0])
    gained_wh = np.array([30.0, -60.0, 10.0])
    energy_wh, *_ = at_battery(car, taken_wh, returned_wh, gained_wh)
    # speeds up: 10 Wh beyond the descent; slows down: 20 Wh beyond the climb; no descent: all of it
    assert energy_wh == pytest.approx(
        [10.0 / 0.8 + 40.0 / 0.8, -20.0 * 0.5 - 20.0 * 0.5, 50.0 / 0.8]
    )


def test_turns_on_a_profile_and_their_derivatives(rolling: RoadNetwork) -> None:
    table, car = TurnTable.from_network(rolling), load_vehicle("reference")
    energy, rows = TurnEnergy(rolling, car, table), np.arange(len(table))
    speed_mps = rolling.speed_mps
    rise_wh = energy.potential_wh(rows, speed_mps)
    assert (energy.mean_wh(rows, speed_mps) >= rise_wh - 1e-9).all()
    features, scale = np.zeros((len(rows), 8)), context.build(rolling).scale[SPEED]
    left_mps = np.where(rows < table.n_turns, speed_mps[table.left[rows]], 0.0)
    features[:, SPEED], features[:, ENTRY_SPEED] = (
        speed_mps[table.entered] / scale,
        left_mps / scale,
    )
    found = TurnRegressors(energy).of(rows, features)
    for column, name in ((1, "rolling"), (2, "drag")):
        more, less = (
            TurnEnergy(rolling, replace(car, **{name: getattr(car, name) * each}), table)
            for each in (1.0005, 0.9995)
        )
        change_wh = more.mean_wh(rows, speed_mps) - less.mean_wh(rows, speed_mps)
        assert found[:, column] == pytest.approx(change_wh / 0.001, rel=1e-5)
