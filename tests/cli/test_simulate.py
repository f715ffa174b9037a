"""``evroute simulate``: a grid by options, an experiment by file, and bad input in one line."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError

RUNNER = CliRunner()
SHORT = ["--network", "denver", "--horizon", "2", "--seeds", "1", "--quiet"]
FILE = """horizon = 2
seeds = 1
methods = [{model = "independent", index = "ts"}]
[trips]
denver = ["A"]
"""


def simulate(*arguments: str):
    return RUNNER.invoke(app, ["simulate", *arguments], env={"COLUMNS": "160"})


def refused(*arguments: str) -> str:
    """Return the one line that `main` would show."""
    done = simulate(*arguments)
    if done.exit_code == 2:  # typer's own
        return done.stderr
    assert isinstance(done.exception, EvrouteError), done.output
    assert "\n" not in str(done.exception)
    return str(done.exception)


def test_repeated_options_make_a_grid_of_runs(tmp_path) -> None:
    out = tmp_path / "grid"
    done = simulate(
        *(
            *SHORT,
            "--trip",
            "A",
            "--trip",
            "B",
            "--model",
            "independent",
            "--index",
            "ts",
            "--index",
            "ucb",
        ),
        *(
            "--variance-scale",
            "1",
            "--option",
            "beta_scale=0.5",
            "--search",
            "rectified",
            "--out",
            str(out),
        ),
    )
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    for text in (
        "denver A",
        "denver B",
        "BI-TS (variance scale 1)",
        "BI-UCB (beta scale 0.5)",
        "rounds.parquet",
    ):
        assert text in done.stdout
    rounds = pq.read_table(out / "rounds.parquet")
    assert rounds.num_rows == 2 * 2 * 2
    assert set(rounds["search"].to_pylist()) == {"rectified"}


def test_a_second_vehicle_is_refused() -> None:
    assert "--vehicle is given 2 times" in refused(*SHORT, "--vehicle", "a", "--vehicle", "b")


def test_worlds_by_name_and_file_have_a_table_each(tmp_path) -> None:
    path = tmp_path / "uphill.toml"
    path.write_text('kind = "physics"\npayload_kg = 300\nnoise_share = 0.1\n')
    out = tmp_path / "runs"
    done = simulate(
        *(
            *SHORT,
            "--model",
            "independent",
            "--world",
            "cold",
            "--world",
            str(path),
            "--out",
            str(out),
        ),
        *("--option", "closed_share=0.02", "--jobs", "2"),
    )
    assert done.exit_code == 0, done.output
    assert "cold, search potential-rectified, 1 world" in done.stdout
    assert "uphill, search potential-rectified, 1 world" in done.stdout
    rounds = pq.read_table(out / "rounds.parquet")
    assert rounds["world"].to_pylist() == ["cold"] * 2 + ["uphill"] * 2
    assert np.all(rounds["best_wh"].to_numpy() <= rounds["true_wh"].to_numpy())
    told = json.loads((out / "manifest.json").read_text())["configuration"]["world"]
    assert [(world["kind"], world["closed_share"]) for world in told] == [("physics", 0.02)] * 2
    path.write_text(path.read_text().replace("300", "400"))
    worlds = ("--world", "cold", "--world", str(path), "--option", "closed_share=0.02")
    said = refused(*SHORT, "--model", "independent", *worlds, "--out", str(out))
    assert "(world.1.payload_kg: 300.0 there, 400.0 now)" in said


def test_spreads_are_printed_only_for_several_worlds(tmp_path) -> None:
    one = simulate(*SHORT, "--model", "independent", "--out", str(tmp_path / "one")).stdout
    two = simulate(
        *SHORT, "--seeds", "2", "--model", "independent", "--out", str(tmp_path / "two")
    ).stdout
    for words in ("± se", "geom. mean", "its standard error, geometric mean"):
        assert words not in one
        assert words in " ".join(two.split())


def test_a_second_run_repeats_nothing(tmp_path) -> None:
    arguments = (*SHORT, "--model", "independent", "--out", str(tmp_path))
    assert simulate(*arguments).exit_code == 0
    part = next((tmp_path / "parts").iterdir())
    before = part.stat().st_mtime_ns
    assert simulate(*arguments, "--resume").exit_code == 0
    assert part.stat().st_mtime_ns == before


def test_a_file_runs_into_the_folder_of_its_name(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(FILE)
    done = simulate("small.toml", "--seeds", "2", "--quiet")
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "runs" / "small" / "manifest.json").read_text())
    assert manifest["configuration"]["seeds"] == 2


def test_progress_goes_to_stderr(tmp_path) -> None:
    done = simulate(*SHORT[:-1], "--model", "independent", "--out", str(tmp_path))
    assert done.stderr == "trips: 2 of 2\n"
    assert "2/2" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--horizon", "0"], "--horizon"),
        (["--seeds", "0"], "--seeds"),
        (["--jobs", "0"], "--jobs"),
        (["--index", "thompson"], "unknown index 'thompson'. There are ucb,"),
        (["--model", "deep"], "unknown model 'deep'. There are independent, exact"),
        (["--search", "best"], "unknown search 'best'. There are potential,"),
        (["--trip", "Z"], "network 'denver' has no trip 'Z'. It has A, B"),
        (["--vehicle", "rocket"], "unknown vehicle 'rocket'"),
        (["--network", "atlantis"], "there is no network 'atlantis'"),
        (
            ["--index", "ucb", "--variance-scale", "1"],
            "no method takes variance_scale: not exact with ucb",
        ),
        (["--variance-scale", "0"], "variance_scale is 0.0. It must be greater than 0"),
        (["--index", "bayes-ucb", "--option", "xi=-1"], "xi is -1. It must be greater than 0"),
        (["--index", "bayes-ucb", "--option", "xi"], "--option 'xi' is not NAME=VALUE"),
        (["--option", "depth=3"], "no method takes depth: not exact with ts"),
        (["--method", "magic"], "unknown method 'magic'. There are recommended, gp-ucb"),
    ],
)
def test_bad_input_is_refused(tmp_path, arguments, message) -> None:
    assert message in refused(*SHORT, "--out", str(tmp_path / "out"), *arguments)
    assert not (tmp_path / "out").exists()


def test_missing_options_are_named(tmp_path) -> None:
    assert "--network" in refused("--out", str(tmp_path))
    assert "--out" in refused(*SHORT)


def test_methods_of_a_file_are_not_changed_by_options(tmp_path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(FILE)
    assert "--index cannot change an experiment file" in refused(str(path), "--index", "ucb")


def test_another_configuration_is_refused_with_the_difference(tmp_path) -> None:
    arguments = (*SHORT, "--model", "independent", "--out", str(tmp_path))
    assert simulate(*arguments).exit_code == 0
    assert "horizon: 2 there, 3 now" in refused(*arguments, "--horizon", "3")


def test_a_variational_model_learns_and_its_belief_plans(tmp_path) -> None:
    out = tmp_path / "svgp"
    done = simulate(
        *SHORT,
        "--model",
        "svgp",
        "--option",
        "inducing_points=30",
        "--option",
        "prior=dissipation",
        "--out",
        str(out),
    )
    assert done.exit_code == 0, done.output
    assert "search potential-rectified, dissipation prior, 1 world" in done.stdout
    planned = RUNNER.invoke(
        app, ["route", "--network", "denver", "--trip", "A", "--belief", str(out), "--json"]
    )
    assert planned.exit_code == 0, planned.output


def test_the_model_options_are_checked(tmp_path) -> None:
    out = ("--out", str(tmp_path / "none"))
    assert "1" in refused(*SHORT, "--model", "svgp", "--option", "inducing_points=0", *out)
    assert "pivoted" in refused(*SHORT, "--model", "svgp", "--option", "choice=sorted", *out)
    steps = (*SHORT, "--model", "svgp-gpytorch", *out)
    assert "abacus" in refused(*steps, "--option", "device=abacus")
    message = refused(*SHORT, "--option", "choice=pivoted", *out)
    assert message.startswith("no method takes choice: not exact with ts. Options are arms, change")


@pytest.mark.parametrize(
    "option", ["slots=follow", "natural_rate=0.5", "batch_size=100", "device=cuda"]
)
def test_options_of_the_steps_name_their_model(tmp_path, option: str) -> None:
    for method in ("--model", "--method"):
        out = ("--out", str(tmp_path / "none"))
        message = refused(*SHORT, method, "svgp", "--option", option, *out)
        assert option.partition("=")[0] in message
        assert "'svgp-gpytorch'" in message


@pytest.mark.parametrize("value", ["True", "true"])
def test_an_option_is_written_as_method_show_prints_it(tmp_path, value: str) -> None:
    options = ("--model", "exact", "--index", "ts", "--option", "arms=turns")
    done = simulate(
        *SHORT, *options, "--option", f"learn_speeds={value}", "--out", str(tmp_path), "--dry-run"
    )
    assert done.exit_code == 0, done.output
    assert "learn_speeds = True" in RUNNER.invoke(app, ["method", "show", "recommended"]).output
