"""Parts of an experiment, united, are the experiment played as a whole."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment, grid, simulate
from evroute.experiments.runs import RunFolder
from evroute.experiments.union import unite


def experiment(models: list[str], seeds: int, first_seed: int | None = None) -> Experiment:
    return grid(
        networks=["denver"],
        trips=["A"],
        models=models,
        indices=["ts"],
        options={},
        horizon=2,
        seeds=seeds,
        first_seed=first_seed,
        world=["free-flow"],
    )


def content(folder: RunFolder) -> dict[str, bytes]:
    kinds = ("rounds.parquet", "parts/*", "routes/*", "beliefs/*", "manifest.json")
    paths = sorted(path for kind in kinds for path in folder.path.glob(kind))
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Two methods with four seeds, in one command."""
    place = tmp_path_factory.mktemp("whole") / "runs"
    return content(simulate(experiment(["independent", "exact"], 4), place))


def test_folders_of_other_seeds_are_the_undivided_runs(
    whole: dict[str, bytes], tmp_path: Path
) -> None:
    both = ["independent", "exact"]
    simulate(experiment(both, 1), tmp_path / "a")
    simulate(experiment(both, 3, first_seed=1), tmp_path / "b")
    # whatever the order in which they are named
    for names in (("a", "b"), ("b", "a")):
        folder, missing = unite([tmp_path / name for name in names], tmp_path / "".join(names))
        assert missing == []
        assert content(folder) == whole


def test_missing_runs_are_named_and_the_whole_experiment_plays_them(
    whole: dict[str, bytes], tmp_path: Path
) -> None:
    """Of two methods and four seeds, one folder has three runs and the other two."""
    simulate(experiment(["independent"], 3), tmp_path / "a")
    simulate(experiment(["exact"], 2, first_seed=2), tmp_path / "b")
    words = ["merge", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "c")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "3 runs of the grid are missing" in done.stderr
    assert "missing: denver-A-free-flow-independent-ts-potential-rectified-s3" in done.stderr
    assert f"{tmp_path / 'c'}: 5 runs" in done.stdout
    folder = simulate(experiment(["independent", "exact"], 4), tmp_path / "c")
    assert content(folder) == whole


def test_folders_that_are_no_parts_of_one_experiment_are_refused(tmp_path: Path) -> None:
    a = simulate(experiment(["independent"], 1), tmp_path / "a").path
    far = simulate(experiment(["independent"], 1, first_seed=5), tmp_path / "far").path
    other = grid(
        networks=["denver"], trips=["B"], models=["independent"], options={}, indices=["ts"],
        horizon=2, seeds=1, world=["free-flow"],
    )  # fmt: skip
    b = simulate(other, tmp_path / "b").path
    out = tmp_path / "out"
    for paths, why in (
        ([a, b], r"a and .*b are not parts of one experiment: they differ in trips"),
        ([a, far], r"no folder has seed 1, between 0 and 5"),
        ([a], r"got 1 folder. Name two or more"),
        ([a, tmp_path], r"is not a folder of runs"),
    ):
        with pytest.raises(EvrouteError, match=why) as refused:
            unite(paths, out)
        assert "\n" not in str(refused.value)
        assert not out.exists()
