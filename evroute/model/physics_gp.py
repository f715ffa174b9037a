"""PhysicsGP: physics regression plus a Gaussian process on its residuals, in one exact posterior.

``f_e = E_e + sum_j x_ej b_j + g_e``: errors common to all roads go to the coefficients b and hold
on roads never driven; errors of one road or its neighbourhood go to g. Both are learned jointly
by the sum of their kernels (`physics_kernel`), so every residual is split by the two likelihoods.

Prior deviations of g are a share of the energy that an edge dissipates by eq. 8, for every prior
of a run: equal deviations on all roads would let g absorb the share of the coefficients.
"""

import numpy as np
from numpy.random import Generator
from pydantic import Field

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.energy.regressors import Derivatives
from evroute.model.base import State
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.model.coefficients import Coefficients
from evroute.model.exact import ExactGP
from evroute.model.kernels import EdgeContextKernel
from evroute.model.options import ModelSetting
from evroute.model.physics import CoefficientOptions
from evroute.model.physics_kernel import PhysicsKernel
from evroute.model.trip_noise import TripNoiseOptions


class PhysicsGPOptions(CoefficientOptions, TripNoiseOptions):
    """Physics regression plus an exact Gaussian process on its residuals."""

    label = "physics+gp"

    rest_scale: float = Field(
        default=0.5,
        gt=0,
        description="factor of the prior deviations of the part that eq. 8 cannot explain",
    )

    def build(self, setting: ModelSetting, rng: Generator) -> "PhysicsGP":
        """Return the model before any trip."""
        return PhysicsGP(
            setting.dissipation_kernel,
            setting.regressors,
            setting.arms,
            setting.noise_std_wh,
            potential_wh=setting.potential_wh,
            options=self,
        )


class PhysicsGP:
    """Regression of eq. 8 (`physics`) and an exact Gaussian process g on the rest.

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
    potential_wh
        As in `ExactGP`.
    options
        Factors of the prior deviations of g and of the coefficients; noise as in `ExactGP`.
    """

    def __init__(
        self,
        dissipation_kernel: EdgeContextKernel,
        regressors: Derivatives,
        arms: Arms,
        noise_std_wh: FloatArray,
        *,
        potential_wh: FloatArray | None = None,
        options: PhysicsGPOptions,
    ) -> None:
        rest = EdgeContextKernel(
            dissipation_kernel.graph,
            options.rest_scale * dissipation_kernel.std_wh,
            dissipation_kernel.lengthscales,
            graph_share=dissipation_kernel.graph_share,
            context=dissipation_kernel.context_name,
        )
        self._kernel = PhysicsKernel(rest, regressors, options.prior_std(regressors))
        self._gp = ExactGP(
            self._kernel,
            arms,
            noise_std_wh,
            potential_wh=potential_wh,
            options=options,
        )

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""
        return self._gp.posterior(arms)

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._gp.noise_std(arms)

    def trip_noise(self, arms: Arms) -> FloatArray:
        """Return the effect of one deviation of the trip factor on each arm, (a,) Wh."""
        return self._gp.trip_noise(arms)

    def update(self, feedback: Feedback) -> None:
        """Learn the measurements of one trip or of several trips."""
        self._gp.update(feedback)

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², exactly symmetric."""
        return self._gp.covariance(arms)

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms jointly, (a,) Wh."""
        return self._gp.sample(arms, rng)

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        return self._gp.sample_many(arms, rng, size)

    def spectrum(self) -> Spectrum:
        """Return the measurements in the eigenbasis of their Gram matrix."""
        return self._gp.spectrum()

    def points(self, spectrum: Spectrum, arms: Arms) -> Points:
        """Return residuals of arms in the eigenbasis of a spectrum of this model."""
        return self._gp.points(spectrum, arms)

    def prior_covariance(self, arms: Arms) -> FloatArray:
        """Return the sum of both kernels between the arms, (a, a) Wh²."""
        return self._gp.prior_covariance(arms)

    def n_measured(self) -> float:
        """Return the number of measurements."""
        return self._gp.n_measured()

    def coefficients(self) -> Coefficients:
        """Return the posterior of the coefficients."""
        prior, regressors = self._kernel.coefficient_std, self._kernel.regressors
        mean, learned = self._gp.regress(self._kernel.with_coefficients)
        variance = np.maximum(prior**2 + learned.diagonal(), 0.0)
        return Coefficients(regressors.names, regressors.units, mean, np.sqrt(variance), prior)

    def state(self) -> State:
        """Return the state of the Gaussian process and the prior deviations of the coefficients."""
        return {"coefficient_std": self._kernel.coefficient_std.copy(), **self._gp.state()}

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model on as many edges with the same prior.
        """
        if not np.array_equal(state.get("coefficient_std", ()), self._kernel.coefficient_std):
            raise ValueError(
                f"this is not the state of a physics+gp model of {self._kernel.graph.n_edges} edges"
            )
        self._gp.restore({name: part for name, part in state.items() if name != "coefficient_std"})
