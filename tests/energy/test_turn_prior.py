"""Energy of turns: closed forms, and the two facts that make them searchable."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.energy.constants import J_PER_WH
from evroute.energy.crossings import turn_speed_mps
from evroute.energy.driving import conditions
from evroute.energy.prior import fit as fit_edges
from evroute.energy.turn_prior import TurnEnergy, fit
from evroute.energy.vehicle import load_vehicle
from evroute.network.turn_table import TurnTable

CAR = load_vehicle("reference")


def energy_of(network, **day) -> TurnEnergy:
    return TurnEnergy(network, CAR, TurnTable.from_network(network), conditions(**day))


@pytest.fixture
def straight(make_network):
    """Two level edges in line, 10 and 20 m/s."""
    return make_network(
        [("slow", 0, 1), ("fast", 1, 2)], [(0, 0, 0), (500, 0, 0), (1000, 0, 0)], speed_mps=[10, 20]
    )


def test_speeding_up_adds_the_kinetic_energy_that_the_road_does_not_take(straight) -> None:
    energy = energy_of(straight)
    turn, start = energy.mean_wh(
        energy.table.rows_along(np.array([0, 1]))[[1, 0]], straight.speed_mps
    )
    steady = fit_edges(straight, CAR).mean_wh
    by_speed = [
        0.5 * CAR.mass_kg * v2 / CAR.propulsion_efficiency / J_PER_WH
        for v2 in (20**2 - 10**2, 10**2)
    ]
    assert turn == pytest.approx(steady[1] + by_speed[0])
    assert start == pytest.approx(steady[0] + by_speed[1])


def test_slowing_down_returns_kinetic_energy_less_rolling_and_drag(make_network) -> None:
    network = make_network(
        [("fast", 0, 1), ("slow", 1, 2)], [(0, 0, 0), (500, 0, 0), (600, 0, 0)], speed_mps=[30, 10]
    )
    energy = energy_of(network)
    turn = energy.mean_wh(energy.table.rows_along(np.array([0, 1]))[1:], network.speed_mps)
    at_wheels_wh = fit_edges(network, CAR).mean_wh[1] * CAR.propulsion_efficiency
    released_wh = 0.5 * CAR.mass_kg * (30**2 - 10**2) / J_PER_WH
    assert turn == pytest.approx((at_wheels_wh - released_wh) * CAR.recuperation_efficiency)


def test_a_sharp_turn_wastes_as_much_as_a_stop_and_a_straight_one_nothing(make_network) -> None:
    network = make_network(
        [("in", 0, 1), ("on", 1, 2), ("back", 1, 3)],
        [(0, 0, 0), (100, 0, 0), (200, 0, 0), (0, 1e-6, 0)],
        speed_mps=10,
        length_m=[100, 100, 100],
    )
    energy = energy_of(network)
    on, back = (
        energy.wasted_wh(energy.table.rows_along(np.array([0, e]))[1:], network.speed_mps)
        for e in (1, 2)
    )
    assert on == 0
    lost = 1 / CAR.propulsion_efficiency - CAR.recuperation_efficiency
    assert back == pytest.approx(0.5 * CAR.mass_kg * 10**2 / J_PER_WH * lost, rel=1e-6)


def test_turns_are_slower_the_sharper_they_are() -> None:
    speeds = turn_speed_mps(np.deg2rad([0.0, 45.0, 90.0, 135.0, 180.0]))
    assert speeds[0] == np.inf
    assert np.all(np.diff(speeds) < 0)
    assert speeds[2] == pytest.approx(np.sqrt(5.5 * 8.0))
    assert speeds[4] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("day", [{}, {"temperature_c": -10.0, "payload_kg": 300.0}])
def test_no_turn_takes_less_than_the_potential_rises_by(hilly, day) -> None:
    for seed in range(20):
        network = hilly(seed)
        energy = energy_of(network, **day)
        rows = np.arange(len(energy.table))
        for speed_mps in (network.speed_mps, default_rng(seed).uniform(1, 40, network.n_edges)):
            assert np.all(
                energy.mean_wh(rows, speed_mps) - energy.potential_wh(rows, speed_mps) >= -1e-9
            )


def test_the_potential_telescopes_along_a_route(hilly) -> None:
    network = hilly(3)
    energy = energy_of(network)
    follows = {}
    for a, b in network.turns.tolist():
        follows.setdefault(a, b)
    route = [network.turns[0, 0]]
    while route[-1] in follows and len(route) < 6:
        route.append(follows[route[-1]])
    rows = energy.table.rows_along(np.array(route))
    z_m = network.elevation_m
    rise_m = z_m[network.head[route[-1]]] - z_m[network.tail[route[0]]]
    whole_wh = CAR.mass_kg * (9.82 * rise_m + network.speed_mps[route[-1]] ** 2 / 2) / J_PER_WH
    assert energy.potential_wh(rows, network.speed_mps).sum() == pytest.approx(whole_wh)
    assert all(network.head[a] == network.tail[b] for a, b in pairwise(route))


def test_the_paper_spread_is_one_size_and_the_other_follows_dissipation(hilly) -> None:
    energy, edges = energy_of(hilly(0)), fit_edges(hilly(0), CAR)
    paper, dissipation = fit(energy, "paper"), fit(energy, "dissipation")
    np.testing.assert_allclose(paper.noise_std_wh, edges.noise_std_wh[0])
    assert np.ptp(paper.std_wh) == 0
    np.testing.assert_allclose(
        dissipation.std_wh, 0.25 * (dissipation.mean_wh - dissipation.potential_wh)
    )
    np.testing.assert_allclose(np.sqrt(np.mean(dissipation.noise_std_wh**2)), edges.noise_std_wh[0])
