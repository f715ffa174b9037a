"""Folders, patterns, archives and many files in one call, and columns that a user names."""

import csv
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evroute.cli import app as cli
from evroute.errors import EvrouteError, LimitError
from evroute.learning.learn import learn
from evroute.methods.setting import load_setting
from evroute.tables import read_columns

DAY_S = 86_400
START_S = 1_752_400_800  # 2025-07-13


@pytest.fixture(scope="module")
def setting():
    return load_setting("denver", "reference")


def day(path: Path, setting, number: int, rows: int = 10_000, headers=None) -> Path:
    """Write a log without a column of trips: a drive on a day, which takes 1.3 times eq. 8."""
    network, prior = setting.network, setting.prior
    edges = setting.search.route(network.time_s, 7 * number, 900 - number).edges
    lon, lat = network.junction_lon_lat
    head = headers or ["time", "lat", "lon", "energy_wh"]
    time_s, used_wh, lines = START_S + number * DAY_S, 0.0, []
    for edge in edges:
        node = network.tail[edge]
        lines.append([f"{time_s:.1f}", f"{lat[node]:.8f}", f"{lon[node]:.8f}", f"{used_wh:.3f}"])
        used_wh += 1.3 * prior.dissipated_wh[edge] + setting.potential_wh[edge]
        time_s += network.time_s[edge]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *lines[:rows]])
    return path


def learned_of(table, out: Path, **wish):
    return learn(table, out, network="denver", vehicle="reference", **wish)


def names(out: Path) -> list[str]:
    return list(read_columns(out / "trips.parquet")["trip"].to_pylist())


@pytest.fixture
def logs(tmp_path, setting) -> Path:
    folder = tmp_path / "logs"
    for number in (2, 0, 1):  # the names are not in the order of time
        day(folder / f"{chr(ord('c') - number)}.csv", setting, number)
    return folder


def test_a_folder_is_one_call_in_order_of_time_and_a_bad_file_is_set_aside(
    logs, tmp_path, setting
) -> None:
    (logs / "copy.csv").write_bytes((logs / "a.csv").read_bytes())
    day(logs / "more" / "part.csv", setting, 1, rows=30)  # most of it is in b.csv too
    (logs / "bad.csv").write_text("from,to\nA,B\n")
    (logs / "notes.doc").write_text("no log")
    out = tmp_path / "own"
    learned = learned_of(logs, out)
    assert names(out) == ["c", "b", "a"]
    assert learned.new == 3
    assert any("1 file left out that are copies" in note for note in learned.notes)
    assert any("1 trip left out that other files have too" in note for note in learned.notes)
    assert "bad.csv" in learned.skipped
    with (out / "set-aside.csv").open() as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["bad.csv"]


def test_a_folder_teaches_the_same_as_its_files_in_turn(logs, tmp_path) -> None:
    learned_of(logs, tmp_path / "folder")
    for name in "cba":
        learned_of(logs / f"{name}.csv", tmp_path / "turn")
    one, other = (read_columns(tmp_path / out / "trips.parquet") for out in ("folder", "turn"))
    assert one.to_pandas().equals(other.to_pandas())


def test_patterns_lists_and_archives_are_the_same_files(logs, tmp_path) -> None:
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in logs.glob("*.csv"):
            packed.write(path, f"my logs/{path.name}")
        packed.writestr("../outside.csv", "x")
    tables = (logs / "*.csv", [logs / "a.csv", logs / "b.csv", logs / "c.csv"], archive)
    for number, table in enumerate(tables):
        learned_of(table, tmp_path / str(number))
        assert names(tmp_path / str(number)) == ["c", "b", "a"]
    assert not (tmp_path / "outside.csv").exists()
    assert not (tmp_path.parent / "outside.csv").exists()


def test_a_second_call_reads_new_files_alone(logs, tmp_path, setting) -> None:
    out = tmp_path / "own"
    learned_of(logs, out)
    day(logs / "d.csv", setting, 3)
    again = learned_of(logs, out)
    assert (again.new, again.known) == (1, 3)
    assert names(out) == ["c", "b", "a", "d"]
    assert learned_of(logs, out).new == 0


def test_archives_that_unpack_too_far_or_are_none_are_refused(tmp_path, monkeypatch) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.csv", "0" * 40_000_000)
    with pytest.raises(LimitError, match="times its size"):
        learned_of(bomb, tmp_path / "own")
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(EvrouteError, match=r"archive .*no\.zip cannot be read"):
        learned_of(tmp_path / "no.zip", tmp_path / "own")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(EvrouteError, match="has no file that ends in"):
        learned_of(empty, tmp_path / "own")
    (empty / "bad.csv").write_text("from,to\nA,B\n")
    (empty / "worse.csv").write_text("from,to\nA,B\n")
    with pytest.raises(EvrouteError, match=r"none of .* can be learned; bad\.csv"):
        learned_of(empty, tmp_path / "own")
    assert not (tmp_path / "own" / "trips.parquet").exists()


def test_a_column_that_the_user_names_is_kept_in_the_folder(tmp_path, setting) -> None:
    headers = ["when", "y", "x", "used"]
    first = day(tmp_path / "first.csv", setting, 0, headers=headers)
    later = day(tmp_path / "later.csv", setting, 1, headers=headers)
    plain = day(tmp_path / "plain.csv", setting, 2)
    out = tmp_path / "own"
    given = dict(zip(("time", "lat", "lon", "energy_wh"), headers, strict=True))
    learned_of(first, out, column=given)
    learned_of(later, out)
    learned_of(plain, out)
    assert names(out) == ["first", "later", "plain"]
    with pytest.raises(EvrouteError, match="has no column 'y', which --column lat names"):
        learned_of(plain, out, column={"lat": "y"})


def test_one_file_has_all_reasons_beside_its_summary_too(tmp_path, setting) -> None:
    """The command shows 20 of 30 reasons. A later call without any deletes the file."""
    out, network = tmp_path / "own", setting.network
    rows = [["trip", "edge", "energy_wh"]]
    rows += [[f"bad-{k}", "nowhere", 1.0] for k in range(30)]
    edges = setting.search.route(network.time_s, 7, 900).edges
    rows += [["good", network.edge_id[row], float(setting.prior.mean_wh[row])] for row in edges]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    command = ["learn", str(tmp_path / "t.csv"), "--out", str(out), "--vehicle", "reference"]
    shown = CliRunner().invoke(cli, command).stdout
    assert "  and 10 more" in shown
    (line,) = (each for each in shown.splitlines() if each.startswith("all reasons are in "))
    with Path(line.removeprefix("all reasons are in ")).open() as file:
        reasons = {row["name"]: row["reason"] for row in csv.DictReader(file)}
    assert set(reasons) == {f"bad-{k}" for k in range(30)}
    assert all("nowhere" in reason for reason in reasons.values())
    day(tmp_path / "next.csv", setting, 1)
    assert not learned_of(tmp_path / "next.csv", out).skipped
    assert not (out / "set-aside.csv").exists()


@pytest.mark.parametrize("first_is_dated", [True, False])
def test_trips_with_and_without_a_date_go_into_one_folder(
    tmp_path, setting, first_is_dated
) -> None:
    dated = day(tmp_path / "dated.csv", setting, 1)
    bare, network = tmp_path / "bare.csv", setting.network
    edges = setting.search.route(network.time_s, 7, 900).edges
    rows = [["bare", network.edge_id[row], float(setting.prior.mean_wh[row])] for row in edges]
    with bare.open("w", newline="") as file:
        csv.writer(file).writerows([["trip", "edge", "energy_wh"], *rows])
    for table in (dated, bare)[:: 1 if first_is_dated else -1]:
        learned = learned_of(table, tmp_path / "own")
        assert (learned.new, learned.skipped) == (1, {})
    learned = learned_of(day(tmp_path / "later.csv", setting, 2), tmp_path / "own")
    assert (learned.new, learned.trips.num_rows) == (1, 3)
