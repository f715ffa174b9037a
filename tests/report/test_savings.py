"""What learning was worth, by hand on rounds whose every number is written down."""

import numpy as np
import pandas as pd
import pytest

from evroute.report.savings import MEANINGS, savings_table, vehicles_table

T_95_OF_2 = 12.706205  # tan(0.475 pi): Student's t with one degree of freedom is Cauchy's


def rounds(saved_by_seed: list[list[float]], best_wh: float = 900.0) -> pd.DataFrame:
    frames = []
    for seed, saved_wh in enumerate(saved_by_seed):
        n = len(saved_wh)
        true_wh = 1000.0 - np.array(saved_wh)
        frames.append(
            pd.DataFrame(
                {
                    "network": "toy",
                    "trip": "T",
                    "world": "wind",
                    "search": "potential",
                    "method": "GP-TS",
                    "model": "exact",
                    "index": "ts",
                    "run": f"run-{seed}",
                    "seed": seed,
                    "t": np.arange(1, n + 1),
                    "true_wh": true_wh,
                    "energy_wh": true_wh + 30.0,
                    "predicted_wh": true_wh,
                    "eq8_wh": 1000.0,
                    "best_wh": best_wh,
                    "fastest_wh": 1100.0,
                    "shortest_wh": 1050.0,
                    "time_s": 660.0,
                    "fastest_s": 600.0,
                    "length_m": 5500.0,
                    "fastest_m": 6000.0,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def test_every_number_by_hand() -> None:
    learned = [-100.0] * 10 + [50.0] * 50
    row = savings_table(rounds([learned, [value + 20 for value in learned]])).iloc[0]
    assert row["seeds"] == 2
    assert row["Wh per trip"] == pytest.approx(940.0)
    assert row["saved vs physics (Wh)"] == pytest.approx(60.0)
    assert row["± 95 % (Wh)"] == pytest.approx(T_95_OF_2 * np.std([50, 70], ddof=1) / np.sqrt(2))
    assert row["saved vs fastest (Wh)"] == pytest.approx(160.0)
    assert row["saved vs shortest (Wh)"] == pytest.approx(110.0)
    assert row["longer than fastest (min)"] == pytest.approx(1.0)
    assert row["longer than fastest (km)"] == pytest.approx(-0.5)
    assert row["headroom (Wh)"] == pytest.approx(100.0)
    assert row["of the headroom (%)"] == pytest.approx(60.0)
    assert row["worlds that lose (%)"] == 0
    assert row["saved in all (kWh)"] == pytest.approx(np.mean([1.5, 2.7]))
    # 1,000 Wh are won back by the 20th and 800 by the 12th good trip; the next one is ahead
    assert row["pays after (trips)"] == pytest.approx(np.median([10 + 21, 10 + 12]))
    assert row["|error|, first trips (Wh)"] == pytest.approx(30.0)


def test_every_number_has_a_meaning() -> None:
    table = savings_table(rounds([[0.0] * 3]))
    assert list(table.columns[list(table.columns).index("seeds") :]) == list(MEANINGS)


def test_without_headroom_no_share_of_it_is_stated_and_losses_count() -> None:
    row = savings_table(rounds([[0.0] * 60, [-8.0] * 60], best_wh=1000.0)).iloc[0]
    assert np.isnan(row["of the headroom (%)"])
    assert row["worlds that lose (%)"] == 50
    assert row["pays after (trips)"] == np.inf


def test_the_median_world_counts_worlds_with_headroom_alone() -> None:
    saved_wh, best_wh = [80.0, 50.0, -20.0, 61.0, -7.0], [900.0, 900.0, 900.0, 900.0, 998.0]
    row = savings_table(
        pd.concat(
            rounds([[saved] * 60], best_wh=best).assign(run=f"run-{seed}", seed=seed)
            for seed, (saved, best) in enumerate(zip(saved_wh, best_wh, strict=True))
        )
    ).iloc[0]
    assert row["of the headroom, median world (%)"] == pytest.approx(np.median([80, 50, -20, 61]))
    assert row["worlds above 60 % (%)"] == pytest.approx(50.0)
    assert row["worst world loses (Wh)"] == pytest.approx(20.0)
    assert row["of the headroom (%)"] == pytest.approx(100 * 164 / 402)


def test_worlds_have_rows_of_their_own() -> None:
    two = pd.concat([rounds([[1.0] * 60]), rounds([[2.0] * 60]).assign(world="cold", run="other")])
    assert savings_table(two).set_index("world")["saved vs physics (Wh)"].to_dict() == {
        "cold": 2.0,
        "wind": 1.0,
    }


def test_each_vehicle_is_told_of_its_own_trips() -> None:
    told = rounds([[10.0, -40.0] * 60, [30.0, -20.0] * 60])
    told["vehicle"] = np.where(told["t"] % 2, "car", "van")
    table = vehicles_table(told).set_index("vehicle")
    assert table["saved vs physics (Wh)"].to_dict() == pytest.approx({"car": 20.0, "van": -30.0})
    assert table["saved in all (kWh)"].to_dict() == pytest.approx(
        {"car": 60 * 0.02, "van": -60 * 0.03}
    )
    assert table["pays after (trips)"].to_dict() == {"car": 1.0, "van": np.inf}


def test_one_vehicle_has_no_table_of_vehicles() -> None:
    assert vehicles_table(rounds([[1.0]]).assign(vehicle="car")).empty
    assert vehicles_table(rounds([[1.0]])).empty
