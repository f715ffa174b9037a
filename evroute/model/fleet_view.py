"""FleetView: the common belief of a fleet, seen from one vehicle.

Watt-hours do not transfer: on the same road a van takes twice the energy of a small car. The
relative error of eq. 8 on the dissipated energy of an edge (its energy minus ``m g dz``) does
transfer: a slow or rough road, wind, and errors common to all vehicles. So every vehicle keeps
its eq. 8 and potential, and the model learns deviations of a reference vehicle:

    f_ve = E_ve + s_ve g_e,    s_ve = (E_ve - m_v g dz_e) / (E_0e - m_0 g dz_e)

Noise is scaled alike. An error of one vehicle alone, such as its payload, spreads to all. Use
separate beliefs in that case.
"""

from dataclasses import replace

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.model.base import EnergyModel, HasJoint, State


class FleetView:
    """The model of a fleet in the units of one vehicle.

    Parameters
    ----------
    model
        Model of the reference vehicle.
    prior_wh, reference_prior_wh
        (n,) eq. 8 energy of every arm for the vehicle and for the reference vehicle, Wh.
    potential_wh, reference_potential_wh
        (n,) ``m g dz`` of every arm for the vehicle and for the reference vehicle, Wh.

    Raises
    ------
    ValueError
        If an arm dissipates nothing.
    """

    def __init__(
        self,
        model: EnergyModel,
        *,
        prior_wh: FloatArray,
        potential_wh: FloatArray,
        reference_prior_wh: FloatArray,
        reference_potential_wh: FloatArray,
    ) -> None:
        dissipated_wh, reference_wh = (
            prior_wh - potential_wh,
            reference_prior_wh - reference_potential_wh,
        )
        require(
            np.all(dissipated_wh > 0) and np.all(reference_wh > 0),
            "an arm dissipates nothing by eq. 8, so that no share of it can be learned",
            ValueError,
        )
        self.model = model
        self._share = dissipated_wh / reference_wh
        self._potential_wh = potential_wh
        self._reference_potential_wh = reference_potential_wh

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior of each arm for this vehicle, (a,) Wh each."""
        reference, share = self._reference(arms), self._share[arms.id]
        belief = self.model.posterior(reference)
        return Belief(
            arms.prior_mean_wh + share * (belief.mean_wh - reference.prior_mean_wh),
            share * belief.std_wh,
        )

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._share[arms.id] * self.model.noise_std(self._reference(arms))

    def update(self, feedback: Feedback) -> None:
        """Learn a trip of this vehicle, converted to the reference vehicle."""
        prior_wh = self._prior_of_reference(feedback.id, feedback.prior_mean_wh)
        off_wh = (feedback.energy_wh - feedback.prior_mean_wh) / self._share[feedback.id]
        self.model.update(replace(feedback, prior_mean_wh=prior_wh, energy_wh=prior_wh + off_wh))

    def state(self) -> State:
        """Return the state of the fleet's model."""
        return self.model.state()

    def restore(self, state: State) -> None:
        """Restore a state of the fleet's model."""
        self.model.restore(state)

    def _reference(self, arms: Arms) -> Arms:
        return Arms(arms.id, arms.features, self._prior_of_reference(arms.id, arms.prior_mean_wh))

    def _prior_of_reference(self, edge: IntArray, prior_mean_wh: FloatArray) -> FloatArray:
        return self._reference_potential_wh[edge] + (
            (prior_mean_wh - self._potential_wh[edge]) / self._share[edge]
        )


class FleetJointView(FleetView):
    """`FleetView` of a model with a joint posterior."""

    model: HasJoint  # type: ignore[assignment]

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh²."""
        share = self._share[arms.id]
        return self.model.covariance(self._reference(arms)) * np.outer(share, share)

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
        reference = self._reference(arms)
        return arms.prior_mean_wh + self._share[arms.id] * (
            self.model.sample_many(reference, rng, size) - reference.prior_mean_wh
        )
