"""Reports show what models tell of themselves."""

import numpy as np
import pytest

from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.runs import RunFolder
from evroute.report.pages.run_page import build_page
from evroute.report.results import read_diagnostics


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> RunFolder:
    table = {
        "trips": {"denver": ("A",)},
        "methods": (
            {"model": "bbkb", "index": "ts", "max_batch_trips": 2},
            {"model": "exact", "index": "ts"},
        ),
        "horizon": 6,
        "seeds": 1,
    }
    path = tmp_path_factory.mktemp("runs") / "engines"
    simulate(Experiment.model_validate(table), path)
    return RunFolder(path)


def test_diagnostics_have_one_row_per_round_of_the_models_that_tell_some(folder):
    told = read_diagnostics(folder)
    assert told["run"].nunique() == 1
    np.testing.assert_array_equal(told["t"], np.arange(1, 7))
    assert told["batches"].tolist() == sorted(told["batches"])
    assert told["batches"].iloc[-1] >= 3
    assert told["dictionary_size"].iloc[-1] > 0


def test_the_page_draws_dictionaries_and_batches(folder):
    figures = {figure.name for figure in build_page(folder, lambda what: None).figures}
    assert {"dictionary-size", "batches", "last-batch-trips"} <= figures
