"""Variances of sums along a tree of routes, of one trip to each of its edges.

The coefficients have the covariance ``R R'``. A sum has p terms, which every edge has, and features
of fields, which few edges have: those of roads (`road_choice`). So the features are summed over
these edges alone. An orthogonal Q turns R so that the rows of the terms become ``[L 0]``, with L of
p columns, and the rows of the features ``[A B]``. The variance of terms x and features y is then
``|x L + y A|² + |y B|²``. Its second part changes only at edges with features.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.planning.charge.charge_tree import add_along, last_along


@dataclass(frozen=True, slots=True, eq=False)
class TurnedRoot:
    """Root of the covariance of p terms and f features, turned as above.

    Parameters
    ----------
    of_terms
        (p, p) L.
    of_features
        (f, m) A and B.
    """

    of_terms: FloatArray
    of_features: FloatArray

    @classmethod
    def of(cls, root: FloatArray, p: int) -> "TurnedRoot":
        """Return a root (p + f, m), turned."""
        turned = root @ np.linalg.qr(root[:p].T, mode="complete").Q
        return cls(turned[:p, :p], turned[p:])


@dataclass(frozen=True, slots=True, eq=False)
class FeaturesAlong:
    """Sums of features along a tree, up to the end of each of its k edges.

    Parameters
    ----------
    spread
        (q + 1, m) sums of features times `TurnedRoot.of_features` at the q edges with features, and
        a row of 0.
    last
        (k,) row of each edge: the last edge with features up to it, or -1 for the row of 0.
    """

    spread: FloatArray
    last: IntArray

    @classmethod
    def of(cls, values: FloatArray, own: IntArray, before: IntArray) -> "FeaturesAlong":
        """Return the sums along a tree.

        Parameters
        ----------
        values
            (q, m) features of single edges times `TurnedRoot.of_features`. They are replaced by
            their sums.
        own
            (q,) positions of these edges, in increasing order.
        before
            (k,) position of the edge before each. -1 for an origin.
        """
        last = last_along(before, own)
        at = before[own]
        before_own = np.where(at >= 0, last[at], -1)
        add_along(before_own, values)
        values = np.vstack([values, np.zeros(values.shape[1])])
        return cls(values, last)

    def at(self, some: slice) -> "FeaturesAlong":
        """Return the sums at some of the edges of the tree."""
        return FeaturesAlong(self.spread, self.last[some])

    def variance(self, sums: FloatArray, root: TurnedRoot) -> FloatArray:
        """Return the variance of terms and features, (k,).

        Parameters
        ----------
        sums
            (k, p) sums of the terms up to the end of each edge.
        root
            The root by which ``spread`` was made.
        """
        p = sums.shape[1]
        joint = sums @ root.of_terms + self.spread[:, :p][self.last]
        alone = (self.spread[:, p:][self.last] ** 2).sum(axis=1)
        variance: FloatArray = (joint**2).sum(axis=1) + alone
        return variance
