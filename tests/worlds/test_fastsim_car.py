"""FASTSim's cars on traces made by hand."""

import numpy as np
import pytest

from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.worlds.fastsim_car import MODELS, energy_wh
from evroute.worlds.sumo_drive import STEP_S, Trace
from evroute.worlds.world import load_world

needs_fastsim = pytest.mark.skipif(
    __import__("importlib.util").util.find_spec("fastsim") is None, reason="needs fastsim"
)


@pytest.fixture
def level(make_network):
    return make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (1500, 0, 0), (3000, 0, 0)])


def cruise(speed_mps: float, brake_mps2: float = 2.0) -> Trace:
    """Speed up to a speed, hold it over two edges of 1,500 m, and stop."""
    up, down = (np.arange(0, speed_mps, rate * STEP_S) for rate in (2.0, brake_mps2))
    rest = 3000 - (up.sum() + down.sum()) * STEP_S
    speed = np.concatenate([up, np.full(round(rest / speed_mps / STEP_S), speed_mps), down[::-1]])
    return Trace(np.array([0, 1]), speed, (np.cumsum(speed * STEP_S) > 1500).astype(int))


@needs_fastsim
@pytest.mark.parametrize("model", MODELS)
def test_a_level_trip_takes_what_cars_of_this_size_take(model, level) -> None:
    trip_wh = energy_wh(cruise(14.0), level, model, None).sum()
    parts = energy_parts(load_vehicle("reference"), level.length_m, level.climb_m, np.full(2, 14.0))
    assert 0.6 < trip_wh / parts.total_wh.sum() < 1.6


@needs_fastsim
def test_hard_braking_loses_what_the_motor_cannot_take(level) -> None:
    gentle, hard = (
        energy_wh(cruise(30.0, brake), level, "leaf", None).sum() for brake in (1.5, 6.0)
    )
    assert hard > gentle


@needs_fastsim
def test_frost_heats_the_cabin(level) -> None:
    mild, frost = (
        energy_wh(cruise(14.0), level, "bolt", celsius).sum() for celsius in (22.0, -10.0)
    )
    assert frost > 1.2 * mild


@needs_fastsim
def test_climbing_takes_the_potential_energy_and_more(make_network) -> None:
    level, steep = (
        make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (1500, 0, z), (3000, 0, 2 * z)])
        for z in (0, 45)
    )
    climbed_wh = energy_wh(cruise(14.0), steep, "zoe", None) - energy_wh(
        cruise(14.0), level, "zoe", None
    )
    potential_wh = 1600 * 9.81 * 45 / 3600
    assert np.all(climbed_wh > potential_wh)
    assert np.all(climbed_wh < 1.4 * potential_wh)


def test_a_model_without_a_cabin_refuses_a_temperature() -> None:
    with pytest.raises(EvrouteError, match="temperature_c does nothing to vehicle_model zoe"):
        load_world({"kind": "fastsim", "vehicle_model": "zoe", "temperature_c": 0})


def test_unknown_options_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="kind 'fastsim' has no option 'payload_kg'"):
        load_world({"kind": "fastsim", "payload_kg": 100})
