"""PhysicsGP: physics regression plus a Gaussian process on its residuals, in one exact posterior.

``f_e = E_e + sum_j x_ej b_j + g_e``: errors common to all roads go to the coefficients b and hold
on roads never driven. Errors of one road or its neighbourhood go to g. Both are learned jointly
by the sum of their kernels, so every residual is split by the two likelihoods (`PhysicsKernel`;
Rasmussen & Williams, *Gaussian Processes for Machine Learning*, eq. 2.40 with fixed basis functions
and a proper prior).

Prior deviations of g are a share of the energy that an edge dissipates by eq. 8, for every prior
of a run: equal deviations on all roads would let g absorb the share of the coefficients.
"""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.energy.regressors import Derivatives
from evroute.model.base import ModelSetting, State
from evroute.model.coefficients import CoefficientOptions, Coefficients
from evroute.model.exact import ExactGP
from evroute.model.kernels.arms import ArmGraph, EdgeContextKernel


class PhysicsGPOptions(CoefficientOptions):
    """Physics regression plus an exact Gaussian process on its residuals."""

    label = "physics+gp"

    rest_scale: float = Field(
        default=0.5,
        gt=0,
        description="factor of the prior deviations of the part that eq. 8 cannot explain",
    )

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "PhysicsGP":
        """Return the model before any trip."""
        return PhysicsGP(
            setting.dissipation_kernel,
            setting.regressors,
            setting.arms,
            setting.noise_std_wh,
            self,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PhysicsKernel:
    """``k(a, b) = x_a' S x_b + k_gp(a, b)`` between arms.

    Parameters
    ----------
    rest
        k_gp.
    regressors
        Source of x, Wh per unit of a coefficient.
    coefficient_std
        (p,) square roots of the diagonal of S, in the units of the regressors.
    """

    rest: EdgeContextKernel
    regressors: Derivatives
    coefficient_std: FloatArray

    @property
    def graph(self) -> ArmGraph:
        """The kernel on the edges of the network."""
        return self.rest.graph

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms, (a, b) Wh².

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) edges.
        features_a, features_b
            (a, d) and (b, d) contexts.
        """
        covariance = self.rest(edge_a, features_a, edge_b, features_b)
        # without BLAS: rows computed again after a restart are the same to the last bit, in blocks
        # of any size
        for of_a, of_b in zip(
            self._columns(edge_a, features_a).T, self._columns(edge_b, features_b).T, strict=True
        ):
            covariance += of_a[:, np.newaxis] * of_b
        return covariance

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,) Wh²."""
        return (self._columns(edge, features) ** 2).sum(axis=1) + self.rest.diagonal(edge, features)

    def matrix(self, features: FloatArray) -> FloatArray:
        """Return the prior covariance of all edges in contexts (n, d), (n, n) Wh², symmetric."""
        covariance = self.rest.matrix(features)
        columns = self._columns(np.arange(len(covariance)), features)
        linear = columns @ columns.T
        covariance += 0.5 * (linear + linear.T)
        return covariance

    def with_coefficients(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior covariance of arms with the coefficients, ``x S``, (a, p)."""
        return self._columns(edge, features) * self.coefficient_std

    def _columns(self, edge: IntArray, features: FloatArray) -> FloatArray:
        return self.regressors.of(edge, features) * self.coefficient_std


class PhysicsGP(ExactGP):
    """The exact Gaussian process of the sum of both kernels, with the posterior of coefficients.

    Parameters
    ----------
    dissipation_kernel
        Kernel of g, with deviations of a quarter of the energy that each edge dissipates.
    regressors
        Derivatives of eq. 8 by its parameters.
    arms
        All edges in their reference contexts.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    options
        Factors of the prior deviations of g and of the coefficients.
    """

    def __init__(
        self,
        dissipation_kernel: EdgeContextKernel,
        regressors: Derivatives,
        arms: Arms,
        noise_std_wh: FloatArray,
        options: PhysicsGPOptions,
    ) -> None:
        rest = EdgeContextKernel(
            dissipation_kernel.graph,
            options.rest_scale * dissipation_kernel.std_wh,
            dissipation_kernel.lengthscales,
            graph_share=dissipation_kernel.graph_share,
            context=dissipation_kernel.context_name,
        )
        self._both = PhysicsKernel(rest, regressors, options.prior_std(regressors))
        super().__init__(self._both, arms, noise_std_wh)

    def coefficients(self) -> Coefficients:
        """Return the posterior of the coefficients."""
        prior, regressors = self._both.coefficient_std, self._both.regressors
        mean, learned = self.regress(self._both.with_coefficients)
        variance = np.maximum(prior**2 + learned.diagonal(), 0.0)
        return Coefficients(regressors.names, regressors.units, mean, np.sqrt(variance), prior)

    def state(self) -> State:
        """Return the state of the Gaussian process and the prior deviations of the coefficients."""
        return {"coefficient_std": self._both.coefficient_std.copy(), **super().state()}

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model on as many edges with the same prior.
        """
        if not np.array_equal(state.get("coefficient_std", ()), self._both.coefficient_std):
            raise ValueError(
                f"this is not the state of a physics+gp model of {self._both.graph.n_edges} edges"
            )
        super().restore({name: part for name, part in state.items() if name != "coefficient_std"})
