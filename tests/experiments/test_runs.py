"""Run folders: the same results in any number of processes, and continuing without repeating."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from evroute.energy.prior import EQ8_CONDITIONS
from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.regret import DEFINITION
from evroute.experiments.runs import Run
from evroute.learning.belief import load_belief
from evroute.methods.method import Method
from evroute.planning.forecasts.pace import Pace
from evroute.worlds.world import load_world

PROGRAM_THAT_NEVER_ENDS = """
import signal
import time
from evroute.experiments import execution

play = execution.play

def play_until_stopped(run, folder, on_round):
    def stay(t):
        on_round(t)
        while run.seed > 1:
            time.sleep(0.01)
            on_round(t)  # raises an exception after an interrupt

    play(run, folder, stay)

execution.play = play_until_stopped  # worker processes import this file too
if __name__ == "__main__":
    from evroute.cli import main
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
    main()
"""
COLUMNS = {
    "run",
    "method",
    "model",
    "index",
    "search",
    "prior",
    "kernel",
    "lengthscale",
    "network",
    "trip",
    "world",
    "seed",
    "t",
    "departed_s",
    "vehicle",
    "regret_wh",
    "cumulative_regret_wh",
    "energy_wh",
    "predicted_wh",
    "predicted_sd_wh",
    "half50_wh",
    "half80_wh",
    "half90_wh",
    "half95_wh",
    "true_wh",
    "time_s",
    "length_m",
    *(
        f"{rival}_{unit}"
        for rival in ("fastest", "shortest", "eq8", "rule_best", "best")
        for unit in ("wh", "s", "m")
    ),
    "route_edges",
    "distinct_edges",
    "beta",
    "multiplier",
    "b_min",
}
EXPERIMENT = Experiment(
    trips={"denver": ["A"]},
    methods=[{"model": "exact", "index": "ts"}, {"model": "independent", "index": "bayes-ucb"}],
    horizon=5,
    seeds=2,
)
NAMES = [run.name for run in EXPERIMENT.runs()]


class Interrupt:
    """Progress that is interrupted after some rounds."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, done: int, total: int) -> None:
        if done >= self.after:
            raise KeyboardInterrupt


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file that must not depend on the machine's speed."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "timings" not in str(path)
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    return simulate(EXPERIMENT, tmp_path_factory.mktemp("runs") / "one").path


def test_a_folder_has_the_promised_files(finished) -> None:
    rounds = pq.read_table(finished / "rounds.parquet")
    assert set(rounds.column_names) == COLUMNS
    assert rounds["run"].to_pylist() == [name for name in NAMES for _ in range(5)]
    for name in NAMES:
        assert (finished / "parts" / f"{name}.parquet").is_file()
        assert (finished / "beliefs" / f"{name}.npz").is_file()
        routes = pq.read_table(finished / "routes" / f"{name}.parquet")
        assert routes.column_names == ["run", "t", "edge", "observed_wh", "travel_s"]
        assert set(routes["t"].to_pylist()) == set(range(1, 6))
    timings = pq.read_table(finished / "timings.parquet")
    assert {"run", "t", "posterior_s", "index_s", "search_s", "update_s"} == set(
        timings.column_names
    )
    assert np.array(timings.drop_columns(["run"]).to_pandas()).min() >= 0
    manifest = json.loads((finished / "manifest.json").read_text())
    assert manifest["regret"] == DEFINITION
    assert manifest["configuration"]["horizon"] == 5
    assert len(manifest["networks"]["denver"]) == 64


def test_a_belief_has_the_travel_times_of_its_trips(finished) -> None:
    for name in NAMES:
        belief = load_belief(finished, name)
        routes = pq.read_table(finished / "routes" / f"{name}.parquet").to_pandas()
        pace = Pace.of_network(belief.network)
        for _, trip in routes.groupby("t"):
            pace.learn(trip.edge.to_numpy(), trip.travel_s.to_numpy())
        assert belief.minutes_from == "trips"
        assert np.array_equal(belief.under(EQ8_CONDITIONS).time_s, pace.time_s)


def test_regrets_are_never_negative_and_add_up(finished) -> None:
    rounds = pq.read_table(finished / "rounds.parquet").to_pandas()
    assert (rounds.regret_wh >= 0).all()
    summed = rounds.groupby("run").regret_wh.cumsum()
    np.testing.assert_allclose(rounds.cumulative_regret_wh, summed, rtol=1e-12)
    assert rounds[rounds["index"] == "bayes-ucb"].beta.notna().all()
    assert rounds[rounds["index"] == "ts"].beta.isna().all()


def test_methods_meet_the_same_worlds(finished) -> None:
    rounds = pq.read_table(finished / "rounds.parquet").to_pandas()
    assert (rounds.groupby("seed").best_wh.nunique() == 1).all()
    assert rounds.best_wh.nunique() == 2


def test_results_do_not_depend_on_the_number_of_processes(finished, tmp_path) -> None:
    simulate(EXPERIMENT, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "two") == contents(finished)


def test_an_interrupted_simulation_continues_without_repeating(finished, tmp_path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        simulate(EXPERIMENT, out, on_progress=Interrupt(after=8))
    kept = {path: path.stat().st_mtime_ns for path in (out / "parts").glob("*.parquet")}
    assert len(kept) == 1
    assert not (out / "rounds.parquet").exists()
    assert {path.name for path in out.rglob(".*")} <= {".lock"}
    simulate(EXPERIMENT, out)
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert contents(out) == contents(finished)


@pytest.mark.slow
def test_an_interrupted_command_leaves_finished_runs_and_no_debris(tmp_path) -> None:
    out, program = tmp_path / "out", tmp_path / "program.py"
    program.write_text(PROGRAM_THAT_NEVER_ENDS, encoding="utf-8")
    options = "--network denver --horizon 20 --seeds 6 --model independent --jobs 2 --quiet --out"
    arguments = ["simulate", *options.split(), str(out)]
    with subprocess.Popen(
        [sys.executable, program, *arguments], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while process.poll() is None and not list((out / "parts").glob("*.parquet")):
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate()
        finally:
            process.kill()
    assert process.returncode == 130
    assert (
        stderr
        == f"evroute: interrupted. Finished runs are kept in {out}: the same command continues\n"
    )
    finished = {path: path.stat().st_mtime_ns for path in (out / "parts").glob("*.parquet")}
    assert 1 <= len(finished) <= 2
    assert {path.name for path in out.rglob(".*")} <= {".lock"}
    done = subprocess.run(
        [sys.executable, "-m", "evroute", *arguments, "--resume"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((out / "parts").glob("*.parquet"))) == 6
    assert all(path.stat().st_mtime_ns == before for path, before in finished.items())


@pytest.mark.parametrize("kind", ["parts", "routes", "timings"])
def test_an_unreadable_table_is_made_again(finished, tmp_path, kind) -> None:
    out = tmp_path / "out"
    simulate(EXPERIMENT, out)
    path = out / kind / f"{NAMES[0]}.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    simulate(EXPERIMENT, out)
    assert contents(out) == contents(finished)


def test_a_missing_belief_is_made_again_and_nothing_else(finished, tmp_path) -> None:
    out = tmp_path / "out"
    simulate(EXPERIMENT, out)
    other = out / "parts" / f"{NAMES[1]}.parquet"
    before = other.stat().st_mtime_ns
    (out / "beliefs" / f"{NAMES[0]}.npz").unlink()
    simulate(EXPERIMENT, out)
    assert contents(out) == contents(finished)
    assert other.stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", [lambda whole: whole[:-500], lambda whole: b""])
def test_a_damaged_belief_is_made_again_with_one_warning(
    finished, tmp_path, caplog, damage
) -> None:
    out = tmp_path / "out"
    simulate(EXPERIMENT, out)
    belief = out / "beliefs" / f"{NAMES[1]}.npz"
    belief.write_bytes(damage(belief.read_bytes()))
    simulate(EXPERIMENT, out)
    assert contents(out) == contents(finished)
    (warning,) = caplog.messages
    assert f"1 runs with damaged files, first {NAMES[1]}" in warning


def test_everything_is_run_again_on_request_to_the_same_result(finished, tmp_path) -> None:
    out = tmp_path / "out"
    simulate(EXPERIMENT, out)
    part = out / "parts" / f"{NAMES[0]}.parquet"
    before = part.stat().st_mtime_ns
    simulate(EXPERIMENT, out, resume=False)
    assert part.stat().st_mtime_ns > before
    assert contents(out) == contents(finished)


def test_a_folder_of_another_configuration_is_refused_with_the_difference(finished) -> None:
    other = EXPERIMENT.model_copy(update={"horizon": 6})
    with pytest.raises(
        EvrouteError, match=r"\(horizon: 5 there, 6 now\). Name another folder with --out"
    ):
        simulate(other, finished)
    assert json.loads((finished / "manifest.json").read_text())["configuration"]["horizon"] == 5


def test_a_folder_of_something_else_is_left_alone(tmp_path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(EvrouteError, match="not a folder of runs"):
        simulate(EXPERIMENT, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_a_broken_manifest_is_one_clear_line(tmp_path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(EvrouteError, match=r"manifest\.json is unreadable"):
        simulate(EXPERIMENT, tmp_path)


def test_a_trip_that_is_written_out_names_a_file_of_its_own() -> None:
    method = Method(model="exact", index="ts")

    def name(trip: str) -> str:
        return Run(
            "denver", trip, method, "potential", 0, 10, "reference", load_world("sampled-gp")
        ).name

    assert name("A") == "denver-A-exact-ts-potential-s0"
    assert name("a#1 to b").startswith("denver-a_1_to_b-")
    assert name("a#1 to b") != name("a_1 to b")
    assert not set(name("39.7,-104.9 to 39.8,-105.0")) & set("/\\:#, ")
