"""PhysicsGP: the physics regression as the mean, and a Gaussian process on what it leaves, in one exact posterior.

``f_e = E_e + sum_j x_ej b_j + g_e``: what is wrong on all roads alike goes to the coefficients and
holds on roads never driven; what is wrong with a road or its neighbourhood goes to g. That both are
learned at once, by the sum of their kernels (`physics_kernel`), shares every deviation between them
by what each finds likely.

Prior deviations of g are a share of what eq. 8 says an edge dissipates, whatever prior a run has:
one size for all roads would let g take what belongs to the coefficients.
"""

from typing import Literal

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.energy.regressors import Derivatives
from evroute.model.base import State
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.model.coefficients import Coefficients
from evroute.model.exact import ExactGP
from evroute.model.kernels import EdgeContextKernel
from evroute.model.physics import prior_std
from evroute.model.physics_kernel import PhysicsKernel
from evroute.model.trip_noise import TripEffect


class PhysicsGP:
    """That regression of eq. 8 (`physics`) and an exact Gaussian process on the rest.

    dissipation_kernel: of g, with deviations of a quarter of what each edge dissipates.  arms:
    every edge in its reference context.  noise_std_wh: (n,) of one measurement of each edge, Wh.
    rest_scale: multiplies the deviations of g, coefficient_scale those of the coefficients; both
    positive. potential_wh,
    trip_effect, noise: as in `ExactGP`.
    """

    def __init__(
        self,
        dissipation_kernel: EdgeContextKernel,
        regressors: Derivatives,
        arms: Arms,
        noise_std_wh: FloatArray,
        *,
        rest_scale: float = 0.5,
        coefficient_scale: float = 1.0,
        potential_wh: FloatArray | None = None,
        trip_effect: TripEffect = None,
        noise: Literal["prior", "learned"] = "prior",
    ) -> None:
        if not 0 < rest_scale < np.inf:
            raise ValueError(
                f"rest_scale is {rest_scale:g}; it must be positive: it multiplies the prior "
                "deviations of what "
                "the coefficients do not explain"
            )
        rest = EdgeContextKernel(
            dissipation_kernel.graph,
            rest_scale * dissipation_kernel.std_wh,
            dissipation_kernel.lengthscales,
            graph_share=dissipation_kernel.graph_share,
            context=dissipation_kernel.context_name,
        )
        self._kernel = PhysicsKernel(rest, regressors, prior_std(regressors, coefficient_scale))
        self._gp = ExactGP(
            self._kernel,
            arms,
            noise_std_wh,
            potential_wh=potential_wh,
            trip_effect=trip_effect,
            noise=noise,
        )

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior of each arm."""
        return self._gp.posterior(arms)

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the standard deviation of one measurement of each arm, (a,) Wh."""
        return self._gp.noise_std(arms)

    def trip_noise(self, arms: Arms) -> FloatArray:
        """Return by how much one deviation of the factor of a trip moves each arm, (a,) Wh."""
        return self._gp.trip_noise(arms)

    def update(self, feedback: Feedback) -> None:
        """Learn what one trip, or several at once, measured."""
        self._gp.update(feedback)

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², exactly symmetric."""
        return self._gp.covariance(arms)

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms together, (a,) Wh."""
        return self._gp.sample(arms, rng)

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw them ``size`` times, (size, a) Wh."""
        return self._gp.sample_many(arms, rng, size)

    def spectrum(self) -> Spectrum:
        """Return what was measured in the eigenbasis of its Gram matrix."""
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
        """Return what is believed of the coefficients."""
        prior, regressors = self._kernel.coefficient_std, self._kernel.regressors
        mean, learned = self._gp.regress(self._kernel.with_coefficients)
        variance = np.maximum(prior**2 + learned.diagonal(), 0.0)
        return Coefficients(regressors.names, regressors.units, mean, np.sqrt(variance), prior)

    def state(self) -> State:
        """Return the state of the Gaussian process, and the prior deviations of the coefficients."""
        return {"coefficient_std": self._kernel.coefficient_std.copy(), **self._gp.state()}

    def restore(self, state: State) -> None:
        """Take over a state.

        Raises
        ------
        ValueError
            If it is not the state of such a model on as many edges with the same prior.
        """
        if not np.array_equal(state.get("coefficient_std", ()), self._kernel.coefficient_std):
            raise ValueError(
                f"this is not the state of a physics+gp model of {self._kernel.graph.n_edges} edges"
            )
        self._gp.restore({name: part for name, part in state.items() if name != "coefficient_std"})
