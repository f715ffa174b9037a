"""The page "Every number of a plan": its numbers follow from its formulas, and are those of a plan.

The formulas are written again here; only columns of the network and of the car are read.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import evroute
from evroute.arms import Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import flow_on
from evroute.energy.longitudinal import energy_parts
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.forecasts.heating import DayHeating

PAGE = (Path(__file__).parents[1] / "docs" / "numbers.md").read_text(encoding="utf-8")
ENDS = ("176071277,176080651,0", "176080651,176080653,0")
COLD = {"temperature_c": -5, "preheated": True}
G, J_PER_WH = 9.82, 3600.0
MASS, ROLLING, DRAG, DRIVE, BACK, AUXILIARY_W = 1737.0, 0.008, 0.892, 0.941, 0.654, 250.0


def shown(row: str) -> float:
    """Return the value of a row of the page's table."""
    (value,) = re.findall(rf"^\| \**{row}\** \|.*\| (−?[\d.]+) [^|]+ \|$", PAGE, re.MULTILINE)
    return float(value.replace("−", "-"))


@pytest.fixture(scope="module")
def by_hand(denver: RoadNetwork) -> dict[str, float]:
    """Return the numbers of the road by the formulas of the page."""
    left, road = (denver.row_of[name] for name in ENDS)
    points = [
        np.column_stack([denver.shape_x_m, denver.shape_y_m])[
            denver.shape_start[row] : denver.shape_start[row + 1]
        ]
        for row in (left, road)
    ]
    before, after = np.diff(points[0], axis=0)[-1], np.diff(points[1], axis=0)[0]
    angle = math.acos(before @ after / math.hypot(*before) / math.hypot(*after))
    length_m, climb_m = denver.length_m[road], denver.climb_m[road]
    before_mps, speed_mps = flow_on(denver).speed_mps[[left, road]]
    air = 101_325 / (287.05 * (273.15 - 5))
    time_s = length_m / speed_mps + 0.45 * (1.2 * speed_mps + 15)
    changing = 0.45 * speed_mps**2 / 4 * (1 / 0.53 + 1 / 0.58) / length_m
    drag_mps = speed_mps * math.sqrt(1 - changing)
    turn_mps = math.sqrt(5.5 * 8 / math.tan(angle / 2))

    def stop_wh(mps: float) -> float:
        rolled = G * ROLLING / 0.58 + air * DRAG * mps**2 / (4 * 0.58 * MASS)
        return 0.5 * MASS * mps**2 * (1 - rolled) * (1 / DRIVE - BACK) / J_PER_WH

    def kinetic_wh(mps: float) -> float:
        return 0.5 * MASS * mps**2 / J_PER_WH

    def slowed_wh(fast: float, slow: float) -> float:
        saved_wh = (kinetic_wh(fast) - kinetic_wh(slow)) / DRIVE
        return stop_wh(fast) - stop_wh(slow) - saved_wh

    found = {
        "climb": MASS * G * climb_m / DRIVE / J_PER_WH,
        "rolling": MASS * G * ROLLING * math.sqrt(length_m**2 - climb_m**2) / DRIVE / J_PER_WH,
        "air": air,
        "speed before": before_mps,
        "speed": speed_mps,
        "speed of drag": drag_mps,
        "drag": 0.5 * air * DRAG * drag_mps**2 * length_m / DRIVE / J_PER_WH,
        "time": time_s,
        "heating power": 90.0 * (18 + 5),
        "auxiliary": (AUXILIARY_W + 90.0 * (18 + 5)) * time_s / J_PER_WH,
        "turn": turn_mps,
        "turning": stop_wh(speed_mps) - stop_wh(turn_mps) + 0.45 * stop_wh(turn_mps),
        "slower": slowed_wh(before_mps, speed_mps),
    }
    parts = ("climb", "rolling", "drag", "auxiliary", "turning", "slower")
    road_wh = sum(found[part] for part in parts)
    halt_wh = slowed_wh(speed_mps, 0.0)
    return found | {
        "the road": road_wh,
        "standstill": halt_wh,
        "the last road": road_wh + halt_wh,
    }


def test_the_table_of_the_page_follows_from_its_formulas(by_hand: dict[str, float]) -> None:
    for row, value in by_hand.items():
        written = shown(row)
        digits = len(str(written).partition(".")[2])
        assert written == pytest.approx(value, abs=0.51 * 10**-digits), row


def test_the_plan_has_the_energy_of_the_page(
    denver: RoadNetwork, by_hand: dict[str, float]
) -> None:
    plan = evroute.plan(denver, *ENDS, conditions=COLD)
    assert plan.fastest.edges == ENDS
    assert plan.fastest.edge_wh[1] == pytest.approx(by_hand["the last road"], rel=1e-9)
    first = evroute.plan(denver, *ENDS, conditions=COLD).fastest
    assert sum(first.parts_wh.values()) == pytest.approx(first.edge_wh.sum(), rel=1e-9)
    assert "print(plan.fastest.edge_wh[1])  # 34.57543\n" in PAGE
    assert f"{plan.fastest.edge_wh[1]:.5f}" == "34.57543"


def test_a_road_on_the_way_has_the_energy_of_the_page(
    denver: RoadNetwork, by_hand: dict[str, float]
) -> None:
    left, road = (denver.row_of[name] for name in ENDS)
    onward = denver.turns[denver.turns[:, 0] == road, 1]
    (after, *_) = onward[onward != left].tolist()
    route = Route((left, road, after))
    energy_wh = (
        evroute.Planner(denver, conditions=DrivingConditions(**COLD)).describe(route).edge_wh
    )
    assert energy_wh[1] == pytest.approx(by_hand["the road"], rel=1e-9)


def test_the_road_driven_down_gains_the_energy_of_the_page(denver: RoadNetwork) -> None:
    road = denver.row_of[ENDS[1]]
    length_m, climb_m = denver.length_m[road], denver.climb_m[road]
    air = 101_325 / (287.05 * (273.15 - 5))
    wheels_wh = [
        -MASS * G * climb_m / J_PER_WH,
        MASS * G * ROLLING * math.sqrt(length_m**2 - climb_m**2) / J_PER_WH,
        0.5 * air * DRAG * denver.speed_mps[road] ** 2 * length_m / J_PER_WH,
    ]
    climb, rolling, drag = (f"{wh:+.2f}".replace("-", "−") for wh in wheels_wh)
    assert f"climb {climb}, rolling {rolling}, drag {drag} Wh at the wheels" in PAGE
    gained = f"{BACK * sum(wheels_wh):.2f}".replace("-", "−")
    assert f"gives {gained} Wh: the road gains energy" in " ".join(PAGE.split())
    car, of_road = evroute.load_vehicle(), np.array([road])
    parts = energy_parts(
        car,
        denver.length_m[of_road],
        -denver.climb_m[of_road],
        denver.speed_mps[of_road],
        air_density_kgpm3=air,
    )
    total_wh = float((parts.total_wh - parts.auxiliary_wh)[0])
    assert total_wh == pytest.approx(BACK * sum(wheels_wh), rel=1e-12)


def test_the_heating_of_the_page_equals_a_trip() -> None:
    minutes, below_k = 20.0, 23.0
    heating_wh, warm_up_wh = 1.5 * below_k * minutes, 10.0 * below_k
    assert heating_wh + warm_up_wh < 5000 / 60 * minutes
    words = f"take {heating_wh:.0f} Wh of heating and {warm_up_wh:.0f} Wh of warm-up"
    assert words in " ".join(PAGE.split())
    day = DayHeating.of(evroute.load_vehicle(), DrivingConditions(temperature_c=-5.0), None)
    assert float(day.total_wh(minutes)) == pytest.approx(heating_wh + warm_up_wh)
    assert float(day.warm_up.after(60.0 * minutes)) == pytest.approx(warm_up_wh)


def test_the_fade_of_the_page_equals_a_battery() -> None:
    most, per_percent_wh = 85 + 10 / 0.2, 380.0
    after = most - (most - 90) * math.exp(-0.2 * 100 / (10 * per_percent_wh))
    without = 90 + 100 / per_percent_wh
    text = " ".join(PAGE.split())
    assert f"from 90 % to {after:.3f} %, and to {without:.3f} % without fade" in text
    battery = Battery.of_percent(38.0, 90, 0)
    fading = Battery(38_000, 0.9 * 38_000, 0.0, full_percent=85.0, fade=0.2)
    assert fading.percent(fading.after(fading.start_wh, -100.0)) == pytest.approx(after)
    assert battery.percent(battery.after(battery.start_wh, -100.0)) == pytest.approx(without)
