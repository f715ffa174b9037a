"""``evroute network`` as a user meets it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evroute.cli import main
from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import load_vehicle
from evroute.network import store
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork

NET = """<net><location netOffset="0,0" projParameter="+proj=utm +zone=32 +units=m"/>
<edge id="up" from="A" to="B"><lane index="0" speed="10" length="100" shape="0,0 100,0"/></edge>
<edge id="down" from="B" to="A"><lane index="0" speed="10" length="100" shape="100,0 0,0"/></edge>
<junction id="A" x="0" y="0" z="0"/><junction id="B" x="100" y="0" z="10"/>
<connection from="up" to="down" fromLane="0" toLane="0"/>
<connection from="down" to="up" fromLane="0" toLane="0"/>
</net>"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line with an empty cache and no data folder; give status, stdout and
    stderr.
    """
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("EVROUTE_DATA_DIR", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def evroute(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["evroute", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            main()
        told = capsys.readouterr()
        return int(done.value.code or 0), told.out, told.err

    return evroute


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "two.net.xml"
    path.write_text(NET)
    return path


def test_list_names_the_networks_and_where_they_are(run: Run) -> None:
    status, out, _ = run("network", "list")
    assert status == 0
    assert "denver" in out
    assert "embedded" in out


def test_info_json_has_the_promised_keys_and_the_numbers_of_the_network(
    run: Run, denver: RoadNetwork
) -> None:
    status, out, _ = run("network", "info", "denver", "--json")
    told = json.loads(out)
    assert status == 0
    promised = (
        "edges junctions turns length_m negative_prior_edges incline_percent source "
        "source_sha256 crs"
    )
    assert set(promised.split()) <= set(told)
    assert (told["edges"], told["junctions"], told["turns"]) == (1330, 476, 3060)
    assert told["length_m"] == pytest.approx(denver.length_m.sum())
    inclines = sorted(
        abs(climb) / length * 100
        for climb, length in zip(denver.climb_m, denver.length_m, strict=True)
    )
    assert told["incline_percent"]["max"] == pytest.approx(inclines[-1])
    assert told["incline_percent"]["p50"] == pytest.approx((inclines[664] + inclines[665]) / 2)
    assert list(told["incline_percent"]) == ["p50", "p95", "p99", "max"]
    energy = energy_parts(load_vehicle(), denver.length_m, denver.climb_m, denver.speed_mps)
    assert told["negative_prior_edges"] == np.count_nonzero(energy.total_wh < 0)
    assert len(told["source_sha256"]) == 64


def test_info_for_people_says_the_same(run: Run) -> None:
    status, out, _ = run("network", "info", "denver")
    assert status == 0
    assert "1,330, 476, 3,060" in out
    assert "143.6 km" in out
    assert "median 0.6 %" in out
    assert "not smoothed" in out
    assert "OpenStreetMap contributors" in out


def test_a_built_network_is_found_by_its_name(run: Run, net: Path) -> None:
    status, out, err = run("network", "build", "two", "--sumo", net, "--smoothing", "0")
    assert status == 0
    assert "built" in err
    assert "10.0 %" in out
    assert load_network("two").climb_m.tolist() == [10.0, -10.0]
    assert "two" in run("network", "list")[1]


def test_smoothing_is_30_m_unless_said_otherwise(run: Run, net: Path) -> None:
    run("network", "build", "two", "--sumo", net)
    assert load_network("two").source.smoothing_m == 30.0


def test_a_raster_gives_the_heights(run: Run, net: Path, tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    raster = tmp_path / "level.tif"
    shape = {"height": 3, "width": 3, "count": 1, "dtype": "float32", "crs": "EPSG:32632"}
    transform = rasterio.Affine(100.0, 0.0, -100.0, 0.0, -100.0, 100.0)
    with rasterio.open(raster, "w", driver="GTiff", transform=transform, **shape) as target:
        target.write(np.full((1, 3, 3), 77.0, dtype="float32"))
    assert run("network", "build", "two", "--sumo", net, "--elevation", raster)[0] == 0
    built = load_network("two")
    assert built.elevation_m == pytest.approx([77.0, 77.0])
    assert built.source.elevation == "bilinear from level.tif"


def test_a_build_that_fails_leaves_the_old_network_usable(run: Run, net: Path) -> None:
    run("network", "build", "two", "--sumo", net)
    before = load_network("two")
    net.write_text(NET[:300])
    status, _, err = run("network", "build", "two", "--sumo", net)
    assert status == 2
    assert err.splitlines()[-1].startswith("evroute: two.net.xml is cut off or not XML")
    assert load_network("two").content_digest == before.content_digest


def test_an_interrupted_build_leaves_the_old_network_usable(
    run: Run, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("network", "build", "two", "--sumo", net)
    before = load_network("two")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store.np, "savez_compressed", interrupted)
    status, _, err = run("network", "build", "two", "--sumo", net, "--smoothing", "0")
    assert status == 130
    assert "Traceback" not in err
    assert load_network("two").content_digest == before.content_digest


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["info", "atlantis"], "there is no network 'atlantis'. There are: denver"),
        (["info", "../denver"], "'../denver' cannot name a network"),
        (["info", "none.npz"], "there is no stored network at none.npz"),
        (["build", "a/b", "--sumo", "NET"], "'a/b' cannot name a network"),
        (["build", "two", "--sumo", "none.net.xml"], "cannot read none.net.xml: No such file"),
        (
            ["build", "two", "--sumo", "NET", "--elevation", "none.tif"],
            "cannot read the raster none.tif",
        ),
    ],
)
def test_impossible_requests_are_refused_in_one_line_with_status_2(
    run: Run, net: Path, arguments: list[str], why: str
) -> None:
    status, _, err = run(
        "network", *(net if argument == "NET" else argument for argument in arguments)
    )
    assert status == 2
    assert err.splitlines()[-1].startswith(f"evroute: {why}")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments",
    [[], ["--sumo", "NET", "--smoothing", "-1"], ["--sumo", "NET", "--smoothing", "inf"]],
)
def test_contradictory_or_impossible_options_are_refused(
    run: Run, net: Path, arguments: list[str]
) -> None:
    status, _, err = run("network", "build", "two", *(net if a == "NET" else a for a in arguments))
    assert status == 2
    assert ("--smoothing" if arguments else "Invalid value") in err


def test_an_unwritable_cache_is_reported_in_one_line(run: Run, net: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    status, _, err = run("network", "build", "two", "--sumo", net)
    assert status == 2
    assert "Set EVROUTE_CACHE_DIR to a folder with room to write" in err.splitlines()[-1]


def test_the_command_that_a_cut_network_names_builds_it_again(run: Run, net: Path) -> None:
    run("network", "build", "two", "--sumo", net)
    before = load_network("two")
    (kept,) = (net.parent / "cache" / "networks").iterdir()
    kept.write_bytes(kept.read_bytes()[:-300])
    status, _, err = run("network", "info", "two")
    assert status == 2
    assert "Build it again: evroute network build two" in err.splitlines()[-1]
    assert run("network", "build", "two", "--sumo", net)[0] == 0
    assert load_network("two").content_digest == before.content_digest


@pytest.mark.parametrize("smoothing", ["1e308", "1000001", "inf"])
def test_a_smoothing_without_bounds_is_refused(run: Run, net: Path, smoothing: str) -> None:
    status, _, err = run("network", "build", "x", "--sumo", net, "--smoothing", smoothing)
    assert status == 2
    assert "--smoothing" in err
    assert "1000000" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", [["vehicle", "show"], ["simulate"], ["bandit"]])
def test_deep_toml_is_refused_in_one_line(run: Run, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "deep.toml"
    for text in ("x = " + "[" * 5_000 + "]" * 5_000, "x = " + "{a = " * 5_000 + "1" + "}" * 5_000):
        path.write_text(text)
        status, _, err = run(*command, path, *(["--out", tmp_path / "out"] * (len(command) == 1)))
        assert status == 2
        assert "deep.toml is nested 101 levels deep or more" in err
        assert err.count("\n") == 1


def test_a_deep_option_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    deep = "[" * 5_000 + "]" * 5_000
    done = run("simulate", "--network", "denver", "--option", f"x={deep}", "--out", tmp_path)
    assert done[0] == 2
    assert "--option x is nested 101 levels deep or more" in done[2]


def test_heights_that_cannot_be_true_are_refused_unless_unchecked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "high.net.xml"
    path.write_text(NET.replace('z="10"', 'z="9500"'))
    status, _, err = run("network", "build", "high", "--sumo", path)
    assert status == 2
    assert "junction 'B' lies at 9,500 m. --elevation-unchecked builds" in err
    assert err.count("\n") == 1
    assert run("network", "list")[1].count("high") == 0
    assert run("network", "build", "high", "--sumo", path, "--elevation-unchecked")[0] == 0
    assert run("network", "info", "high")[0] == 0
