"""Draws of the prior on any edges of a region, by random features and the graph's sparse root.

A Matérn kernel of smoothness 5/2 on contexts is the mean of ``cos(w'(x - y))`` over frequencies w
of a multivariate t distribution with 5 degrees of freedom (Rahimi & Recht, 2007). With fresh
frequencies in every draw and independent standard normal a, b and fields g, h of covariance k_G,

    f(e, x) = s_e (sqrt(share / M) sum_m (g_m(e) cos(v_m'x) + h_m(e) sin(v_m'x))
                   + sqrt((1 - share) / F) sum_j (a_j cos(w_j'x) + b_j sin(w_j'x)))

has *exactly* the prior's covariance and normal marginals, for any M and F. More frequencies bring
the joint distribution of several edges closer to normal. Given the frequencies, the covariance is
off by about 1 / sqrt(2 F), and between edges near each other by 1 / sqrt(2 M) of the graph's
term.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.model.context_kernels.base import ContextKernel
from evroute.model.kernels import ArmKernel, EdgeContextKernel
from evroute.model.sparse_graph import SparseGraphMatern

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
        """Draw the residuals of arms jointly, (a,) Wh; an edge may occur in several contexts.

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
