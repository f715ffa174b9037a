"""``evroute route --interval``: expected energies with a guarantee, beside the Bayesian
interval.
"""

import json
import sys

import pytest

from evroute.cli import main


@pytest.fixture
def evroute(capsys, monkeypatch):
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["evroute", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        with pytest.raises(SystemExit) as status:
            main()
        shown = capsys.readouterr()
        return int(status.value.code or 0), shown.out, shown.err

    return run


def test_a_belief_gives_an_interval_with_what_it_assumes(evroute, tmp_path):
    runs = tmp_path / "runs"
    learn = (
        "--network",
        "denver",
        "--method",
        "gp-ts",
        "--horizon",
        3,
        "--seeds",
        1,
        "--out",
        runs,
        "--quiet",
    )
    assert evroute("simulate", *learn)[0] == 0
    plan = (
        "route",
        "--network",
        "denver",
        "--trip",
        "A",
        "--belief",
        runs,
        "--interval",
        "cmm",
        "--assume",
        "B=20",
    )
    status, out, _ = evroute(*plan)
    assert status == 0
    assert "expected, cmm" in out
    assert "with probability 0.95 if the norm of the difference from eq. 8 is at most B = 20" in out
    told = json.loads(evroute(*plan, "--json")[1])["routes"]["energy"]["forecast"]
    low, high = told["guarantee"]["expected_wh"]
    assert low < told["mean_wh"] < high
    status, _, err = evroute(*plan[:-1], "B=0.1")
    assert status == 2
    assert "no function of norm B = 0.1 fits the measurements" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--interval cmm", "--belief"),
        ("--assume B=3", "--interval"),
        ("--belief x --interval cmm --assume C=3", "none of B=VALUE"),
        ("--belief x --interval cmm --assume B=much", "must be a number"),
        ("--belief x --interval cmm --assume sigma=0", "sigma is 0"),
        ("--belief x --interval hmm", "unknown interval 'hmm'"),
    ],
)
def test_wrong_requests_are_one_line(evroute, arguments, message):
    status, _, err = evroute("route", "--network", "denver", "--trip", "A", *arguments.split())
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
