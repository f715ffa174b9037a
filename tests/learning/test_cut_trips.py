"""Measured trips that begin and end inside edges: rows by parts, plans, tables, folders."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.arms import Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.base import Belief
from evroute.learning.learn import learn
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.readers.formats import read_measured
from evroute.learning.records.on_pieces import on_pieces
from evroute.learning.records.parts import read_parts
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.terms import KM, MINUTES, TURNING
from evroute.methods.setting import Setting, load_setting
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner

CAR = load_vehicle()
KNOWN = ("temperature_c", "payload_kg", "parked_minutes")
KINDS: dict[str, Callable[[Setting], Belief]] = {
    "eq8": lambda setting: TripEnergies(setting, physics="eq8"),
    "driving": lambda setting: TripEnergies(setting, physics="driving"),
}


def walk(network: RoadNetwork, rng: np.random.Generator, most: int = 6) -> np.ndarray:
    edges = [int(rng.integers(network.n_edges))]
    while len(edges) < most and len(on := network.turns[network.turns[:, 0] == edges[-1], 1]):
        edges.append(int(rng.choice(on)))
    return np.array(edges)


def trip_of(network: RoadNetwork, rng: np.random.Generator, name: str) -> MeasuredTrip:
    """Return a random trip that begins and ends inside its edges."""
    edges, length_m = walk(network, rng), network.length_m
    start_m = float(rng.uniform(0.1, 0.4) * length_m[edges[0]])
    end_m = float(rng.uniform(0.6, 0.9) * length_m[edges[-1]])
    trip = MeasuredTrip(name, edges, np.ones(len(edges)), np.full(len(edges), np.nan))
    trip = replace(trip, start_m=start_m, end_m=end_m)
    driven_m = trip.share(length_m) * length_m[edges]
    return replace(
        trip,
        energy_wh=rng.uniform(0.12, 0.25) * driven_m,
        travel_s=driven_m / 8.0,
        temperature_c=float(rng.uniform(-5, 25)),
        payload_kg=float(rng.uniform(0, 300)),
        parked_minutes=float(rng.uniform(0, 50)),
    )


def test_a_row_has_the_metres_that_were_driven(hill: RoadNetwork) -> None:
    """500 m of 1,000 m at 10 m/s between standstills, by hand."""
    trip = MeasuredTrip("1", np.array([0]), np.array([99.0]), np.array([np.nan]))
    trip = replace(trip, start_m=300.0, end_m=800.0)
    energies = TripEnergies(Setting(hill, CAR), physics="driving")
    row, whole = energies.row(trip), energies.row(replace(trip, start_m=0.0, end_m=np.nan))
    assert row[KM] == pytest.approx(0.5)
    assert row[MINUTES] == pytest.approx(whole[MINUTES] / 2)
    assert row[TURNING] == pytest.approx(whole[TURNING])  # both begin and end at standstill
    to_end = energies.row(replace(trip, start_m=0.0, end_m=1000.0))
    np.testing.assert_allclose(to_end, whole, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_expectation_of_a_trip_equals_the_forecast_of_its_plan_between_positions(
    hilly: Callable[[int], RoadNetwork], kind: str
) -> None:
    rng, network = np.random.default_rng(3), hilly(2)
    belief = KINDS[kind](Setting(network, CAR))
    for i in range(25):
        belief.learn(trip_of(network, rng, str(i)))
    compared = 0
    for i in range(20):
        trip = trip_of(network, rng, f"new {i}")
        known = {name: getattr(trip, name) for name in KNOWN}
        planner = Planner(network, CAR, belief, conditions=DrivingConditions(**known))
        route = Route(tuple(trip.edge.tolist()), trip.start_m, trip.end_m)
        planned, expected = planner.describe(route), belief.expect(trip)
        if planned.held_wh > 1e-9:
            continue
        compared += 1
        forecast = planned.energy_forecast
        assert forecast is not None
        assert expected.energy.mean_wh == pytest.approx(forecast.mean_wh, rel=1e-9)
        assert expected.energy.sd_wh == pytest.approx(forecast.std_wh, rel=1e-9)
        assert expected.time["mean_s"] == pytest.approx(forecast.numbers()["mean_s"], rel=1e-9)
    assert compared > 5


def test_models_of_edges_learn_halves_as_wholes_and_expect_parts(denver: RoadNetwork) -> None:
    setting = load_setting("denver", "reference")
    rng = np.random.default_rng(1)
    trip = trip_of(denver, rng, "a")
    share = trip.share(denver.length_m)
    assert share[0] > 0.5
    assert share[-1] > 0.5
    whole = replace(
        trip, energy_wh=trip.energy_wh / share, travel_s=trip.travel_s / share, start_m=0.0,
        end_m=np.nan,
    )  # fmt: skip
    one, other = (
        LearnedBelief.of_method({"model": "exact", "index": "ts"}, setting) for _ in range(2)
    )
    one.learn(trip)
    other.learn(whole)
    np.testing.assert_allclose(one.edge_posterior.mean_wh, other.edge_posterior.mean_wh)
    np.testing.assert_allclose(one.edge_posterior.std_wh, other.edge_posterior.std_wh)
    # the mean of a part: its physics, and its share of the learned deviation
    driven = trip.stretches(denver)
    assert isinstance(driven, Stretches)
    eq8_wh = setting.edges.reference.prior_mean_wh[trip.edge]
    by_hand = setting.edges.stretch_wh(trip.edge, driven)
    by_hand += share * (one.edge_posterior.mean_wh[trip.edge] - eq8_wh)
    assert one.expect(trip).energy.mean_wh == pytest.approx(by_hand.sum())


def table(path: Path, network: RoadNetwork, trip: MeasuredTrip, ends: str) -> Path:
    """Write a trip as a table by edges whose last cells are ``ends``."""
    rows = zip(trip.edge.tolist(), trip.energy_wh.tolist(), strict=True)
    lines = [f"{trip.trip},{network.edge_id[edge]},{wh},{ends}" for edge, wh in rows]
    path.write_text("\n".join(["trip,edge,energy_wh,start_m,end_m", *lines]), encoding="utf-8")
    return path


def test_a_table_names_the_metres_at_both_ends_and_a_folder_keeps_them(
    hill: RoadNetwork, tmp_path: Path
) -> None:
    trip = MeasuredTrip("1", np.array([0, 1]), np.array([90.0, 60.0]), np.full(2, np.nan))
    cut = table(tmp_path / "cut.csv", hill, trip, "300,500")
    (read,) = read_measured(cut, Setting(hill, CAR), []).trips
    assert (read.start_m, read.end_m) == (300.0, 500.0)
    whole = table(tmp_path / "whole.csv", hill, replace(trip, trip="2"), ",")
    (other,) = read_measured(whole, Setting(hill, CAR), []).trips
    assert not other.cut
    for path in (cut, whole):
        learn(path, network=hill, vehicle=CAR, out=tmp_path / "mine")
    kept = read_parts(tmp_path / "mine", hill)
    assert (kept["1"].start_m, kept["1"].end_m) == (300.0, 500.0)
    assert kept["1"].is_same(read)
    assert not kept["1"].is_same(replace(read, start_m=0.0))
    rows = learn(whole, network=hill, vehicle=CAR, out=tmp_path / "mine").trips.to_pylist()
    both_m = float(hill.length_m[:2].sum())
    assert [row["length_m"] for row in rows] == pytest.approx([700.0 + 500.0, both_m])


@pytest.mark.parametrize("ends", ["1500,500", "-1,500", "0,5000"])
def test_ends_off_their_edges_are_named(hill: RoadNetwork, tmp_path: Path, ends: str) -> None:
    trip = MeasuredTrip("1", np.array([0, 1]), np.array([90.0, 60.0]), np.full(2, np.nan))
    path = table(tmp_path / "trips.csv", hill, trip, ends)
    with pytest.raises(EvrouteError, match="start_m and end_m lie along these edges"):
        learn(path, network=hill, vehicle=CAR, out=tmp_path / "mine")


def test_on_a_map_with_roads_in_pieces_a_trip_keeps_its_metres(
    make_network: Callable[..., RoadNetwork],
) -> None:
    """Roads of 1,000 m, now 400 and 600 m: 550 to 1,000 m and 0 to 150 m are left."""
    places = [(x, 0, 0) for x in (0, 400, 1000, 1400, 2000)]
    names = [("a", 0, 1), ("b", 1, 2), ("c", 2, 3), ("d", 3, 4)]
    network = make_network(names, places)
    values = {
        "energy_wh": np.array([45.0, 15.0]),
        "travel_s": np.array([45.0, np.nan]),
        "start_m": 550.0,
        "end_m": 150.0,
    }
    edges = [np.array([0, 1]), np.array([2, 3])]
    found = on_pieces(values, edges, network, np.array([1000.0, 1000.0]))
    assert found["edge"].tolist() == [1, 2]
    assert (found["start_m"], found["end_m"]) == (pytest.approx(150.0), pytest.approx(150.0))
    assert found["energy_wh"].tolist() == [45.0, 15.0]
    spread = on_pieces({**values, "start_m": 200.0}, edges, network, np.array([1000.0, 1000.0]))
    assert spread["edge"].tolist() == [0, 1, 2]
    assert spread["energy_wh"] == pytest.approx([45.0 * 200 / 800, 45.0 * 600 / 800, 15.0])
