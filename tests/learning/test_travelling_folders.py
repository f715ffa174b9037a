"""Folders of a car whose map or numbers change: nothing is lost, and all is learned again."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pyarrow.parquet as pq
import pytest
from closures import close, named

import evroute
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle, numbers_of
from evroute.errors import EvrouteError
from evroute.learning.learn import learn
from evroute.learning.measured import MeasuredTrip
from evroute.learning.records.history import read_history
from evroute.learning.records.parts import read_parts
from evroute.learning.records.repair import repair
from evroute.learning.roads.restated import restated
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.terms import NAMES, with_level
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork

CAR = load_vehicle("renault-zoe")
CLOSED = "14>15"


@pytest.fixture
def grid(make_network) -> RoadNetwork:
    """Junctions 400 m apart, both directions of each road, with heights."""
    places = [
        (5e5 + 400.0 * x, 5e6 + 400.0 * y, 25.0 * np.sin(x + 2 * y))
        for x in range(6)
        for y in range(6)
    ]
    pairs = [(k, k + 6) for k in range(30)] + [(k, k + 1) for k in range(36) if k % 6 < 5]
    edges = [(f"{a}>{b}", a, b) for a, b in pairs] + [(f"{b}>{a}", b, a) for a, b in pairs]
    return make_network(edges, places, name="grid")


@pytest.fixture
def far(grid) -> RoadNetwork:
    """The same grid elsewhere, with other ids."""
    ids = tuple(f"far {name}" for name in grid.edge_id)
    places = {"x_m": grid.x_m + 3e5, "shape_x_m": grid.shape_x_m + 3e5}
    return replace(grid, name="far", edge_id=ids, **places)


def table_of(network: RoadNetwork, path: Path, seed: int, n: int, name: str = "trip") -> Path:
    """Write trips on random ways."""
    rng = np.random.default_rng(seed)
    lines = ["trip,edge,energy_wh,travel_s,departed_s,temperature_c,soc_percent"]
    for i in range(n):
        edges = [int(rng.integers(network.n_edges))]
        for _ in range(int(rng.integers(6, 12))):
            after = network.turns[network.turns[:, 0] == edges[-1], 1]
            edges.append(int(rng.choice(after)))
        warm, soc = rng.uniform(-5, 30), rng.uniform(40, 99)
        for edge in edges:
            wh = 0.16 * network.length_m[edge] + 0.4 * network.climb_m[edge] * 9 + rng.normal(0, 4)
            wh, s = max(wh, -20.0), rng.uniform(1.2, 2.0) * network.time_s[edge]
            known = f"{wh},{s},{7200.0 * i},{warm},{soc}"
            lines.append(f'{name} {i},"{network.edge_id[edge]}",{known}')
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def folder(grid, tmp_path) -> Path:
    """A folder of 25 trips on the grid."""
    learn(table_of(grid, tmp_path / "t.csv", 1, 25), tmp_path / "zoe", network=grid, vehicle=CAR)
    return tmp_path / "zoe"


def state_of(folder: Path, network: RoadNetwork) -> dict[str, np.ndarray]:
    return evroute.load_belief(folder, network=network).state()


CAR_PART = ("mean", "noise_wh", "signed", "learned_rows", "learned_energy_wh", "seen", "deviations")


def assert_same_car(one: dict, other: dict, tolerance: float) -> None:
    """Coefficients, noise, scores and rows are equal."""
    for name in CAR_PART:
        key = f"trips/{name}"
        np.testing.assert_allclose(
            other[key], one[key], rtol=tolerance, atol=tolerance, err_msg=key
        )


def test_a_car_learns_on_in_another_place_and_comes_back(grid, far, folder, tmp_path) -> None:
    before = state_of(folder, grid)
    there = learn(table_of(far, tmp_path / "far.csv", 2, 10, "far"), folder, network=far)
    assert (there.new, there.trips.num_rows) == (10, 35)
    assert [path.name for path in (folder / "beliefs").iterdir()] == ["far-learned.npz"]
    assert json.loads((folder / "manifest.json").read_text())["networks"] == {"far": far.digest}
    assert (
        there.trips["predicted_wh"].to_pylist()[:25]
        == pq.read_table(folder / "trips.parquet")["predicted_wh"].to_pylist()[:25]
    )
    belief = evroute.load_belief(folder, network=far)
    assert belief.trips == 35
    # the terms of the first trips are those of home
    key = "trips/learned_rows"
    p = len(belief.belief.prior.mean)
    np.testing.assert_array_equal(belief.state()[key][:25, :p], before[key][:, :p])
    back = learn(table_of(grid, tmp_path / "home.csv", 3, 5, "home"), folder, network=grid)
    assert (back.new, back.trips.num_rows) == (5, 40)
    known = evroute.load_belief(folder, network=grid).places.known
    assert known.found < known.driven
    assert len(known.lost) > 20
    # the network need not be named again where it has a stored name
    assert json.loads((folder / "manifest.json").read_text())["networks"] == {"grid": grid.digest}


def test_a_lost_belief_is_learned_again_from_lines_and_terms(grid, far, folder, tmp_path) -> None:
    """In another place the recorded terms are learned: the same coefficients."""
    whole = state_of(folder, grid)
    rmtree(folder / "beliefs")
    (folder / "trips.parquet").unlink()
    again = learn(None, folder, network=far)
    assert again.new == 25
    assert again.trips["length_m"].to_pylist() == pytest.approx(
        [grid.length_m[trip.edge].sum() for trip in read_parts(folder, grid).values()]
    )
    assert_same_car(whole, state_of(folder, far), 1e-9)
    belief = evroute.load_belief(folder, network=far)
    assert belief.pace.factor == pytest.approx(
        evroute.load_belief(folder, network=grid).pace.factor, rel=1e-12
    )


def test_one_closed_edge_changes_nothing_when_all_is_learned_again(grid, folder) -> None:
    closed = close(grid, named(grid, [CLOSED]), "roadworks")
    whole = state_of(folder, grid)
    recorded = read_parts(folder, closed)
    off = [trip for trip in recorded.values() if trip.record is not None]
    assert 0 < len(off) < 25
    learned = repair(folder, network=closed)
    assert learned.trips.num_rows == 25
    assert_same_car(whole, state_of(folder, closed), 1e-9)
    home, here = (
        evroute.load_belief(folder, network=roads).under(DrivingConditions(departed_s=0.0))
        for roads in (grid, closed)
    )
    rows = [grid.row_of[name] for name in closed.edge_id]
    np.testing.assert_allclose(here.time_s, home.time_s[rows], rtol=1e-9)


def test_a_rebuilt_map_learns_the_trips_on_its_own_roads(grid, folder) -> None:
    """Other ids, and other heights: terms are computed on the new map."""
    steep = replace(
        grid,
        name="rebuilt",
        edge_id=tuple(f"way/{k}" for k in range(grid.n_edges)),
        elevation_m=2.0 * grid.elevation_m,
        length_m=np.hypot(grid.length_m, 60.0),
    )
    assert all(trip.record is None for trip in read_parts(folder, steep).values())
    before = state_of(folder, grid)
    repair(folder, network=steep)
    state = state_of(folder, steep)
    rows = state["trips/learned_rows"]
    up = NAMES.index("metres up")
    trips = read_history(folder, Setting(steep, CAR)).learned
    assert rows[:, up] == pytest.approx([steep.ascent_m[trip.edge].sum() for trip in trips])
    assert not np.allclose(rows[:, up], before["trips/learned_rows"][:, up])


def cut_at(network: RoadNetwork, road: str, share: float, make_network) -> RoadNetwork:
    """Return the grid with a junction added on both directions of a road, ``a>b`` with a < b."""
    a, b = (int(end) for end in road.split(">"))
    height_m = network.elevation_m[a] + share * (network.elevation_m[b] - network.elevation_m[a])
    x_m, y_m = (at[a] + share * (at[b] - at[a]) for at in (network.x_m, network.y_m))
    places = [*zip(network.x_m, network.y_m, network.elevation_m, strict=True)]
    new = len(places)
    edges = [
        (name, tail, head)
        for name, tail, head in zip(
            network.edge_id, network.tail.tolist(), network.head.tolist(), strict=True
        )
        if {tail, head} != {a, b}
    ]
    edges += [(f"p{s}>{t}", s, t) for s, t in ((a, new), (new, b), (b, new), (new, a))]
    return make_network(edges, [*places, (x_m, y_m, height_m)], name="cut")


def test_a_road_cut_by_a_new_junction_is_said_to_be_so_and_learned_again(
    grid, folder, tmp_path, make_network
) -> None:
    """Until the repair it is a lost road; then its pieces have its passes, energy and time."""
    there = cut_at(grid, CLOSED, 0.3, make_network)
    recorded = read_parts(folder, grid)
    over = [
        trip
        for trip in recorded.values()
        if {grid.row_of[CLOSED], grid.row_of["15>14"]} & set(trip.edge.tolist())
    ]
    assert len(over) > 3
    moved = evroute.load_belief(folder, network=there)
    words = "in pieces, which 'evroute learn --repair FOLDER --network cut' learns"
    assert f"{len({row for t in over for row in t.edge} & both(grid))} of the others" in moved.note
    assert words in moved.note
    # read on the new map: the pieces in order, with the energy and the time of the whole
    again = read_parts(folder, there)
    assert all(trip.record is None for trip in again.values())
    for trip in over:
        new = again[trip.trip]
        ids = " ".join(there.edge_id[row] for row in new.edge)
        old = " ".join(grid.edge_id[row] for row in trip.edge)
        assert ids == old.replace("14>15", "p14>36 p36>15").replace("15>14", "p15>36 p36>14")
        assert new.energy_wh.sum() == pytest.approx(trip.energy_wh.sum())
        assert new.travel_s.sum() == pytest.approx(trip.travel_s.sum())
        name, share = ("p14>36", 0.3) if "p14>36" in ids else ("p15>36", 0.7)
        first = ids.split().index(name)
        pair = new.energy_wh[first : first + 2]
        assert pair[0] / pair.sum() == pytest.approx(share)
    more = table_of(there, tmp_path / "more.csv", 4, 3, "more")
    after = learn(more, copytree(folder, tmp_path / "copy"), network=there)
    assert (after.new, after.trips.num_rows) == (3, 28)
    repair(folder, network=there)
    belief = evroute.load_belief(folder, network=there)
    assert "other roads" not in belief.note
    assert belief.trips == 25
    passed = {there.edge_id[row] for row in belief.pace.passed.tolist()}
    assert {"p14>36", "p36>15"} <= passed or {"p15>36", "p36>14"} <= passed


def both(grid: RoadNetwork) -> set[int]:
    """Return the rows of the two directions of the road that is cut."""
    return {grid.row_of[CLOSED], grid.row_of["15>14"]}


@pytest.mark.parametrize("change", [{"drag": 0.4}, {"mass_kg": 1700.0, "rolling": 0.012}])
def test_changed_numbers_of_the_car_lose_no_trip(grid, folder, tmp_path, change) -> None:
    """At home all terms are computed again, as if the numbers had always been those."""
    changed = replace(CAR, **change)
    after = learn(None, folder, network=grid, vehicle=changed)
    assert after.trips.num_rows == 25
    learn(tmp_path / "t.csv", tmp_path / "fresh", network=grid, vehicle=changed)
    assert_same_car(state_of(tmp_path / "fresh", grid), state_of(folder, grid), 1e-9)
    assert numbers_of(evroute.load_belief(folder, network=grid).vehicle) == numbers_of(changed)


def test_repair_learns_by_changed_numbers(grid, folder) -> None:
    changed = replace(CAR, drag=0.4)
    belief = evroute.load_belief(folder, network=grid)
    with pytest.raises(EvrouteError, match=r"with these numbers. .* --repair FOLDER --vehicle"):
        evroute.plan(grid, "0>1", "20>21", belief=belief, vehicle=changed)
    repair(folder, network=grid, vehicle=changed)
    belief = evroute.load_belief(folder, network=grid)
    plan = evroute.plan(grid, "0>1", "20>21", belief=belief, vehicle=changed)
    assert plan.routes["energy"].energy_wh > 0
    repair(folder, network=grid, vehicle="nissan-leaf-40")  # another car: the settings decide
    assert evroute.load_belief(folder, network=grid).vehicle.drag == 0.4


def test_changed_numbers_apply_to_recorded_terms_by_their_physical_parts(
    grid, far, folder, tmp_path
) -> None:
    """Elsewhere: drag is in proportion; only the return above a full battery depends on it too."""
    changed = replace(CAR, drag=CAR.drag * 1.25)
    home = copytree(folder, tmp_path / "home")
    learn(None, home, network=grid, vehicle=changed)
    (folder / "trips.parquet").unlink()
    learn(None, folder, network=far, vehicle=changed)
    key = "trips/learned_rows"
    there, here = state_of(folder, far)[key], state_of(home, grid)[key]
    fade = NAMES.index("full battery")
    others = np.arange(here.shape[1]) != fade
    np.testing.assert_allclose(there[:, others], here[:, others], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there[:, fade], here[:, fade], rtol=0.1, atol=1.0)


def test_terms_by_other_numbers_equal_a_trip_on_the_map(grid) -> None:
    """Auxiliary power and drag of a trip with a known power, against the terms on the map."""
    before, after = CAR, replace(CAR, drag=0.5, auxiliary_w=CAR.auxiliary_w + 300.0)
    edge = np.array([grid.row_of[name] for name in ("0>1", "1>7", "7>8")])
    trip = MeasuredTrip("x", edge, np.ones(3), np.full(3, np.nan), auxiliary_w=1500.0)
    beliefs = [TripEnergies(Setting(grid, car), physics="eq8") for car in (before, after)]
    rows, prior = [belief.row(trip) for belief in beliefs], beliefs[1].belief.prior
    terms = restated(rows[0], prior.names, before, after)
    np.testing.assert_allclose(with_level(terms[np.newaxis], prior)[0], rows[1], rtol=1e-9)


@pytest.mark.parametrize("power", [None, 1500.0])
def test_a_heat_pump_found_in_the_catalogue_restates_the_known_power(grid, power) -> None:
    """At 8 °C, above the limit of the heater: the terms are those of a trip on the map."""
    before, after = CAR, replace(CAR, heater="heat-pump")
    edge = np.array([grid.row_of[name] for name in ("0>1", "1>7", "7>8")])
    times_s = np.full(3, 400.0)
    known = {} if power is None else {"auxiliary_w": power}
    trip = MeasuredTrip("x", edge, np.ones(3), times_s, temperature_c=8.0, **known)
    beliefs = [TripEnergies(Setting(grid, car), physics="eq8") for car in (before, after)]
    rows, prior = [belief.row(trip) for belief in beliefs], beliefs[1].belief.prior
    assert rows[0][NAMES.index("heating")] > 0.0
    terms = restated(rows[0], prior.names, before, after)
    np.testing.assert_allclose(with_level(terms[np.newaxis], prior)[0], rows[1], rtol=1e-9)


def test_another_car_or_model_is_still_refused(grid, far, folder) -> None:
    with pytest.raises(EvrouteError, match="another configuration"):
        learn(None, folder, network=grid, vehicle=load_vehicle("nissan-leaf-40"))
    with pytest.raises(EvrouteError, match="another configuration"):
        learn(None, folder, network=far, model="physics")


def test_asking_about_a_trip_on_roads_of_another_map_changes_nothing(far, folder) -> None:
    belief = TripEnergies(Setting(far, CAR))
    for trip in list(read_parts(folder, far).values())[:3]:
        assert trip.record is not None
        before = {name: np.copy(part) for name, part in belief.state().items()}
        first = belief.expected(trip)
        assert belief.expected(trip) == first
        for name, part in belief.state().items():
            np.testing.assert_array_equal(part, before[name], err_msg=name)
        belief.learn(trip)
    assert belief.trips == 3
