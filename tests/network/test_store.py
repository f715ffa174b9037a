import errno
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.errors import LimitError, NetworkFormatError
from evroute.network import store
from evroute.network.road_network import RoadNetwork, Source


def test_a_saved_network_loads_back_exactly_equal(hill: RoadNetwork, tmp_path: Path) -> None:
    odd = replace(
        hill,
        name="odd",
        street=("", 'Avenue\nof, "quotes"', "Straße", "日本", "\ud800", "x" * 999, "#"),
        elevation_m=hill.elevation_m + np.pi / 7,
        length_m=hill.length_m + 1e-9,
        control=np.arange(len(hill.turns)) % 5,
        source=Source(
            "sumo", ("a", "b"), "00ff", "(c) someone", "a raster", 30.5, ("one note", "another")
        ),
    )
    store.save(odd, tmp_path / "odd.npz")
    assert store.load(tmp_path / "odd.npz").equals(odd)


def test_the_embedded_network_loads_back_exactly_equal(denver: RoadNetwork, tmp_path: Path) -> None:
    store.save(denver, tmp_path / "denver.npz")
    assert store.load(tmp_path / "denver.npz").equals(denver)


@pytest.mark.data
def test_both_cities_load_back_exactly_equal(
    monaco: RoadNetwork, luxembourg: RoadNetwork, tmp_path: Path
) -> None:
    for city in (monaco, luxembourg):
        store.save(city, tmp_path / "city.npz")
        assert store.load(tmp_path / "city.npz").equals(city)


def test_the_same_network_is_stored_as_the_same_bytes(hill: RoadNetwork, tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        store.save(hill, tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkFormatError, match="there is no stored network at"):
        store.load(tmp_path / "none.npz")


def test_another_format_is_refused_with_what_to_do(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FORMAT", 99)
    store.save(hill, tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(
        NetworkFormatError, match="has format 99, this evroute reads 2; build the network again"
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
            assert store.load(path).equals(hill)  # the damage met no byte that is read
        except NetworkFormatError:
            continue


def rewritten(path: Path, network: RoadNetwork, **document: object) -> Path:
    """Store a network with other values in its document."""
    store.save(network, path)
    with np.load(path) as stored:
        columns = {name: stored[name] for name in stored.files}
    changed = json.loads(columns["document"].tobytes()) | document
    columns["document"] = np.frombuffer(json.dumps(changed).encode(), dtype=np.uint8)
    np.savez_compressed(path, **columns)
    return path


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
    with pytest.raises(NetworkFormatError) as caught:
        store.load(rewritten(tmp_path / "x.npz", hill, **document))
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
    assert store.load(path).equals(hill)
    assert list(tmp_path.iterdir()) == [path]
