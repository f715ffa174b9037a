"""RoadKernel: roads as a sparse Gaussian process with the graph-Matérn x Matérn kernel.

On a road e with dissipated energy d_e a passage takes ``d_e g_e`` more than the coefficients say,
with ``g ~ N(0, s² k_G k_f)``: k_G is the graph Matérn kernel on roads (Sandberg et al., eq. 134),
and k_f the Matérn 5/2 kernel on their contexts, which are length, speed limit and incline (eq.
135). With L the Cholesky factor of ``k_G k_f`` at m inducing roads Z, the features of a road are

    ``d_e L^-1 k(Z, e)``,

and their coefficients are independent, of deviation s. Their posterior is the optimum of the
variational process at these roads (`model.sparse.svgp`). Inducing roads are pivots of the kernel,
weighted by the energy that past trips dissipated. They are added, and none is given up, so features
that a road has stay. Features below `LEAST` are dropped. Both kernels fall quickly with the
distance, so most of them are. What the inducing roads leave out stays in the noise along the way.

k_G between roads of two networks is 0. Roads that a network lacks keep the features that they have,
and contexts keep the scale of the first network.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csr_array, hstack

from evroute.arrays import FloatArray, IntArray
from evroute.energy.prior import PRIOR_SHARE
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.roads.road_features import NO_EDGE, RoadFeatures
from evroute.learning.states import Kept, Table
from evroute.methods.setting import Setting
from evroute.model.context_kernels.matern import Matern52
from evroute.model.growing_factor import pivoted
from evroute.model.kernels.build import KAPPA
from evroute.network import context
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork

if TYPE_CHECKING:
    from evroute.model.kernels.sparse_graph import LocalGraphMatern

MOST = 300
"""Inducing roads."""
FOR_EACH_TRIP = 3
"""Inducing roads for each trip, up to `MOST`."""
LEAST = 0.01
"""Least feature that is kept, in prior deviations of a mean road."""
TINY_WH = 1e-9
"""Least energy by which features are divided. No road has inducing features below it."""
SHARE = 0.25
"""Centre of the prior of s, the deviation of a road as a share of its dissipated energy."""

_MATERN = Matern52()


@lru_cache(maxsize=2)
def _graph(network: RoadNetwork) -> "LocalGraphMatern":
    """Return the kernel k_G of a network, which all beliefs share."""
    from evroute.model.kernels.sparse_graph import LocalGraphMatern

    x_m, y_m = ((at[network.tail] + at[network.head]) / 2.0 for at in (network.x_m, network.y_m))
    laplacian = LineGraph.from_network(network).laplacian(network.length_m)
    return LocalGraphMatern(laplacian, KAPPA, x_m, y_m)


class RoadKernel(Kept):
    """Inducing roads of a kernel, and the features that follow from them. See `RoadChoice`.

    Parameters
    ----------
    setting
        Network and vehicle.

    Attributes
    ----------
    scale
        (d,) deviation of each number of the contexts on the network of the first choice, or empty
        before it.
    """

    STATE: ClassVar[Table] = {"scale": "scale"}

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.scale: FloatArray = np.empty(0)

    @cached_property
    def dissipated_wh(self) -> FloatArray:
        """(n,) energy that a passage of each road of the network dissipates by eq. 8, Wh."""
        return self.setting.edges.prior("dissipation").std_wh / PRIOR_SHARE

    def chosen(
        self, before: RoadFeatures, driven: Sequence[IntArray], shares: Sequence[FloatArray]
    ) -> RoadFeatures:
        """Return the features with further inducing roads.

        Parameters
        ----------
        before, driven, shares
            As in `RoadChoice`.
        """
        network = self.setting.network
        edge, share = np.concatenate([NO_EDGE, *driven]), np.concatenate([np.empty(0), *shares])
        here = edge < network.n_edges
        passed = np.bincount(edge[here], share[here] ** 2, network.n_edges)
        use_wh2 = passed * self.dissipated_wh**2
        used = np.flatnonzero(use_wh2)
        most = min(MOST, FOR_EACH_TRIP * len(driven)) - len(before)
        if most <= 0 or not len(used):
            return before
        graph = _graph(network)
        near = graph.near(used)
        at, column = np.searchsorted(near, used), self._columns(graph, near)
        features = self._unit(before, near)
        rest, weight = np.zeros((2, len(near)))
        rest[at] = graph.diagonal(used) - (features[:, at] ** 2).sum(axis=0)
        weight[at] = use_wh2[used]
        found = pivoted(np.maximum(rest, 0.0), column, most, before=features, weight=weight)[1]
        found[np.abs(found) < LEAST] = 0.0
        return _joined(before, near, found * self.dissipated_wh[near])

    def variance(self, edge: IntArray, known: KnownRoads) -> FloatArray:
        """Return the variances of whole roads (k,) over s², of a mean road of the kernel, Wh².

        0 for roads that the network lacks: what they dissipate is not known.

        Parameters
        ----------
        edge, known
            As in `RoadChoice`.
        """
        variance, own = np.zeros(len(edge)), edge < known.network.n_edges
        variance[own] = self.dissipated_wh[edge[own]] ** 2
        return variance

    def deviation(self, root_km_wh: float) -> float:
        """Return `SHARE`, whatever the noise. Parameters as in `RoadChoice`."""
        return SHARE

    def words(self, s: float, root_km_wh: float, columns: int) -> str:
        """Return s in words.

        Parameters
        ----------
        s, root_km_wh, columns
            As in `RoadChoice`.
        """
        return (
            f"a single road differs from these numbers by {s:.0%} of the energy that it dissipates "
            f"(sd), learned at {columns} inducing roads"
        )

    def _columns(self, graph: "LocalGraphMatern", near: IntArray) -> Callable[[int], FloatArray]:
        """Return the function from a position among roads (p,) to the kernel with all, (p,)."""
        own = context.build(self.setting.network)
        if not len(self.scale):
            self.scale = own.scale
        contexts = own.features[near] * (own.scale / self.scale)

        def column(pivot: int) -> FloatArray:
            patch, of_graph = graph.column(int(near[pivot]))
            row, at = np.zeros(len(near)), np.searchsorted(near, patch)
            of_contexts = _MATERN(contexts[[pivot]], contexts[at], np.ones(contexts.shape[1]))
            row[at] = of_graph * of_contexts[0]
            return row

        return column

    def _unit(self, before: RoadFeatures, near: IntArray) -> FloatArray:
        """Return the features at roads (p,) of the network without their energy, (m, p)."""
        features = before.of(near, 1.0 / np.maximum(self.dissipated_wh[near], TINY_WH))
        return np.ascontiguousarray(features.T)


def _joined(before: RoadFeatures, near: IntArray, rows: FloatArray) -> RoadFeatures:
    """Return features with further columns.

    Parameters
    ----------
    before
        Features of k roads in m columns.
    near
        (p,) roads.
    rows
        (l, p) their features in the further columns.
    """
    some = rows.any(axis=0)
    edge, added = np.union1d(before.edge, near[some]), csr_array(rows[:, some].T)
    parts = []
    for own, values in ((before.edge, before.values), (near[some], added)):
        entries = values.tocoo()
        place = np.searchsorted(edge, own)[entries.row]
        shape = len(edge), values.shape[1]
        parts.append(csr_array((entries.data, (place, entries.col)), shape=shape))
    return RoadFeatures(edge, csr_array(hstack(parts, "csr")))
