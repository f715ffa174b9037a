"""Progress: lines where stderr is no terminal, silence when asked for."""

import pytest

from evroute.cli import console as module
from evroute.cli.console import progress


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_a_log_file_gets_a_line_a_minute_and_the_last(clock, capsys) -> None:
    with progress(quiet=False) as report:
        for clock[0], done in ((1, 100), (30, 150), (61, 200), (100, 250), (125, 300), (126, 1100)):
            report("trips", done, 1100)
    # 100 were done before: 200 in 61 s leave 900 at 100 in 61 s, 300 in 125 s leave 800 at 200 in
    # 125 s
    assert capsys.readouterr().err.splitlines() == [
        "trips: 200 of 1,100, about 9 minutes left",
        "trips: 300 of 1,100, about 8 minutes left",
        "trips: 1,100 of 1,100",
    ]


def test_without_a_total_it_counts(clock, capsys) -> None:
    with progress(quiet=False) as report:
        for clock[0] in (0.0, 61.0):
            report("trips", int(clock[0]), None)
    assert capsys.readouterr().err == "trips: 61\n"


def test_quiet_is_quiet(capsys) -> None:
    with progress(quiet=True) as report:
        report("trips", 1, 1)
    assert capsys.readouterr().err == ""
