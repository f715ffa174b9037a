"""Folders of others with links in them: nothing outside is written, copied or read.

Each entry of a folder, a file or a folder, is moved out of it, and a link takes its place. So the
victim is what evroute expects there: a command that followed the link would go on.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.files import inside, replacing
from evroute.network import catalog
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.service.requests import PlanBody, Trips
from evroute.service.work import Work

HEAD = "trip,edge,energy_wh,travel_s\n"
PLAN = ["route", "--trip", "A", "--belief"]
NEW = "FOLDER"
GRID = ["--model", "independent", "--index", "ts", "--horizon", "2", "--seeds", "1"]
SIMULATE = ["simulate", "--network", "denver", *GRID, "--world", "free-flow", "--quiet"]
BANDIT = 'problem = "gp-surface"\nhorizon = 3\nrepetitions = 1\nmethods = ["k-ucb"]\n'
LEARNED = "denver-trips-learned"


def run(*arguments: str | Path) -> None:
    done = CliRunner().invoke(app, [*map(str, arguments)], standalone_mode=False)
    if done.exception is not None:
        raise done.exception


def contents(folder: Path) -> dict[str, bytes | str]:
    """Bytes of files, and targets of links, by path."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = str(path.readlink())
        elif path.is_file():
            found[str(path)] = path.read_bytes()
    return found


def linked(folder: Path, elsewhere: Path) -> Iterator[tuple[Path, Path]]:
    """Yield copies of a folder with one entry behind a link, and the path of that link."""
    entries = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    assert entries
    for number, entry in enumerate(entries):
        copy = elsewhere / str(number) / "folder"
        victim = copy.with_name(f"victim-{entry.name}")
        copytree(folder, copy)
        (copy / entry).rename(victim)
        (copy / entry).symlink_to(victim)
        yield copy, copy / entry


@pytest.fixture(scope="module")
def tables(denver: RoadNetwork, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two tables of a trip each."""
    place = tmp_path_factory.mktemp("tables")
    ways = denver.turns[:2]
    for trip, way in enumerate(ways.tolist()):
        rows = "".join(f'{trip},"{denver.edge_id[edge]}",12.5,9\n' for edge in way)
        (place / f"{trip}.csv").write_text(HEAD + rows)
    return place / "0.csv", place / "1.csv"


@pytest.fixture(scope="module")
def belief(tables: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("belief") / "own"
    run("learn", tables[0], "--out", folder, "--quiet")
    return folder


def check_refused(folder: Path, tmp_path: Path, commands: list[list[str | Path]]) -> None:
    """Check that no command follows a link in place of any entry of a folder."""
    for copy, link in linked(folder, tmp_path):
        before = contents(copy.parent)
        for command in commands:
            with pytest.raises(EvrouteError) as refused:
                run(*[copy if word == NEW else word for word in command])
            assert str(link) in str(refused.value), command
            assert contents(copy.parent) == before, command


def test_no_command_follows_a_link_in_a_belief(
    belief: Path, tables: tuple[Path, Path], tmp_path: Path
) -> None:
    commands: list[list[str | Path]] = [
        ["learn", tables[1], "--out", NEW, "--quiet"],
        ["learn", tables[1], "--out", NEW, "--quiet", "--reset"],
        ["learn", "--repair", NEW, "--quiet"],
        [*PLAN, NEW],
        ["report", NEW],
    ]
    check_refused(belief, tmp_path, commands)


def test_no_command_follows_a_link_in_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(*SIMULATE, "--out", folder)
    for page in ("report.html", "report-regret.png"):
        (folder / page).touch()
    commands: list[list[str | Path]] = [
        [*SIMULATE, "--out", NEW],
        ["merge", folder, NEW, "--out", tmp_path / "whole"],
        ["merge", folder, folder, "--out", NEW],
        [*PLAN, NEW],
        ["report", NEW],
    ]
    check_refused(folder, tmp_path / "linked", commands)


def test_no_command_follows_a_link_in_a_bandit(tmp_path: Path) -> None:
    folder, problem = tmp_path / "bandit", tmp_path / "problem.toml"
    problem.write_text(BANDIT)
    run("bandit", problem, "--out", folder, "--quiet")
    commands: list[list[str | Path]] = [
        ["bandit", problem, "--out", NEW, "--quiet"],
        ["report", NEW],
    ]
    check_refused(folder, tmp_path / "linked", commands)


@pytest.mark.parametrize("name", ["measured/0002.parquet", ".writer", "reset", "report.html"])
def test_a_link_to_a_missing_file_makes_no_file(
    name: str, belief: Path, tables: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, victim = tmp_path / "folder", tmp_path / "victim"
    copytree(belief, folder)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(victim)
    for command in (["learn", tables[1], "--out", folder, "--quiet"], ["report", folder]):
        with pytest.raises(EvrouteError):
            run(*command)
    assert not victim.exists()


def test_a_link_within_the_folder_is_replaced(
    belief: Path, tables: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    copytree(belief, folder)
    (folder / "trips.parquet").unlink()
    (folder / "trips.parquet").symlink_to("manifest.json")
    (folder / ".writer").symlink_to("manifest.json")
    run("learn", tables[1], "--out", folder, "--quiet")
    assert not (folder / "trips.parquet").is_symlink()
    assert json.loads((folder / "manifest.json").read_text())["kind"] == "learned"


def test_a_folder_that_is_a_link_itself_is_the_users_choice(
    belief: Path, tables: tuple[Path, Path], tmp_path: Path
) -> None:
    copytree(belief, tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    run("learn", tables[1], "--out", tmp_path / "link", "--quiet")
    run("learn", "--repair", tmp_path / "link", "--quiet")
    run(*PLAN, tmp_path / "link")
    assert len(list((tmp_path / "real" / "measured").iterdir())) == 2


def test_a_folder_that_a_full_disk_left_names_its_remedy(belief: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    copytree(belief, folder)
    rmtree(folder / "beliefs")
    with pytest.raises(EvrouteError, match=f"evroute learn --repair {folder}"):
        run(*PLAN, folder)
    rmtree(folder / "measured")
    with pytest.raises(EvrouteError, match="its first 'evroute learn' did not end"):
        run(*PLAN, folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(EvrouteError, match="If its first command did not end, repeat that command"):
        run(*PLAN, folder)


def test_the_command_line_names_the_link_and_ends_with_status_2(
    belief: Path, tmp_path: Path
) -> None:
    folder, victim = tmp_path / "folder", tmp_path / "victim.json"
    copytree(belief, folder)
    (folder / "manifest.json").rename(victim)
    (folder / "manifest.json").symlink_to(victim)
    before = contents(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "evroute", "learn", "--repair", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "folder/manifest.json leads out of " in done.stderr
    assert contents(tmp_path) == before


def test_the_service_follows_no_link_to_or_in_a_belief(
    belief: Path, denver: RoadNetwork, tmp_path: Path
) -> None:
    edge = {"edge": denver.edge_id[0], "energy_wh": 9.0}
    trips = Trips.model_validate({"belief": "own", "trips": [{"trip": "new", "edges": [edge]}]})
    plan = PlanBody(origin=denver.edge_id[0], destination=denver.edge_id[9], belief="own")
    for linked_name in ("own", "own/manifest.json", "own/beliefs", "own/measured/0001.parquet"):
        place = tmp_path / linked_name.replace("/", "-")
        beliefs, victim = place / "beliefs", place / "victim"
        copytree(belief, beliefs / "own")
        (beliefs / linked_name).rename(victim)
        (beliefs / linked_name).symlink_to(victim)
        before, work = contents(place), Work(beliefs, 30.0)
        for ask in (lambda w: w.plan(plan), lambda w: w.learn(trips), lambda w: w.belief("own")):
            with pytest.raises(EvrouteError, match=f"{beliefs / linked_name} leads out of"):
                ask(work)
            assert contents(place) == before


def test_a_network_of_the_cache_is_no_link(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "chosen").symlink_to("cache")  # the user's own choice
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "chosen"))
    kept = catalog.keep(denver)
    assert load_network("denver").digest == denver.digest
    for entry in (kept, kept.parent):
        victim = tmp_path / "victim"
        entry.rename(victim)
        entry.symlink_to(victim)
        before = contents(victim) or victim.read_bytes()
        for work in (lambda: load_network("denver"), lambda: catalog.keep(denver)):
            with pytest.raises(EvrouteError, match="leads out of"):
                work()
        assert (contents(victim) or victim.read_bytes()) == before
        entry.unlink()
        victim.rename(entry)


def test_links_in_a_circle_lead_nowhere(tmp_path: Path, tables: tuple[Path, Path]) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(EvrouteError):
        inside(tmp_path, "a")
    with (
        pytest.raises(OSError, match="Too many levels") as refused,
        replacing(tmp_path / "a", follow=True),
    ):
        pass
    assert refused.value.filename == str(tmp_path / "a")
    for command in (["learn", tables[0], "--quiet"], SIMULATE, PLAN[:-1]):
        with pytest.raises((EvrouteError, OSError)):
            run(*command, "--out", tmp_path / "a")


def test_names_lead_out_of_no_folder(tmp_path: Path) -> None:
    for name in ("..", "../other", "/etc/hostname", "a/../../b"):
        with pytest.raises(EvrouteError):
            inside(tmp_path, name)
    assert inside(tmp_path, "a", "..", "b") == tmp_path / "a" / ".." / "b"
