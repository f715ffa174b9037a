"""Ranges against single plans: arrival charges, least start charges, and risks."""

from collections.abc import Callable

import numpy as np
import pytest

from evroute.door.reachable import reachable
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NoRouteError
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_tree import charge_tree, way
from evroute.planning.reach import charge_needed, reach
from evroute.report.maps.reach import reach_geojson
from evroute.testing.on_average import PlannerOnAverage as Planner

TARGETS = 12


@pytest.fixture(scope="module")
def planner() -> Planner:
    network, car = load_network("denver"), load_vehicle("reference")
    return Planner(network, car, uncertainty=physics_belief(network, car, "eq8"), physics="eq8")


@pytest.fixture(scope="module")
def battery(planner: Planner) -> Battery:
    return Battery.of_percent(planner.vehicle.battery_kwh, 1.3, 1.0)


def test_arrival_charges_equal_single_plans(planner: Planner, battery: Battery) -> None:
    rng = np.random.default_rng(0)
    found = reach(planner, 100, battery)
    assert 0.1 < found.within.mean() < 0.9
    for target in rng.choice(planner.network.n_edges, TARGETS, replace=False).tolist():
        if not found.within[target]:
            with pytest.raises(NoRouteError):
                planner.plan(100, target, battery=battery)
            continue
        best = planner.plan(100, target, battery=battery).routes["energy"]
        charge = battery.percent(float(best.charge.charge_wh[-1]))
        assert found.charge_percent[0.5][target] == pytest.approx(charge, abs=1e-9)
        # the charge that 90 % of trips exceed ends the central interval of 80 %
        energy, _ = planner.forecasts.of_route(best.route, battery)
        low_percent = charge - battery.percent(energy.interval_wh(0.8)[1] - energy.mean_wh)
        assert found.charge_percent[0.9][target] == pytest.approx(low_percent, abs=1e-6)


def test_roads_within_a_risk_equal_single_forecasts(planner: Planner) -> None:
    risk, battery = 0.1, Battery.of_percent(planner.vehicle.battery_kwh, 2.0, 1.0)
    found, expected = reach(planner, 100, battery, risk=risk), reach(planner, 100, battery)
    assert 0 < found.within.sum() < expected.within.sum()
    rng = np.random.default_rng(1)
    inside = rng.choice(np.flatnonzero(found.within), TARGETS, replace=False)
    outside = np.flatnonzero(expected.within & ~found.within)
    for target in [*inside.tolist(), *rng.choice(outside, TARGETS, replace=False).tolist()]:
        best = planner.plan(100, target, battery=battery).routes["energy"]
        never = planner.forecasts.of_route(best.route, battery)[1].never_below_reserve
        assert found.within[target] == (never >= 1 - risk)


def test_lowest_charges_of_the_tree_are_those_along_its_routes(
    hilly: Callable[[int], RoadNetwork],
) -> None:
    """The charge at the start of an edge counts at the end of the edge before."""
    descents = 0
    for seed in range(5):
        network, car = hilly(seed), load_vehicle("reference")
        planner, battery = Planner(network, car, physics="eq8"), Battery(5000.0, 4000.0, 0.0)
        tree = charge_tree(planner.problem((0,)), planner.fading(battery))
        for position in range(len(tree.edges)):
            along = planner.charge.take(tree.arms[way(tree.before, position)]).along(battery)
            assert tree.low_wh[position] == pytest.approx(along.low_wh[-1], abs=1e-9)
            descents += tree.low_wh[position] > tree.begin_wh[position]
    assert descents > 5


def test_the_compiled_tree_equals_plain_python(hilly: Callable[[int], RoadNetwork]) -> None:
    for seed in range(3):
        trees = []
        for compiled in (True, False):
            planner = Planner(hilly(seed), load_vehicle("nissan-leaf-40"))
            planner.search.compiled = compiled
            battery = planner.fading(Battery(5000.0, 4900.0, 4000.0))
            trees.append(charge_tree(planner.problem((0,)), battery))
        for column in ("edges", "arms", "before", "begin_wh", "end_wh", "low_wh"):
            compiled_values, plain_values = (getattr(tree, column) for tree in trees)
            assert compiled_values.tolist() == plain_values.tolist()
        assert len(trees[0].edges) > 1


def test_least_start_charges_equal_the_search_of_each_request(planner: Planner) -> None:
    battery = Battery.of_percent(planner.vehicle.battery_kwh, 50.0, 2.0)
    needed = charge_needed(planner, 700, battery)
    for origin in np.random.default_rng(2).choice(len(needed), TARGETS).tolist():
        problem = planner.problem((origin, 700))
        shortage = problem.shortage
        expected_wh = shortage.least_start_wh(battery)
        assert needed[origin] == pytest.approx(battery.percent(expected_wh), abs=1e-9)


def test_the_area_holds_every_road_within_reach(planner: Planner, battery: Battery) -> None:
    shapely = pytest.importorskip("shapely")
    found = reach(planner, 100, battery)
    area, *roads = reach_geojson(found)["features"]
    assert len(roads) == found.within.sum()
    shape = shapely.geometry.shape(area["geometry"])
    assert all(shape.covers(shapely.geometry.shape(road["geometry"])) for road in roads)
    assert set(roads[0]["properties"]) >= {"charge_50_percent", "charge_99_percent"}


def test_more_charge_and_more_risk_reach_further(planner: Planner) -> None:
    kwh = planner.vehicle.battery_kwh
    small, large = Battery.of_percent(kwh, 1.8, 1.0), Battery.of_percent(kwh, 2.0, 1.0)
    near = reach(planner, 100, small, risk=0.05).within
    assert near[reach(planner, 100, small, risk=0.01).within].all()
    assert reach(planner, 100, large, risk=0.05).within[near].all()


def test_a_risk_out_of_range_or_without_a_belief_is_refused() -> None:
    with pytest.raises(EvrouteError, match="at most 50 %"):
        reachable("denver", origin="39.75,-104.99", soc_percent=2, risk=0.7)
    with pytest.raises(EvrouteError, match="physics_belief"):
        reach(
            Planner(load_network("denver")), "39.75,-104.99", Battery(5000.0, 100.0, 0.0), risk=0.1
        )
    assert reachable("denver", origin="39.75,-104.99", soc_percent=2, risk=0.1).within.any()
