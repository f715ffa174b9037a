"""Runs whose contexts never repeat: the recommended method drives them, and its belief is kept."""

from pathlib import Path

import numpy as np
import pandas as pd

from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.log import EVERY
from evroute.learning.belief import load_belief
from evroute.model.sparse.gp import SparseGP
from evroute.planning.planner import Planner


def test_a_run_learns_audits_and_keeps_its_belief(tmp_path: Path) -> None:
    wanted = Experiment(
        trips={"denver": ["A"]},
        methods=["recommended"],
        horizon=EVERY + 1,
        seeds=1,
        world=["changing"],
        audit=True,
    )
    folder = simulate(wanted, tmp_path / "run")
    rounds = pd.read_parquet(folder.path / "rounds.parquet")
    driven = rounds["t"] % EVERY == 0
    assert np.isfinite(rounds[["predicted_wh", "predicted_sd_wh"]]).all(axis=None)
    assert np.isfinite(rounds.loc[driven, "audit_predicted_wh"]).all()  # also off the corridor
    belief = load_belief(tmp_path / "run")
    assert isinstance(belief.model, SparseGP)
    assert belief.model.diagnostics()["measurements"] == rounds["route_edges"].sum()
    plan = Planner(belief.network, belief=belief).plan(0, belief.network.n_edges // 2, soc=80)
    assert plan.least_energy.energy_forecast.std_wh > 0
