"""Free flow: stops and part of the braking on top of the kinetic energy of turns."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import bellman_ford

from evroute.door.plan import plan
from evroute.energy.constants import J_PER_WH
from evroute.energy.defaults import VEHICLE
from evroute.energy.free_flow import (
    BRAKING,
    OTHER_ROADS,
    SPEED_FACTORS,
    STOPPING,
    speed_factors,
    stop_probability,
)
from evroute.energy.turn_prior import TurnEnergy, turn_speed_mps
from evroute.energy.vehicle import load_vehicle
from evroute.network.controls import GIVES_WAY, LIGHT, RIGHT_OF_WAY, STOP
from evroute.network.turn_table import TurnTable
from evroute.planning.planner import Planner


def test_each_turn_takes_its_braking_and_stopping_by_hand(denver) -> None:
    car, table = load_vehicle(VEHICLE), TurnTable.from_network(denver)
    rows, speed_mps = np.arange(len(table)), denver.speed_mps
    steady = TurnEnergy(denver, car, table)
    driving = TurnEnergy(denver, car, table, free_flow=True)
    added = driving.mean_wh(rows, speed_mps) - steady.mean_wh(rows, speed_mps)
    lost = 1 / car.propulsion_efficiency - car.recuperation_efficiency
    for kind in (LIGHT, STOP):
        row = int(np.flatnonzero(table.control[: table.n_turns] == kind)[3])
        left, entered = table.left[row], table.entered[row]
        slower = min(speed_mps[left], speed_mps[entered])
        turn = min(slower, float(turn_speed_mps(table.angle_rad[[row]])[0]))
        dip = 0.5 * car.mass_kg * (slower**2 - turn**2) / J_PER_WH
        stop = 0.5 * car.mass_kg * turn**2 / J_PER_WH
        factor = OTHER_ROADS if denver.road_class[entered] == "unclassified" else None
        factor = factor or SPEED_FACTORS[denver.road_class[entered].split("_")[0]]
        idle_wh = car.auxiliary_w * denver.time_s[entered] * (1 / factor - 1) / J_PER_WH
        by_hand = lost * ((BRAKING - 1) * dip + STOPPING[kind] * stop) + idle_wh
        assert added[row] == pytest.approx(by_hand)


def test_no_turn_takes_less_than_the_rise_of_its_potential(denver) -> None:
    car, table = load_vehicle(VEHICLE), TurnTable.from_network(denver)
    driving, rows = TurnEnergy(denver, car, table, free_flow=True), np.arange(len(table))
    rise = driving.potential_wh(rows, denver.speed_mps)
    assert (driving.mean_wh(rows, denver.speed_mps) - rise >= -1e-9).all()


def test_each_road_class_has_its_factor(denver) -> None:
    factors = dict(zip(denver.road_class, speed_factors(denver).tolist(), strict=True))
    assert factors["tertiary"] == factors["tertiary_link"] == SPEED_FACTORS["tertiary"]
    assert factors["unclassified"] == OTHER_ROADS


def test_a_network_without_controls_has_no_stops() -> None:
    assert (stop_probability(None, 4) == 0).all()


def test_plans_of_drivers_take_a_real_car_s_energy_in_town(denver) -> None:
    """Published unadjusted city consumption of this car: 101 Wh/km from the battery (UDDS)."""
    routes = plan(denver, trip="B").routes
    wh_per_km = 1000 * routes["energy"].energy_wh / routes["energy"].length_m
    steady = plan(denver, trip="B", physics="eq8").routes["energy"]
    assert 1000 * steady.energy_wh / steady.length_m < 80 < wh_per_km < 160
    assert routes["energy"].parts_wh["turning"] > 0
    for route in (steady, routes["energy"]):  # auxiliary power over the minutes that are shown
        auxiliary_wh = load_vehicle(VEHICLE).auxiliary_w * route.time_s / J_PER_WH
        assert route.parts_wh["auxiliary"] == pytest.approx(auxiliary_wh)
    assert routes["time"].time_s > 1.2 * plan(denver, trip="B", physics="eq8").routes["time"].time_s


def test_physics_is_one_of_two(denver) -> None:
    with pytest.raises(Exception, match=r"unknown physics 'magic'. There are eq8, driving"):
        Planner(denver, load_vehicle("reference"), physics="magic")


def test_least_energies_equal_bellman_and_ford(denver) -> None:
    """Signed energies on states: edges as they are left, and starts from standstill."""
    planner = Planner(denver, load_vehicle(VEHICLE), physics="driving")
    states, rng = planner.states, np.random.default_rng(0)
    joined = set(denver.strongest_component().edge_id)
    inside = np.array([row for row, each in enumerate(denver.edge_id) if each in joined])
    origins, destinations = rng.permutation(inside)[:6].reshape(2, -1)
    found = planner.energies(origins, destinations).energy_wh
    size = int(max(states.tail.max(), states.head.max())) + 1
    graph = csr_array((planner.mean_wh, (states.tail, states.head)), shape=(size, size))
    assert (planner.mean_wh < 0).any()
    starts = denver.n_edges + origins
    least = bellman_ford(graph, indices=starts)[np.arange(len(starts)), destinations]
    assert found == pytest.approx(least + planner.numbers.halt_wh[destinations])


@pytest.mark.parametrize(
    ("kind", "stopped", "passages"),
    [(LIGHT, 444, 1010), (STOP, 282, 282), (GIVES_WAY, 6, 882), (RIGHT_OF_WAY, 6, 882)],
)
def test_cars_stop_as_often_as_in_a_city_that_was_not_fitted(
    kind: int, stopped: int, passages: int
) -> None:
    """Denver's counts in docs/figures/cars.md: within three deviations, or one in a hundred."""
    share = stopped / passages
    std = np.sqrt(share * (1 - share) / passages)
    assert STOPPING[kind] == pytest.approx(share, abs=max(3 * std, 0.01))


def test_shares_are_the_published_fit() -> None:
    """docs/figures/cars.md: 45 % at lights, 63 % of braking, 0.64 (primary) to 0.90 (motorway)."""
    assert (STOPPING[LIGHT], BRAKING) == (0.45, 0.63)
    assert (SPEED_FACTORS["primary"], SPEED_FACTORS["motorway"]) == (0.64, 0.9)
    between = [SPEED_FACTORS[name] for name in ("secondary", "tertiary", "residential")]
    assert 0.64 < between[0] < between[1] < between[2] < 0.9
    assert 0.64 < OTHER_ROADS < 0.9
