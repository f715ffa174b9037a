"""Random routes: measured and predicted every tenth round; the rest of the run is unchanged."""

import numpy as np
import pytest

from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.log import EVERY
from evroute.learning.intervals import PastErrors

COLUMNS = ["audit_wh", "audit_predicted_wh", "audit_predicted_sd_wh"]


@pytest.fixture
def rounds(tmp_path):
    """Rounds of the same run without and with an audit."""
    import pandas as pd

    found = []
    for audit in (None, True):
        wanted = Experiment(
            trips={"denver": ["A"]},
            methods=[{"model": "exact", "index": "ts"}],
            horizon=2 * EVERY + 1,
            seeds=1,
            world=["physics"],
            audit=audit,
        )
        folder = simulate(wanted, tmp_path / str(audit))
        found.append(pd.read_parquet(folder.path / "rounds.parquet"))
    return found


@pytest.mark.data
def test_an_audit_changes_nothing_else(rounds) -> None:
    without, audited = rounds
    assert audited.drop(columns=COLUMNS).equals(without)
    driven = audited["t"] % EVERY == 0
    assert np.isfinite(audited.loc[driven, COLUMNS]).all(axis=None)
    assert audited.loc[~driven, COLUMNS].isna().all(axis=None)
    assert (audited.loc[driven, "audit_wh"] != audited.loc[driven, "energy_wh"]).all()


@pytest.mark.data
def test_intervals_begin_as_a_student_t_and_move_with_the_errors(rounds) -> None:
    _, audited = rounds
    ratio = audited["half90_wh"] / audited["predicted_sd_wh"]
    assert ratio[0] == pytest.approx(PastErrors().spread.half_width(0.9))
    assert ratio.iloc[-1] != ratio[0]
