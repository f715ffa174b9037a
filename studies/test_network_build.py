"""Building Luxembourg from its source against loading the built one."""

from pathlib import Path
from typing import Any

import pytest

from evroute.network import catalog, store
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import sumo_net


def build(folder: Path) -> RoadNetwork:
    raw = sumo_net.read(folder / "luxembourg/lust.net.xml.gz", "luxembourg", "junctions")
    return catalog.build(raw, rasters=[folder / "luxembourg/dem_luxembourg_30arcsec.tif"])


@pytest.mark.data
@pytest.mark.benchmark(group="luxembourg")
def test_build_luxembourg_from_its_source(benchmark: Any, data_dir: Path) -> None:
    """Goal: under 3 s."""
    assert benchmark.pedantic(build, args=[data_dir], rounds=5, warmup_rounds=1).n_edges == 5895


@pytest.mark.data
@pytest.mark.benchmark(group="luxembourg")
def test_load_the_built_luxembourg(benchmark: Any, data_dir: Path, tmp_path: Path) -> None:
    """Goal: under 0.3 s."""
    path = tmp_path / "luxembourg.npz"
    store.save(build(data_dir), path)
    assert benchmark(store.load, path).n_edges == 5895


@pytest.mark.data
@pytest.mark.benchmark(group="luxembourg")
def test_load_luxembourg_by_name_with_its_source_hashed(
    benchmark: Any, luxembourg: RoadNetwork
) -> None:
    """Goal: under 0.3 s; what every command pays."""
    assert benchmark(catalog.load_network, "luxembourg").content_digest == luxembourg.content_digest
