"""Contexts of edges: the features of the context kernel, standardised.

Sandberg et al., section B.1: length, speed limit and incline, each divided by its standard
deviation.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, freeze
from evroute.network.road_network import RoadNetwork

NAMES = ("length", "speed limit", "incline")


@dataclass(frozen=True, eq=False)
class Context:
    """Features of n edges.

    features: (n, d), the columns `NAMES`, in m, m/s and rad, divided by their scale.  scale: (d,)
    standard deviation of each column, 1 where a column is constant.
    """

    features: FloatArray
    scale: FloatArray

    def __post_init__(self) -> None:
        n, d = self.features.shape
        freeze(
            self,
            features=(self.features, np.float64, (n, d)),
            scale=(self.scale, np.float64, (d,)),
        )


def build(network: RoadNetwork) -> Context:
    """Return length, speed limit and incline of every edge of a network."""
    values = np.column_stack([network.length_m, network.speed_mps, network.incline_rad])
    scale = values.std(axis=0)
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0))
    scale[constant] = 1.0
    return Context(values / scale, scale)
