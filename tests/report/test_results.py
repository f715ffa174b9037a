"""What reports read from run folders, and what they say of broken ones."""

from pathlib import Path

import pytest

from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.report.results import read_rounds, read_timings, read_visits


def test_visits_count_every_passage(run_folder: RunFolder) -> None:
    names = run_folder.finished_runs()
    # 16 trips: those with regret left, 2 + 1 + 3 + 3, over the hill, and 7 round it
    assert read_visits(run_folder, names, 7).tolist() == [16, 9, 9, 7, 7, 16, 0]
    (one,) = [name for name in names if "exact" in name and name.endswith("s1")]
    assert read_visits(run_folder, [one], 7).tolist() == [4, 1, 1, 3, 3, 4, 0]


def test_rounds_of_finished_runs_are_read_while_others_are_missing(run_folder: RunFolder) -> None:
    first, *_ = run_folder.finished_runs()
    (run_folder.path / "parts" / f"{first}.parquet").unlink()
    rounds = read_rounds(run_folder)
    assert rounds["run"].nunique() == 3
    assert set(read_timings(run_folder)["run"]) == set(rounds["run"])


def test_an_empty_folder_has_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(EvrouteError, match="is finished"):
        read_rounds(RunFolder(tmp_path))


@pytest.mark.parametrize("damage", [b"", b"PAR1 cut off"])
def test_a_damaged_table_is_named(run_folder: RunFolder, damage: bytes) -> None:
    part = next((run_folder.path / "parts").glob("*.parquet"))
    part.write_bytes(damage)
    with pytest.raises(EvrouteError, match=f"{part.name} is unreadable"):
        read_rounds(run_folder)


def test_missing_timings_are_named(run_folder: RunFolder) -> None:
    path = next((run_folder.path / "timings").glob("*.parquet"))
    path.unlink()
    with pytest.raises(EvrouteError, match=f"{path.name} is missing"):
        read_timings(run_folder)


def test_routes_of_another_network_are_refused(run_folder: RunFolder) -> None:
    with pytest.raises(EvrouteError, match="belongs to another one"):
        read_visits(run_folder, run_folder.finished_runs(), 3)
