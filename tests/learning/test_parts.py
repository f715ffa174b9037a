"""What a user has measured is recorded once, survives every interruption, and is all that a belief
needs.
"""

import importlib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from evroute.checked import digest_of
from evroute.errors import EvrouteError
from evroute.learning.base import Belief
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.learning.measured import MeasuredTrip
from evroute.learning.records import history, parts
from evroute.methods.setting import load_setting

learning = importlib.import_module("evroute.learning.one_call")
ENDS = [(0, 500), (100, 900), (30, 700)]
MODEL = {"model": "exact"}


@pytest.fixture(scope="module")
def setting():
    return load_setting("denver", "reference")


@pytest.fixture
def tables(setting, tmp_path) -> list[Path]:
    """Three tables, each with one more trip than the one before."""
    paths = []
    for last in (1, 2, 3):
        rows = {"trip": [], "edge": [], "energy_wh": [], "time": []}
        for trip, (origin, destination) in enumerate(ENDS[:last]):
            edges = setting.search.route(setting.network.time_s, origin, destination).edges
            rows["trip"] += [f"trip {trip}"] * len(edges)
            rows["edge"] += [setting.network.edge_id[edge] for edge in edges]
            rows["energy_wh"] += (1.1 * setting.prior.mean_wh[list(edges)] + 2).tolist()
            rows["time"] += [3600.0 + 7 * place for place in range(len(edges))]
        paths.append(tmp_path / f"{last}.csv")
        pyarrow.csv.write_csv(pa.table(rows), paths[-1])
    return paths


def state(folder: Path) -> dict[str, object]:
    """Return all that a folder holds but the measured trips' files, to compare."""
    with np.load(folder / "beliefs" / "denver-learned.npz") as stored:
        belief = {name: stored[name].tolist() for name in stored.files}
    tables = ("trips.parquet", "routes/denver-learned.parquet")
    return {"belief": belief} | {name: str(pq.read_table(folder / name)) for name in tables}


def recorded(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "measured").iterdir())}


def test_each_call_adds_one_file_that_no_later_call_changes(setting, tables, tmp_path) -> None:
    out = tmp_path / "out"
    learn(tables[0], out, **MODEL)
    first = recorded(out)
    assert list(first) == ["0001.parquet"]
    learn(tables[2], out, **MODEL)
    learn(tables[1], out, **MODEL)
    assert list(recorded(out)) == ["0001.parquet", "0002.parquet"]
    assert recorded(out)["0001.parquet"] == first["0001.parquet"]
    rows = pq.read_table(out / "measured" / "0002.parquet").to_pydict()
    own = [name for name in rows if not name.startswith("road_")]
    assert own == [field.name for field in fields(MeasuredTrip) if field.name != "record"]
    assert dict.fromkeys(rows["trip"]) == {"trip 1": None, "trip 2": None}
    assert set(rows["departed_s"]) == {3600.0}
    trips = parts.read_parts(out, setting.network)
    table = pyarrow.csv.read_csv(tables[2]).to_pydict()
    read = [setting.network.edge_id[edge] for trip in trips.values() for edge in trip.edge]
    assert read == table["edge"]
    energy_wh = np.concatenate([trip.energy_wh for trip in trips.values()])
    np.testing.assert_array_equal(energy_wh, table["energy_wh"])


def test_the_edges_driven_have_the_numbers_of_their_trips(setting, tables, tmp_path) -> None:
    out = tmp_path / "out"
    learn(tables[2], out, **MODEL)
    driven = pq.read_table(out / "routes" / "denver-learned.parquet").to_pydict()
    names = dict(zip(*pq.read_table(out / "trips.parquet").select(["t", "trip"]), strict=True))
    names = {t.as_py(): name.as_py() for t, name in names.items()}
    table = pyarrow.csv.read_csv(tables[2]).to_pydict()
    assert [names[t] for t in driven["t"]] == table["trip"]
    assert [setting.network.edge_id[edge] for edge in driven["edge"]] == table["edge"]
    assert driven["observed_wh"] == table["energy_wh"]


def test_a_file_of_measured_trips_is_a_table_to_learn(tables, tmp_path) -> None:
    learn(tables[2], tmp_path / "out", **MODEL)
    part = tmp_path / "out" / "measured" / "0001.parquet"
    learn(part, tmp_path / "again", **MODEL)
    assert state(tmp_path / "again") == state(tmp_path / "out")
    assert recorded(tmp_path / "again") == recorded(tmp_path / "out")


@pytest.mark.parametrize("writes", range(4))
def test_the_next_call_heals_a_folder_whose_writer_was_stopped_between_any_two_writes(
    tables, tmp_path, monkeypatch, writes
) -> None:
    learn(tables[0], tmp_path / "whole", **MODEL)
    learn(tables[2], tmp_path / "whole", **MODEL)
    out = tmp_path / "out"
    learn(tables[0], out, **MODEL)
    done = []

    def stopping(write):
        def stopped(*given, **named):
            if len(done) == writes:
                raise KeyboardInterrupt
            done.append(write)
            return write(*given, **named)

        return stopped

    with monkeypatch.context() as patch:
        for owner, name in (
            (history, "append_part"),
            (learning, "write_columns"),
            (Belief, "save"),
        ):
            patch.setattr(owner, name, stopping(getattr(owner, name)))
        with pytest.raises(KeyboardInterrupt):
            learn(tables[2], out, **MODEL)
    assert len(done) == writes
    healed = learn(tables[0], out, **MODEL) if writes else learn(tables[2], out, **MODEL)
    assert healed.trips.num_rows == 3
    assert healed.new == 2
    assert healed.notes == (["2 trips recorded before: learned now"] if writes else [])
    assert state(out) == state(tmp_path / "whole")
    assert recorded(out) == recorded(tmp_path / "whole")


@pytest.mark.parametrize("name", ["beliefs/denver-learned.npz", "trips.parquet"])
@pytest.mark.parametrize(
    "damage", [lambda whole: whole[: len(whole) // 2], lambda whole: b"", None]
)
def test_whatever_follows_from_the_measured_trips_is_made_again(
    tables, tmp_path, caplog, name, damage
) -> None:
    out = tmp_path / "out"
    learn(tables[2], out, **MODEL)
    whole = state(out)
    path = out / name
    path.write_bytes(damage(path.read_bytes())) if damage else path.unlink()
    learn(tables[0], out, **MODEL)
    assert state(out) == whole
    # a missing belief needs no line
    assert len(caplog.messages) == (1 if damage or name == "trips.parquet" else 0)
    assert all(str(path) in line for line in caplog.messages)


def test_a_missing_table_of_routes_is_made_again(tables, tmp_path) -> None:
    out = tmp_path / "out"
    learn(tables[2], out, **MODEL)
    whole = state(out)
    (out / "routes" / "denver-learned.parquet").unlink()
    assert learn(tables[0], out, **MODEL).new == 0
    assert state(out) == whole


def test_energies_expected_once_are_never_computed_again(tables, tmp_path) -> None:
    out = tmp_path / "out"
    learn(tables[1], out, **MODEL)
    path = out / "trips.parquet"
    marked = pq.read_table(path).to_pydict() | {"predicted_wh": [111.0, 222.0]}
    pq.write_table(pa.table(marked), path)
    (out / "beliefs" / "denver-learned.npz").unlink()
    again = learn(tables[2], out, **MODEL)
    assert again.trips["predicted_wh"].to_pylist()[:2] == [111.0, 222.0]


def test_reset_moves_the_measured_trips_aside_in_a_folder_to_plan_on(
    setting, tables, tmp_path
) -> None:
    out = tmp_path / "out"
    learn(tables[1], out, **MODEL)
    before, whole = recorded(out), state(out)
    again = learn(tables[0], out, model="physics", reset=True)
    assert again.aside.parent == out
    assert again.aside.name.startswith("reset-20")
    assert recorded(again.aside) == before
    assert state(again.aside) == whole
    load_belief(again.aside, network=setting.network)
    assert again.trips.num_rows == 1
    then = learn(again.aside / "measured" / "0001.parquet", out, model="physics")
    assert (then.new, then.known) == (1, 1)
    assert then.aside is None


@pytest.mark.parametrize("moves", range(5))
def test_a_reset_that_is_interrupted_loses_no_trip(tables, tmp_path, monkeypatch, moves) -> None:
    out = tmp_path / "out"
    learn(tables[1], out, **MODEL)
    before, real, done = recorded(out), Path.rename, []

    def stopped(path, target):
        if len(done) == moves:
            raise KeyboardInterrupt
        done.append(path.name)
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stopped)
        patch.setattr(learning.Folder, "write_manifest", stopped)  # after the last move
        with pytest.raises(KeyboardInterrupt):
            learn(tables[0], out, model="physics", reset=True)
    learn(tables[0], out, model="physics", reset=True)
    kept = {path.name: path.read_bytes() for path in out.glob("reset-*/measured/*")}
    assert kept == before


def test_a_damaged_file_of_measured_trips_is_refused_and_its_table_makes_it_again(
    tables, tmp_path
) -> None:
    out = tmp_path / "out"
    learn(tables[0], out, **MODEL)
    learn(tables[2], out, **MODEL)
    whole = state(out)
    path = out / "measured" / "0002.parquet"
    content = path.read_bytes()
    middle = len(content) // 3
    for damaged in (
        content[:-9],
        b"",
        content[:middle] + bytes(64) + content[middle + 64 :],
    ):
        path.write_bytes(damaged)
        with pytest.raises(EvrouteError, match=r"0002\.parquet is damaged") as refused:
            learn(tables[2], out, **MODEL)
        assert f"'evroute learn --repair {out}'" in str(refused.value)
        assert f"evroute learn TABLE --out {out}" in str(refused.value)
        assert "\n" not in str(refused.value)
    path.rename(tmp_path / "damaged")
    learn(tables[2], out, **MODEL)
    assert state(out) == whole


def test_a_file_of_measured_trips_with_other_numbers_is_refused(tables, tmp_path) -> None:
    out = tmp_path / "out"
    learn(tables[0], out, **MODEL)
    path = out / "measured" / "0001.parquet"
    table = pq.read_table(path)
    other = pa.table(table.to_pydict() | {"energy_wh": [1.0] * table.num_rows})
    pq.write_table(other.replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(EvrouteError, match="its digest differs"):
        learn(tables[0], out, **MODEL)


def test_a_folder_of_an_earlier_version_is_refused_until_it_is_learned_again(
    tables, tmp_path
) -> None:
    out = tmp_path / "out"
    learn(tables[1], out, **MODEL)
    (out / "measured" / "0001.parquet").rename(tmp_path / "0001.parquet")
    (out / "measured").rmdir()
    before = state(out)
    with pytest.raises(EvrouteError, match=r"an earlier version.*again into an empty folder"):
        learn(tables[2], out, **MODEL)
    assert state(out) == before
    learn(tables[1], tmp_path / "empty", **MODEL)
    assert state(tmp_path / "empty") == before


def test_a_belief_of_an_earlier_version_is_named_so_and_its_trips_are_learned_again(
    tables, tmp_path, caplog
) -> None:
    out = tmp_path / "out"
    learn(tables[1], out, **MODEL)
    whole, path = state(out), out / "beliefs" / "denver-learned.npz"
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files if name != "sha256"}
    np.savez(path, **arrays)
    learn(tables[1], out, **MODEL)
    assert "an earlier version wrote it, learning its trips again" in caplog.text
    assert state(out) == whole


def test_a_trip_at_midnight_is_not_one_without_a_time(setting, tmp_path) -> None:
    edge, known = np.array([0, 1]), (np.array([30.0, 20.0]), np.array([40.0, 50.0]))
    midnight = MeasuredTrip("midnight", edge, *known, departed_s=0.0)
    unknown = MeasuredTrip("unknown", edge, *known)
    parts.append_part(tmp_path, [midnight, unknown], setting, {})
    again = parts.read_parts(tmp_path, setting.network)
    assert again["midnight"].departed_s == 0.0
    assert again["unknown"].departed_s is None
    part = tmp_path / "measured" / "0001.parquet"  # as an earlier version wrote both
    table = pq.read_table(part)
    columns = {name: table[name].to_pylist() for name in table.column_names if "road" not in name}
    columns["departed_s"] = [0.0] * table.num_rows
    digest = {b"sha256": digest_of(columns)}
    pq.write_table(pa.table(columns).replace_schema_metadata(digest), part)
    again = parts.read_parts(tmp_path, setting.network)
    assert [trip.departed_s for trip in again.values()] == [None, None]


@pytest.mark.parametrize("departed", [None, 0.0])
def test_rows_of_an_earlier_version_hold_without_a_time_of_departure(
    setting, tmp_path, departed
) -> None:
    """An earlier version wrote 0 in the table of trips where the departure is unknown."""
    table = tmp_path / "t.csv"
    edge_id, column = setting.network.edge_id, "" if departed is None else ",departed_s"
    value = "" if departed is None else f",{departed}"
    table.write_text(f'trip,edge,energy_wh{column}\nt,"{edge_id[0]}",30{value}')
    out = tmp_path / "out"
    learn(table, out, **MODEL)
    rows = pq.read_table(out / "trips.parquet").to_pydict()
    rows["departed_s"], rows["predicted_wh"] = [0.0], [1234.5]  # kept, not computed again
    pq.write_table(pa.table(rows), out / "trips.parquet")
    assert learn(None, out, **MODEL).trips["predicted_wh"].to_pylist() == [1234.5]
