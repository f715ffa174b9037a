"""``evroute learn``: a table in, a belief to plan with out; bad input is one line."""

import json
import re

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.learning.belief import load_belief
from evroute.methods.setting import load_setting

RUNNER = CliRunner()


def learn(*arguments: str):
    return RUNNER.invoke(app, ["learn", *arguments, "--quiet"], env={"COLUMNS": "160"})


@pytest.fixture
def table(tmp_path):
    setting = load_setting("denver", "reference")
    lines = ["trip,edge,energy_wh"]
    for trip, (origin, destination) in (("monday", (0, 500)), ("tuesday", (100, 900))):
        for edge in setting.search.route(setting.network.time_s, origin, destination).edges:
            energy_wh = 1.3 * setting.prior.dissipated_wh[edge] + setting.potential_wh[edge]
            lines.append(f'{trip},"{setting.network.edge_id[edge]}",{energy_wh}')
    lines.append("lost,nowhere,12")
    path = tmp_path / "own.csv"
    path.write_text("\n".join(lines))
    return path


def test_learning_prints_its_findings_and_plans_can_use_them(table, tmp_path) -> None:
    out = tmp_path / "own"
    done = learn(str(table), "--out", str(out), "--model", "physics")
    assert done.exit_code == 0, done.output
    for text in (
        "monday",
        "tuesday",
        "learned 2 trips, 2 in all; 1 set aside",
        "lost: network 'denver' has no edge",
    ):
        assert text in done.stdout
    assert "forecast error before learning" in done.stdout
    again = learn(str(table), "--out", str(out), "--model", "physics")
    assert "learned 0 trips, 2 in all; 2 known already" in again.stdout
    continued = learn(str(table), "--out", str(out))  # with the model of the folder
    assert "learned 0 trips, 2 in all; 2 known already" in continued.stdout
    afresh = learn(str(table), "--out", str(out), "--model", "factor", "--reset")
    assert "learned 2 trips, 2 in all" in afresh.stdout
    planned = RUNNER.invoke(app, ["route", "--trip", "A", "--belief", str(out)])
    assert planned.exit_code == 0, planned.output
    assert "learned" in planned.stdout
    times = f"{load_belief(out).inflation:.2f} times as wide as by the noise"
    assert f"intervals by the errors of 2 trips: {times}" in " ".join(planned.stdout.split())
    document = json.loads(
        RUNNER.invoke(app, ["route", "--trip", "A", "--belief", str(out), "--json"]).stdout
    )
    forecast = document["routes"]["energy"]["forecast"]
    assert forecast["inflation"] == pytest.approx(load_belief(out).inflation)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--network", "atlantis"), "no network 'atlantis'"),
        (("--vehicle", "rocket"), "unknown vehicle 'rocket'"),
        (("--model", "magic"), "unknown model 'magic'. There are trips, independent"),
        (("--option", "arms=turns"), "model 'trips' learns whole trips and takes no arms"),
        (("--kernel", "rbf"), "model 'trips' learns whole trips and takes no kernel"),
        (("--option", "prior=paper"), "model 'trips' learns whole trips and takes no prior"),
        (("--kernel", "cubic", "--model", "exact"), "unknown kernel 'cubic'. There are matern-1/2"),
        (
            ("--option", "arms=wheels", "--model", "exact"),
            "method: arms is 'wheels'. It must be 'turns' or 'turns-braked'",
        ),
        (("--option", "arms=turns", "--model", "regional"), "has no arms on turns"),
        (("--option", "nonsense"), "not NAME=VALUE"),
        (("--option", "physics=eq8", "--option", "physics=eq8"), "physics is given twice"),
        (("--option", "prior=none"), "unknown prior 'none'"),
    ],
)
def test_wrong_options_are_refused_in_one_line_and_write_nothing(
    table, tmp_path, arguments, line
) -> None:
    refused = learn(str(table), "--out", str(tmp_path / "out"), *arguments)
    assert isinstance(refused.exception, EvrouteError), refused.output
    assert line in str(refused.exception)
    assert not (tmp_path / "out").exists()


def test_a_missing_table_is_refused_in_one_line(tmp_path) -> None:
    refused = learn("gone.csv", "--out", str(tmp_path / "out"))
    assert "gone.csv does not exist" in str(refused.exception)


def test_the_command_that_a_damaged_belief_names_makes_it_again(table, tmp_path) -> None:
    out = tmp_path / "own"
    learn(str(table), "--out", str(out), "--model", "physics")
    belief = out / "beliefs" / "denver-learned.npz"
    whole = belief.read_bytes()
    belief.write_bytes(whole[:-100])
    refused = RUNNER.invoke(app, ["route", "--trip", "A", "--belief", str(out)])
    assert isinstance(refused.exception, EvrouteError)
    command = re.search(r"'evroute (learn --repair .*?)'", str(refused.exception))[1]
    again = learn(*command.split()[1:])
    assert again.exit_code == 0, again.output
    assert belief.read_bytes() == whole
    assert RUNNER.invoke(app, ["route", "--trip", "A", "--belief", str(out)]).exit_code == 0
