"""A damaged folder of ``evroute learn`` is refused in one line and repaired from what is intact."""

import json
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.folder import Folder
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.learning.records.manifest import Choice
from evroute.learning.records.repair import repair
from evroute.methods.setting import load_setting
from evroute.report.own_trips import read_trips

ENDS = [(0, 500), (100, 900), (30, 700)]
MODEL = {"model": "physics", "prior": "dissipation", "vehicle": "renault-zoe"}


@pytest.fixture(scope="module")
def setting():
    return load_setting("denver", "renault-zoe")


@pytest.fixture(scope="module")
def tables(setting, tmp_path_factory) -> list[Path]:
    """Three tables of one trip each."""
    paths = []
    for trip, (origin, destination) in enumerate(ENDS):
        edges = setting.search.route(setting.network.time_s, origin, destination).rows
        columns = {
            "trip": [f"trip {trip}"] * len(edges),
            "edge": [setting.network.edge_id[edge] for edge in edges],
            "energy_wh": 1.1 * setting.prior.mean_wh[edges] + 2,
        }
        paths.append(tmp_path_factory.mktemp("tables") / f"{trip}.csv")
        pyarrow.csv.write_csv(pa.table(columns), paths[-1])
    return paths


@pytest.fixture(scope="module")
def whole(tables, tmp_path_factory) -> Path:
    """A folder of three files, with settings that are not the usual ones."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    for table in tables:
        learn(table, folder, **MODEL)
    return folder


@pytest.fixture
def folder(whole, tmp_path) -> Path:
    return copytree(whole, tmp_path / "out")


def state(folder: Path) -> dict[str, object]:
    """Return the content of a folder, to compare."""
    with np.load(folder / "beliefs" / "denver-learned.npz") as stored:
        belief = {name: stored[name].tolist() for name in stored.files}
    tables = ("trips.parquet", "routes/denver-learned.parquet")
    return {
        "belief": belief,
        "manifest": json.loads((folder / "manifest.json").read_text()),
        "measured": content(folder / "measured"),
        **{name: str(pq.read_table(folder / name)) for name in tables},
    }


def content(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def cut(manifest: Path) -> None:
    manifest.write_bytes(manifest.read_bytes()[:150])


def with_foreign_keys(manifest: Path) -> None:
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"owner": "somebody"}))


def changed(**fields):
    def change(manifest: Path) -> None:
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | fields))

    return change


MANIFESTS = {
    "missing": Path.unlink,
    "cut": cut,
    "empty": lambda manifest: manifest.write_bytes(b""),
    "wrong JSON": lambda manifest: manifest.write_text('["learned"]'),
    "no text": lambda manifest: manifest.write_bytes(b"\xff\xfe\x00{"),
    "other kind": lambda manifest: manifest.write_text('{"configuration": {"seeds": 3}}'),
    "foreign keys": with_foreign_keys,
    "no model": changed(method={"index": "greedy"}),
    "two networks": changed(networks={"denver": "0", "monaco": "1"}),
    "no vehicle": changed(vehicle={"name": "zoe"}),
    "text as vehicle": changed(vehicle="zoe"),
    "charging of no car": changed(charging={"ac_kw": -3}),
}


@pytest.mark.parametrize("damage", MANIFESTS.values(), ids=MANIFESTS)
@pytest.mark.parametrize("source", ["belief", "measured trips"])
def test_a_damaged_manifest_is_made_again_and_all_trips_are_learned(
    whole, folder, tables, damage, source
) -> None:
    damage(folder / "manifest.json")
    if source == "measured trips":
        rmtree(folder / "beliefs")
    left = content(folder)
    with pytest.raises(EvrouteError, match=f"evroute learn --repair {folder}") as refused:
        learn(tables[0], folder, **MODEL)
    assert "\n" not in str(refused.value)
    assert content(folder) == left
    repaired = repair(folder)
    assert repaired.trips["trip"].to_pylist() == ["trip 0", "trip 1", "trip 2"]
    assert state(folder) == state(whole)
    assert repaired.aside.parent == folder
    assert repaired.aside.name.startswith("repair-20")
    moved = content(repaired.aside)
    assert moved == {name: left[name] for name in left if not name.startswith("measured")}
    again = learn(tables[0], folder)
    assert (again.new, again.known) == (0, 1)


def test_settings_of_an_unknown_name_are_taken_from_the_next_source(whole, folder) -> None:
    for wrong in (
        {"prior": "guess"},
        {"method": {"model": "oracle"}},
        {"networks": {"denver": "0" * 64}},
    ):
        changed(**wrong)(folder / "manifest.json")
        repair(folder)
        assert state(folder) == state(whole)


def test_a_repair_of_an_intact_folder_changes_nothing(whole, folder) -> None:
    repair(folder)
    assert state(folder) == state(whole)


def other_energy(path: Path) -> None:
    table = pq.read_table(path)
    other = pa.table(table.to_pydict() | {"energy_wh": [1.0] * table.num_rows})
    pq.write_table(other.replace_schema_metadata(table.schema.metadata), path)


PARTS = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "changed": other_energy,
    "of others": lambda path: pq.write_table(pa.table({"a": [1]}), path),
    "text": lambda path: path.write_text("trip,edge,energy_wh\n"),
}


@pytest.mark.parametrize("damage", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("number", [1, 3])
def test_damaged_files_of_measured_trips_are_set_aside_and_the_others_are_learned(
    folder, tables, tmp_path, damage, number
) -> None:
    path = folder / "measured" / f"000{number}.parquet"
    damage(path)
    damaged = path.read_bytes()
    with pytest.raises(EvrouteError, match=f"evroute learn --repair {folder}") as refused:
        learn(tables[0], folder, **MODEL)
    assert "\n" not in str(refused.value)
    repaired = repair(folder)
    left = [table for k, table in enumerate(tables, start=1) if k != number]
    for table in left:
        learn(table, tmp_path / "left", **MODEL)
    mended, due = state(folder), state(tmp_path / "left")
    assert list(mended.pop("measured").values()) == list(due.pop("measured").values())
    assert mended == due
    assert (repaired.aside / "measured" / path.name).read_bytes() == damaged
    assert not path.exists()
    (note,) = (each for each in repaired.notes if each.startswith("set aside: "))
    assert path.name in note
    again = learn(tables[number - 1], folder)  # the table of the damaged file
    assert (again.new, again.trips.num_rows) == (1, 3)


def test_a_folder_without_an_intact_file_stays_as_it_is(folder) -> None:
    for path in (folder / "measured").iterdir():
        path.write_bytes(b"")
    before = content(folder)
    with pytest.raises(EvrouteError, match="no intact file of measured trips"):
        repair(folder)
    assert content(folder) == before


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_measured_trips_is_refused_in_one_line(tmp_path, make) -> None:
    if make:
        (tmp_path / "out").mkdir()
    with pytest.raises(EvrouteError, match=r"holds no measured trips. Learn their tables"):
        repair(tmp_path / "out")


def test_without_settings_the_network_is_asked_for_and_the_others_are_chosen(
    whole, folder, hill
) -> None:
    (folder / "manifest.json").unlink()
    rmtree(folder / "beliefs")
    for path in (folder / "measured").iterdir():  # as files of earlier versions
        table = pq.read_table(path)
        metadata = {k: v for k, v in table.schema.metadata.items() if k != b"manifest"}
        pq.write_table(table.replace_schema_metadata(metadata), path)
    before = content(folder)
    with pytest.raises(EvrouteError, match=r"no settings left. Name the network"):
        repair(folder)
    with pytest.raises(EvrouteError, match="network 'hill' does not have all edges of trip"):
        repair(folder, network=hill)
    assert content(folder) == before
    choice = Choice(model="physics", prior="dissipation")
    repair(folder, network="denver", vehicle="renault-zoe", choice=choice)
    mended, due = state(folder), state(whole)
    mended.pop("measured")
    due.pop("measured")
    assert mended == due


@pytest.mark.parametrize("step", range(7))
def test_a_repair_that_is_interrupted_is_finished_by_the_next(
    whole, folder, monkeypatch, step
) -> None:
    (folder / "manifest.json").write_bytes(b"")
    (folder / "measured" / "0002.parquet").write_bytes(b"")
    done = []

    def stopping(function):
        def stopped(*given, **named):
            if len(done) == step:
                raise KeyboardInterrupt
            done.append(function)
            return function(*given, **named)

        return stopped

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stopping(Path.rename))
        patch.setattr(Path, "mkdir", stopping(Path.mkdir))
        patch.setattr(Folder, "write_manifest", stopping(Folder.write_manifest))
        with pytest.raises(KeyboardInterrupt):
            repair(folder)
    assert repair(folder).trips["trip"].to_pylist() == ["trip 0", "trip 2"]
    intact = content(whole / "measured")
    intact.pop("0002.parquet")
    assert content(folder / "measured") == intact
    assert json.loads((folder / "manifest.json").read_text()) == state(whole)["manifest"]
    assert len(list(folder.glob("repair-*/measured/0002.parquet"))) == 1


def test_a_folder_that_another_process_writes_is_not_repaired(folder, monkeypatch) -> None:
    monkeypatch.setattr("evroute.learning.records.repair.WAIT_S", 0.1)
    with Folder(folder).locked(), pytest.raises(EvrouteError, match="another process is writing"):
        repair(folder)


def test_messages_of_damaged_files_name_the_repair(folder) -> None:
    for name, reader in (
        ("beliefs/denver-learned.npz", lambda: load_belief(folder)),
        ("trips.parquet", lambda: read_trips(Folder(folder))),
    ):
        (folder / name).write_bytes(b"")
        with pytest.raises(EvrouteError, match=f"evroute learn --repair {folder}"):
            reader()
        repair(folder)
        reader()


def run(*arguments):
    arguments = ["learn", *map(str, arguments), "--quiet"]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "160"})


def test_the_command_repairs_a_folder_and_prints_where_damaged_files_are(folder) -> None:
    with_foreign_keys(folder / "manifest.json")
    (folder / "measured" / "0002.parquet").write_bytes(b"")
    done = run("--repair", folder)
    assert done.exit_code == 0, done.output
    (aside,) = folder.glob("repair-*")
    lines = done.output.splitlines()
    assert "learned 2 trips, 2 in all" in lines
    assert f"the damaged files and the earlier belief are in {aside}" in lines
    assert any(line.startswith("set aside: ") and "0002.parquet" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "give a table of trips and --out FOLDER, or --repair FOLDER"),
        (["t.csv"], "give a table of trips and --out FOLDER, or --repair FOLDER"),
        (["--out", "f"], "give a table of trips and --out FOLDER, or --repair FOLDER"),
        (["t.csv", "--repair", "f"], "--repair takes no table and no --out"),
        (["--out", "f", "--repair", "f"], "--repair takes no table and no --out"),
        (["--reset", "--repair", "f"], "--repair and --reset exclude each other"),
        (["--repair", "f"], "f holds no measured trips"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(
    tmp_path, monkeypatch, arguments, line
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run(*arguments).exception
    assert isinstance(refused, EvrouteError)
    assert line in str(refused)
