"""JunctionPotential: the kernel of an unknown potential at junctions (errors of heights) on edges.

Each edge takes ``phi(head) - phi(tail)`` with ``phi`` a Gaussian process on junctions, with
covariance A, a Matérn 5/2 kernel of their coordinates:

    k(e, e') = A(head, head') + A(tail, tail') - A(head, tail') - A(tail, head')

Sums over a route telescope: a trip depends on its two ends only, and a closed loop sums to 0. So
the kernel never changes which of two routes between the same ends takes less.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.model.context_kernels.matern52 import Matern52

LENGTHSCALE_M = 600.0
HEIGHT_STD_M = 30.0
"""Prior standard deviation of an unknown height; times ``m g / 3600`` it is one of energy, Wh."""

_MATERN = Matern52()


class JunctionPotential:
    """The kernel on a road network of v junctions and n edges.

    Parameters
    ----------
    xy_m
        (v, 2) coordinates of the junctions, m.
    ends
        (n, 2) tail and head junction of each edge.
    std_wh
        Prior standard deviation of the potential of one junction, Wh.
    lengthscale_m
        Lengthscale of the potential, m.
    """

    def __init__(
        self,
        xy_m: FloatArray,
        ends: IntArray,
        *,
        std_wh: float,
        lengthscale_m: float = LENGTHSCALE_M,
    ) -> None:
        self._xy_m = xy_m
        self._ends = ends
        self.std_wh = std_wh
        self.lengthscale_m = lengthscale_m

    def block(self, edge_a: IntArray, edge_b: IntArray) -> FloatArray:
        """Return the covariance between two lists of edges, (a, b) Wh²."""
        return self.between(self._ends[edge_a], self._ends[edge_b])

    def between(self, ends_a: IntArray, ends_b: IntArray) -> FloatArray:
        """Return the covariance between routes by their ends (a, 2) and (b, 2), (a, b) Wh²."""
        return self.junctions(ends_a[:, 1], ends_b) - self.junctions(ends_a[:, 0], ends_b)

    def junctions(self, junction: IntArray, ends: IntArray) -> FloatArray:
        """Return the covariance of potentials (a,) with routes by their ends (b, 2), (a, b) Wh²."""
        return self._field(junction, ends[:, 1]) - self._field(junction, ends[:, 0])

    def diagonal(self, edge: IntArray) -> FloatArray:
        """Return the prior variance of edges (a,), (a,) Wh²."""
        tail, head = self._xy_m[self._ends[edge]].transpose(1, 0, 2)
        distance_m = np.linalg.norm(head - tail, axis=1)[:, np.newaxis]
        alike = _MATERN(distance_m, np.zeros((1, 1)), np.array([self.lengthscale_m]))[:, 0]
        diagonal: FloatArray = 2.0 * self.std_wh**2 * (1.0 - alike)
        return diagonal

    def _field(self, junction_a: IntArray, junction_b: IntArray) -> FloatArray:
        """Return A between two lists of junctions, (a, b) Wh²."""
        scale = np.full(2, self.lengthscale_m)
        covariance = _MATERN(self._xy_m[junction_a], self._xy_m[junction_b], scale)
        covariance *= self.std_wh**2
        return covariance
