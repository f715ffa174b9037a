"""The foretold time of exact models against the sum over trips by hand, and its warning."""

import logging

import pytest
from numpy.random import SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.experiments import exact_time
from evroute.experiments.experiment import grid
from evroute.experiments.runs import Run
from evroute.methods.setting import load_setting
from evroute.planning.planner import Planner
from evroute.worlds.demand.demand import load_demand

HORIZON = 100
COLD = {"kind": "physics", "temperature_c": 5, "temperature_std_k": 10}


def run_of(model: str = "exact", world: object = COLD, **options: object) -> Run:
    experiment = grid(
        networks=["denver"],
        trips=["A"],
        models=[model],
        indices=["ts"],
        options=options,
        world=[world],
        horizon=HORIZON,
        seeds=1,
    )
    return next(experiment.runs())


@pytest.fixture(autouse=True)
def _one_operation_a_second(monkeypatch) -> None:
    monkeypatch.setattr(exact_time, "_flop_s", lambda: 1.0)


def test_arms_that_never_return_take_the_cube_of_the_trips(denver) -> None:
    found = exact_time.exact_time_s(run_of(exact_contexts=True))
    trip = load_demand("A", load_setting("denver", "reference"), SeedSequence(0)).trip(1)
    problem = Planner(denver, load_vehicle("reference"), physics="eq8").problem(
        (trip.origin, trip.destination)
    )
    edges = len(problem.legs.route(problem.weights()))
    expected = sum(2.0 * denver.n_edges * (edges * t) ** 2 for t in range(1, HORIZON + 1))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("run", [run_of(), run_of("ek-ucb"), run_of(world="free-flow")])
def test_sparse_models_and_fixed_contexts_have_no_foretold_time(run) -> None:
    assert exact_time.exact_time_s(run) == 0.0


def test_a_warning_names_the_minutes_and_the_sparse_model(caplog, monkeypatch) -> None:
    monkeypatch.setattr(exact_time, "exact_time_s", lambda run: 600.0)
    with caplog.at_level(logging.WARNING):
        exact_time.warn_of_exact_time([run_of(), run_of()])
    assert [record.message for record in caplog.records] == [
        f"run {run_of().name}: contexts vary, and predictions of the exact model take about "
        "10 min of CPU, most of them in the last trips. The time of a trip of model 'svgp' does "
        "not grow"
    ]
