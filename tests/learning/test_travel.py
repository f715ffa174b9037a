"""A car's belief on other roads: after a closure, a rebuilt map, in another place, and back."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from closures import close, named
from typer.testing import CliRunner

import evroute
from evroute.arms import Route
from evroute.cli import app
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.learn import learn
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner
from evroute.service.requests import NeededRequest, PlanBody, RangeBody
from evroute.service.work import Work

CAR = load_vehicle("renault-zoe")
CLOSED = "14>15"
DAYS = (EQ8_CONDITIONS, DrivingConditions(temperature_c=-5.0, departed_s=8 * 3600.0))


def grid_of(make_network, x_m: float = 0.0, *, heights: bool = True) -> RoadNetwork:
    """Return 6 by 6 junctions 400 m apart, both directions of each road."""
    places = [
        (500_000.0 + x_m + 400.0 * x, 5e6 + 400.0 * y, 25.0 * np.sin(x + 2 * y) * heights)
        for x in range(6)
        for y in range(6)
    ]
    pairs = [(k, k + 6) for k in range(30)] + [(k, k + 1) for k in range(36) if k % 6 < 5]
    edges = [(f"{a}>{b}", a, b) for a, b in pairs] + [(f"{b}>{a}", b, a) for a, b in pairs]
    return make_network(edges, places, name="grid")


@pytest.fixture
def grid(make_network) -> RoadNetwork:
    return grid_of(make_network)


def walk(network: RoadNetwork, rng: np.random.Generator, steps: int) -> np.ndarray:
    """Return a random walk over the edges."""
    edges = [int(rng.integers(network.n_edges))]
    for _ in range(steps - 1):
        after = network.turns[network.turns[:, 0] == edges[-1], 1]
        edges.append(int(rng.choice(after)))
    return np.array(edges)


def drive(
    energies: TripEnergies, seed: int, n: int, *, per_km_wh: float = 60.0, name: str = ""
) -> TripEnergies:
    """Teach trips in which every road has its own deviation, at all hours and temperatures."""
    rng, network = np.random.default_rng(seed), energies.network
    deviation = per_km_wh * np.sin(np.arange(network.n_edges) // 7)
    mean_wh = energies.under(EQ8_CONDITIONS).mean_wh[-network.n_edges :]
    mean_wh = mean_wh + deviation * network.length_m / 1000
    for i in range(n):
        edge = walk(network, rng, int(rng.integers(5, 15)))
        wh = mean_wh[edge] + rng.normal(0.0, 40.0) / len(edge)
        slow = rng.uniform(1.2, 2.5)
        energies.learn(
            MeasuredTrip(
                f"{name}{i}",
                edge,
                wh,
                slow * network.time_s[edge],
                departed_s=3600.0 * 7 * i,
                temperature_c=rng.uniform(-5, 30),
            )
        )
    return energies


@pytest.fixture(params=[("eq8", "sections"), ("driving", "sections"), ("eq8", "kernel")])
def taught(request, grid) -> TripEnergies:
    """A belief of 60 trips with deviations of roads."""
    physics, roads = request.param
    energies = drive(TripEnergies(Setting(grid, CAR), physics=physics, roads=roads), 1, 60)
    least = 0.2 * energies.belief.noise.root_km_wh if roads == "sections" else 0.05
    assert energies.belief.scales.roads > least
    assert (energies.places.driven[-1] == grid.row_of[CLOSED]).any() or any(
        (edge == grid.row_of[CLOSED]).any() for edge in energies.places.driven
    )
    return energies


def renamed(network: RoadNetwork, seed: int = 0) -> RoadNetwork:
    """Return the same roads in another order, under other ids and other junction numbers."""
    rng = np.random.default_rng(seed)
    order, places = rng.permutation(network.n_edges), rng.permutation(network.n_junctions)
    row, place = np.argsort(order), np.argsort(places)
    turns = row[network.turns]
    points = np.concatenate([np.arange(*network.shape_start[[e, e + 1]]) for e in order])
    return replace(
        network,
        name="rebuilt",
        edge_id=tuple(f"way/{k}" for k in range(network.n_edges)),
        street=tuple(network.street[e] for e in order),
        road_class=tuple(network.road_class[e] for e in order),
        tail=place[network.tail[order]],
        head=place[network.head[order]],
        length_m=network.length_m[order],
        speed_mps=network.speed_mps[order],
        structure=network.structure[order],
        turns=turns[np.lexsort(turns.T[::-1])],
        junction_id=tuple(f"n{k}" for k in range(network.n_junctions)),
        x_m=network.x_m[places],
        y_m=network.y_m[places],
        elevation_m=network.elevation_m[places],
        shape_start=np.append(0, np.cumsum(np.diff(network.shape_start)[order])),
        shape_x_m=network.shape_x_m[points],
        shape_y_m=network.shape_y_m[points],
    )


def forecast_of(energies: TripEnergies, edges: list[str], day: DrivingConditions) -> dict:
    """Return energy and time of a route as they are forecast, and each edge's mean."""
    under = energies.under(day)
    rows = tuple(energies.network.row_of[edge] for edge in edges)
    arms = under.space.arms_of_route(Route(rows))
    forecast = under.forecast(arms, under.mean_wh[arms])
    return {
        **forecast.numbers(),
        "edges": under.mean_wh[arms],
        "times": under.time_s[list(rows)],
        "noise": under.noise_std_wh[arms],
        "reached": forecast.reached_wh2,
    }


def assert_same(one: dict, other: dict, tolerance: float) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_allclose(other[name], value, rtol=tolerance, atol=tolerance, err_msg=name)


def test_a_closed_edge_changes_no_coefficient_and_no_forecast_off_it(taught, grid) -> None:
    """By the driver's physics cars reach other speeds on roads that lead straight to it."""
    near = 1e-2 if taught.physics == "driving" else 1e-9
    closed = close(grid, named(grid, [CLOSED]), "roadworks")
    assert CLOSED not in closed.row_of
    moved = taught.on(closed, CAR)
    for name in ("mean", "root", "noise_wh", "learned_rows", "signed", "deviations"):
        there, here = (each.belief.state()[name] for each in (taught, moved))
        np.testing.assert_array_equal(here, there, err_msg=name)
    rng = np.random.default_rng(5)
    tried = 0
    while tried < 10:
        rows = walk(grid, rng, 8)
        edges = [grid.edge_id[row] for row in rows]
        if CLOSED in edges:
            continue
        tried += 1
        for day in DAYS:
            one, other = (forecast_of(each, edges, day) for each in (taught, moved))
            assert_same(one, other, near)
    # every road but one is on the map
    driven = len(np.unique(np.concatenate(taught.places.driven)))
    assert (moved.places.known.driven, moved.places.known.found) == (driven, driven - 1)
    assert f"{driven - 1} of {driven} " in moved.note


def test_a_belief_learns_on_after_a_closure_as_if_nothing_was_closed(taught, grid) -> None:
    """Trips off the closed edge, past the next fit of the noise and of roads.

    By the driver's physics cars reach other speeds on roads that lead straight to the edge. By the
    kernel roads that it joined are less alike, and other inducing roads may be chosen, so forecasts
    are alike within a tenth of their deviation.
    """
    near = 1e-2 if taught.physics == "driving" or taught.roads == "kernel" else 1e-8
    closed = close(grid, named(grid, [CLOSED]), "roadworks")
    moved, rng = taught.on(closed, CAR), np.random.default_rng(8)
    walks = [walk(grid, rng, 7) for _ in range(60)]
    for i, rows in enumerate(each for each in walks if grid.row_of[CLOSED] not in each):
        wh, seconds = rng.normal(60.0, 20.0, 7), rng.uniform(30.0, 90.0, 7)
        here = np.array([closed.row_of[grid.edge_id[row]] for row in rows])
        expected = [
            each.expected(MeasuredTrip(f"more {i}", edge, wh, seconds, 3600.0 * i))
            for each, edge in ((taught, rows), (moved, here))
        ]
        if taught.roads == "kernel":
            one, other = expected
            for name in ("predicted_wh", "low90_wh", "high90_wh"):
                assert abs(one[name] - other[name]) < 0.1 * one["predicted_sd_wh"]
        else:
            assert_same(*expected, near)
        for each, edge in ((taught, rows), (moved, here)):
            each.learn(MeasuredTrip(f"more {i}", edge, wh, seconds, 3600.0 * i))
    # coefficients of other inducing roads are other numbers
    terms = slice(len(taught.belief.prior.mean) if taught.roads == "kernel" else None)
    means = (each.belief.regression.mean[terms] for each in (moved, taught))
    np.testing.assert_allclose(*means, rtol=10 * near, atol=10 * near)


def test_a_road_that_opens_again_comes_back_with_all_it_taught(taught, grid) -> None:
    closed = close(grid, named(grid, [CLOSED]), "roadworks")
    back = taught.on(closed, CAR).on(grid, CAR)
    route = ["8>14", CLOSED, "15>21"]
    for day in DAYS:
        assert_same(forecast_of(taught, route, day), forecast_of(back, route, day), 1e-9)


def test_a_network_rebuilt_with_other_ids_keeps_its_roads(taught, grid) -> None:
    rebuilt = renamed(grid)
    moved = taught.on(rebuilt, CAR)
    assert moved.places.known.found == moved.places.known.driven > 50
    assert "other roads" not in moved.note
    place = {point: row for row, point in enumerate(_ends(rebuilt))}
    rng = np.random.default_rng(9)
    for _ in range(5):
        rows = walk(grid, rng, 8)
        edges = [grid.edge_id[row] for row in rows]
        others = [rebuilt.edge_id[place[_ends(grid)[row]]] for row in rows]
        assert set(edges).isdisjoint(others)
        for day in DAYS:
            one, other = forecast_of(taught, edges, day), forecast_of(moved, others, day)
            assert_same(one, other, 1e-9)


def _ends(network: RoadNetwork) -> list[tuple[float, ...]]:
    """Return the ends of each edge, which name it."""
    xy = np.column_stack([network.x_m, network.y_m])
    return [tuple(row) for row in np.hstack([xy[network.tail], xy[network.head]])]


def test_an_id_that_another_road_has_now_names_no_road(taught, grid) -> None:
    """All ids move on by one edge; the line decides."""
    shifted = replace(grid, name="shifted", edge_id=(*grid.edge_id[1:], grid.edge_id[0]))
    moved = taught.on(shifted, CAR)
    assert moved.places.known.found == moved.places.known.driven
    for one, other in zip(taught.places.driven, moved.places.driven, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("crs", ["EPSG:32632", "EPSG:32633", "EPSG:32613"])
def test_in_another_place_the_car_counts_and_no_road_does(taught, make_network, crs) -> None:
    """200 km east in the same plane, its neighbour's, and in another part of the world."""
    far = replace(grid_of(make_network, 2e5 if crs == "EPSG:32632" else 0.0), crs=crs, name="far")
    far = replace(far, edge_id=tuple(f"{name}'" for name in far.edge_id))
    moved = taught.on(far, CAR)
    assert moved.places.known.found == 0
    np.testing.assert_array_equal(moved.belief.regression.mean, taught.belief.regression.mean)
    # an unknown road: coefficients times its terms, and the whole variance of roads
    own = TripEnergies(Setting(far, CAR), physics=taught.physics)
    factor = taught.pace.factor
    assert moved.pace.factor == factor
    rows = walk(far, np.random.default_rng(0), 6)
    np.testing.assert_allclose(
        moved.pace.times(rows), factor * own.pace.times(rows) / own.pace.factor
    )
    trip = MeasuredTrip("probe", rows, np.zeros(6), np.full(6, np.nan))
    row, terms = moved.row(trip), moved.belief.column == 0
    assert np.abs(row[~terms]).max() < 1e-12
    expected = moved.expect(trip).energy
    # half of the level is that of the place: it is as a year later
    later = taught.belief.after(365.0)
    level = taught.belief.prior.level
    assert later.regression.mean[level] == pytest.approx(taught.belief.regression.mean[level] / 2)
    b = later.coefficients
    assert expected.mean_wh == pytest.approx(row[terms] @ b[terms])
    km = far.length_m[rows] / 1000
    root = later.regression.root[terms]
    noise = float(taught.belief.noise.variance(km.sum()))
    variance = float(((row[terms] @ root) ** 2).sum()) + noise
    of_roads = moved.places.choice.variance(rows, moved.places.known)
    variance += taught.belief.scales.roads**2 * of_roads.sum()
    season_wh2 = moved._departures.season_wh2(trip, row, later.present)
    assert expected.sd_wh**2 == pytest.approx(variance + season_wh2)
    assert season_wh2 > 0
    again = moved.on(taught.network, CAR)
    for name, value in taught.state().items():
        if not name.startswith("known/"):
            np.testing.assert_allclose(again.state()[name], value, 1e-9, err_msg=name) if (
                value.dtype.kind == "f"
            ) else np.testing.assert_array_equal(again.state()[name], value, name)


def test_unknown_heights_stay_with_their_places(make_network) -> None:
    """A level grid teaches heights of junctions, which a grid with heights elsewhere ignores."""
    level = grid_of(make_network, heights=False)
    energies = drive(TripEnergies(Setting(level, CAR), physics="eq8"), 3, 25)
    assert len(energies.places.junctions) > 5
    hills = replace(grid_of(make_network, 3e5), name="hills")
    hills = replace(hills, edge_id=tuple(f"{name}'" for name in hills.edge_id))
    moved = drive(energies.on(hills, CAR), 4, 25, name="hill ")
    assert moved.trips == 50
    back = moved.on(level, CAR)
    route = [level.edge_id[row] for row in walk(level, np.random.default_rng(2), 6)]
    rows = np.array([level.row_of[edge] for edge in route])
    np.testing.assert_allclose(back.places.rise(rows), energies.places.rise(rows), atol=1e-9)
    assert np.abs(back.places.rise(rows)).max() > 0.1
    assert forecast_of(back, route, EQ8_CONDITIONS)["sd_wh"] > 0


def test_a_belief_of_edges_stays_on_its_roads(grid) -> None:
    from evroute.learning.learned_belief import LearnedBelief
    from evroute.methods.method import Method

    belief = LearnedBelief.before_trips(Method(model="factor", index="greedy"), Setting(grid, CAR))
    with pytest.raises(EvrouteError, match="belief about network 'grid'"):
        belief.on(replace(grid, name="other", speed_mps=grid.speed_mps * 2), CAR)


def test_another_car_is_refused_on_any_map(taught, grid) -> None:
    other = replace(grid, name="other", speed_mps=grid.speed_mps * 2)
    with pytest.raises(EvrouteError, match="not about 'reference'"):
        taught.on(other, load_vehicle("reference"))


@pytest.fixture(scope="module")
def denver(tmp_path_factory) -> Path:
    """A folder with a belief of 6 trips in Denver."""
    folder = tmp_path_factory.mktemp("travel")
    roads = evroute.load_network("denver")
    plan = evroute.plan(roads, trip="A")
    lines = ["trip,edge,energy_wh,travel_s"]
    for t in range(6):
        for row in plan.routes["energy"].route.rows:
            wh, s = 0.19 * roads.length_m[row], roads.time_s[row] * (1.3 + t / 20)
            lines.append(f'{t},"{roads.edge_id[row]}",{wh},{s}')
    (folder / "trips.csv").write_text("\n".join(lines))
    learn(folder / "trips.csv", folder / "leaf", network="denver")
    return folder / "leaf"


def test_a_belief_of_denver_plans_in_luxembourg_and_says_so(denver: Path) -> None:
    """By the command and in Python; the route has the car's numbers."""
    luxembourg = evroute.load_network("luxembourg")
    belief = evroute.load_belief(denver)
    assert belief.network.name == "denver"
    edges = [luxembourg.edge_id[row] for row in (100, 4000)]
    plan = evroute.plan(luxembourg, *edges, belief=belief)
    words = ["route", "--network", "luxembourg", "--from", edges[0], "--to", edges[1]]
    shown = CliRunner().invoke(app, [*words, "--belief", str(denver)])
    assert shown.exit_code == 0, shown.output
    assert "intervals rest on 6 trips" in shown.output
    assert "learned on other roads: 0 of" in " ".join(shown.output.split())
    answer = json.loads(CliRunner().invoke(app, [*words, "--belief", str(denver), "--json"]).output)
    route = plan.routes["energy"]
    assert answer["routes"]["energy"]["energy_wh"] == pytest.approx(route.energy_wh, rel=1e-12)
    assert answer["note"] == plan.note
    assert "intervals rest on 6 trips" in plan.note
    assert "learned on other roads: 0 of" in plan.note
    # the service and the range have the sentence too
    work = Work(denver.parent, 60.0)
    ends = {"origin": edges[0], "network": "luxembourg", "belief": denver.name}
    trip = {**ends, "destination": edges[1]}
    assert work.plan(PlanBody.model_validate(trip))["note"] == plan.note
    assert work.range(RangeBody.model_validate({**ends, "soc": 3}))["note"] == plan.note
    need = NeededRequest.model_validate(
        {"network": "luxembourg", "belief": denver.name, "from": edges[0], "to": edges[1]}
    )
    assert work.needed(need)["note"] == plan.note
    words = ["range", "--network", "luxembourg", "--from", edges[0], "--soc", "3"]
    shown = CliRunner().invoke(app, [*words, "--belief", str(denver)]).output
    assert plan.note in shown
    assert "no trip was learned" not in shown
    assert evroute.plan(luxembourg, *edges).note == ""
    moved = Planner(luxembourg, None, belief).belief
    assert moved.belief.coefficients == pytest.approx(belief.belief.coefficients, rel=1e-12)
    rows, pace = route.route.rows, moved.pace
    physics = evroute.plan(luxembourg, *edges).routes["energy"]
    assert route.energy_wh != pytest.approx(physics.energy_wh, rel=0.01)
    free_flow_s = moved.places.known.map_s(driving=True)
    assert pace.times(np.array(rows)).sum() == pytest.approx(
        pace.factor * free_flow_s[list(rows)].sum()
    )


def test_stations_added_after_learning_are_planned_with(denver: Path, tmp_path: Path) -> None:
    """By the command and in Python; the belief was learned on the map without stations."""
    table, stored = tmp_path / "stations.csv", tmp_path / "stations.npz"
    table.write_text("name,lat,lon,socket,kw\nBlake Street garage,39.7530,-104.9960,chademo,50\n")
    words = ["network", "chargers", "denver", str(table), "--out", str(stored)]
    assert CliRunner().invoke(app, words).exit_code == 0
    wishes = {"trip": "B", "soc": 60, "reserve": 2, "arrive": 80}
    options = [f"--{name}={value}" for name, value in wishes.items()]
    words = ["route", "--network", str(stored), "--belief", str(denver), "--charge", "--json"]
    answer = json.loads(CliRunner().invoke(app, [*words, *options]).output)["routes"]["time"]
    belief, roads = evroute.load_belief(denver), evroute.load_network(stored)
    assert "chargers" not in belief.network.tables
    plan = evroute.plan(roads, **wishes, charge=True, belief=belief)
    assert plan.roads is roads
    route = plan.routes["time"]
    assert [stop.station for stop in route.stops] == ["Blake Street garage"]
    assert answer["stops"][0]["to_percent"] == route.stops[0].to_percent >= 80
    assert answer["energy_wh"] == pytest.approx(route.energy_wh, rel=1e-12)
