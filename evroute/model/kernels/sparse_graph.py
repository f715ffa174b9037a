"""SparseGraphMatern: the graph Matérn kernel of a whole region, nu = 2, from local patches.

With ``A = s I + L``, ``s = 4 / kappa²``, the kernel is ``k_G = A^-2 = R R'`` with ``R = A^-1``
(Sandberg et al., eq. 134, scaled to mean diagonal 1 as in ``model.graph_matern``). R has no
negative entry, its rows sum to 1/s, and they decay with every turn away from their edge. So the
network is cut into tiles. The rows of a tile's edges are solved on a patch of the network around
it, and small entries are dropped. The result is a sparse matrix, computed once and kept. For any
dropped entries, ``R R'`` is symmetric and positive semi-definite to the last bit.

The error of the kernel is bounded. On a patch P, let ``h = A_PP^-1 a``, with a_i the weight of
the turns that lead out of P from edge i. Row i of ``A_PP^-1`` is entry by entry at most row i of
``A^-1``, and its sum is smaller by ``h_i / s``. No entry of R exceeds 1/s, so with entries below
t dropped no entry of ``A^-2`` is off by more than ``(h_i + h_j) / s² + 2 t / s``. A patch grows
until this bound is within `TOLERANCE` of the mean diagonal, which is at least the mean of ``1 /
A_ii²``.

`PriorDraws` draws the prior on any edges. A Matérn kernel of smoothness 5/2 on contexts is the mean
of ``cos(w'(x - y))`` over frequencies w of a multivariate t distribution with 5 degrees of freedom
(Rahimi & Recht, 2007). With fresh frequencies in every draw and independent standard normal a, b
and fields g, h of covariance k_G,

    f(e, x) = s_e (sqrt(share / M) sum_m (g_m(e) cos(v_m'x) + h_m(e) sin(v_m'x))
                   + sqrt((1 - share) / F) sum_j (a_j cos(w_j'x) + b_j sin(w_j'x)))

has *exactly* the prior's covariance and normal marginals, for any M and F. More frequencies bring
the joint distribution of several edges closer to normal. Given the frequencies, the covariance is
off by about 1 / sqrt(2 F), and between edges near each other by 1 / sqrt(2 M) of the graph's
term.
"""

from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy.sparse import csc_matrix, csr_array, csr_matrix, identity
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import SuperLU, splu

from evroute.arrays import FloatArray, IntArray
from evroute.model.context_kernels.base import ContextKernel
from evroute.model.kernels.arms import ArmKernel, EdgeContextKernel
from evroute.model.kernels.graph_matern import digest

NU = 2
TOLERANCE = 4e-7
"""Bound on the error of k_G, in mean diagonals, before rounding to single precision."""
LOCAL_TOLERANCE = 1e-4
"""The same of `LocalGraphMatern`."""
TILE_EDGES = 512
MORE = float(np.log(10.0))
"""Growth of the reach of a patch that is too small: a tenth of the influence."""
_SOLVE_BLOCK = 8


@dataclass(frozen=True, slots=True, eq=False)
class SparseRoot:
    """R of n edges, before scaling, in the order of tiles.

    Parameters
    ----------
    row
        (n,) row of each edge.
    start, column, value
        (n + 1,), (nnz,) and (nnz,) rows as in CSR. Values in single precision.
    diagonal
        (n,) diagonal of ``R R'``.
    """

    row: IntArray
    start: IntArray
    column: np.ndarray[tuple[int], np.dtype[np.int32]]
    value: np.ndarray[tuple[int], np.dtype[np.float32]]
    diagonal: FloatArray

    def rows(self, edges: IntArray) -> csr_array:
        """Return the rows of some edges, (k, n)."""
        # of one integer type: otherwise scipy copies all columns
        start, n = self.start.astype(np.int32), len(self.row)
        assert start[-1] == self.start[-1], "a root has fewer than 2^31 entries"
        stored = csr_array((self.value, self.column, start), shape=(n, n))
        return csr_array(stored[self.row[edges]].astype(np.float64))


class SparseGraphMatern:
    """The graph Matérn kernel of n edges with sparse columns, computed on first use and kept.

    Parameters
    ----------
    root
        Root of the kernel (`sparse_root`).
    digest
        Name of the kernel in caches (`root_digest`).
    """

    def __init__(self, root: SparseRoot, digest: str) -> None:
        self.n_edges = len(root.row)
        self.digest = digest
        self._root = root
        self._scale = 1.0 / float(root.diagonal.mean())
        self.diagonal: FloatArray = root.diagonal * self._scale
        self._slot = np.full(self.n_edges, -1)
        self._columns = csr_array((0, self.n_edges))

    def block(self, edge_a: IntArray, edge_b: IntArray) -> FloatArray:
        """Return k_G between two lists of edges, (a, b), by the list with fewer new columns."""
        missing_a, missing_b = (
            np.count_nonzero(self._slot[edges] < 0) for edges in (edge_a, edge_b)
        )
        if (missing_b, len(edge_b)) < (missing_a, len(edge_a)):
            return self.block(edge_b, edge_a).T
        self._make(edge_a)
        distinct, back = np.unique(edge_b, return_inverse=True)
        place = np.full(self.n_edges, -1)
        place[distinct] = np.arange(len(distinct))
        columns = self._columns[self._slot[edge_a]]
        at = place[columns.indices]
        inside = at >= 0
        row = np.repeat(np.arange(len(edge_a)), np.diff(columns.indptr))[inside]
        block = np.zeros((len(edge_a), len(distinct)))
        block[row, at[inside]] = columns.data[inside]
        return (
            block if len(distinct) == len(edge_b) and (np.diff(back) > 0).all() else block[:, back]
        )

    def matrix(self) -> FloatArray:
        """Return the full k_G, (n, n), for small networks."""
        root = self._root.rows(np.arange(self.n_edges))
        full: FloatArray = (root @ root.T).toarray()
        full *= self._scale
        return full

    def draw(self, edges: IntArray, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw ``size`` fields of covariance k_G at some edges, (k, size).

        Parameters
        ----------
        edges
            (k,) edges.
        rng
            Source of randomness.
        size
            Number of fields.
        """
        root, touched = _compressed(self._root.rows(edges))
        draws: FloatArray = root @ rng.standard_normal((len(touched), size))
        draws *= np.sqrt(self._scale)
        return draws

    def _make(self, edges: IntArray) -> None:
        new = np.unique(edges[self._slot[edges] < 0])
        if not len(new):
            return
        rows, near = _compressed(self._root.rows(new))
        made = csr_array(rows @ self._root.rows(near))  # R is symmetric
        made.data *= self._scale
        old = self._columns
        self._slot[new] = old.shape[0] + np.arange(len(new))
        self._columns = csr_array(
            (
                np.concatenate([old.data, made.data]),
                np.concatenate([old.indices, made.indices]),
                np.concatenate([old.indptr, old.indptr[-1] + made.indptr[1:]]),
            ),
            shape=(old.shape[0] + len(new), self.n_edges),
        )


def sparse_root(
    laplacian: csc_matrix, kappa: float, x_m: FloatArray, y_m: FloatArray
) -> SparseRoot:
    """Return R of all edges. Half a minute or a minute on 250,000 edges.

    Parameters
    ----------
    laplacian
        (n, n) ``LineGraph.laplacian``.
    kappa
        Lengthscale, positive.
    x_m, y_m
        (n,) coordinates of the edges, m, by which tiles are cut.
    """
    n, shift = laplacian.shape[0], 2 * NU / kappa**2
    system = csc_matrix(laplacian + shift * identity(n))
    least_diagonal = float((system.diagonal() ** -2).mean())
    drop_below = TOLERANCE * least_diagonal * shift / 4
    escape = TOLERANCE * least_diagonal * shift**2 / 4
    row, start = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    diagonal = np.empty(n)
    column, value = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
    done, patches = 0, Patches(system, shift, escape)
    for tile in tiles(x_m, y_m):
        patch, inner, rows = patches.solved(tile)
        keep = rows > drop_below
        keep[np.arange(len(tile)), inner] = True
        kept = rows.astype(np.float32)
        kept[~keep] = 0.0
        diagonal[tile] = np.einsum("ij,ij->i", kept, kept, dtype=np.float64)
        row[tile] = done + np.arange(len(tile))
        start[done + 1 : done + 1 + len(tile)] = len(value) + np.cumsum(keep.sum(axis=1))
        done, held = done + len(tile), len(value)
        # grown in place: two lists of parts and their sum would be held at once
        for grown, new in (
            (column, np.broadcast_to(patch.astype(np.int32), keep.shape)[keep]),
            (value, kept[keep]),
        ):
            grown.resize(held + len(new), refcheck=False)
            grown[held:] = new
    return SparseRoot(row, start, column, value, diagonal)


def root_digest(laplacian: csc_matrix, kappa: float) -> str:
    """Return a SHA-256 of the root and its tolerance, as its name in caches."""
    return digest(laplacian, NU, kappa) + f"-{TOLERANCE:g}"


def tiles(x_m: FloatArray, y_m: FloatArray) -> list[IntArray]:
    """Return index arrays of at most ``TILE_EDGES`` points each.

    The points (n,) are cut at medians across their longer side.
    """
    whole, small = [np.arange(len(x_m))], []
    while whole:
        part = whole.pop()
        if len(part) <= TILE_EDGES:
            small.append(np.sort(part))
            continue
        x, y = x_m[part], y_m[part]
        order = part[np.argsort(x if np.ptp(x) > np.ptp(y) else y, kind="stable")]
        whole += [order[len(order) // 2 :], order[: len(order) // 2]]
    return small


class LocalGraphMatern:
    """Columns of the graph Matérn kernel, nu = 2, each from a patch around its tile alone.

    Only patches of tiles that are asked for are solved, so a region costs no more than the roads in
    use. The scale is the mean of ``1 / A_ii²``, which the mean diagonal of ``A^-2`` exceeds: the
    mean diagonal of the kernel is between 1 and 2 on road networks.

    Parameters
    ----------
    laplacian
        (n, n) ``LineGraph.laplacian``.
    kappa
        Lengthscale, positive.
    x_m, y_m
        (n,) coordinates of the edges, m, by which tiles are cut.
    tolerance
        Bound on the error of the kernel.
    """

    def __init__(
        self,
        laplacian: csc_matrix,
        kappa: float,
        x_m: FloatArray,
        y_m: FloatArray,
        tolerance: float = LOCAL_TOLERANCE,
    ) -> None:
        shift = 2 * NU / kappa**2
        system = csc_matrix(laplacian + shift * identity(laplacian.shape[0]))
        self._scale = float((system.diagonal() ** -2).mean())
        self._patches = Patches(system, shift, tolerance * self._scale * shift**2 / 2)
        self._tiles = tiles(x_m, y_m)
        self._tile_of = np.empty(laplacian.shape[0], dtype=np.int64)
        for number, tile in enumerate(self._tiles):
            self._tile_of[tile] = number
        self._factors: dict[int, tuple[IntArray, SuperLU]] = {}
        self._diagonal = np.full(laplacian.shape[0], np.nan)

    def column(self, edge: int) -> tuple[IntArray, FloatArray]:
        """Return the edges of the patch of an edge, (p,), and the kernel between both, (p,)."""
        patch, row, factor = self._solved(edge)
        return patch, factor.solve(row) / self._scale

    def near(self, edges: IntArray) -> IntArray:
        """Return all edges of the patches of edges (k,), in increasing order."""
        numbers = np.unique(self._tile_of[edges]).tolist()
        return np.unique(np.concatenate([self._factored(number)[0] for number in numbers]))

    def diagonal(self, edges: IntArray) -> FloatArray:
        """Return the kernel between each of k edges and itself, (k,)."""
        # one at a time, so that its last bits do not depend on the other edges that are asked for
        for edge in np.unique(edges[np.isnan(self._diagonal[edges])]).tolist():
            self._diagonal[edge] = (self._solved(edge)[1] ** 2).sum() / self._scale
        return self._diagonal[edges]

    def _solved(self, edge: int) -> tuple[IntArray, FloatArray, SuperLU]:
        """Return the patch of an edge, its row of R on it, (p,) each, and the patch's factor."""
        patch, factor = self._factored(int(self._tile_of[edge]))
        unit = np.zeros(len(patch))
        unit[np.searchsorted(patch, edge)] = 1.0
        return patch, factor.solve(unit), factor

    def _factored(self, number: int) -> tuple[IntArray, SuperLU]:
        """Return the patch of a tile and the factor of its system."""
        if number not in self._factors:
            self._factors[number] = self._patches.least(self._tiles[number])
        return self._factors[number]


class Patches:
    """Patches around tiles, the least of a growing series whose escape is small enough.

    Parameters
    ----------
    system
        (n, n) ``s I + L``.
    shift
        s.
    escape
        Greatest h_i of a tile's edges, see the head of the module.
    """

    def __init__(self, system: csc_matrix, shift: float, escape: float) -> None:
        self._system, self._steps = system, _steps(system)
        self._shift, self._escape = shift, escape
        self._growth = 0

    def solved(self, tile: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return a patch (p,), the positions in it of a tile's edges (t,), and their rows (t, p).

        The search for the patch starts from the growth of the tile before.
        """
        patch, factor = self.patch_of(tile, self._growth)
        if factor is None:
            while factor is None:
                self._growth += 1
                patch, factor = self.patch_of(tile, self._growth)
        else:
            while self._growth:
                smaller, of_smaller = self.patch_of(tile, self._growth - 1)
                if of_smaller is None:
                    break
                self._growth -= 1
                patch, factor = smaller, of_smaller
        inner = np.searchsorted(patch, tile)
        rows = np.empty((len(tile), len(patch)))
        for begin in range(0, len(tile), _SOLVE_BLOCK):
            some = inner[begin : begin + _SOLVE_BLOCK]
            units = np.zeros((len(patch), len(some)), order="F")
            units[some, np.arange(len(some))] = 1.0
            rows[begin : begin + len(some)] = factor.solve(units).T
        return patch, inner, rows

    def least(self, tile: IntArray) -> tuple[IntArray, SuperLU]:
        """Return the least patch of a tile, and its factor, whatever tiles came before."""
        found = (self.patch_of(tile, growth) for growth in count())
        return next((patch, factor) for patch, factor in found if factor is not None)

    def patch_of(self, tile: IntArray, growth: int) -> tuple[IntArray, SuperLU | None]:
        """Return a patch of some growth, and its factor, or None if too much escapes from it."""
        patch = _around(self._steps, tile, growth * MORE - float(np.log(self._escape)))
        local = csc_matrix(self._system[:, patch][patch, :])
        factor = splu(
            local,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        leaving = np.maximum(local.sum(axis=1).A1 - self._shift, 0.0)
        escaped = factor.solve(leaving)[np.searchsorted(patch, tile)].max()
        return patch, factor if escaped <= self._escape else None


def _steps(system: csc_matrix) -> csr_matrix:
    """Return ``-log(-A_ij / A_ii)``, the decay of influence at each turn, (n, n)."""
    turns = system.tocoo()
    apart = turns.row != turns.col
    row, column = turns.row[apart], turns.col[apart]
    faded = np.log(system.diagonal()[row]) - np.log(-turns.data[apart])
    return csr_matrix((faded, (row, column)), shape=system.shape)


def _around(steps: csr_matrix, edges: IntArray, reach: float) -> IntArray:
    """Return the edges within influence ``exp(-reach)`` of some edges, in increasing order.

    The influence comes by the best single way.
    """
    return np.flatnonzero(np.isfinite(dijkstra(steps, indices=edges, min_only=True, limit=reach)))


def _compressed(rows: csr_array) -> tuple[csr_array, IntArray]:
    """Return rows (k, c) without their empty columns, and the columns left, (c,)."""
    held = np.zeros(rows.shape[1], dtype=np.bool_)
    held[rows.indices] = True
    left = np.flatnonzero(held)
    place = np.cumsum(held, dtype=np.int32) - 1
    return csr_array(
        (rows.data, place[rows.indices], rows.indptr), shape=(rows.shape[0], len(left))
    ), left


FREQUENCIES = 256
"""F, frequencies of the term without the graph."""
GRAPH_FREQUENCIES = 8
"""M, frequencies of the term with the graph."""


class PriorDraws:
    """Draws from the prior of a kernel.

    Raises
    ------
    TypeError
        If the kernel's graph has no sparse root.
    """

    def __init__(self, kernel: ArmKernel) -> None:
        if not (
            isinstance(kernel, EdgeContextKernel) and isinstance(kernel.graph, SparseGraphMatern)
        ):
            raise TypeError(f"{type(kernel.graph).__name__} has no sparse root to draw from")
        self._graph = kernel.graph
        self._kernel = kernel

    def __call__(
        self, edge: IntArray, features: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw the residuals of arms jointly, (a,) Wh. An edge may occur in several contexts.

        Parameters
        ----------
        edge
            (a,) edges.
        features
            (a, d) contexts.
        rng
            Source of randomness.
        """
        kernel = self._kernel
        with_graph, alone = kernel.lengthscales
        distinct, back = np.unique(edge, return_inverse=True)
        fields = self._graph.draw(distinct, rng, 2 * GRAPH_FREQUENCIES)[back]
        waves = _waves(kernel.context, features, with_graph, GRAPH_FREQUENCIES, rng)
        draw: FloatArray = np.sqrt(kernel.graph_share / GRAPH_FREQUENCIES) * np.einsum(
            "ij,ij->i", waves, fields
        )
        waves = _waves(kernel.context, features, alone, FREQUENCIES, rng)
        draw += np.sqrt((1.0 - kernel.graph_share) / FREQUENCIES) * (
            waves @ rng.standard_normal(2 * FREQUENCIES)
        )
        draw *= kernel.std_wh[edge]
        return draw


def _waves(
    context: ContextKernel,
    features: FloatArray,
    lengthscales: FloatArray,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return cosines and sines of contexts (a, d) at fresh frequencies, (a, 2 size)."""
    phase = features @ (
        context.spectral_draw(features.shape[1], size, rng) / lengthscales[:, np.newaxis]
    )
    waves = np.empty((len(features), 2 * size))
    np.cos(phase, out=waves[:, :size])
    np.sin(phase, out=waves[:, size:])
    return waves
