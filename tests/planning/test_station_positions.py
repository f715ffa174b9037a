"""Stations inside edges: against an independent search on roads cut by hand, and by hand."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import charging_checks as checks
import charging_positions as positions
import numpy as np
import pytest

from evroute.arms import Pause, Route
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError, NoRouteError, NotEnoughChargeError
from evroute.network.catalog import load_network
from evroute.network.coordinates import WGS84, transformer
from evroute.network.places.positions import Position, point
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.chargers import Charger, StopWishes, Visit, stops_at
from evroute.planning.charge.station_needs import StationNeeds, to_a_station
from evroute.planning.places import Places
from evroute.planning.plan import Plan
from evroute.planning.searches.halt_roads import HaltRoads
from evroute.planning.searches.halts import Halt
from evroute.planning.searches.settle import BEFORE_START
from evroute.testing.on_average import PlannerOnAverage as Planner

MakeNetwork = Callable[..., RoadNetwork]
CAR = load_vehicle("reference")
SLOW_S = 36.0 * np.arange(101.0)


@pytest.mark.parametrize("check", [checks.check, checks.check_energy, checks.check_money])
def test_plans_with_stations_inside_edges_equal_an_independent_search(
    check: Callable[..., str],
) -> None:
    seen = Counter(check(positions.draw(seed), compiled=False, step=1.0) for seed in range(40))
    assert min(seen["stops"], seen["no stop"], seen["none"]) >= 5, seen


def test_the_compiled_search_stops_inside_edges_too() -> None:
    pytest.importorskip("numba")
    seen = Counter(checks.check(positions.draw(s), compiled=True, step=1.0) for s in range(60, 80))
    assert seen["stops"] >= 3, seen


def on_road(network: RoadNetwork, edge: int, along_m: float) -> str:
    """Return a point of a road as ``lat,lon``."""
    place = point(network, Position(edge, along_m))
    lon, lat = transformer(network.crs, WGS84).transform(place.x, place.y)
    return f"{lat:.9f},{lon:.9f}"


def with_stations(network: RoadNetwork, *places: str) -> RoadNetwork:
    """Return a network with a socket at each of some places."""
    lat, lon = np.array([[float(part) for part in place.split(",")] for place in places]).T
    return network.with_tables(
        {
            "chargers": {
                "name": tuple(f"post {k}" for k in range(len(places))),
                "lon": lon,
                "lat": lat,
                "socket": ("ac",) * len(places),
                "kw": np.full(len(places), 22.0),
                "assumed": ("",) * len(places),
            }
        }
    )


def small(kwh: float) -> Vehicle:
    """Return the car of the tests with a small battery that charges at 22 kW."""
    return replace(CAR, battery_kwh=kwh, ac_kw=22.0)


def line(make_network: MakeNetwork, *, back: bool = False) -> RoadNetwork:
    """Return three blocks of 1 km in a row, the middle one up by 20 m; with the way back."""
    ends = [(0, 1), (1, 2), (2, 3)]
    edges = [(f"{a}{b}", a, b) for a, b in ends]
    if back:
        edges += [(f"{b}{a}", b, a) for a, b in ends]
    heights = [0.0, 0.0, 20.0, 20.0]
    return make_network(edges, [(1000.0 * k, 0.0, z) for k, z in enumerate(heights)])


def test_a_stop_is_where_the_station_stands(make_network: MakeNetwork) -> None:
    roads = line(make_network)
    network = with_stations(roads, on_road(roads, 1, 400.0))
    planner = Planner(network, small(1.0), physics="eq8")
    edges_wh = planner.mean_wh
    length_m = float(roads.length_m[1])
    plan = planner.plan("01", "23", soc=25, charge=True)
    route, (stop,) = plan.recommended_route, plan.recommended_route.stops
    share = stop.at_m / length_m
    assert stop.at_m == stop.from_m == pytest.approx(400, abs=1e-3)
    assert route.route == Route((0, 1, 1, 2), 0.0, None, (Pause(2, stop.at_m, stop.at_m),))
    assert route.edge_wh == pytest.approx(
        [edges_wh[0], share * edges_wh[1], (1 - share) * edges_wh[1], edges_wh[2]]
    )
    arrived_wh = 250 - edges_wh[0] - share * edges_wh[1]
    assert stop.arrive_percent == pytest.approx(arrived_wh / 10)
    assert stop.arrive_s == pytest.approx(100 + share * length_m / 10)
    assert route.length_m == pytest.approx(roads.length_m.sum())
    assert len(plan.to_geodataframe().geometry.iloc[0].coords) == 5


def test_a_car_turns_round_where_it_charges(make_network: MakeNetwork) -> None:
    roads = line(make_network, back=True)
    network = with_stations(roads, on_road(roads, 1, 300.0))
    planner = Planner(network, small(1.0), physics="driving")
    # the end lies behind: to the station and back, since nowhere else a car may turn
    plan = planner.plan(on_road(roads, 1, 100.0), on_road(roads, 4, 950.0), soc=9, arrive=10,
                        charge=True)  # fmt: skip
    route, (stop,) = plan.recommended_route, plan.recommended_route.stops
    assert route.edges == ("12", "21")
    assert stop.at_m == pytest.approx(300, abs=0.01)
    assert stop.from_m == pytest.approx(float(roads.length_m[4]) - 300, abs=0.01)
    assert route.length_m == pytest.approx(200 + 950 - (float(roads.length_m[4]) - 300), abs=0.1)


def test_a_trip_may_begin_at_a_station(make_network: MakeNetwork) -> None:
    roads = line(make_network)
    network = with_stations(roads, on_road(roads, 1, 400.0))
    plan = Planner(network, small(1.0)).plan("post 0", "23", soc=3, charge=True)
    (stop,) = plan.recommended_route.stops
    assert stop.arrive_s == pytest.approx(0.0)
    assert stop.arrive_percent == pytest.approx(3.0)
    assert plan.recommended_route.length_m == pytest.approx(1000.2 + 600, abs=0.1)


def test_the_charge_that_reaches_a_station_covers_the_way_there(
    make_network: MakeNetwork,
) -> None:
    roads = line(make_network)
    planner = Planner(with_stations(roads, on_road(roads, 1, 700.0)), small(1.0), physics="eq8")
    per_m_wh = planner.mean_wh[1] / float(roads.length_m[1])
    near = planner.plan("01", on_road(roads, 1, 500.0), soc=80, charge=True, arrive="charger")
    assert near.request.arrive == "charger"
    start_wh = planner.mean_wh[0] + 500 * per_m_wh
    least = (start_wh + 200 * per_m_wh) / 10
    short = dict.fromkeys(("charge",), True) | {"arrive": "charger"}
    planner.plan("01", on_road(roads, 1, 500.0), soc=least + 0.01, **short)
    with pytest.raises(NotEnoughChargeError, match=r"[Ss]tart with at least"):
        planner.plan("01", on_road(roads, 1, 500.0), soc=least - 0.05, **short)
    with pytest.raises(EvrouteError, match="no charging station is within reach"):
        planner.plan("01", on_road(roads, 1, 800.0), soc=80, **short)


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_a_station_is_reached_like_a_destination(physics: str) -> None:
    """The least charge to a station is that of a trip to its position, in any direction."""
    compared = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        network = positions.draw_roads(rng)
        planner = Planner(network, positions.CAR, physics=physics, single=True)
        rows = rng.choice(np.unique(network.turns[:, 1]), 4).tolist()
        at = [positions.both(network, row, float(rng.uniform(0.05, 0.95))) for row in rows]
        halts = [Halt(each, each) for each in at[2:]]
        problem = HaltRoads.of(planner.numbers, planner.search, halts).problem(at[0], (), at[1])
        battery = Battery(5000.0, 5000.0, 100.0)
        chargers = [
            Charger(f"S{k}", problem.legs.halts.nodes[halt], "ac", 1.0, SLOW_S)
            for k, halt in enumerate(halts)
        ]
        need_wh = []
        for station in at[2:]:
            trip = planner.between(Places(at[1], (), station, ("", "")))
            shortage = trip.shortage
            need_wh.append(shortage.least_start_wh(battery))
        if min(need_wh) <= battery.capacity_wh:
            compared += 1
            least = to_a_station(problem, battery, chargers)
            assert least == pytest.approx(min(need_wh) / 50)
    assert compared >= 20


def test_an_idle_stop_is_left_out_and_the_route_drives_on(make_network: MakeNetwork) -> None:
    roads = line(make_network)
    planner = Planner(roads, small(1.0), physics="eq8")
    at = [Position(edge, 400.0) for edge in (0, 1)]
    halts = [Halt((each,), (each,)) for each in at]
    ends = (Position(0, 0.0),), (), (Position(2, 1000.0),)
    problem = HaltRoads.of(planner.numbers, planner.search, halts).problem(*ends)
    chargers = [Charger(f"S{k}", (), "ac", 3.6, SLOW_S, halt=halt) for k, halt in enumerate(halts)]
    route = Route((0, 0, 1, 1, 2), 0.0, None, (Pause(1, 400.0, 400.0), Pause(3, 400.0, 400.0)))
    visits = [Visit(chargers[0], 1, 90.0), Visit(chargers[1], 3, 50.0)]
    shown, stops = stops_at(problem, Battery(1000, 500, 0), route, visits, StopWishes())
    assert shown == Route((0, 0, 1, 2), 0.0, None, (Pause(1, 400.0, 400.0),))
    assert [(stop.after_edges, stop.to_percent) for stop in stops] == [(1, 90)]
    assert problem.taken_wh(shown, None) == pytest.approx(planner.mean_wh.sum())


@pytest.fixture(scope="module")
def denver() -> RoadNetwork:
    """Denver with twelve sockets inside streets, placed by seed."""
    roads, rng = load_network("denver"), np.random.default_rng(3)
    edges = rng.choice(roads.n_edges, 12, replace=False).tolist()
    return with_stations(roads, *(on_road(roads, e, 0.4 * float(roads.length_m[e])) for e in edges))


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_energies_balance_piece_by_piece(denver: RoadNetwork, physics: str) -> None:
    planner, rng = Planner(denver, small(2.5), physics=physics), np.random.default_rng(5)
    seen: Counter[str] = Counter()
    while seen["stops"] < 12:
        first, last, via = rng.choice(denver.n_edges, 3, replace=False).tolist()
        ends = [on_road(denver, edge, 0.3 * float(denver.length_m[edge])) for edge in (first, last)]
        try:
            plan = planner.plan(*ends, soc=12, reserve=4, charge=True)
        except NotEnoughChargeError:
            seen["refused"] += 1
            continue
        check_balance(planner, plan)
        seen["stops"] += bool(plan.recommended_route.stops)
        seen["passed"] += via in plan.recommended_route.route.edges
        assert seen["refused"] < 200, seen


def check_balance(planner: Planner, plan: Plan) -> None:
    """Check that the numbers of each row are the sums of those of its parts."""
    for route in plan.routes.values():
        legs = [planner.describe(part) for part in route.route.parts]
        assert route.edge_wh == pytest.approx(np.concatenate([leg.edge_wh for leg in legs]))
        lost_wh = route.parts_wh.get("lost", 0.0)
        assert sum(route.parts_wh.values()) == pytest.approx(route.energy_wh)
        assert sum(leg.energy_wh for leg in legs) + lost_wh == pytest.approx(route.energy_wh)
        driven_s = route.time_s - sum(stop.time_s for stop in route.stops)
        assert sum(leg.time_s for leg in legs) == pytest.approx(driven_s)
        assert sum(leg.length_m for leg in legs) == pytest.approx(route.length_m)
        assert plan.battery is not None
        assert route.charge is not None
        charged_wh = sum(stop.energy_wh for stop in route.stops)
        left_wh = plan.battery.start_wh - route.energy_wh + charged_wh
        assert route.charge.charge_wh[-1] == pytest.approx(left_wh)
        for stop, pause in zip(route.stops, route.route.pauses, strict=True):
            assert (stop.after_edges, stop.at_m, stop.from_m) == pause
            same = route.edges[pause.after - 1] == route.edges[pause.after]
            assert same == (pause.to_m == pause.from_m)


def test_no_energy_is_taken_over_no_metres(denver: RoadNetwork) -> None:
    numbers = Planner(denver, CAR).numbers
    assert numbers.driven(Route((7,), 5.0, 5.0)).energy_wh.tolist() == [0.0]
    assert isinstance(numbers.charge, ChargeFunctions)


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_the_least_start_near_the_start_is_that_of_the_whole_network(physics: str) -> None:
    """Also where the route of least energy would go on from a station without a stop."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        network = positions.draw_roads(rng)
        planner = Planner(network, positions.CAR, physics=physics, single=True)
        rows = rng.choice(np.unique(network.turns[:, 1]), 5).tolist()
        at = [positions.both(network, row, float(rng.uniform(0.05, 0.95))) for row in rows]
        halts = [Halt(each, each) for each in at[2:]]
        via = [(rows[2],)] if seed % 2 else []
        problem = HaltRoads.of(planner.numbers, planner.search, halts).problem(at[0], via, at[1])
        battery = Battery(3000.0, 3000.0, 100.0)
        chargers = [
            Charger(f"S{k}", problem.legs.halts.nodes[halt], "ac", 1.0, SLOW_S)
            for k, halt in enumerate(halts)
        ]
        needs = StationNeeds.of(problem, battery, chargers, StopWishes())
        everywhere = needs.needs(battery)
        begun_wh = [np.inf]
        for into, arm in problem.legs.own_turns()[BEFORE_START]:
            after = into < problem.legs.n_states
            end_wh = float(everywhere.need_wh[into]) if after else battery.reserve_wh
            if end_wh < np.inf:
                begun_wh.append(problem.charge.before(battery, end_wh, arm))
        least = needs.least_start(battery)
        assert least.charge_wh == pytest.approx(min(begun_wh), abs=1e-6)
        try:
            edges = problem.legs.route(problem.weights()).edges
        except NoRouteError:
            continue
        seen["over a halt"] += max(edges) >= problem.legs.halts.first
        seen["at a station"] += least.station != ""
    assert min(seen["over a halt"], seen["at a station"]) >= 1, seen
