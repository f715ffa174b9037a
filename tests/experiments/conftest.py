"""A Dask cluster without shared folders, for tests of tasks and of blocks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Dask cluster of two processes with four threads each, and a cache folder of their own."""
    from distributed import LocalCluster

    caches = str(tmp_path_factory.mktemp("workers"))
    Path(caches).chmod(0o700)
    with LocalCluster(
        n_workers=2,
        threads_per_worker=4,
        dashboard_address="127.0.0.1:0",
        env={"EVROUTE_CACHE_DIR": caches},
    ) as made:
        yield made
