"""Exact learning on a region: the graph kernel sparse, nothing kept for edges that were not driven.

On a region of 250,000 edges neither the prior covariance of all edges nor that of the driven edges
with all others fits into memory. So `regional` predicts what it is asked for, from the driven edges
alone: cheap for the edges that a plan needs (``planning.corridor``). Its root is made once for a
network, minutes, and mapped from the cache.
"""

import logging
from pathlib import Path

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.checked import read_mapped, write_mapped
from evroute.errors import DamagedFileError
from evroute.model.build import KAPPA
from evroute.model.exact import ExactGP
from evroute.model.kernels import EdgeContextKernel
from evroute.model.sparse_graph import SparseGraphMatern, SparseRoot, root_digest, sparse_root
from evroute.model.trip_noise import TripEffect
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork

log = logging.getLogger(__name__)

PARTS = ("row", "start", "column", "value", "diagonal")


def sparse_graph(network: RoadNetwork, cache_dir: Path | None) -> SparseGraphMatern:
    """Build the paper's graph kernel from its sparse root, which is kept in ``cache_dir`` if given: 3 kB an edge."""
    laplacian = LineGraph.from_network(network).laplacian(network.length_m)
    name = root_digest(laplacian, KAPPA)
    x_m, y_m = (0.5 * (at[network.tail] + at[network.head]) for at in (network.x_m, network.y_m))
    if cache_dir is None:
        return SparseGraphMatern(sparse_root(laplacian, KAPPA, x_m, y_m), name)
    paths = {part: cache_dir / "kernels" / f"sparse-root-{name[:24]}-{part}.npy" for part in PARTS}
    try:
        if all(path.is_file() for path in paths.values()):
            kept = {part: read_mapped(path) for part, path in paths.items()}
            return SparseGraphMatern(SparseRoot(**kept), name)
    except DamagedFileError as error:
        log.warning("%s; making it again", error)
    root = sparse_root(laplacian, KAPPA, x_m, y_m)
    for part, path in paths.items():
        write_mapped(path, getattr(root, part))
    return SparseGraphMatern(
        SparseRoot(**{part: read_mapped(path) for part, path in paths.items()}), name
    )


def regional(
    sparse_kernel: EdgeContextKernel,
    arms: Arms,
    noise_std_wh: FloatArray,
    potential_wh: FloatArray,
    trip_effect: TripEffect = None,
) -> ExactGP:
    """Exact Gaussian process that predicts only what it is asked for: networks of any size, with a corridor."""
    return ExactGP(
        sparse_kernel,
        arms.take(np.empty(0, dtype=np.int64)),
        noise_std_wh,
        potential_wh=potential_wh,
        trip_effect=trip_effect,
    )
