"""Derivatives of the energy of turns against differences of it."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.driving import conditions
from evroute.energy.longitudinal import energy_parts
from evroute.energy.regressors import NAMES, TurnRegressors
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.network.turn_table import TurnTable
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace

CAR = replace(load_vehicle("reference"), auxiliary_w=500.0)
STEP = 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_they_are_the_differences(hilly, seed) -> None:
    network = hilly(seed)
    table = TurnTable.from_network(network)
    rows = np.arange(len(table))

    def energy_wh(day=None, **numbers) -> np.ndarray:
        return TurnEnergy(network, replace(CAR, **numbers), table, day or conditions()).mean_wh(
            rows, network.speed_mps
        )

    space = TurnSpace(EdgeSpace(network, CAR), table)
    found = space.regressors.of(rows, space.reference.features)
    steps = {
        "mass": ({"mass_kg": CAR.mass_kg * (1 + STEP)}, {"mass_kg": CAR.mass_kg * (1 - STEP)}),
        "rolling": ({"rolling": CAR.rolling * (1 + STEP)}, {"rolling": CAR.rolling * (1 - STEP)}),
        "drag": ({"drag": CAR.drag * (1 + STEP)}, {"drag": CAR.drag * (1 - STEP)}),
        "auxiliary": ({"auxiliary_w": 500 + 1000 * STEP}, {"auxiliary_w": 500 - 1000 * STEP}),
        "wind from east": (
            {"day": conditions(wind_mps=STEP, wind_from_deg=90.0)},
            {"day": conditions(wind_mps=STEP, wind_from_deg=270.0)},
        ),
        "wind from north": (
            {"day": conditions(wind_mps=STEP, wind_from_deg=0.0)},
            {"day": conditions(wind_mps=STEP, wind_from_deg=180.0)},
        ),
    }
    for column, (more, less) in zip(found[:, :-1].T, steps.values(), strict=True):
        np.testing.assert_allclose(
            column, (energy_wh(**more) - energy_wh(**less)) / (2 * STEP), atol=1e-4
        )
    assert (*steps, "kinetic") == (*NAMES, "kinetic") == TurnRegressors.names
    # what is proportional to mass, less what is left of it where nobody changes speed, at the same
    # efficiency
    energy = space.energy
    entered, changed_wh = table.entered, found[:, -1] - energy.wasted_wh(rows, network.speed_mps)
    steady = energy_parts(energy.at_wheels, network.length_m, network.climb_m, network.speed_mps)
    gained_wh = energy.potential_wh(rows, network.speed_mps) - steady.climb_wh[entered]
    driving = gained_wh + steady.total_wh[entered] >= 0
    np.testing.assert_allclose(
        changed_wh, gained_wh * np.where(driving, 1 / 0.98, 0.96), rtol=1e-9, atol=1e-9
    )
