"""Tables: numbers by hand."""

import math

import pytest

from evroute.door.plan import plan
from evroute.experiments.runs import RunFolder
from evroute.network.road_network import RoadNetwork
from evroute.report.results import read_rounds, read_timings
from evroute.report.table import final_table, plan_table


def test_final_values_by_hand(run_folder: RunFolder) -> None:
    table = final_table(read_rounds(run_folder), read_timings(run_folder)).set_index("method")
    assert list(table.index) == ["GP-TS", "BI-UCB"]
    ts = table.loc["GP-TS"]
    assert ts["worlds"] == 2
    assert ts["regret, mean (Wh)"] == 35  # 50 and 20
    assert ts["± se (Wh)"] == pytest.approx(15)
    assert ts["median (Wh)"] == 35
    assert ts["geometric mean (Wh)"] == pytest.approx(math.sqrt(1000))
    assert ts["trips on the best route (%)"] == pytest.approx(62.5)  # 2 and 3 of 4
    assert ts["saved vs physics, last 50 (Wh per trip)"] == pytest.approx(10 - 70 / 8)
    assert ts["time per trip (ms)"] == pytest.approx(4)


def test_a_world_without_regret_makes_the_geometric_mean_zero(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    rounds.loc[rounds["seed"] == 1, "regret_wh"] = 0.0
    table = final_table(rounds, read_timings(run_folder))
    assert (table["geometric mean (Wh)"] == 0).all()


def test_one_world_has_no_standard_error(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    assert (
        final_table(rounds[rounds["seed"] == 0], read_timings(run_folder))["± se (Wh)"].isna().all()
    )


def test_the_routes_of_a_plan_stand_side_by_side(denver: RoadNetwork) -> None:
    made = plan(denver, trip="A", soc_percent=50, detour_extra_time=0.005)
    table = plan_table(made)
    limited = "least energy within 0.5 % extra time"
    rows = ["recommended", "least energy", "fastest", "shortest", limited]
    assert list(table.index) == rows
    assert table.loc["fastest", "time (min)"] == table["time (min)"].min()
    assert table.loc["shortest", "length (km)"] == table["length (km)"].min()
    assert table.loc["least energy", "arrival charge (%)"] == table["arrival charge (%)"].max()
    used_wh = (50 - table["arrival charge (%)"]) / 100 * made.battery.capacity_wh
    assert (table["energy (kWh)"] * 1000).to_list() == pytest.approx(used_wh.to_list())
