"""Free flow: the speeds that drivers reach, where they slow down, and what braking loses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import bellman_ford

from evroute.door.plan import plan
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.crossings import (
    STOPPING,
    UNCONTROLLED,
    YIELDING,
    speed_kept,
    stop_probability,
    turn_speed_mps,
)
from evroute.energy.defaults import VEHICLE
from evroute.energy.free_flow import (
    ACCELERATION_MPS2,
    BRAKING_MPS2,
    LOST_SPMPS,
    OUTSIDE,
    REACHED_MPS2,
    TOWN,
    WAIT_S,
    flow_on,
    speed_factors,
)
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.network.controls import GIVES_WAY, LIGHT, RIGHT_OF_WAY, STOP
from evroute.network.turn_table import TurnTable
from evroute.planning.planner import Planner


def test_each_turn_takes_its_braking_and_stopping_by_hand(denver) -> None:
    """What rolling and drag take while the car brakes is not lost."""
    car, table = load_vehicle(VEHICLE), TurnTable.from_network(denver)
    rows, speed_mps = np.arange(len(table)), denver.speed_mps
    wasted = TurnEnergy(denver, car, table, free_flow=True).wasted_wh(rows, speed_mps)
    lost = 1 / car.propulsion_efficiency - car.recuperation_efficiency

    def braked_j(fast: float, slow: float) -> float:
        along_m = (fast**2 - slow**2) / (2 * BRAKING_MPS2)
        drag_n = 0.5 * AIR_DENSITY_KGPM3 * car.drag * car.front_m2 * (fast**2 + slow**2) / 2
        road_n = car.mass_kg * GRAVITY_MPS2 * car.rolling + drag_n
        return 0.5 * car.mass_kg * (fast**2 - slow**2) - road_n * along_m

    for kind in (LIGHT, STOP):
        row = int(np.flatnonzero(table.control[: table.n_turns] == kind)[3])
        slower = min(speed_mps[table.left[row]], speed_mps[table.entered[row]])
        turn = min(slower, float(turn_speed_mps(table.angle_rad[[row]])[0]))
        by_hand = braked_j(slower, turn) + STOPPING[kind] * braked_j(turn, 0.0)
        assert wasted[row] == pytest.approx(lost * by_hand / J_PER_WH)


def test_speeds_and_times_of_blocks_between_lights_by_hand(make_network) -> None:
    """Forty blocks of 120 m between lights: the speed solves the equation of free flow."""
    light, block_m = STOPPING[LIGHT], 120.0
    network = make_network(
        [(f"e{k}", k, k + 1) for k in range(40)],
        [(block_m * k, 0.0, 0.0) for k in range(41)],
        speed_mps=50 / 3.6,
    )
    network = replace(network, control=np.full(39, LIGHT))
    flow, middle = flow_on(network), 20
    reached = float(flow.speed_mps[middle])
    assert reached**2 == pytest.approx(REACHED_MPS2 * block_m + (1 - light) * reached**2, rel=1e-4)
    lost_s = light * (LOST_SPMPS * reached + WAIT_S)
    mean_mps = network.speed_mps[middle] * speed_factors(network)[middle]
    assert block_m / mean_mps == pytest.approx(block_m / reached + lost_s, rel=1e-4)
    changing_m = light * reached**2 / 2 * (1 / ACCELERATION_MPS2 + 1 / BRAKING_MPS2)
    mean_square = reached**2 * (1 - 0.5 * changing_m / block_m)
    assert (flow.rushing[middle] * reached) ** 2 == pytest.approx(mean_square, rel=1e-4)


@pytest.mark.parametrize(("limit_kmh", "share"), [(50, TOWN), (60, TOWN), (90, OUTSIDE)])
def test_long_roads_are_driven_below_their_limit(make_network, limit_kmh, share) -> None:
    network = make_network([("e", 0, 1)], [(0, 0, 0), (9_000, 0, 0)], speed_mps=limit_kmh / 3.6)
    assert flow_on(network).speed_mps == pytest.approx([share * limit_kmh / 3.6], abs=1e-6)


@pytest.mark.parametrize(
    ("main", "side", "on_main", "on_side"),
    [
        ("primary", "residential", 1.0, YIELDING),
        ("residential", "residential", UNCONTROLLED, UNCONTROLLED),
        ("motorway", "motorway_link", 1.0, 1.0),
        ("", "", 1.0, 1.0),
    ],
)
def test_the_road_of_the_higher_class_has_the_right_of_way(
    make_network, main, side, on_main, on_side
) -> None:
    """Two roads cross at junction 0: west to east, and south to north, both ways."""
    pairs = [("w", "e"), ("s", "n")]
    ends = {"w": (-300, 0, 0), "e": (300, 0, 0), "s": (0, -300, 0), "n": (0, 300, 0)}
    at = {name: k + 1 for k, name in enumerate(ends)}
    edges = [(f"{name}in", at[name], 0) for pair in pairs for name in pair]
    edges += [(f"{name}out", 0, at[name]) for pair in pairs for name in pair]
    classes = [main, main, side, side] * 2
    network = make_network(edges, [(0, 0, 0), *ends.values()], speed_mps=10.0)
    network = replace(network, road_class=tuple(classes))
    table = TurnTable.from_network(network)
    kept = speed_kept(network, table)
    for name, other, expected in (("win", "eout", on_main), ("sin", "nout", on_side)):
        left, entered = network.row_of[name], network.row_of[other]
        assert kept[table.rows_along(np.array([left, entered]))[1]] == expected


def test_no_turn_takes_less_than_the_rise_of_its_potential(denver) -> None:
    car, table = load_vehicle(VEHICLE), TurnTable.from_network(denver)
    driving, rows = TurnEnergy(denver, car, table, free_flow=True), np.arange(table.n_turns)
    rise = driving.potential_wh(rows, denver.speed_mps)
    assert (driving.mean_wh(rows, denver.speed_mps) - rise >= -1e-9).all()


def test_a_network_without_controls_has_no_stops(denver) -> None:
    assert (stop_probability(replace(TurnTable.from_network(denver), control=None)) == 0).all()


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
    """Counts of SUMO in Denver: within three deviations, or one in a hundred."""
    share = stopped / passages
    std = np.sqrt(share * (1 - share) / passages)
    assert STOPPING[kind] == pytest.approx(share, abs=max(3 * std, 0.01))
