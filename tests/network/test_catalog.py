import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.errors import EvrouteError, NetworkFormatError, UnknownNameError
from evroute.network import catalog, store
from evroute.network.road_network import RoadNetwork

NET = """<net><location netOffset="0,0" projParameter="+proj=utm +zone=32 +units=m"/>
<edge id="out" from="A" to="B"><lane index="0" speed="10" length="{length}" shape="0,0 100,0"/>
</edge>
<edge id="back" from="B" to="A"><lane index="0" speed="10" length="100" shape="100,0 0,0"/></edge>
<edge id="exit" from="B" to="C"><lane index="0" speed="10" length="100" shape="100,0 200,0"/></edge>
<junction id="A" x="0" y="0" z="0"/><junction id="B" x="100" y="0" z="10"/>
<junction id="C" x="200" y="0" z="0"/>
<connection from="out" to="back" fromLane="0" toLane="0"/>
<connection from="back" to="out" fromLane="0" toLane="0"/>
<connection from="out" to="exit" fromLane="0" toLane="0"/></net>"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data folder."""
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("EVROUTE_DATA_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose "monaco" is a toy."""
    path = tmp_path / "data" / "monaco" / "most.net.xml.gz"
    path.parent.mkdir(parents=True)
    path.write_text(NET.format(length=120))
    monkeypatch.setenv("EVROUTE_DATA_DIR", str(tmp_path / "data"))
    return path


def test_a_network_of_the_data_folder_is_built_once_and_then_loaded(
    source: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = catalog.load_network("monaco")
    assert built.edge_id == ("out", "back")
    assert built.length_m.tolist() == [120.0, 100.0]  # those of its lanes
    assert built.source.smoothing_m == 30.0
    assert built.source.notes == (
        "the source has no lights, stop signs or right of way",
        "kept the largest strongly connected component: 2 of 3 edges",
    )
    assert built.control is None
    assert "MoST scenario" in built.source.attribution
    assert len(list(cache.rglob("*.npz"))) == 1
    monkeypatch.setattr(catalog, "build", None)
    assert catalog.load_network("monaco").content_digest == built.content_digest


def test_a_changed_source_is_built_again(source: Path) -> None:
    before = catalog.load_network("monaco")
    source.write_text(NET.format(length=150))
    after = catalog.load_network("monaco")
    assert after.length_m[0] == 150.0
    assert after.source.sha256 != before.source.sha256


def test_a_build_of_the_users_own_comes_before_the_data_folder_and_the_embedded(
    source: Path, hill: RoadNetwork
) -> None:
    for name in ("monaco", "denver"):
        mine = replace(hill, name=name)
        catalog.keep(mine)
        assert catalog.load_network(name).content_digest == mine.content_digest


def test_the_embedded_network_needs_neither_cache_nor_data_folder(cache: Path) -> None:
    assert catalog.load_network("denver").n_edges == 1330
    assert not cache.exists()


def test_a_stored_file_is_loaded_by_its_path(hill: RoadNetwork, tmp_path: Path) -> None:
    store.save(hill, tmp_path / "mine.npz")
    assert catalog.load_network(tmp_path / "mine.npz").content_digest == hill.content_digest
    assert catalog.load_network(str(tmp_path / "mine.npz")).content_digest == hill.content_digest


def test_names_are_listed_with_where_they_are(source: Path, hill: RoadNetwork) -> None:
    kept = catalog.keep(replace(hill, name="valley"))
    names = catalog.network_names()
    assert names == {
        "denver": "embedded",
        "monaco": "data folder (most.net.xml.gz)",
        "valley": f"built ({kept})",
    }


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("atlantis", "evroute network build atlantis --osm FILE"),
        ("luxembourg", "evroute network fetch luxembourg"),
    ],
)
def test_an_unknown_name_lists_the_networks_and_the_command_that_builds_one(
    source: Path, name: str, advice: str
) -> None:
    there = rf"there is no network '{name}'. There are: denver, monaco\. .*'{advice}'"
    with pytest.raises(UnknownNameError, match=there):
        catalog.load_network(name)


@pytest.mark.parametrize("name", ["", "../denver", "a/b", "a\\b", ".hidden", "a b", "a\n", "x.npz"])
def test_a_name_that_could_be_a_path_is_refused(hill: RoadNetwork, name: str) -> None:
    with pytest.raises(EvrouteError, match="cannot name a network"):
        catalog.keep(replace(hill, name=name))


def test_a_damaged_stored_network_is_refused_with_a_remedy(hill: RoadNetwork) -> None:
    catalog.keep(hill).write_bytes(b"damaged")
    with pytest.raises(
        NetworkFormatError,
        match=r"hill\.npz is .* damaged .* Build it again: evroute network build hill",
    ):
        catalog.load_network("hill")


def test_a_damaged_build_of_the_data_folder_is_built_again_with_one_warning(
    source: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    built = catalog.load_network("monaco")
    (kept,) = cache.rglob("*.npz")
    whole = kept.read_bytes()
    for damaged in (whole[: len(whole) // 2], b""):
        caplog.clear()
        kept.write_bytes(damaged)
        assert catalog.load_network("monaco").content_digest == built.content_digest
        (warning,) = caplog.messages
        assert f"{kept} is not a stored network, or is damaged" in warning
        assert kept.read_bytes() == whole


def test_files_of_a_killed_build_are_no_network_and_the_next_build_deletes_them(
    hill: RoadNetwork, cache: Path
) -> None:
    catalog.keep(hill)
    left = cache / "networks" / ".hill.npz.evroute-abcd1234.npz"
    left.write_bytes(b"half")
    assert list(catalog.network_names()) == ["denver", "hill"]
    catalog.keep(replace(hill, name="other"))
    assert not left.exists()


def test_a_cache_that_others_can_write_is_refused(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "networks").mkdir()
    store.save(replace(hill, name="denver"), shared / "networks" / "denver.npz")
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(shared))
    for use in (lambda: catalog.load_network("denver"), catalog.network_names, catalog.cache_dir):
        with pytest.raises(
            EvrouteError, match=rf"chmod 700 {shared}, or set EVROUTE_CACHE_DIR to another folder"
        ):
            use()
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "mine" / "cache"))
    assert catalog.cache_dir().stat().st_mode & 0o777 == 0o700


def test_a_network_built_again_is_of_another_version(source: Path, hill: RoadNetwork) -> None:
    versions = [catalog.network_version("denver"), catalog.network_version("monaco")]
    source.write_text(NET.format(length=150))
    versions.append(catalog.network_version("monaco"))
    for speed in (1, 2):
        catalog.keep(replace(hill, name="monaco", speed_mps=hill.speed_mps * speed))
        versions.append(catalog.network_version("monaco"))
    assert len(set(versions)) == 5
    assert catalog.network_version("monaco") == versions[-1]


def test_an_unwritable_cache_is_told_in_one_line(source: Path, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(EvrouteError, match=r"cannot write .*cache.*. Set EVROUTE_CACHE_DIR"):
        catalog.load_network("monaco")


def test_a_full_disk_is_told_in_one_line(
    hill: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(EvrouteError, match=r"No space left on device. Set EVROUTE_CACHE_DIR"):
        catalog.keep(hill)


def test_an_interrupted_build_leaves_the_old_one_usable(
    hill: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = catalog.keep(hill)

    def interrupted(handle: object, **_: object) -> None:
        handle.write(b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            catalog.keep(replace(hill, speed_mps=hill.speed_mps * 2))
    assert catalog.load_network("hill").content_digest == hill.content_digest
    assert list(kept.parent.iterdir()) == [kept]


def test_build_takes_the_strongest_component_before_it_asks_for_heights(
    make_network: Callable[..., RoadNetwork],
) -> None:
    edges = [("a", 0, 1), ("b", 1, 2), ("c", 2, 0), ("spur", 2, 3)]
    network = make_network(edges, [(0, 0, 0), (100, 0, 9), (0, 100, 0), (0, 900, 500)])
    built = catalog.build(network, smoothing_m=0.0)
    assert built.edge_id == ("a", "b", "c")
    assert built.elevation_m.tolist() == [0, 9, 0]


@pytest.mark.data
def test_the_cities_name_their_source_by_its_hash(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVROUTE_DATA_DIR", str(data_dir))
    city = catalog.load_network("luxembourg")
    assert city.source.sha256 == "bcf0d9f57849091d9ab34b751ae86cbb7b6ba660a3a1da5f6bf536a79b64db0a"
    assert city.source.elevation == "bilinear from dem_luxembourg_30arcsec.tif"


def test_the_first_network_that_is_there_is_loaded() -> None:
    assert catalog.first_network("nowhere", "denver").name == "denver"
    with pytest.raises(UnknownNameError, match="there is no network 'nowhere'"):
        catalog.first_network("nowhere", "elsewhere")
