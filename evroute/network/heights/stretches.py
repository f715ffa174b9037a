"""Stretches: parts of edges, from one metre along them to another."""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray, expanded, freeze
from evroute.network.road_network import RoadNetwork


@dataclass(frozen=True, eq=False)
class Stretches:
    """Parts of k edges of a network; an edge may occur several times.

    Parameters
    ----------
    edge
        (k,) network rows.
    from_m, to_m
        (k,) metres along the edge, ``0 <= from_m <= to_m <= length_m[edge]``.
    """

    edge: IntArray
    from_m: FloatArray
    to_m: FloatArray

    def __post_init__(self) -> None:
        shape = (len(self.edge),)
        freeze(
            self,
            edge=(self.edge, np.int64, shape),
            from_m=(self.from_m, np.float64, shape),
            to_m=(self.to_m, np.float64, shape),
        )
        if not ((self.from_m >= 0.0) & (self.from_m <= self.to_m)).all():
            raise ValueError("a stretch ends before it begins, or begins before its edge")

    def __len__(self) -> int:
        return len(self.edge)

    def share(self, network: RoadNetwork) -> FloatArray:
        """Return the share of each edge that is driven, (k,)."""
        return (self.to_m - self.from_m) / network.length_m[self.edge]

    def pieces(self, network: RoadNetwork) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return length and climb of the parts of pieces, (q,) m, and the stretch of each, (q,).

        A piece of the profile has one slope; without a profile an edge is one piece. Pieces that
        are not driven have no length; every stretch has a piece.

        Parameters
        ----------
        network
            The roads.
        """
        pieces, place = network.pieces, np.arange(len(self))
        if pieces is None:
            share = self.share(network)
            return self.to_m - self.from_m, share * network.climb_m[self.edge], place
        row, place = expanded(pieces.start, self.edge)
        length_m = pieces.length_m[row]
        begins_m = (row - pieces.start[self.edge][place]) * length_m  # they are equally long
        low_m = np.maximum(begins_m, self.from_m[place])
        high_m = np.minimum(begins_m + length_m, self.to_m[place])
        driven_m = np.clip(high_m - low_m, 0.0, length_m)
        return driven_m, pieces.climb_m[row] * (driven_m / length_m), place
