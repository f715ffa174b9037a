"""Calibration: CRPS against numerical integration, tables against counts by hand, pictures
of both.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from evroute.report import calibration
from evroute.report.calibration import (
    calibration_table,
    crps_gaussian,
    forecasts,
    reliability,
)
from evroute.report.pages import run_page as page


def rounds() -> pd.DataFrame:
    """Fifty trips to forget, then four: off by 0, 1, 2 and 3 deviations of 10 Wh; random ones off
    by 5 of 20 Wh.
    """
    t = np.arange(1, 55)
    off_wh = np.where(t <= 50, 1000.0, 10.0 * (t - 51))
    random = (t == 20) | (t == 54)
    return pd.DataFrame(
        {
            "network": "hill",
            "trip": "T",
            "search": "potential",
            "method": "GP-TS",
            "model": "exact",
            "index": "ts",
            "run": "one",
            "seed": 0,
            "t": t,
            "predicted_wh": 100.0,
            "predicted_sd_wh": 10.0,
            "energy_wh": 100.0 + off_wh,
            "half50_wh": 15.0,
            "half80_wh": 15.0,
            "half90_wh": 25.0,
            "half95_wh": 35.0,
            "audit_wh": np.where(random, 295.0, np.nan),
            "audit_predicted_wh": np.where(random, 200.0, np.nan),
            "audit_predicted_sd_wh": np.where(random, 20.0, np.nan),
        }
    )


@pytest.mark.parametrize(
    ("mean", "sd", "measured"), [(0.0, 1.0, 0.0), (5.0, 2.0, 9.0), (-3.0, 0.5, -5.0)]
)
def test_crps_is_the_integral_of_its_definition(mean: float, sd: float, measured: float) -> None:
    below, _ = quad(lambda x: norm.cdf(x, mean, sd) ** 2, mean - 40 * sd, measured)
    above, _ = quad(lambda x: norm.sf(x, mean, sd) ** 2, measured, mean + 40 * sd)
    found = crps_gaussian(np.array([mean]), np.array([sd]), np.array([measured]))
    assert found[0] == pytest.approx(below + above, rel=1e-6)


def test_the_table_by_hand() -> None:
    chosen, random = calibration_table(rounds()).to_dict("records")
    assert (chosen["routes"], chosen["trips"], random["routes"], random["trips"]) == (
        "chosen",
        4,
        "random",
        1,
    )
    # deviations 0, 1, 2, 3 against 0.674, 1.282, 1.645 and 1.960
    assert [chosen[f"{level} Gaussian"] for level in ("50%", "80%", "90%", "95%")] == [
        25,
        50,
        50,
        50,
    ]
    assert [chosen[f"{level} conformal"] for level in ("50%", "80%", "90%", "95%")] == [
        50,
        50,
        75,
        100,
    ]
    # off by 95 Wh with a deviation of 20 Wh: twice the widths, 30 to 70 Wh, are not enough
    assert [random[f"{level} conformal"] for level in ("50%", "80%", "90%", "95%")] == [0, 0, 0, 0]
    z = np.arange(4.0)
    by_hand = 10 * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert chosen["CRPS (Wh)"] == pytest.approx(by_hand.mean())


def test_runs_too_short_or_without_deviations_have_no_rows() -> None:
    assert calibration_table(rounds().head(50)).empty
    unsure = rounds().drop(columns=["audit_wh", "audit_predicted_wh", "audit_predicted_sd_wh"])
    assert calibration_table(unsure.assign(predicted_sd_wh=np.nan)).empty


def test_the_reliability_diagram_shows_the_counts_of_the_table() -> None:
    drawn = reliability(forecasts(rounds())).to_dict()["data"]["values"]
    held = {(row["routes"], row["intervals"], round(row["level"], 2)): row["held"] for row in drawn}
    assert held["chosen", "Gaussian", 0.9] == 0.5
    assert held["chosen", "conformal", 0.9] == 0.75


def test_the_page_of_calibration_has_errors_and_coverage(run_folder, monkeypatch) -> None:
    assert "Calibration of the forecasts" not in page.build_page(run_folder).html
    halves = {f"half{level}_wh": 20.0 for level in (50, 80, 90, 95)} | {"length_m": 900.0}
    plain = page.read_rounds(run_folder).assign(predicted_wh=520.0, predicted_sd_wh=20.0, **halves)
    monkeypatch.setattr(page, "read_rounds", lambda folder: plain)
    monkeypatch.setattr(calibration, "BURN_IN", 0)
    told = page.build_page(run_folder)
    assert "Calibration of the forecasts" in told.html
    assert "reliability" in {figure.name for figure in told.figures}
