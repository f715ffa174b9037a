"""Interval scores by hand."""

import numpy as np
import pandas as pd
import pytest

from evroute.report.charts.interval_scores import interval_score, interval_table


def test_the_score_is_the_width_and_twenty_times_the_miss() -> None:
    low, high = np.array([0.0, 0.0, 0.0]), np.array([10.0, 10.0, 10.0])
    score = interval_score(low, high, np.array([4.0, 12.0, -1.0]))
    assert score == pytest.approx([10.0, 10.0 + 20 * 2.0, 10.0 + 20 * 1.0])


def test_the_table_by_hand() -> None:
    t = np.arange(1, 55)
    late = t > 50
    rounds = pd.DataFrame(
        {
            "network": "hill",
            "trip": "T",
            "search": "potential",
            "method": "GP-TS",
            "index": "ts",
            "model": "exact",
            "run": "one",
            "seed": 0,
            "t": t,
            "length_m": 1000.0,
            "predicted_wh": 100.0,
            "predicted_sd_wh": 10.0,
            "half90_wh": 20.0,
            # 50 trips of 51 to 100 Wh, then 100, 110, 120, 130
            "energy_wh": np.where(late, 100.0 + 10.0 * (t - 51), 50.0 + t),
            "audit_wh": np.where(t == 54, 230.0, np.nan),
            "audit_predicted_wh": np.where(t == 54, 200.0, np.nan),
            "audit_predicted_sd_wh": np.where(t == 54, 20.0, np.nan),
        }
    )
    table = interval_table(rounds).set_index(["routes", "interval"])
    gaussian = table.loc[("chosen", "Gaussian")]
    assert gaussian["held (%)"] == 50
    assert gaussian["width (Wh)"] == pytest.approx(2 * 16.448536)
    miss = (120 - 116.448536 + 130 - 116.448536) / 4
    assert gaussian["interval score (Wh)"] == pytest.approx(2 * 16.448536 + 20 * miss)
    assert table.loc[("chosen", "conformal"), "held (%)"] == 75
    # the random trip is off by 30 Wh of 20: multipliers 2 and 1.645
    assert table.loc[("random", "conformal"), "width (Wh)"] == pytest.approx(80)
    assert table.loc[("random", "conformal"), "held (%)"] == 100
    assert table.loc[("random", "Gaussian"), "width (Wh)"] == pytest.approx(4 * 16.448536)
    free = table.loc[("chosen", "energy per km of past trips")]
    by_hand = [np.quantile(rounds["energy_wh"][:n], (0.05, 0.95)) for n in range(50, 54)]
    assert free["width (Wh)"] == pytest.approx(np.mean([high - low for low, high in by_hand]))
    assert ("random", "energy per km of past trips") not in table.index
