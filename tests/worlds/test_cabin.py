"""The cabin against closed forms and an integration by scipy."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from evroute.worlds import cabin as module
from evroute.worlds.cabin import STEP_S, Cabin


def test_a_warm_cabin_takes_its_losses_less_the_heat_of_occupants() -> None:
    """Hold 20 °C at -5 °C: 75 W/K over 25 K less 100 W, in steady state."""
    energy_wh = Cabin().energy_wh(-5.0, 0.0, 7200.0)
    power_w = np.diff(energy_wh)[-1] * 3600.0 / STEP_S
    assert power_w == pytest.approx(75.0 * 25.0 - 100.0, rel=1e-6)


def test_a_heat_pump_divides_the_power_by_its_performance() -> None:
    plain, pump = (Cabin(heat_pump=pump).energy_wh(10.0, 1e5, 1800.0) for pump in (False, True))
    np.testing.assert_allclose(plain, 2.8 * pump, rtol=1e-12)


def test_nothing_is_taken_in_comfort() -> None:
    assert Cabin().energy_wh(22.0, 1e5, 1800.0)[-1] == 0.0


@pytest.mark.parametrize("outside_c", [-20.0, -3.0, 9.0, 18.0, 31.0])
@pytest.mark.parametrize("parked_s", [0.0, 900.0, 40_000.0])
def test_the_power_never_grows_and_the_energy_equals_a_fine_integration(
    outside_c: float, parked_s: float
) -> None:
    car = Cabin()
    energy_wh = car.energy_wh(outside_c, parked_s, 1500.0)
    power_w = np.diff(energy_wh)
    assert (np.diff(power_w) <= 1e-12).all()

    def rates(_: float, state: np.ndarray) -> list[float]:
        heat_w, electric_w = car.demand_w(state[0], outside_c)
        heater_w = min(80.0 * max(5.0 - state[1], 0.0), 800.0)
        cabin = (heat_w + 100.0 - 75.0 * (state[0] - outside_c)) / 90_000.0
        battery = (heater_w + 300.0 - 5.0 * (state[1] - outside_c)) / 250_000.0
        return [cabin, battery, electric_w + heater_w]

    inside_c = min(max(outside_c, 20.0), 24.0)
    start = [
        outside_c + (inside_c - outside_c) * np.exp(-parked_s / 1500.0),
        outside_c + max(15.0 - outside_c, 0.0) * np.exp(-parked_s / 21_600.0),
        0.0,
    ]
    exact = solve_ivp(rates, (0.0, 1500.0), start, max_step=1.0, rtol=1e-8)
    assert energy_wh[-1] == pytest.approx(exact.y[2, -1] / 3600.0, rel=0.02, abs=0.5)


def test_the_cabin_shares_no_code_with_the_planner_or_the_belief() -> None:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in imported if "energy" in name or "learning" in name]
