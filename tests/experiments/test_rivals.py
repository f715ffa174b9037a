"""Rivals of a run: their energies, in the world that is built again, are those of its log."""

from pathlib import Path

import pytest

from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.rivals import Rivals
from evroute.experiments.runs import RunFolder
from evroute.report.results import read_rounds


@pytest.mark.parametrize("world", ["congestion", "sampled-gp", "changing"])
@pytest.mark.parametrize("trip", ["A", "random 1-2 km"])
def test_rivals_have_the_energies_of_the_log(tmp_path: Path, world: str, trip: str) -> None:
    experiment = Experiment.model_validate(
        {
            "trips": {"denver": (trip,)},
            "methods": ("bi-ts",),
            "horizon": 3,
            "seeds": 2,
            "world": (world,),
        }
    )
    simulate(experiment, tmp_path)
    rounds = read_rounds(RunFolder(tmp_path)).set_index(["run", "t"])
    for run in experiment.runs():
        rivals = Rivals.of_run(run)
        for t in (3, 1):  # in any order
            routes, logged = rivals.at(t), rounds.loc[(run.name, t)]
            assert rivals.energy_wh(t, routes["physics"]) == pytest.approx(logged["eq8_wh"])
            assert rivals.energy_wh(t, routes["best"]) == pytest.approx(logged["best_wh"])
