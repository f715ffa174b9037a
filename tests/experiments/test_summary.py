"""The final table, on numbers added up by hand."""

import math

import pyarrow as pa
import pytest

from evroute.experiments.runs import summarise


def test_final_values_by_hand() -> None:
    rounds = pa.table(
        {
            "run": ["a0", "a0", "a1", "a1", "b0", "b0"],
            "network": ["city"] * 6,
            "trip": ["A"] * 6,
            "world": ["wind"] * 6,
            "prior": ["paper"] * 6,
            "lengthscale": [1.0] * 6,
            "search": ["rectified"] * 6,
            "method": ["GP-TS"] * 4 + ["BI-TS"] * 2,
            "regret_wh": [3.0, 1.0, 10.0, 6.0, 2.0, 0.0],
            "true_wh": [5.0, 5.0, 7.0, 7.0, 4.0, 4.0],
            "eq8_wh": [6.0, 6.0, 6.0, 6.0, 6.0, 6.0],
            "best_wh": [4.0, 4.0, 5.0, 5.0, 4.0, 4.0],
        }
    )
    ts, bi = summarise(rounds)
    assert (ts.network, ts.trip, ts.world, ts.search, ts.method) == (
        "city",
        "A",
        "wind",
        "rectified",
        "GP-TS",
    )
    assert ts.worlds == 2
    assert ts.regret_wh == 10.0  # 4 and 16
    assert ts.regret_se_wh == pytest.approx(6.0)  # sd 12 / sqrt(2), over sqrt(2)
    assert ts.regret_geometric_wh == pytest.approx(8.0)
    assert ts.saved_wh == 0.0
    assert ts.headroom_wh == 1.5
    assert bi.method == "BI-TS"
    assert bi.regret_wh == 2.0
    assert math.isnan(bi.regret_se_wh)
    assert bi.saved_wh == 2.0


def test_a_world_without_regret_makes_the_geometric_mean_nought() -> None:
    rounds = pa.table(
        {name: ["x", "y"] for name in ("run",)}
        | {name: ["x"] * 2 for name in ("network", "trip", "world", "prior", "search", "method")}
        | {"lengthscale": [1.0, 1.0]}
        | {
            "regret_wh": [0.0, 5.0],
            "true_wh": [1.0, 1.0],
            "eq8_wh": [1.0, 1.0],
            "best_wh": [1.0, 1.0],
        }
    )
    assert summarise(rounds)[0].regret_geometric_wh == 0.0
