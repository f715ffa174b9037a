"""Draws of the prior on any edges of a region: in feature space for contexts, by the sparse root for the graph.

A Matérn kernel of smoothness 5/2 on contexts is the mean of ``cos(w'(x - y))`` over frequencies w
of a multivariate t distribution with 5 degrees of freedom (Rahimi & Recht, 2007). With fresh
frequencies in every draw and independent standard normal a, b and fields g, h of covariance k_G,

    f(e, x) = s_e (sqrt(share / M) sum_m (g_m(e) cos(v_m'x) + h_m(e) sin(v_m'x))
                   + sqrt((1 - share) / F) sum_j (a_j cos(w_j'x) + b_j sin(w_j'x)))

has *exactly* the prior's covariance and normal marginals, whatever M and F are. What more
frequencies make better is that several edges together are normal; the covariance given the
frequencies is off by some 1 / sqrt(2 F), and between edges near each other 1 / sqrt(2 M) of what
the graph adds.
"""

import numpy as np
from numpy.random import Generator

from evroute.arrays import FloatArray, IntArray
from evroute.model.context_kernels.base import ContextKernel
from evroute.model.kernels import ArmKernel, EdgeContextKernel
from evroute.model.sparse_graph import SparseGraphMatern

FREQUENCIES = 256
"""F, of the kernel on contexts alone."""
GRAPH_FREQUENCIES = 8
"""M, of that which goes with the graph."""


class PriorDraws:
    """Draws of one prior.

    Raises
    ------
    TypeError
        If its graph kernel has no sparse root.
    """

    def __init__(self, kernel: ArmKernel) -> None:
        if not (
            isinstance(kernel, EdgeContextKernel) and isinstance(kernel.graph, SparseGraphMatern)
        ):
            raise TypeError(f"{type(kernel.graph).__name__} has no sparse root to draw from")
        self._graph = kernel.graph
        self._kernel = kernel

    def __call__(self, edge: IntArray, features: FloatArray, rng: Generator) -> FloatArray:
        """Draw the residuals of arms together, (a,) Wh; an edge may come in several contexts."""
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
    rng: Generator,
) -> FloatArray:
    """Return cosines and sines of contexts (a, d) at fresh frequencies, (a, 2 size)."""
    frequency = context.spectral_draw(features.shape[1], size, rng) / lengthscales[:, np.newaxis]
    phase = features @ frequency
    waves = np.empty((len(features), 2 * size))
    np.cos(phase, out=waves[:, :size])
    np.sin(phase, out=waves[:, size:])
    return waves
