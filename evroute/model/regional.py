"""Exact learning on a region: a sparse graph kernel, and no numbers kept for edges never driven.

On a region of 250,000 edges neither the prior covariance of all edges nor the covariance of the
driven edges with all others fits into memory. So the model predicts the requested arms from the
driven edges alone: cheap for the edges that a plan needs (``planning.corridor``). The sparse root
is computed once per network, within a minute or two, and memory-mapped from the cache.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evroute.model.base import ModelOptions, ModelSetting
from evroute.model.exact import ExactGP
from evroute.model.kernels.build import KAPPA, cache_path, mapped
from evroute.model.kernels.sparse_graph import (
    SparseGraphMatern,
    SparseRoot,
    root_digest,
    sparse_root,
)
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork

PARTS = ("row", "start", "column", "value", "diagonal")


def sparse_graph(network: RoadNetwork, cache_dir: Path | None) -> SparseGraphMatern:
    """Build the paper's graph kernel from its sparse root, cached at 3 kB an edge."""
    laplacian = LineGraph.from_network(network).laplacian(network.length_m)
    name = root_digest(laplacian, KAPPA)
    made: dict[str, Any] = {}

    def made_part(part: str) -> Any:
        """Return a part of the root and let go of it: it is mapped from its file from now on."""
        if part not in made:
            root = sparse_root(laplacian, KAPPA, *network.middle_m.T)
            made.update({each: getattr(root, each) for each in PARTS})
        return made.pop(part)

    path = cache_path(cache_dir, "sparse-root", name)
    parts = {
        part: mapped(path and path.with_name(f"{path.stem}-{part}.npy"), partial(made_part, part))
        for part in PARTS
    }
    return SparseGraphMatern(SparseRoot(**parts), name)


class RegionalOptions(ModelOptions):
    """Exact Gaussian process for networks of any size, which predicts on request only."""

    label = "GP regional"
    only_edges = "its graph kernel is made for edges alone"

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> ExactGP:
        """Return the model before any trip."""
        return ExactGP(
            setting.sparse_kernel,
            setting.arms.take(np.empty(0, dtype=np.int64)),
            setting.noise_std_wh,
        )

    @classmethod
    def cache(cls, setting: ModelSetting) -> None:
        """Compute the sparse root of the graph kernel."""
        _ = setting.sparse_kernel
