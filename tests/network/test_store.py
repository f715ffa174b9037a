import errno
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.errors import LimitError, NetworkFormatError
from evroute.network import road_network, store
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.resources import data_path


def test_a_saved_network_loads_back_exactly_equal(hill: RoadNetwork, tmp_path: Path) -> None:
    odd = replace(
        hill,
        name="odd",
        street=("", 'Avenue\nof, "quotes"', "Straße", "日本", "\U0001f697", "x" * 999, "#"),
        elevation_m=hill.elevation_m + np.pi / 7,
        length_m=hill.length_m + 1e-9,
        control=np.arange(len(hill.turns)) % 5,
        source=Source(
            "sumo", ("a", "b"), "00ff", "(c) someone", "a raster", 30.5, ("one note", "another")
        ),
    )
    store.save(odd, tmp_path / "odd.npz")
    assert store.load(tmp_path / "odd.npz").content_digest == odd.content_digest


def test_the_embedded_network_loads_back_exactly_equal(denver: RoadNetwork, tmp_path: Path) -> None:
    store.save(denver, tmp_path / "denver.npz")
    assert store.load(tmp_path / "denver.npz").content_digest == denver.content_digest


@pytest.mark.data
def test_both_cities_load_back_exactly_equal(
    monaco: RoadNetwork, luxembourg: RoadNetwork, tmp_path: Path
) -> None:
    for city in (monaco, luxembourg):
        store.save(city, tmp_path / "city.npz")
        assert store.load(tmp_path / "city.npz").content_digest == city.content_digest


def test_a_large_network_is_checked_once_a_digest_and_only_for_this_user(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LARGE", hill.n_edges)
    checks: list[str] = []
    check_columns = road_network.check_columns
    monkeypatch.setattr(
        road_network,
        "check_columns",
        lambda network: (checks.append(network.name), check_columns(network)),
    )
    mine, other = tmp_path / "mine", tmp_path / "other"
    store.save(hill, tmp_path / "hill.npz")
    store.save(replace(hill, name="twin"), tmp_path / "twin.npz")
    checks.clear()

    def load(name: str, checked: Path | None) -> RoadNetwork:
        return store.load(tmp_path / name, checked)

    first, again = load("hill.npz", mine), load("hill.npz", mine)
    assert checks == [hill.name]
    assert first.content_digest == again.content_digest
    with pytest.raises(ValueError, match="read-only"):
        again.length_m[0] = 1.0
    (tmp_path / "hill.npz").rename(tmp_path / "moved.npz")
    load("moved.npz", mine)  # the same columns at another place
    assert len(checks) == 1
    load("twin.npz", mine)  # a foreign file
    load("moved.npz", other)  # another user
    load("moved.npz", None)
    assert len(checks) == 4
    monkeypatch.setattr(store, "RULES", store.RULES + 1)  # another version
    load("moved.npz", mine)
    assert len(checks) == 5
    monkeypatch.setattr(store, "LARGE", hill.n_edges + 1)  # small ones are checked always
    load("moved.npz", mine)
    load("moved.npz", mine)
    assert len(checks) == 7


def test_a_file_that_claims_the_digest_of_a_checked_network_is_damaged(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LARGE", 1)
    store.save(hill, tmp_path / "hill.npz")
    store.load(tmp_path / "hill.npz", tmp_path / "checked")
    with np.load(tmp_path / "hill.npz") as stored:
        columns = dict(stored)
    columns["length_m"] = -columns["length_m"]
    np.savez(tmp_path / "forged.npz", **columns)
    for checked in (tmp_path / "checked", None):
        with pytest.raises(NetworkFormatError, match=r"digest differs|positive number"):
            store.load(tmp_path / "forged.npz", checked)
    document = json.loads(columns["document"].tobytes())
    (tmp_path / "1-up").touch()
    document["sha256"] = "../1-up"  # no path out of the folder
    columns["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    np.savez(tmp_path / "path.npz", **columns)
    with pytest.raises(NetworkFormatError, match="positive number"):
        store.load(tmp_path / "path.npz", tmp_path / "checked")


def test_the_same_network_is_stored_as_the_same_bytes(hill: RoadNetwork, tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        store.save(hill, tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


TABLES = {
    "names": {"street": ("Ring", 'a "b"', "Straße", ""), "edge": np.array([0, 2, 3, 3])},
    "cch": {"rank": np.arange(7), "cost": np.linspace(0.0, 1.0, 12).reshape(3, 4)},
}


def test_optional_tables_come_back_and_are_read_when_used(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hill.npz"
    store.save(hill.with_tables(TABLES), path)
    again = store.load(path)
    assert list(again.tables) == ["names", "cch"]
    with monkeypatch.context() as patch:
        patch.setattr(np, "load", lambda *_, **__: pytest.fail("read before it is used"))
        assert "profile" not in again.tables
        more = again.with_tables({"profile": {"dz_m": np.ones(3)}})
    assert again.tables["names"]["street"] == TABLES["names"]["street"]
    with pytest.raises(ValueError, match="read-only"):
        again.tables["cch"]["rank"][0] = 1
    assert again.content_digest == hill.content_digest
    np.testing.assert_array_equal(again.tables["cch"]["rank"], TABLES["cch"]["rank"])
    store.save(more, path)
    assert set(store.load(path).tables) == {"names", "cch", "profile"}
    np.testing.assert_array_equal(store.load(path).tables["profile"]["dz_m"], np.ones(3))


def test_a_table_of_another_name_is_ignored_in_a_file_and_refused_in_a_call(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hill.npz"
    with pytest.raises(ValueError, match=r"unknown table 'weather'. A network may have profile"):
        hill.with_tables({"weather": {}})
    monkeypatch.setattr(road_network, "TABLES", ("weather", "names"))
    store.save(hill.with_tables({"weather": {"a": np.ones(2)}, "names": {"b": ("x",)}}), path)
    monkeypatch.undo()
    assert dict(store.load(path).tables) == {"names": {"b": ("x",)}}


def test_another_network_has_no_tables_of_the_first(hill: RoadNetwork) -> None:
    told = hill.with_tables(TABLES)
    assert not replace(told, speed_mps=told.speed_mps * 2).tables
    assert told.digest == hill.digest


def test_a_table_that_was_replaced_or_damaged_is_refused_when_it_is_read(
    hill: RoadNetwork, tmp_path: Path
) -> None:
    path = tmp_path / "hill.npz"
    store.save(hill.with_tables(TABLES), path)
    old = store.load(path)
    store.save(hill.with_tables({"names": {"street": ("other",), "edge": np.array([1])}}), path)
    for name in ("names", "cch"):
        with pytest.raises(
            NetworkFormatError, match=f"table '{name}' of .* Load the network again"
        ):
            old.tables[name]


def test_format_2_is_read_as_it_was_written(denver: RoadNetwork, tmp_path: Path) -> None:
    shipped = data_path("denver", "network.npz")
    with np.load(shipped) as stored:
        document = json.loads(stored["document"].tobytes())
    assert document["format"] == 2
    assert denver.n_edges == len(document["edge_id"]) == 1330
    assert not denver.tables
    store.save(denver, tmp_path / "denver.npz")
    assert store.load(tmp_path / "denver.npz").content_digest == denver.content_digest


def rewritten(path: Path, *, arrays: dict[str, object] | None = None, **changes: object) -> None:
    """Change arrays and fields of a stored network's document, as no damage does."""
    with np.load(path) as stored:
        columns = dict(stored) | (arrays or {})
    document = json.loads(columns["document"].tobytes()) | changes
    columns["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    np.savez_compressed(path, **columns)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"crs": "EPSG:999999"}, "coordinate system 'EPSG:999999' is not known"),
        ({"crs": "nowhere"}, "coordinate system 'nowhere' is not known"),
        ({"crs": "EPSG:4326"}, "coordinate system 'EPSG:4326' is not in metres"),
        ({"crs": "EPSG:2263"}, "is not in metres"),
        ({"crs": 5}, "is no text"),
        ({"name": 7}, "is no text"),
        ({"name": ["hill"]}, "is no text"),
        ({"name": "../hill"}, "'../hill' cannot name a network"),
        ({"edge_id": [1, 2, 3, 4, 5, 6, 7]}, "is no text"),
        ({"street": [""] * 6}, "street and road_class need 7 entries"),
        ({"junction_id": ["j0"]}, "expected"),
        ({"source": {"kind": "osm", "attribution": "", "files": [], "notes": [3]}}, "is no text"),
        ({"edge_id": ["up"] * 7}, "is damaged (duplicate edge id 'up'. Ids must be unique). Build"),
        ({"street": ["other"] * 7}, "its digest differs"),
        ({"arrays": {"length_m": np.full(7, 5000.0)}}, "its digest differs"),
    ],
)
def test_names_counts_and_the_coordinate_system_are_checked(
    hill: RoadNetwork, tmp_path: Path, changes: dict[str, object], line: str
) -> None:
    path = tmp_path / "hill.npz"
    store.save(hill, path)
    rewritten(path, **changes)
    with pytest.raises(NetworkFormatError, match=re.escape(line)) as refused:
        store.load(path)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkFormatError, match="there is no stored network at"):
        store.load(tmp_path / "none.npz")


def test_another_format_is_refused_with_a_remedy(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FORMAT", 99)
    store.save(hill, tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(
        NetworkFormatError, match=r"has format 99, this evroute reads 3. Build the network again"
    ):
        store.load(tmp_path / "new.npz")


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("roads")
    np.savez(tmp_path / "other.npz", tail=np.arange(3))
    np.savez(tmp_path / "pickle.npz", document=np.array([{}], dtype=object))
    for name in ("text", "other", "pickle"):
        with pytest.raises(
            NetworkFormatError, match=f"{name}.npz is not a stored network, or is damaged"
        ):
            store.load(tmp_path / f"{name}.npz")


def test_damaged_files_are_refused_and_never_crash(hill: RoadNetwork, tmp_path: Path) -> None:
    path = tmp_path / "hill.npz"
    store.save(hill, path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=3):
            damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged[: rng.integers(1, 2 * len(whole))])
        try:
            assert (
                store.load(path).content_digest == hill.content_digest
            )  # the damage met no byte that is read
        except (NetworkFormatError, LimitError):
            continue


@pytest.mark.parametrize(
    "document",
    [
        {"name": 5},
        {"name": ["x"]},
        {"name": "../../x"},
        {"crs": "EPSG:99999999"},
        {"crs": 5},
        {"crs": []},
        {"edge_id": list(range(7))},
        {"edge_id": "abcdefgh"},
        {"street": [None] * 7},
        {"junction_id": ["a"]},
        {"source": {}},
        {"source": {"kind": ["x"]}},
        {"source": []},
    ],
)
def test_a_document_of_another_kind_is_refused_when_it_is_loaded(
    hill: RoadNetwork, tmp_path: Path, document: dict[str, object]
) -> None:
    store.save(hill, tmp_path / "x.npz")
    rewritten(tmp_path / "x.npz", **document)
    with pytest.raises(NetworkFormatError) as caught:
        store.load(tmp_path / "x.npz")
    assert "\n" not in str(caught.value)


def test_a_file_that_unpacks_to_far_more_is_refused_before_it_is_unpacked(
    hill: RoadNetwork, tmp_path: Path
) -> None:
    path = tmp_path / "x.npz"
    store.save(hill, path)
    with np.load(path) as stored:
        columns = {name: stored[name] for name in stored.files}
    columns["turns"] = np.zeros((5_000_000, 2), dtype=np.int8)
    np.savez_compressed(path, **columns)
    assert path.stat().st_size < 100_000
    with pytest.raises(LimitError, match="times its size or more"):
        store.load(path)


@pytest.mark.parametrize(
    "failure", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")]
)
def test_a_failure_while_writing_leaves_the_old_file_usable_and_no_other(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    path = tmp_path / "hill.npz"
    store.save(hill, path)

    def fail(handle: object, **columns: object) -> None:
        handle.write(b"half a network")  # type: ignore[attr-defined]
        raise failure

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(type(failure)):
        store.save(replace(hill, name="new"), path)
    assert store.load(path).content_digest == hill.content_digest
    assert list(tmp_path.iterdir()) == [path]
