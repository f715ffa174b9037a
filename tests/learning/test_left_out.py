"""A trip that cannot be learned is left out by name, and the others are learned without it."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evroute.checked import read_arrays, write_arrays
from evroute.errors import EvrouteError
from evroute.learning.learn import learn
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.trips.energies import TripEnergies
from evroute.planning.forecasts.pace import Pace

WAYS = (["in", "up", "down", "out"], ["in", "east", "west", "out"])
MODELS = {"trips": TripEnergies, "exact": LearnedBelief}


def table_of(place: Path, names: list[str]) -> Path:
    """Write trips that take 200 Wh and 90 s on each edge, one a second."""
    rows = [
        {"trip": name, "edge": edge, "energy_wh": 200.0, "travel_s": 90.0, "departed_s": number}
        for number, name in enumerate(names)
        for edge in WAYS[number % 2]
    ]
    path = place / f"{'-'.join(names)[:40]}.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def state(folder: Path) -> dict[str, object]:
    with np.load(folder / "beliefs" / "hill-learned.npz") as stored:
        belief = {name: stored[name].tolist() for name in stored.files}
    tables = ("trips.parquet", "routes/hill-learned.parquet")
    return belief | {name: str(pq.read_table(folder / name)) for name in tables}


def recorded(folder: Path) -> list[str]:
    parts = sorted((folder / "measured").glob("*.parquet"))
    return [
        name
        for part in parts
        for name in dict.fromkeys(pq.read_table(part, columns=["trip"])["trip"].to_pylist())
    ]


@pytest.fixture(params=MODELS)
def model(request) -> str:
    return request.param


@pytest.fixture
def failing(monkeypatch):
    """Return the names of trips that raise once a part of them was learned."""
    names: set[str] = set()
    for kind in MODELS.values():
        whole = kind.take

        def take(self, trip, expected, whole=whole):
            whole(self, trip, expected)
            if trip.trip in names:
                raise ArithmeticError("two\nlines")

        monkeypatch.setattr(kind, "take", take)
    monkeypatch.setattr(LearnedBelief, "block", property(lambda self: 1))
    return names


def test_a_new_trip_that_cannot_be_learned_is_not_recorded(hill, tmp_path, model, failing) -> None:
    failing |= {"b", "d"}
    named = {"network": hill, "model": model}
    learned = learn(table_of(tmp_path, ["a", "b", "c", "d"]), tmp_path / "out", **named)
    assert learned.skipped == dict.fromkeys(("b", "d"), "it cannot be learned (two)")
    assert (learned.new, learned.known) == (2, 0)
    assert recorded(tmp_path / "out") == ["a", "c"]
    failing.clear()
    table = pq.read_table(table_of(tmp_path, ["a", "b", "c", "d"])).to_pandas()
    left = table[table["trip"].isin(["a", "c"])]
    left.to_parquet(tmp_path / "left.parquet")
    learn(tmp_path / "left.parquet", tmp_path / "left", **named)
    assert state(tmp_path / "out") == state(tmp_path / "left")


def test_where_no_trip_can_be_learned_nothing_is_recorded(hill, tmp_path, model, failing) -> None:
    failing |= {"a", "b"}
    table = table_of(tmp_path, ["a", "b"])
    with pytest.raises(EvrouteError, match=r"none of 2 trips can be learned; 'a': it cannot be"):
        learn(table, tmp_path / "out", network=hill, model=model)
    assert not (tmp_path / "out" / "measured").exists()
    failing.clear()
    assert learn(table, tmp_path / "out", network=hill, model=model).new == 2


def test_a_recorded_trip_that_cannot_be_learned_is_named_and_tried_again(
    hill, tmp_path, model, failing
) -> None:
    out, named = tmp_path / "out", {"network": hill, "model": model}
    learn(table_of(tmp_path, ["a", "b"]), out, **named)
    learn(table_of(tmp_path, ["c"]), out, **named)
    for name in ("beliefs", "routes"):
        shutil.rmtree(out / name)
    (out / "trips.parquet").unlink()
    failing.add("b")
    for new, table in ((3, ["d"]), (0, ["d"]), (1, ["e"])):
        again = learn(table_of(tmp_path, table), out, **named)
        assert list(again.skipped) == ["b"]
        assert again.new == new
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert again.trips["trip"].to_pylist() == ["a", "c", "d", "e"]
    learn(None, out, **named)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert recorded(out) == ["a", "b", "c", "d", "e"]
    failing.clear()
    healed = learn(None, out, **named)
    assert healed.skipped == {}
    assert healed.trips["trip"].to_pylist() == ["a", "c", "d", "e", "b"]
    assert healed.notes == ["1 trip recorded before: learned now"]


def test_a_trip_that_leaves_numbers_that_are_not_finite_is_left_out(
    hill, tmp_path, model, monkeypatch
) -> None:
    taken: dict[int, list[str]] = {}
    kind = MODELS[model]
    take, whole_state = kind.take, kind.state

    def noted(self, trip, expected):
        take(self, trip, expected)
        taken.setdefault(id(self), []).append(trip.trip)

    def with_nan(self):
        spoiled = {"spoiled": np.array([np.nan])} if "b" in taken.get(id(self), ()) else {}
        return whole_state(self) | spoiled

    monkeypatch.setattr(kind, "take", noted)
    monkeypatch.setattr(kind, "state", with_nan)
    monkeypatch.setattr(LearnedBelief, "block", property(lambda self: 1))
    learned = learn(
        table_of(tmp_path, ["a", "b", "c"]), tmp_path / "out", network=hill, model=model
    )
    assert learned.skipped == {
        "b": "it cannot be learned (the numbers of 'spoiled' are not finite)"
    }
    assert recorded(tmp_path / "out") == ["a", "c"]


def test_a_saved_belief_with_numbers_that_are_not_finite_is_learned_again(
    hill, tmp_path, caplog
) -> None:
    out = tmp_path / "out"
    learn(table_of(tmp_path, ["a", "b"]), out, network=hill)
    whole, path = state(out), out / "beliefs" / "hill-learned.npz"
    arrays = read_arrays(path)
    name = "times/pace/seconds"
    arrays[name][0] = np.nan
    write_arrays(path, arrays)
    learn(None, out, network=hill)
    assert f"cannot plan (the numbers of '{name}' are not finite)" in caplog.text
    assert state(out) == whole


def test_a_failing_trip_of_a_block_leaves_the_others_of_the_block(
    hill, tmp_path, monkeypatch
) -> None:
    names = [f"t{number}" for number in range(70)]
    whole = Pace.learn

    def learn_part(self, edge, travel_s, departed_s):
        whole(self, edge, travel_s, departed_s)
        if departed_s == 30:
            raise ValueError

    monkeypatch.setattr(Pace, "learn", learn_part)
    learned = learn(table_of(tmp_path, names), tmp_path / "out", network=hill, model="exact")
    assert learned.skipped == {"t30": "it cannot be learned (ValueError)"}
    assert recorded(tmp_path / "out") == [name for name in names if name != "t30"]
