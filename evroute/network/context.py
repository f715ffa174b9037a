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
    """Per-edge features in natural units and the scale that standardises them.

    values: (n, d), the columns `NAMES` in m, m/s and rad.  scale: (d,) standard deviation of each
    column, 1 where a column is constant.
    """

    values: FloatArray
    scale: FloatArray

    def __post_init__(self) -> None:
        n, d = self.values.shape
        freeze(self, values=(self.values, np.float64, (n, d)), scale=(self.scale, np.float64, (d,)))

    @property
    def features(self) -> FloatArray:
        """(n, d) values divided by their scale, so that each column has unit standard deviation."""
        return self.values / self.scale


def build(network: RoadNetwork) -> Context:
    """Return length, speed limit and incline of every edge of a network."""
    values = np.column_stack([network.length_m, network.speed_mps, network.incline_rad])
    scale = values.std(axis=0)
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0))
    return Context(values, np.where(constant, 1.0, scale))
