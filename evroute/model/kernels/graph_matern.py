"""GraphMatern: the Matérn kernel on the edges of a road network, by sparse solves.

Sandberg et al., eq. 134 (after Borovitskiy et al., 2021, *Matérn Gaussian processes on graphs*):
with the incidence Laplacian L of the line graph, ``k_G = (2 nu / kappa² I + L)^-nu``. The paper
gives no scaling, and the raw diagonal spans two orders of magnitude. We scale by one number, to
mean diagonal 1.

nu is whole: a column is nu sparse solves with ``A = 2 nu / kappa² I + L``, a millisecond on a
city. (One solve with the factor of ``A^nu`` would raise the condition number to the power nu.)
"""

import hashlib
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import splu

from evroute.arrays import FloatArray, IntArray
from evroute.errors import require

_SOLVE_BLOCK = 16  # right-hand sides solved together; more spill the cache
WHOLE_ROWS = 4
"""Share of all edges, as its inverse, from which whole rows are copied before columns are taken."""


class GraphMatern:
    """The graph Matérn kernel of n edges. Rows are computed on first use and kept.

    Parameters
    ----------
    laplacian
        (n, n) ``LineGraph.laplacian``.
    nu, kappa
        Smoothness, whole, and lengthscale, both positive.
    raw_diagonal
        (n,) result of the function ``raw_diagonal`` for the same kernel. Computed if None.

    Raises
    ------
    ValueError
        If ``raw_diagonal`` has another shape, nu is not a positive whole number or kappa not
        positive.
    """

    def __init__(
        self,
        laplacian: csc_matrix,
        nu: int = 2,
        kappa: float = 1,
        *,
        raw_diagonal: FloatArray | None = None,
    ) -> None:
        self._raw = _SparseSolves(laplacian, nu, kappa)
        self.laplacian = laplacian
        self.nu = nu
        self.kappa = kappa
        self.n_edges = int(laplacian.shape[0])
        self.digest = digest(laplacian, nu, kappa)
        diagonal = self._raw.diagonal() if raw_diagonal is None else raw_diagonal
        require(
            diagonal.shape == (self.n_edges,),
            f"raw_diagonal has shape {diagonal.shape}, expected {(self.n_edges,)}",
            ValueError,
        )
        self._scale = 1.0 / float(diagonal.mean())
        self.diagonal: FloatArray = diagonal * self._scale
        self._slot = np.full(self.n_edges, -1)
        self._rows = np.empty((0, self.n_edges))
        self._n_rows = 0

    def block(self, edge_a: IntArray, edge_b: IntArray) -> FloatArray:
        """Return k_G between two lists of edges, (a, b), from the columns of the shorter list."""
        if len(edge_a) > len(edge_b):
            return self.block(edge_b, edge_a).T
        self._make(edge_a)
        if len(edge_b) * WHOLE_ROWS < self.n_edges:
            return self._rows[self._slot[edge_a, np.newaxis], edge_b]
        return np.take(self._rows[self._slot[edge_a]], edge_b, axis=1)

    def matrix(self) -> FloatArray:
        """Return the full k_G, (n, n), seconds on a city. No row is kept."""
        full = self._raw.matrix()
        full *= self._scale
        return full

    def _make(self, edges: IntArray) -> None:
        # One column at a time, so that its last bits do not depend on the other columns of its
        # first request.
        for edge in np.unique(edges[self._slot[edges] < 0]).tolist():
            if self._n_rows == len(self._rows):
                grown = np.empty((min(self.n_edges, max(64, 2 * self._n_rows)), self.n_edges))
                grown[: self._n_rows] = self._rows
                self._rows = grown
            np.multiply(self._raw.column(edge), self._scale, out=self._rows[self._n_rows])
            self._slot[edge] = self._n_rows
            self._n_rows += 1


def raw_diagonal(laplacian: csc_matrix, nu: int = 2, kappa: float = 1) -> FloatArray:
    """Return the diagonal of the kernel before scaling, (n,). Seconds on a city.

    Parameters
    ----------
    laplacian
        (n, n) ``LineGraph.laplacian``.
    nu, kappa
        Smoothness, whole, and lengthscale, both positive.
    """
    return _SparseSolves(laplacian, nu, kappa).diagonal()


def digest(laplacian: csc_matrix, nu: float, kappa: float) -> str:
    """Return a SHA-256 of the kernel, as its name in caches.

    Parameters
    ----------
    laplacian
        (n, n) ``LineGraph.laplacian``.
    nu, kappa
        Smoothness and lengthscale.
    """
    total = hashlib.sha256(f"graph Matern {float(nu)!r} {float(kappa)!r}".encode())
    for part in (laplacian.indptr, laplacian.indices, laplacian.data):
        total.update(np.ascontiguousarray(part).tobytes())
    return total.hexdigest()


class _SparseSolves:
    """``A^-nu`` by repeated solves."""

    def __init__(self, laplacian: csc_matrix, nu: int, kappa: float) -> None:
        require(
            nu in range(1, 100) and 0 < kappa < np.inf,
            f"nu must be a whole and kappa any positive number, got {nu} and {kappa}",
            ValueError,
        )
        n = laplacian.shape[0]
        self._n, self._nu = n, nu
        self._factor = splu(
            csc_matrix(laplacian + 2 * nu / kappa**2 * identity(n)),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def column(self, edge: int) -> FloatArray:
        return self.solve(self._units(slice(edge, edge + 1))[:, 0], self._nu)

    def matrix(self) -> FloatArray:
        matrix = np.empty((self._n, self._n))
        for block in self._blocks():
            matrix[block] = self.solve(self._units(block), self._nu).T
        return matrix

    def diagonal(self) -> FloatArray:
        """Return ``(A^-nu)_ee``, (n,): ``x'x`` for even nu, ``x' A^-1 x`` for odd nu.

        x is ``A^-(nu // 2) e``.
        """
        diagonal = np.empty(self._n)
        for block in self._blocks():
            x = self.solve(self._units(block), self._nu // 2)
            diagonal[block] = np.einsum("ij,ij->j", x, self.solve(x, self._nu % 2))
        return diagonal

    def solve(self, right: FloatArray, times: int) -> FloatArray:
        """Return ``A^-times right``."""
        for _ in range(times):
            right = self._factor.solve(right)
        return right

    def _units(self, edges: slice) -> FloatArray:
        """Return columns of the identity, (n, k), column-major for SuperLU."""
        units = np.zeros((self._n, edges.stop - edges.start), order="F")
        units[edges, :] = np.eye(edges.stop - edges.start)
        return units

    def _blocks(self) -> Iterator[slice]:
        return (slice(i, min(i + _SOLVE_BLOCK, self._n)) for i in range(0, self._n, _SOLVE_BLOCK))
