"""The standard graph kernel of a network and the factor of a prior, cached on disk.

Values from Sandberg et al., section B.3: nu = 2, kappa = 1, lengthscales 1. A cached file is named
by a digest of all its inputs, so that a changed network or vehicle never meets an old file.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.checked import read_mapped, write_mapped
from evroute.errors import DamagedFileError, require
from evroute.files import inside
from evroute.model.base import lower_factor
from evroute.model.kernels import graph_matern
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork

NU = 2
KAPPA = 1
DEFAULT_LENGTHSCALE = 1.0

log = logging.getLogger(__name__)


def standard_graph(network: RoadNetwork, cache_dir: Path | None) -> GraphMatern:
    """Build the paper's graph kernel. Its diagonal is cached in ``cache_dir`` if given."""
    laplacian = LineGraph.from_network(network).laplacian(network.length_m)
    path = cache_path(cache_dir, "graph-diagonal", graph_matern.digest(laplacian, NU, KAPPA))
    return GraphMatern(
        laplacian,
        NU,
        KAPPA,
        raw_diagonal=mapped(path, lambda: graph_matern.raw_diagonal(laplacian, NU, KAPPA)),
    )


def prior_covariance(kernel: EdgeContextKernel, arms: Arms) -> FloatArray:
    """Return the prior covariance of all arms of a space, (a, a) Wh².

    Raises
    ------
    ValueError
        If ``arms`` are not all arms of the kernel.
    """
    require(
        np.array_equal(arms.id, np.arange(kernel.graph.n_edges)),
        f"the arms must be all {kernel.graph.n_edges} edges of the kernel's network",
        ValueError,
    )
    return kernel.matrix(arms.features)


def prior_factor(kernel: EdgeContextKernel, arms: Arms, cache_dir: Path | None) -> FloatArray:
    """Return the lower Cholesky factor of the prior covariance, (a, a) Wh.

    ``factor @ normal`` is a draw of the prior. It takes seconds on a city. With a cache it is
    computed once, stored, and mapped read-only into memory, which all processes of a machine share.

    Parameters
    ----------
    kernel
        Prior covariance of the arms.
    arms
        All arms of the kernel.
    cache_dir
        Folder of the cache, or None for none.
    """

    def factor() -> FloatArray:
        return lower_factor(
            prior_covariance(kernel, arms), "the prior covariance of all edges", overwrite=True
        )

    return mapped(cache_path(cache_dir, "prior-factor", kernel.digest(arms.features)), factor)


def mapped(path: Path | None, make: Callable[[], Any]) -> Any:
    """Return an array mapped from its file. It is made and stored where it is missing or damaged.

    Without a path it is made. Of several processes of a machine one makes it, and the others wait.
    """
    if path is None:
        return make()
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock")):
        try:
            if path.is_file():
                return read_mapped(path)
        except DamagedFileError as error:
            log.warning("%s, making it again", error)
        write_mapped(path, make())
        return read_mapped(path)


def cache_path(cache_dir: Path | None, kind: str, digest: str) -> Path | None:
    """Return the file that caches an array, or None without a cache.

    Parameters
    ----------
    kind
        Kind of the array, the first part of the name of the file.
    cache_dir
        Folder of the cache, or None for no cache.
    digest
        Digest of the values that the array depends on.
    """
    if cache_dir is None:
        return None
    return inside(cache_dir / "kernels", f"{kind}-{digest[:24]}.npy")
