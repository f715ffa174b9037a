"""Terrain inside edges: energies, searches and charges of edges of several slopes."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.longitudinal import edge_energy, energy_parts, piece_energy, potential_wh
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.plan import held_note
from evroute.testing.on_average import PlannerOnAverage as Planner

MakeNetwork = Callable[..., RoadNetwork]
Routes = Callable[[RoadNetwork, int, int], Iterator[list[int]]]
HILL_M = 60.0 * np.sin(np.pi * np.arange(51) / 50)
CARS = ("reference", "renault-zoe", "tesla-model-3", "nissan-leaf-40")
CAR = replace(load_vehicle("reference"), auxiliary_w=800.0)


def with_heights(network: RoadNetwork, *inner: FloatArray) -> RoadNetwork:
    """Return a network with the inner heights of each edge, m."""
    start = np.concatenate([[0], np.cumsum([len(heights_m) for heights_m in inner])])
    table = {"start": start, "height_m": np.concatenate(inner).astype(np.float32)}
    return network.with_tables({"profile": table})


def rough(network: RoadNetwork, seed: int, *, up_to_m: float = 80.0) -> RoadNetwork:
    """Return a network with 0 to 8 inner heights on each edge, as far off as slopes of 60 % go."""
    rng, inner = np.random.default_rng(seed), []
    for low_m, climb_m, length_m in zip(
        network.elevation_m[network.tail], network.climb_m, network.length_m, strict=True
    ):
        k = int(rng.integers(0, 9))
        share = np.arange(1, k + 1) / (k + 1)
        room_m = (0.6 * length_m - min(abs(climb_m), 0.6 * length_m)) / (k + 1) / 2
        inner.append(low_m + share * climb_m + rng.uniform(-1, 1, k) * min(up_to_m, room_m))
    return with_heights(network, *inner)


@pytest.fixture
def hill_twice(make_network: MakeNetwork) -> tuple[RoadNetwork, RoadNetwork]:
    """One road of 2.5 km over a hill of 60 m as one edge, and as 50."""
    x_m = np.linspace(0.0, 2500.0, 51)
    heights_m = HILL_M.astype(np.float32).astype(float)
    heights_m[[0, -1]] = 0.0
    whole = make_network([("road", 0, 1)], [(0, 0, 0), (2500, 0, 0)], length_m=[2600.0])
    pieces = [(f"p{i}", i, i + 1) for i in range(50)]
    places = [(x, 0.0, z) for x, z in zip(x_m, heights_m, strict=True)]
    cut = make_network(pieces, places, length_m=[52.0] * 50)
    return with_heights(whole, heights_m[1:-1]), with_heights(cut, *[np.empty(0)] * 50)


@pytest.mark.parametrize("name", CARS)
def test_one_edge_over_a_hill_takes_the_energy_of_the_same_edge_cut_into_50(
    hill_twice: tuple[RoadNetwork, RoadNetwork], name: str
) -> None:
    whole, cut = hill_twice
    for day in (DrivingConditions(), DrivingConditions(wind_mps=30.0, wind_from_deg=270.0)):
        energies = [
            Planner(each, load_vehicle(name), conditions=day, physics="eq8").mean_wh
            for each in hill_twice
        ]
        assert energies[0][0] == pytest.approx(energies[1].sum(), rel=1e-9)
    assert whole.ascent_m == pytest.approx([60.0])
    assert whole.descent_m.sum() == pytest.approx(cut.descent_m.sum())
    # a car that recuperates less than it spends loses on the hill
    level = on_terrain(whole, "edge")
    assert (
        Planner(whole, CAR, physics="eq8").mean_wh[0]
        > Planner(level, CAR, physics="eq8").mean_wh[0] + 1.0
    )


@pytest.mark.parametrize("fade", [0.0, 1.5])
def test_one_edge_over_a_hill_changes_every_charge_as_the_same_edge_cut_into_50(
    hill_twice: tuple[RoadNetwork, RoadNetwork], fade: float
) -> None:
    whole, cut = (Planner(each, CAR, physics="eq8").charge for each in hill_twice)
    assert whole.start.tolist() == [0, 2]  # up, then down
    steps, first = np.arange(50), whole.take(np.array([0]))
    for capacity_wh in (700.0, 1000.0, 40_000.0):
        for start_wh in np.linspace(5.0, capacity_wh, 30):
            battery = Battery(capacity_wh, start_wh, 5.0, 80.0, fade)
            one, many = first.along(battery), cut.take(steps).along(battery)
            assert one.charge_wh[-1] == pytest.approx(many.charge_wh[-1], abs=1e-8)
            assert one.low_wh.min() == pytest.approx(many.charge_wh.min(), abs=1e-8)
            assert one.lost_wh == pytest.approx(many.lost_wh, abs=1e-8)
        # "in": the least charge, step by step backwards; "out": what a full battery leaves with
        battery = Battery(capacity_wh, capacity_wh, 5.0, 80.0, fade)
        need_wh = 5.0
        for step in steps[::-1]:
            need_wh = cut.before(battery, need_wh, int(step))
        assert whole.before(battery, 5.0, 0) == pytest.approx(need_wh, abs=1e-8)
        assert need_wh > 5.0 + whole.energy_wh[0] + 100.0  # the summit needs more than the end
        if not fade:  # f(s) = min(s - net, out) if s >= in
            out_wh = first.along(battery).charge_wh[-1]
            for start_wh in np.linspace(need_wh, capacity_wh, 9) if np.isfinite(need_wh) else ():
                trace = first.along(replace(battery, start_wh=start_wh))
                expected_wh = min(start_wh - whole.energy_wh[0], out_wh)
                assert trace.charge_wh[-1] == pytest.approx(expected_wh, abs=1e-8)
                assert trace.low_wh.min() >= 5.0 - 1e-8


def test_no_piece_takes_less_than_its_rise_in_any_wind(hilly: Callable[..., RoadNetwork]) -> None:
    held = 0.0
    for seed in range(20):
        network, rng = rough(hilly(seed), seed), np.random.default_rng(seed)
        edge, pieces = np.arange(network.n_edges), network.pieces
        assert pieces is not None
        car = load_vehicle(rng.choice(CARS))
        day = {
            "headwind_mps": rng.uniform(-40, 40, network.n_edges),
            "speed_mps": rng.uniform(1.0, 40.0, network.n_edges),
        }
        parts, place = piece_energy(network, car, edge, **day)
        rise_wh = potential_wh(car, pieces.climb_m)
        assert (parts.total_wh >= rise_wh - 1e-9).all()
        summed = edge_energy(network, car, edge, **day)
        totals = np.bincount(place, parts.total_wh)
        assert summed.total_wh == pytest.approx(totals, abs=1e-9)
        none = edge_energy(network, car, edge[:0], np.empty(0))
        assert len(none.total_wh) == 0
        held += summed.held_wh.sum()
        raw = edge_energy(on_terrain(network, "edge"), car, edge, **day)
        assert (raw.held_wh == 0.0).all()
    assert held > 100.0


def test_without_a_profile_energies_equal_one_slope_to_the_last_bit(
    denver: RoadNetwork,
) -> None:
    speed_mps = denver.speed_mps
    plain = energy_parts(CAR, denver.length_m, denver.climb_m, speed_mps)
    found = edge_energy(denver, CAR, np.arange(denver.n_edges), speed_mps)
    assert found.total_wh.tobytes() == plain.total_wh.tobytes()
    planner = Planner(denver, CAR, physics="eq8")
    assert planner.charge.step_wh.tobytes() == planner.mean_wh.tobytes()
    assert "held" not in planner.plan(0, 5).routes["energy"].parts_wh


def test_searches_equal_bellman_ford_in_storms_and_crawling_cars(
    hilly: Callable[..., RoadNetwork],
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(20):
        network, rng = rough(hilly(seed), seed), np.random.default_rng(seed)
        network = replace(network, speed_mps=rng.uniform(1.0, 30.0, network.n_edges)).with_tables(
            network.tables
        )
        day = DrivingConditions(
            wind_mps=float(rng.uniform(0, 40)), wind_from_deg=float(rng.uniform(0, 360))
        )
        driving = seed % 2 == 1  # by turns, with stops
        planner = Planner(
            network,
            load_vehicle(rng.choice(CARS)),
            conditions=day,
            physics="driving" if driving else "eq8",
        )
        rise_wh = planner.states.head_wh - planner.states.tail_wh
        assert (planner.mean_wh >= rise_wh - 1e-9).all()
        left, entered = network.turns.T
        arms = np.arange(len(network.turns)) if driving else entered
        start_wh = planner.mean_wh[len(network.turns) if driving else 0]
        graph = nx.DiGraph()
        graph.add_nodes_from(range(network.n_edges))
        turns = zip(left.tolist(), entered.tolist(), planner.mean_wh[arms], strict=True)
        graph.add_weighted_edges_from(turns)
        least = nx.single_source_bellman_ford_path_length(graph, 0)
        for goal in range(1, network.n_edges, 6):
            if goal not in least:
                with pytest.raises(NoRouteError):
                    planner.plan(0, goal)
                continue
            route = planner.plan(0, goal).routes["energy"]
            halt_wh = planner.numbers.halt_wh[goal] if driving else 0.0
            assert route.energy_wh == pytest.approx(start_wh + least[goal] + halt_wh, abs=1e-6)
            assert sum(route.parts_wh.values()) == pytest.approx(route.energy_wh, abs=1e-6)
            seen["compared"] += 1
            if route.held_wh > 1.0:
                seen["held"] += 1
                assert f"raised to it, by {route.held_wh:.1f} Wh" in held_note(route)
    assert seen["compared"] > 30
    assert seen["held"] > 3, seen


def charge_after(
    pieces_wh: list[FloatArray], route: list[int], battery: Battery, start_wh: float
) -> float:
    """Return the charge at the end, or -inf where a piece ends below the reserve."""
    for edge in route:
        for energy_wh in pieces_wh[edge]:
            start_wh = battery.after(start_wh, float(energy_wh))
            if start_wh < battery.reserve_wh - 1e-9:
                return -np.inf
    return start_wh


@pytest.mark.parametrize("fade", [0.0, 1.0])
def test_batteries_equal_every_route_piece_by_piece(
    hilly: Callable[..., RoadNetwork], every_route: Routes, fade: float
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(50):
        network, rng = rough(hilly(seed), seed), np.random.default_rng(seed)
        planner = Planner(network, load_vehicle("reference"), physics="eq8")
        parts, place = piece_energy(
            network, load_vehicle("reference"), np.arange(network.n_edges), network.speed_mps
        )
        pieces_wh = [parts.total_wh[place == e] for e in range(network.n_edges)]
        origin, goal = (int(e) for e in rng.choice(network.n_edges, 2, replace=False))
        routes = list(every_route(network, origin, goal))
        if not routes:
            continue
        capacity_wh = rng.uniform(300, 2500)
        start_wh, reserve_wh = capacity_wh * rng.uniform(0.3, 1.0), capacity_wh * 0.05
        battery = Battery(capacity_wh, max(start_wh, reserve_wh), reserve_wh, 60.0, fade)
        problem = planner.problem((origin, goal))
        best_wh = max(charge_after(pieces_wh, r, battery, battery.start_wh) for r in routes)
        if np.isfinite(best_wh):
            found = problem.most_charge(battery)
            arrival_wh = charge_after(pieces_wh, list(found.edges), battery, battery.start_wh)
            assert arrival_wh == pytest.approx(best_wh, abs=1e-6)
            ends_wh = problem.follow(battery, found).charge_wh
            assert ends_wh[-1] == pytest.approx(best_wh, abs=1e-6)
            below = ends_wh.min() - problem.follow(battery, found).low_wh.min()
            seen["lowest inside an edge"] += below > 0.1
        else:
            with pytest.raises(NoRouteError):
                problem.most_charge(battery)
            seen["refused"] += 1
        # the least start charge: enough, and 0.01 Wh less is not
        least_wh = problem.shortage.least_start_wh(battery)
        ends = [
            max(charge_after(pieces_wh, r, battery, wh) for r in routes) > -np.inf
            for wh in (min(least_wh, capacity_wh) + 1e-6, min(least_wh, capacity_wh) - 0.01)
        ]
        assert ends[0] == np.isfinite(least_wh)
        assert not ends[1] or least_wh == pytest.approx(reserve_wh)
        seen["compared"] += 1
    assert seen["compared"] > 30
    assert min(seen["refused"], seen["lowest inside an edge"]) > 3, seen


def test_learned_energy_beyond_physics_is_spread_over_the_length(
    hill_twice: tuple[RoadNetwork, RoadNetwork],
) -> None:
    whole, _ = hill_twice
    planner = Planner(whole, CAR, physics="eq8")
    assert whole.pieces is not None
    piece_wh = planner.space.edges.piece_wh
    one = np.array([0])
    more = ChargeFunctions.of_pieces(whole.pieces, piece_wh, one, planner.mean_wh + 50.0)
    assert more.step_wh.sum() == pytest.approx(planner.mean_wh[0] + 50.0)
    assert more.step_wh[0] == pytest.approx((piece_wh + 1.0)[piece_wh + 1.0 > 0].sum())


def test_a_plan_goes_round_a_hill_inside_an_edge(make_network: MakeNetwork) -> None:
    places = [(0, 0, 0), (1000, 0, 0), (3000, 0, 0), (4000, 0, 0)]
    edges = [("in", 0, 1), ("over", 1, 2), ("round", 1, 2), ("out", 2, 3)]
    flat = make_network(edges, places, length_m=[1000.0, 2000.0, 2200.0, 1000.0])
    none = np.empty(0)
    hilly = with_heights(flat, none, np.array([90.0, 180.0, 90.0]), none, none)
    thirsty = replace(CAR, recuperation_efficiency=0.3)
    battery = Battery.of_percent(thirsty.battery_kwh, 50.0, 10.0)
    found = Planner(hilly, thirsty, physics="eq8").plan("in", "out", battery=battery)
    assert Planner(flat, thirsty, physics="eq8").plan("in", "out").routes["energy"].edges == (
        "in",
        "over",
        "out",
    )
    assert found.routes["energy"].edges == ("in", "round", "out")
    over = found.routes["distance"]
    assert (over.ascent_m, over.descent_m) == (180.0, 180.0)
    assert over.charge is not None
    assert over.charge.lowest == 2  # on the summit, inside the second edge
    assert over.charge.low_wh[2] == pytest.approx(over.charge.charge_wh[2] + over.charge.step_wh[2])
