"""Falls below the reserve, announced and come true: counted by hand."""

import numpy as np
import pandas as pd
import pytest

from evroute.report.calibration import BURN_IN
from evroute.report.reserve import charges, reserve_bins, reserve_reliability, reserve_table


def rounds() -> pd.DataFrame:
    """Four trips that count: two announced at 15 %, of which one is kept, and two at 95 %, both
    kept.
    """
    t = np.arange(1, BURN_IN + 5)
    late = t > BURN_IN
    told = pd.DataFrame(
        {"network": "hill", "trip": "T", "search": "potential", "method": "GP-TS"}, index=t
    )
    told = told.assign(model="exact", index="ts", run="one", seed=0, t=t, below_reserve_midway=1.0)
    told["below_reserve_on_arrival"] = np.where(late, 0.0, 1.0)
    told.loc[late, "below_reserve_midway"] = [1.0, 0.0, 0.0, 0.0]
    told["p_reserve"] = told["p_reserve_widened"] = np.where(t > BURN_IN + 2, 0.95, 0.15)
    told["soc_lowest_percent"] = told["soc_arrival_percent"] = 20.0
    told["soc_arrival_expected_percent"] = np.where(late, 20.5, 0.0)
    random = t == BURN_IN + 4
    return told.assign(
        **{f"audit_{name}": told[name].where(random) for name in told.columns if "_" in name}
    )


def test_the_table_by_hand() -> None:
    chosen, random = reserve_table(rounds()).to_dict("records")
    assert (chosen["routes"], chosen["trips"], random["routes"], random["trips"]) == (
        "chosen",
        4,
        "random",
        1,
    )
    assert chosen["below midway (%)"] == 25.0
    assert chosen["below on arrival (%)"] == 0.0
    assert chosen["never below (%)"] == 75.0
    assert chosen["predicted (%)"] == pytest.approx(55.0)
    assert chosen["Brier"] == pytest.approx((0.15**2 + 0.85**2 + 2 * 0.05**2) / 4)
    assert chosen["arrival charge, |error| (points)"] == pytest.approx(0.5)


def test_tenths_count_announced_probabilities_and_kept_reserves() -> None:
    bins = reserve_bins(charges(rounds()).query("routes == 'chosen'"))
    assert bins[["announced", "kept", "trips"]].to_numpy() == pytest.approx(
        np.array([[0.15, 0.5, 2], [0.95, 1.0, 2]])
    )


def test_certainty_falls_into_the_last_tenth() -> None:
    told = charges(rounds()).assign(p_reserve_widened=1.0)
    assert reserve_bins(told)["announced"].tolist() == [1.0, 1.0]


def test_the_diagram_has_a_panel_and_a_diagonal() -> None:
    pytest.importorskip("altair")
    chart = reserve_reliability(charges(rounds())).to_dict()
    assert [panel["title"] for panel in chart["concat"]] == ["GP-TS"]
    assert len(chart["concat"][0]["layer"]) == 2


def test_runs_without_a_battery_have_no_rows() -> None:
    bare = rounds()[["network", "trip", "search", "method", "t"]]
    assert charges(bare).empty
    assert reserve_table(bare).empty
