"""Plans: their numbers by hand, the best of every route, and requests that cannot be met."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from pyproj import Transformer

import evroute
from evroute.arms import Arms, Belief, Feedback, Route
from evroute.arrays import FloatArray
from evroute.energy.defaults import KINDS_OF_PHYSICS as PHYSICS
from evroute.energy.driving import DrivingConditions
from evroute.energy.heating import Heating
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NoRouteError, UnknownNameError
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery, follow
from evroute.planning.forecasts import pace
from evroute.planning.forecasts.effects import energy_by_change, energy_by_condition
from evroute.planning.places import stops
from evroute.planning.plan import held_note
from evroute.planning.searches import labels
from evroute.planning.searches.tradeoff import cheapest_within
from evroute.planning.weights import WEIGHT_RULES
from evroute.testing.on_average import PlannerOnAverage as Planner

ENDS = ("in", "out")
LEVEL = ("in", "east", "west", "out")
plan = partial(evroute.plan, vehicle="reference", physics="eq8")


class Learned:
    """A belief whose means are given."""

    def __init__(self, mean_wh: FloatArray) -> None:
        self.mean_wh = mean_wh

    def posterior(self, arms: Arms) -> Belief:
        return Belief(self.mean_wh[arms.id], np.ones(len(arms)))

    def noise_std(self, arms: Arms) -> FloatArray:
        return np.full(len(arms), 2.0)

    def covariance(self, arms: Arms) -> FloatArray:
        return np.eye(len(arms))

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        raise AssertionError("a plan draws no sample")

    def update(self, feedback: Feedback) -> None:
        raise AssertionError("a plan never learns")

    def state(self) -> dict[str, np.ndarray]:
        raise AssertionError

    def restore(self, state: dict[str, np.ndarray]) -> None:
        raise AssertionError


def belief_of(network: RoadNetwork, mean_wh: FloatArray) -> LearnedBelief:
    setting = Setting(network, load_vehicle("reference"))
    method = Method(model="exact", index="greedy")
    return LearnedBelief(Learned(mean_wh), setting.space, method, setting)


def test_routes_have_kilometres_minutes_and_metres(hill: RoadNetwork) -> None:
    planned = plan(hill, waypoints=ENDS)
    shortest = planned.routes["distance"]
    assert shortest.edges == ("in", "up", "down", "out")
    assert shortest.length_m == 4002
    assert shortest.time_s == pytest.approx(400.2)
    assert (shortest.ascent_m, shortest.descent_m) == (40, 40)
    assert (planned.network, planned.origin, planned.destination) == ("hill", "in", "out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"belief": "runs/own"}, "belief is the path 'runs/own'. Give evroute.load_belief"),
        ({"reserve_percent": 10.0}, "a reserve needs the charge at the start"),
    ],
)
def test_a_path_is_no_belief_and_a_reserve_needs_a_charge(
    hill: RoadNetwork, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(EvrouteError, match=message):
        plan(hill, waypoints=(hill.edge_id[0], hill.edge_id[-1]), **options)


def test_the_energy_of_a_level_route_is_eq_8_by_hand(hill: RoadNetwork) -> None:
    level = (
        Planner(hill, load_vehicle("reference"), physics="eq8")
        .plan(0, hill.row_of["east"])
        .routes["energy"]
    )
    # 2,200 m at 10 m/s: (0.01 * 1830 * 9.82 + 0.6 * 0.35 * 2.6 * 100) N * 2,200 m / 3,600 / 0.98
    rolling_wh, drag_wh = (
        force_n * 2200 / 3600 / 0.98 for force_n in (0.01 * 1830 * 9.82, 0.6 * 0.35 * 2.6 * 100)
    )
    assert level.energy_wh == pytest.approx(rolling_wh + drag_wh, rel=1e-12)
    parts = {"climb": 0.0, "rolling": rolling_wh, "drag": drag_wh, "auxiliary": 0.0}
    assert level.parts_wh == pytest.approx(parts, rel=1e-12)
    assert level.wh_per_km == pytest.approx((rolling_wh + drag_wh) / 2.2)


def test_each_route_is_optimal_by_its_own_criterion(
    hilly: Callable[[int], RoadNetwork],
    every_route: Callable[[RoadNetwork, int, int], Iterator[list[int]]],
) -> None:
    vehicle = replace(load_vehicle("reference"), auxiliary_w=800.0)
    compared = 0
    for seed in range(60):
        network = hilly(seed)
        origin, destination = 0, network.n_edges - 1
        routes = list(every_route(network, origin, destination))
        if not routes:
            continue
        planned = Planner(network, vehicle, physics="eq8").plan(origin, destination).routes
        energy_wh = fit(network, vehicle).mean_wh
        for name, told, costs in (
            ("energy", "energy_wh", energy_wh),
            ("time", "time_s", network.time_s),
            ("distance", "length_m", network.length_m),
        ):
            assert getattr(planned[name], told) == pytest.approx(
                min(costs[r].sum() for r in routes), abs=1e-9
            )
        for route in planned.values():
            assert sum(route.parts_wh.values()) == pytest.approx(route.energy_wh, abs=1e-9)
            assert route.edge_wh.sum() == pytest.approx(route.energy_wh, abs=1e-9)
        compared += 1
    assert compared >= 30


def test_no_rule_beats_the_potential(hilly: Callable[[int], RoadNetwork]) -> None:
    worse = 0
    for seed in range(60):
        network = hilly(seed)
        planner = Planner(network, load_vehicle("reference"), physics="eq8")
        try:
            least = {
                rule: planner.plan(0, network.n_edges - 1, search=rule) for rule in WEIGHT_RULES
            }
        except NoRouteError:
            continue
        energy_wh = {rule: planned.routes["energy"].energy_wh for rule, planned in least.items()}
        assert min(energy_wh.values()) == pytest.approx(energy_wh["potential"], abs=1e-9)
        assert least["clamped"].proof != least["potential"].proof
        worse += energy_wh["clamped"] > energy_wh["potential"] + 1e-6
    assert worse >= 5


def test_lost_regeneration_counts_as_energy_of_the_battery(hill: RoadNetwork) -> None:
    vehicle = load_vehicle("reference")
    energy_wh = fit(hill, vehicle).mean_wh
    down = hill.row_of["down"]
    assert energy_wh[down] < 0
    # a battery so small that what "up" takes does not make room for what "down" returns
    small = replace(vehicle, battery_kwh=1.5)
    planned = plan(hill, waypoints=("down", "out"), vehicle=small, soc_percent=100)
    route = planned.routes["energy"]
    assert route.charge is not None
    assert route.parts_wh["lost"] == pytest.approx(-energy_wh[down])
    assert route.energy_wh == pytest.approx(energy_wh[hill.row_of["out"]])
    assert sum(route.parts_wh.values()) == pytest.approx(route.energy_wh)
    assert route.charge.charge_wh.tolist() == pytest.approx([1500, 1500, 1500 - route.energy_wh])
    assert route.charge.lowest == 2


def test_a_start_charge_that_is_too_low_names_the_missing_energy(hill: RoadNetwork) -> None:
    vehicle = replace(load_vehicle("reference"), battery_kwh=1.0)
    energy_wh = fit(hill, vehicle).mean_wh
    over, level = (
        energy_wh[[hill.row_of[e] for e in way]] for way in (("in", "up", "down", "out"), LEVEL)
    )
    # the top of the hill asks for more than the whole of it
    needed_wh = 100 + min(np.cumsum(over).max(), level.sum())
    missing_kwh = np.ceil((needed_wh - 150) / 10) / 100
    with pytest.raises(NoRouteError, match=f"needs {missing_kwh:.2f} kWh more"):
        plan(hill, waypoints=ENDS, vehicle=vehicle, soc_percent=15, reserve_percent=10, risk="mean")


def test_a_reserve_on_the_way_sends_it_round_the_hill(hill: RoadNetwork) -> None:
    vehicle = load_vehicle("reference")
    energy_wh = fit(hill, vehicle).mean_wh
    over, level = (
        energy_wh[[hill.row_of[e] for e in way]] for way in (("in", "up", "down", "out"), LEVEL)
    )
    assert over.sum() < level.sum() < np.cumsum(over).max()
    planner = Planner(hill, vehicle, physics="eq8")
    for start_wh, way in ((np.cumsum(over).max() + 1, "up"), (level.sum() + 1, "east")):
        planned = planner.plan(0, hill.row_of["out"], battery=Battery(1000, start_wh, 0))
        assert planned.routes["energy"].edges[1] == way


def test_a_time_limit_trades_energy_for_time(make_network: Callable[..., RoadNetwork]) -> None:
    positions = [
        (0, 0, 0),
        (1000, 0, 0),
        (2000, 100, 0),
        (2000, -100, 0),
        (3000, 0, 0),
        (4000, 0, 0),
    ]
    edges = [("in", 0, 1), ("f1", 1, 2), ("f2", 2, 4), ("s1", 1, 3), ("s2", 3, 4), ("out", 4, 5)]
    network = make_network(edges, positions, speed_mps=[15, 30, 30, 15, 15, 15])
    free = plan(network, waypoints=ENDS)
    assert "s1" in free.routes["energy"].edges
    fast, slow = free.routes["time"], free.routes["energy"]
    needed = slow.time_s / fast.time_s - 1
    assert (
        plan(network, waypoints=ENDS, max_extra_time=needed + 1e-6).routes["energy"].edges
        == slow.edges
    )
    assert (
        plan(network, waypoints=ENDS, max_extra_time=needed - 1e-6).routes["energy"].edges
        == fast.edges
    )
    saved_wh = fast.energy_wh - slow.energy_wh
    assert f"+{(slow.time_s - fast.time_s) / 60:.1f} min" in free.verdict
    assert saved_wh > 100
    assert f"saves {saved_wh / 1000:.2f} kWh ({saved_wh / fast.energy_wh:.1%})" in free.verdict


@pytest.mark.parametrize(
    ("least_wh", "fastest_wh", "words"),
    [
        (900, 1200, "saves 0.30 kWh (25.0%)"),
        (90, 120, "saves 30 Wh (25.0%)"),
        (-40, 2, "saves 42 Wh"),  # a share of nearly nothing says nothing
        (-500, -200, "saves 0.30 kWh"),
        (10, 9.7, "for the same energy"),
    ],
)
def test_a_saving_has_a_unit_of_its_size(
    hill: RoadNetwork, least_wh: float, fastest_wh: float, words: str
) -> None:
    planned = plan(hill, waypoints=ENDS)
    level, over = (
        replace(planned.routes["energy"], route=Route(way)) for way in ((0, 3, 4, 5), (0, 1, 2, 5))
    )
    routes = {
        "energy": replace(level, energy_wh=least_wh),
        "time": replace(over, energy_wh=fastest_wh),
    }
    assert replace(planned, routes=routes).verdict.endswith(words)


def test_a_fastest_route_that_breaks_the_reserve_is_not_offered(
    make_network: Callable[..., RoadNetwork],
) -> None:
    positions = [
        (0, 0, 0),
        (1000, 0, 0),
        (2000, 100, 0),
        (2000, -90, 0),
        (3000, 0, 0),
        (4000, 0, 0),
    ]
    edges = [("in", 0, 1), ("f1", 1, 2), ("f2", 2, 4), ("s1", 1, 3), ("s2", 3, 4), ("out", 4, 5)]
    network = make_network(edges, positions, speed_mps=[15, 30, 30, 15, 15, 15])
    free = plan(network, waypoints=ENDS).routes
    between_wh = (free["energy"].energy_wh + free["time"].energy_wh) / 2
    small = replace(load_vehicle("reference"), battery_kwh=between_wh / 1000)
    for limit in (None, 0.0):
        planned = plan(
            network,
            waypoints=ENDS,
            vehicle=small,
            soc_percent=100,
            max_extra_time=limit,
            risk="mean",
        )
        assert {route.edges[1] for route in planned.routes.values()} == {"s1"}


def test_a_fastest_route_that_was_not_found_is_reported(
    make_network: Callable[..., RoadNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = [
        (0, 0, 0),
        (1000, 0, 0),
        (2000, 100, 0),
        (2000, -90, 0),
        (3000, 0, 0),
        (4000, 0, 0),
    ]
    edges = [("in", 0, 1), ("f1", 1, 2), ("f2", 2, 4), ("s1", 1, 3), ("s2", 3, 4), ("out", 4, 5)]
    network = make_network(edges, positions, speed_mps=[15, 30, 30, 15, 15, 15])
    free = plan(network, waypoints=ENDS).routes
    small = replace(
        load_vehicle("reference"),
        battery_kwh=(free["energy"].energy_wh + free["time"].energy_wh) / 2000,
    )
    full = {"waypoints": ENDS, "vehicle": small, "soc_percent": 100, "risk": "mean"}
    assert "replaces it" not in plan(network, **full).proof
    monkeypatch.setattr(labels, "GREATEST_EFFORT", 0)
    assert "replaces it" in plan(network, **full).proof


def test_a_search_out_of_effort_returns_the_hull_and_its_gap(
    make_network: Callable[..., RoadNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    # three ways, each slower and cheaper than the last; the middle one lies off the hull
    positions = [
        (0, 0, 0),
        (1000, 0, 0),
        (2000, 9, 0),
        (2000, 0, 0),
        (2000, -9, 0),
        (3000, 0, 0),
        (4000, 0, 0),
    ]
    edges = [("in", 0, 1)]
    for name, middle in (("a", 2), ("b", 3), ("c", 4)):
        edges += [(f"{name}1", 1, middle), (f"{name}2", middle, 5)]
    edges.append(("out", 5, 6))
    lengths = [1000, 1100, 1100, 1250, 1250, 1005, 1005, 1000]
    network = make_network(
        edges, positions, speed_mps=[15, 30, 30, 25, 25, 10, 10, 15], length_m=lengths
    )
    free = plan(network, waypoints=ENDS).routes
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    ways = {way: planner.describe(Route((0, k, k + 1, 7))) for way, k in (("a", 1), ("b", 3))}
    assert [free["time"].edges[1], free["energy"].edges[1]] == ["a1", "c1"]
    extra = (ways["b"].time_s + 1) / ways["a"].time_s - 1
    found = plan(network, waypoints=ENDS, max_extra_time=extra)
    assert found.routes["energy"].edges[1] == "b1"
    assert found.proof.startswith("exact")
    monkeypatch.setattr(labels, "GREATEST_EFFORT", 1)
    cut = plan(network, waypoints=ENDS, max_extra_time=extra)
    assert cut.routes["energy"].edges[1] == "a1"
    missing_wh = float(cut.proof.rsplit("within ", 1)[1].split(" Wh")[0])
    assert missing_wh >= ways["a"].energy_wh - ways["b"].energy_wh
    # of known routes and that of the hull, the cheapest stands
    quick, middle = (Route((0, k, k + 1, 7)) for k in (1, 3))
    request, limit_s = planner.problem((0, 7)), ways["b"].time_s + 1
    for known in ([quick, middle], [middle, quick]):
        limited = request, (1.0, 0.0), limit_s, None, known
        assert cheapest_within(*limited, effort=1)[0].edges == middle.edges


def test_learned_energy_moves_the_route_and_is_shown_apart(hill: RoadNetwork) -> None:
    vehicle = load_vehicle("reference")
    prior = fit(hill, vehicle)
    by_physics = plan(hill, waypoints=ENDS).routes["energy"]
    assert "up" in by_physics.edges
    learned_wh = prior.mean_wh.copy()
    learned_wh[hill.row_of["up"]] += 300
    planned = Planner(hill, vehicle, belief_of(hill, learned_wh)).plan(0, hill.row_of["out"])
    least, shortest = planned.routes["energy"], planned.routes["distance"]
    assert "east" in least.edges
    assert least.parts_wh["learned"] == pytest.approx(0)
    assert shortest.parts_wh["learned"] == pytest.approx(300)
    assert sum(shortest.parts_wh.values()) == pytest.approx(shortest.energy_wh)
    assert shortest.energy_forecast is not None
    assert shortest.energy_forecast.std_wh == pytest.approx(np.sqrt(4 * (1 + 4)))


def test_a_learned_mean_below_the_potential_still_plans(hill: RoadNetwork) -> None:
    vehicle = load_vehicle("reference")
    potential_wh = fit(hill, vehicle).potential_wh
    planner = Planner(hill, vehicle, belief_of(hill, potential_wh - 50))
    battery = Battery(1000, 1000, 0)
    for options in ({}, {"battery": battery}, {"max_extra_time": 0.5}):
        route = planner.plan(0, hill.row_of["out"], **options).routes["energy"]
        assert route.edge_wh == pytest.approx(potential_wh[route.route.rows])
        assert (route.held_arms, route.held_wh) == (len(route.route), 50 * len(route.route))
        assert route.parts_wh["held"] == route.held_wh
        assert sum(route.parts_wh.values()) == pytest.approx(route.energy_wh)
        assert route.energy_forecast.mean_wh == pytest.approx(route.edge_wh.sum())
        assert f"raised to it, by {route.held_wh:.1f} Wh" in held_note(route)


def test_the_row_of_least_cost_is_the_best_of_every_route(
    hilly: Callable[[int], RoadNetwork],
    every_route: Callable[[RoadNetwork, int, int], Iterator[list[int]]],
) -> None:
    seen = dict.fromkeys(("compared", "bounded", "limited", "between"), 0)
    for seed in range(300):
        network, rng = hilly(seed), np.random.default_rng(seed)
        origin, destination = 0, network.n_edges - 1
        energy_wh = fit(network, load_vehicle("reference")).mean_wh
        battery = Battery(500.0, 490.0, 10.0) if seed % 2 else None
        extra = 0.25 if seed % 3 else None
        able = []  # Wh and s of each route that keeps the reserve
        for route in every_route(network, origin, destination):
            taken_wh, taken_s = energy_wh[route].sum(), network.time_s[route].sum()
            if battery is not None:
                charge_wh = follow(battery, energy_wh[route]).charge_wh
                taken_wh = battery.start_wh - charge_wh[-1]
                if charge_wh.min() < battery.reserve_wh:
                    continue
            able.append((taken_wh, taken_s))
        if not able:
            continue
        thrifty, quick = min(able), min(able, key=lambda each: each[1])
        # a slope between the two, so that a route between them may be the best
        slope = (quick[0] - thrifty[0]) / max(thrifty[1] - quick[1], 1e-9)
        price, value = 0.4, min(0.4 * 3.6 * slope * rng.uniform(0.7, 1.4), 1e6)
        limit_s = np.inf if extra is None else (1 + extra) * quick[1]
        best = min(price * wh / 1000 + value * s / 3600 for wh, s in able if s <= limit_s + 1e-9)
        planned = Planner(network, load_vehicle("reference"), physics="eq8").plan(
            origin,
            destination,
            battery=battery,
            max_extra_time=extra,
            price=price,
            time_value=value,
        )
        assert planned.recommended == "cost"
        assert planned.proofs["cost"].startswith("exact")
        assert planned.cost("cost") == pytest.approx(best, abs=1e-9)
        seen["compared"] += 1
        seen["bounded"] += battery is not None
        seen["limited"] += extra is not None
        chosen = planned.recommended_route.route
        seen["between"] += chosen not in [planned.routes[n].route for n in ("energy", "time")]
    assert min(seen.values()) >= 3, seen
    assert seen["compared"] >= 100


def test_places_may_be_rows_ids_or_coordinates(denver: RoadNetwork) -> None:
    planner = Planner(denver, load_vehicle("reference"), physics="eq8")
    by_rows = planner.plan(3, 90, via=[700])
    by_ids = planner.plan(denver.edge_id[3], denver.edge_id[90], via=[denver.edge_id[700]])
    mixed = planner.plan(3, denver.edge_id[90], via=[700])
    assert by_rows.routes["energy"].edges == by_ids.routes["energy"].edges
    assert mixed.via == by_rows.via
    with pytest.raises(EvrouteError, match="same block"):
        planner.plan(3, denver.edge_id[3])


def test_least_energy_in_little_more_time_is_a_row_where_the_least_takes_longer(
    denver: RoadNetwork,
) -> None:
    planner, rng = (
        Planner(denver, load_vehicle("reference"), physics="eq8"),
        np.random.default_rng(2),
    )
    limited = 0
    for _ in range(60):
        planned = planner.plan(*rng.choice(denver.n_edges, size=2, replace=False).tolist())
        least, fastest = planned.routes["energy"], planned.routes["time"]
        if least.time_s <= 1.15 * fastest.time_s:
            assert "energy-limited" not in planned.routes
            continue
        limited += 1
        within = planned.routes["energy-limited"]
        assert within.time_s <= 1.15 * fastest.time_s + 1e-9
        assert planned.recommended_route.time_s <= 1.15 * fastest.time_s + 1e-9
        assert least.energy_wh < within.energy_wh <= fastest.energy_wh
        assert "Least energy of all" in planned.verdict
        asked = planner.plan(least.edges[0], least.edges[-1], max_extra_time=0.15)
        assert asked.routes["energy"].energy_wh == within.energy_wh
        assert asked.recommended_route.route == planned.recommended_route.route
    assert limited >= 5


def test_learned_minutes_choose_the_fastest_and_share_the_auxiliary_energy(
    hill: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "LOCAL_S", 1e12)  # the way round does not take the pace of the hill
    vehicle = replace(load_vehicle("reference"), auxiliary_w=900.0)
    setting = Setting(hill, vehicle)
    belief = LearnedBelief.before_trips(Method(model="exact", index="greedy"), setting)
    rows, arms = np.array([0, 1, 2, 5]), setting.arms
    slow_s = 3 * hill.time_s[rows]
    usual = Planner(hill, vehicle, belief).plan(0, hill.row_of["out"])
    assert (usual.minutes_from, usual.routes["time"].edges[1]) == ("map", "up")
    assert usual.arrival_time("time") is None
    mean_wh = arms.prior_mean_wh[rows]
    belief.pace.learn(rows, slow_s)
    belief.model.update(Feedback(rows, arms.features[rows], mean_wh, mean_wh))
    planned = Planner(hill, vehicle, belief).plan(0, hill.row_of["out"], depart="23:50")
    assert (planned.minutes_from, planned.routes["time"].edges[1]) == ("trips", "east")
    factor = (3 + 3 * 1.6) / 4
    over, level = planned.routes["distance"], planned.routes["time"]
    expected_s = (factor * hill.time_s[rows] + slow_s).sum() / 2
    assert over.time_s == pytest.approx(expected_s)
    assert over.parts_wh["auxiliary"] == pytest.approx(900 * expected_s / 3600)
    # the total is what was measured; the physics of the map's minutes keeps its energy
    assert over.energy_wh == pytest.approx(mean_wh.sum())
    assert sum(over.parts_wh.values()) == pytest.approx(over.energy_wh)
    assert planned.arrival_time("time") == "00:06 (+1 day)"
    assert round(level.time_s / 60) == 16
    # heating of the day runs for the learned minutes
    cold = DrivingConditions(temperature_c=-9.0, speed_factor=0.5)
    on_day = Planner(hill, vehicle, belief, conditions=cold).describe(over.route)
    by_map = fit(hill, vehicle, conditions=cold).mean_wh[rows].sum()
    assert on_day.time_s == pytest.approx(2 * expected_s)
    extra_s = on_day.time_s - 2 * hill.time_s[rows].sum()
    assert on_day.energy_wh == pytest.approx(
        by_map + Heating(vehicle, -9.0).power_w * extra_s / 3600
    )


def test_a_network_by_name_and_its_trips() -> None:
    by_name = plan("denver", trip="A")
    assert by_name.network == "denver"
    assert by_name.routes["energy"].edges[0] == by_name.origin


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"waypoints": ("in", "in")}, EvrouteError, "same block"),
        ({"waypoints": ("in",)}, EvrouteError, "origin and destination"),
        ({}, EvrouteError, "named trip"),
        ({"trip": "A", "waypoints": ENDS}, EvrouteError, "either"),
        ({"trip": "A"}, UnknownNameError, "no trip 'A'"),
        ({"waypoints": ("in", "ouf")}, UnknownNameError, "Similar ids: out"),
        ({"waypoints": ENDS, "search": "magic"}, UnknownNameError, "potential"),
        ({"waypoints": ENDS, "vehicle": "delorean"}, UnknownNameError, "evroute vehicle list"),
        ({"waypoints": ENDS, "max_extra_time": -0.1}, EvrouteError, "0 % or more"),
        ({"waypoints": ENDS, "price": 0.0}, EvrouteError, "It must be above 0"),
        (
            {"waypoints": ENDS, "price": 0.3, "time_value": np.nan},
            EvrouteError,
            "It must be from 0 to 1000000000",
        ),
        ({"waypoints": ENDS, "time_value": 12.0}, EvrouteError, "needs the price"),
        ({"waypoints": ENDS, "depart": "8.15"}, EvrouteError, "HH:MM"),
        ({"waypoints": ENDS, "depart": "24:00"}, EvrouteError, "HH:MM"),
        ({"waypoints": ENDS, "max_extra_time": np.nan}, EvrouteError, "0 % or more"),
        ({"waypoints": ENDS, "soc_percent": 101.0}, EvrouteError, "from 0 to 100 %"),
        ({"waypoints": ENDS, "soc_percent": np.nan}, EvrouteError, "from 0 to 100 %"),
        (
            {"waypoints": ENDS, "soc_percent": 20.0, "reserve_percent": 30.0},
            EvrouteError,
            "reserve",
        ),
        (
            {"waypoints": ENDS, "soc_percent": 50.0, "search": "clamped"},
            EvrouteError,
            "goes with search",
        ),
    ],
)
def test_a_request_that_cannot_be_met_says_why(
    hill: RoadNetwork, options: dict[str, object], error: type[EvrouteError], match: str
) -> None:
    with pytest.raises(error, match=match):
        plan(hill, **options)  # type: ignore[arg-type]


def test_an_unreachable_destination_is_named(make_network: Callable[..., RoadNetwork]) -> None:
    network = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    with pytest.raises(NoRouteError, match=r"from road at 0\.0000,4\.5113 to road at"):
        plan(network, waypoints=("b", "a"))


def test_a_street_both_ways_is_left_and_reached_in_the_direction_of_the_fastest_trip(
    make_network: Callable[..., RoadNetwork],
) -> None:
    # a line of two-way streets; on it one cannot turn round, so only one direction leads east, and
    # one back west
    x, y = 500_000.0, 4_800_000.0
    positions = [(x + 1000 * k, y, 0) for k in range(4)]
    edges = [("w1", 1, 0), ("e1", 0, 1), ("w2", 2, 1), ("e2", 1, 2), ("w3", 3, 2), ("e3", 2, 3)]
    network = make_network(edges, positions)
    west, east = (
        ",".join(map(str, place)) for place in degrees(network, [x + 500, x + 2500], y + 5)
    )
    assert [network.edge_id[row] for row in stops(network, None, (west, east))] == ["e1", "e3"]
    assert [network.edge_id[row] for row in stops(network, None, (east, west))] == ["w3", "w1"]
    assert [network.edge_id[row] for row in stops(network, None, (west, "e2"))] == ["e1", "e2"]


def degrees(network: RoadNetwork, x_m: list[float], y_m: float) -> list[tuple[float, float]]:
    """Return places as latitude and longitude."""
    to_degrees = Transformer.from_crs(network.crs, "EPSG:4326", always_xy=True)
    return [to_degrees.transform(x, y_m)[::-1] for x in x_m]


def test_places_on_the_way_are_driven_in_their_order() -> None:
    network = load_network("denver")
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    rng = np.random.default_rng(3)
    for _ in range(20):
        places = rng.choice(network.n_edges, size=4, replace=False).tolist()
        via = planner.plan(places[0], places[-1], via=places[1:-1]).routes["energy"]
        legs = [planner.plan(a, b).routes["energy"] for a, b in pairwise(places)]
        shared_wh = planner.mean_wh[places[1:-1]].sum()
        assert via.energy_wh == pytest.approx(sum(leg.energy_wh for leg in legs) - shared_wh)
        position = 0
        for place in places:
            position = via.route.edges.index(place, position)


def test_with_a_battery_each_leg_starts_with_the_charge_after_the_last_leg() -> None:
    network = load_network("denver")
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    rng = np.random.default_rng(4)
    for _ in range(10):
        start, middle, goal = rng.choice(network.n_edges, size=3, replace=False).tolist()
        full = Battery(1000.0, 1000.0, 0.0)
        first = planner.plan(start, middle, battery=full).routes["energy"]
        left_wh = float(first.charge.charge_wh[-2])
        second = planner.plan(middle, goal, battery=Battery(1000.0, left_wh, 0.0)).routes["energy"]
        whole = planner.plan(start, goal, via=[middle], battery=full).routes["energy"]
        assert whole.charge.charge_wh[-1] == pytest.approx(second.charge.charge_wh[-1])


def test_a_place_cannot_follow_itself() -> None:
    network = load_network("denver")
    with pytest.raises(EvrouteError, match="two successive places lie on the same block"):
        Planner(network, load_vehicle("reference"), physics="eq8").plan(0, 9, via=[5, 5])


def test_alternatives_lie_between_the_fastest_and_the_least_energy() -> None:
    network = load_network("denver")
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(40):
        plan = planner.plan(
            *rng.choice(network.n_edges, size=2, replace=False).tolist(), alternatives=3
        )
        chain = [
            plan.routes["time"],
            *(plan.routes[name] for name in sorted(plan.routes) if "alternative" in name),
        ]
        chain.append(plan.routes["energy"])
        seen += len(chain) - 2
        for quicker, thriftier in pairwise(chain):
            assert quicker.time_s <= thriftier.time_s + 1e-9
            assert quicker.energy_wh >= thriftier.energy_wh - 1e-9
    assert seen > 10


def test_conditions_change_energy_and_time_and_have_their_prices() -> None:
    network, vehicle = load_network("denver"), load_vehicle("reference")
    day = DrivingConditions(
        temperature_c=-5.0, wind_mps=6.0, wind_from_deg=270.0, speed_factor=0.8, payload_kg=200.0
    )
    planned = Planner(network, vehicle, conditions=day, physics="eq8").plan(3, 90).routes["energy"]
    plain = Planner(network, vehicle, physics="eq8").describe(planned.route)
    assert planned.time_s == pytest.approx(plain.time_s / 0.8)
    prices = energy_by_condition(network, vehicle, day, planned.route)
    assert prices.keys() == {"temperature_c", "wind_mps", "speed_factor", "payload_kg"}
    assert prices["temperature_c"] > 0
    (alone,) = energy_by_condition(
        network, vehicle, DrivingConditions(payload_kg=200.0), planned.route
    ).values()
    loaded = Planner(
        network, vehicle, conditions=DrivingConditions(payload_kg=200.0), physics="eq8"
    ).describe(planned.route)
    assert alone == pytest.approx(loaded.energy_wh - plain.energy_wh)


def test_a_changed_number_of_a_vehicle_has_its_price() -> None:
    network, usual = load_network("denver"), load_vehicle("reference")
    route = Planner(network, usual, physics="eq8").plan(3, 90).routes["energy"].route
    changed = replace(usual, mass_kg=usual.mass_kg + 500, battery_kwh=usual.battery_kwh + 10)
    prices = energy_by_change(network, changed, usual, DrivingConditions(), route)
    heavier, before = (
        Planner(network, each, physics="eq8").describe(route).energy_wh for each in (changed, usual)
    )
    assert prices == {"mass_kg": pytest.approx(heavier - before), "battery_kwh": 0.0}


def test_integers_for_edge_ids_are_refused_in_one_line(denver: RoadNetwork) -> None:
    with pytest.raises(EvrouteError, match=r"5 is no edge id or place. Give ids as text") as caught:
        plan(denver, waypoints=[5, 6])  # type: ignore[list-item]
    assert "\n" not in str(caught.value)


def test_a_named_trip_that_a_network_of_that_name_lacks_is_refused(
    denver: RoadNetwork, hill: RoadNetwork
) -> None:
    with pytest.raises(UnknownNameError, match="which this network 'denver' lacks"):
        plan(replace(hill, name="denver"), trip="A")


def test_plans_that_share_a_planner_equal_plans_of_a_new_planner(denver: RoadNetwork) -> None:
    days = DrivingConditions(), DrivingConditions(temperature_c=-10.0)
    cars = (
        load_vehicle("reference"),
        load_vehicle("reference"),
        replace(load_vehicle("reference"), mass_kg=2500.0),
    )
    places = [denver.edge_id[3], denver.edge_id[90]]
    every = list(product(cars, days, PHYSICS))
    shared = [
        plan(denver, waypoints=places, vehicle=car, conditions=day, physics=physics)
        for car, day, physics in every * 2
    ]
    for (car, day, physics), *plans in zip(every, shared, shared[len(every) :], strict=False):
        own = Planner(denver, car, conditions=day, physics=physics).plan(3, 90)
        for each in plans:
            assert each.proofs == own.proofs
            for name, planned in own.routes.items():
                assert each.routes[name].energy_wh == planned.energy_wh
                assert each.routes[name].streets == planned.streets
