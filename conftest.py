"""Shared by tests and studies: a cache of their own, the embedded network, and cities if their
data exist.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

# small matrices, several workers: more BLAS threads than one only get in each other's way
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

from evroute.network.road_network import RoadNetwork

# a shell's background job ignores interrupts, and so would the commands that tests interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)
# a busy machine may take any time for an example; every run has the same examples
settings.register_profile(
    "any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def _own_projections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo that libsumo, once imported, sends everybody to its own, older table of projections."""
    for name in ("PROJ_LIB", "PROJ_DATA"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the user's cache untouched. Workers of one run share what is computed, but not the
    networks that tests keep, which may have equal names.
    """
    root = tmp_path_factory.getbasetemp()
    cache = root / "evroute-cache"
    cache.mkdir()
    if "PYTEST_XDIST_WORKER" in os.environ:
        for name in ("built", "kernels", "sumo"):
            shared = root.parent / "evroute-cache" / name
            shared.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):  # no right to make links: computed by each worker
                (cache / name).symlink_to(shared, target_is_directory=True)
    os.environ["EVROUTE_CACHE_DIR"] = str(cache)
    os.environ["EVROUTE_PROFILE"] = str(root / "profile.json")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the two cities; the test is skipped where it is absent."""
    folder = os.environ.get("EVROUTE_DATA_DIR")
    if not folder or not Path(folder, "monaco").is_dir():
        pytest.skip("EVROUTE_DATA_DIR does not name a folder with the two cities")
    return Path(folder)


@pytest.fixture(scope="session")
def denver() -> RoadNetwork:
    """The embedded network."""
    from evroute.network.catalog import load_network

    return load_network("denver")


@pytest.fixture(scope="session")
def monaco(data_dir: Path) -> RoadNetwork:
    """Monaco, built from the data folder."""
    from evroute.network.catalog import load_network

    return load_network("monaco")


@pytest.fixture(scope="session")
def luxembourg(data_dir: Path) -> RoadNetwork:
    """Luxembourg, built from the data folder."""
    from evroute.network.catalog import load_network

    return load_network("luxembourg")
