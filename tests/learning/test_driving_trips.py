"""Beliefs of trips with stops and turns: drivers' plans before, a dense Gaussian after, plans."""

import numpy as np
import pytest

from evroute.arms import Route
from evroute.energy.constants import GRAVITY_MPS2
from evroute.energy.defaults import VEHICLE
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import ACCELERATION_MPS2, BRAKING_MPS2, LOST_SPMPS, TOWN
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import UnknownNameError
from evroute.learning import belief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.terms import DRAG, KM, MINUTES, TURNING
from evroute.methods.setting import Setting
from evroute.network.turn_table import TurnTable
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner

CAR = load_vehicle(VEHICLE)
DAYS = {
    "plain": EQ8_CONDITIONS,
    "windy": DrivingConditions(
        temperature_c=-5.0, payload_kg=200.0, speed_factor=0.9, wind_mps=8.0, wind_from_deg=30.0
    ),
}


def random_trips(network, seed: int, n: int, factor: float = 1.0) -> list[MeasuredTrip]:
    """Return trips of up to six edges with energies by the driver's plan times a noisy factor."""
    rng, planner = np.random.default_rng(seed), Planner(network, CAR, physics="driving")
    trips = []
    for i in range(n):
        edges = [int(rng.integers(network.n_edges))]
        while len(edges) < 6 and len(after := network.turns[network.turns[:, 0] == edges[-1], 1]):
            edges.append(int(rng.choice(after)))
        arms = planner.space.table.rows_along(np.array(edges))
        wh = factor * rng.normal(1.0, 0.1) * planner.mean_wh[arms]
        known = {"payload_kg": float(rng.uniform(0, 300)), "soc_percent": 50.0}
        trips.append(MeasuredTrip(str(i), np.array(edges), wh, np.full(len(wh), np.nan), **known))
    return trips


@pytest.mark.parametrize("day", DAYS)
def test_before_any_trip_the_mean_is_the_drivers_plan(denver, day) -> None:
    energies = TripEnergies(Setting(denver, CAR), physics="driving")
    believed = Planner(denver, CAR, energies, conditions=DAYS[day])
    physics = Planner(denver, CAR, conditions=DAYS[day], physics="driving")
    np.testing.assert_allclose(believed.mean_wh, physics.mean_wh, rtol=0, atol=1e-9)
    np.testing.assert_allclose(believed.time_s, physics.time_s, rtol=0, atol=1e-9)
    assert not believed.numbers.held_wh.any()


def test_a_row_has_the_stops_and_turns_by_hand(make_network) -> None:
    """A level road of 1,000 m between dead ends: 95 % of its 10 m/s between two standstills."""
    network = make_network([("alone", 0, 1)], [(0, 0, 0), (1000, 0, 0)], speed_mps=10.0)
    row = TripEnergies(Setting(network, CAR), physics="driving").row(
        MeasuredTrip("1", np.array([0]), np.array([100.0]), np.array([np.nan]))
    )
    speed_mps, area = TOWN * 10.0, 0.6 * CAR.drag * CAR.front_m2
    braking_m = speed_mps**2 / 2 / BRAKING_MPS2
    road_n = CAR.mass_kg * GRAVITY_MPS2 * CAR.rolling + area * speed_mps**2 / 2
    braked_wh = (0.5 * CAR.mass_kg * speed_mps**2 - road_n * braking_m) / 3600
    lost = 1 / CAR.propulsion_efficiency - CAR.recuperation_efficiency
    changing_m = speed_mps**2 / 2 * (1 / ACCELERATION_MPS2 + 1 / BRAKING_MPS2)
    mean_square = speed_mps**2 * (1 - changing_m / 2 / 1000)
    assert row[TURNING] == pytest.approx(lost * braked_wh)
    assert row[MINUTES] == pytest.approx((1000 / speed_mps + LOST_SPMPS * speed_mps) / 60)
    assert row[DRAG] == pytest.approx(area * 1000 * mean_square / 3600)


def test_learning_equals_a_dense_gaussian_over_all_turns(denver) -> None:
    """Every road that was driven has its own independent deviation, not those of sections alone."""
    energies = TripEnergies(Setting(denver, CAR), physics="driving")
    day, trips = energies.under(EQ8_CONDITIONS), random_trips(denver, 0, 10)
    of_arms = day.rows.of(np.arange(day.space.size))
    rows = np.array([energies.row(trip) for trip in trips])
    for trip in trips:
        energies.learn(trip)
    prior, wh = energies.belief.prior, np.array([trip.energy_wh.sum() for trip in trips])
    of_turns, of_trips = (terms * prior.std for terms in (of_arms, rows))
    noise, km = energies.belief.noise, denver.length_m / 1000
    passes = np.array([np.bincount(trip.edge, minlength=len(km)) for trip in trips])
    own_wh2 = energies.belief.scales.roads**2 * km
    independent = noise.root_km_wh**2 * rows[:, KM]
    independent += noise.trip_wh**2 + noise.km_wh**2 * rows[:, KM] ** 2
    gram = of_trips @ of_trips.T + (passes * own_wh2) @ passes.T + np.diag(independent)
    between = of_turns @ of_trips.T + (passes * own_wh2).T[day.space.states.edge]
    mean_wh = of_arms @ prior.mean + between @ np.linalg.solve(gram, wh - rows @ prior.mean)
    assert not energies.belief.moved.any()
    today = energies.under(EQ8_CONDITIONS)
    np.testing.assert_allclose(today.posterior().mean_wh, mean_wh, rtol=0, atol=1e-9)
    for trip in trips:  # whose roads lie in whole sections
        arms = day.space.arms_of_route(Route(tuple(trip.edge)))
        row, passed = of_turns[arms].sum(axis=0), np.bincount(trip.edge, minlength=len(km))
        with_trips = row @ of_trips.T + (passed * own_wh2) @ passes.T
        variance = row @ row + (passed**2) @ own_wh2
        variance -= with_trips @ np.linalg.solve(gram, with_trips)
        terms = today.rows.of(arms).sum(axis=0)
        spread = terms @ energies.belief.regression.root[today.columns]
        assert spread @ spread == pytest.approx(variance, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_plans_after_trips_are_the_best_of_every_route(hilly, every_route, seed) -> None:
    network = hilly(seed)
    energies, checked = TripEnergies(Setting(network, CAR), physics="driving"), 0
    for trip in random_trips(network, seed, 30, factor=1.3):
        energies.learn(trip)
    planner, table = Planner(network, CAR, energies), TurnTable.from_network(network)
    battery = Battery.of_percent(CAR.battery_kwh, 97.0, 5.0)
    for origin in range(0, network.n_edges, 4):
        for destination in range(1, network.n_edges, 3):
            routes = list(every_route(network, origin, destination))
            if origin == destination or not routes:
                continue
            least_wh = min(planner.mean_wh[table.rows_along(np.array(r))].sum() for r in routes)
            least_wh += planner.numbers.halt_wh[destination]
            found = planner.plan(origin, destination).routes["energy"]
            assert found.energy_wh == pytest.approx(least_wh)
            assert abs(found.held_wh) <= 0.005 * abs(found.energy_wh)
            shown = planner.describe(found.route, battery)  # above 85 % recuperation may fade
            forecast = shown.energy_forecast
            assert forecast.mean_wh == pytest.approx(shown.energy_wh)
            rows = np.array(found.route.edges)
            trip = MeasuredTrip("x", rows, np.ones(len(rows)), np.full(len(rows), np.nan))
            known = energies.expect(trip).energy
            assert known.mean_wh == pytest.approx(found.energy_wh - found.held_wh)
            assert known.sd_wh == pytest.approx(found.energy_forecast.std_wh)
            checked += 1
    assert checked > 5


def test_a_belief_keeps_its_physics_on_disk(hill, tmp_path) -> None:
    setting, path = Setting(hill, CAR), tmp_path / "beliefs" / "one.npz"
    for physics in ("eq8", "driving"):
        TripEnergies(setting, physics=physics).save(path)
        assert belief.continued(path, setting).physics == physics
    with pytest.raises(UnknownNameError, match=r"unknown physics 'magic'. There are eq8, driving"):
        TripEnergies(setting, physics="magic")
