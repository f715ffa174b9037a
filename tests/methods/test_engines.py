"""Engines on roads: a run that names one runs that one, as what it tells of itself proves."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.runs import RunFolder
from evroute.methods.parts import METHODS
from evroute.report.results import read_diagnostics

TRIPS = 12
PAPERS = ("bkb", "bbkb", "batch-ucb", "batch-ts", "ek-ucb", "k-ucb", "cbkb", "cbbkb")
"""Engines by the names that their papers, or those that compare with them, give them."""
OPTIONS = {"cbbkb": {"threshold": 200}}


@dataclass
class Told:
    """What one engine told of itself, trip by trip."""

    model: str
    rows: pd.DataFrame

    def last(self, name: str) -> float:
        return float(self.rows[name].iloc[-1])

    @property
    def draws(self) -> float:
        """Dictionaries drawn; 0 for engines that draw none."""
        return self.last("redraws") if "redraws" in self.rows else 0.0


@pytest.fixture(scope="module", params=PAPERS)
def told(request, tmp_path_factory) -> Told:
    method = {"method": request.param} | OPTIONS.get(request.param, {})
    experiment = Experiment(trips={"denver": ("A",)}, methods=(method,), horizon=TRIPS, seeds=1)
    folder: RunFolder = simulate(experiment, tmp_path_factory.mktemp("runs") / request.param)
    assert not folder.failures()
    return Told(
        METHODS[request.param]["model"], read_diagnostics(folder).dropna(axis="columns", how="all")
    )


def test_the_engine_named_is_the_engine_run(told) -> None:
    arms, points = told.last("distinct_arms"), told.last("dictionary_size")
    batches = told.rows["batches"].iloc[-1] if "batches" in told.rows else None
    match told.model:
        case "bkb" | "cbkb":  # a dictionary drawn after every trip
            assert (told.draws, batches) == (TRIPS, None)
        case "cbbkb":  # drawn now and then, learned from at once
            assert 0 < told.draws < TRIPS
            assert batches is None
        case "bbkb":  # drawn with every batch
            assert 0 < told.draws == batches
        case "batch-ucb":  # batches of an exact posterior, which draws nothing
            assert told.draws == 0
            assert batches > 0
            assert points >= arms
        case "delayed":  # one batch of 30 trips has not closed yet: all was planned from the prior
            assert (told.draws, batches) == (0, 0)
        case "ek-ucb":  # grows, never drawn, and leaves roads out
            assert (told.draws, batches) == (0, None)
            assert np.all(np.diff(told.rows["dictionary_size"]) >= 0)
            assert points < arms
        case "k-ucb":  # all that was measured
            assert (told.draws, batches) == (0, None)
            assert points == arms
