"""IndependentNormal: the conjugate normal update of each edge (Bayesian-inference baseline, BI).

Sandberg et al., section 4: there is no kernel, so a measurement informs its edge only. The
context does not matter either: a residual, measured energy minus prior mean, counts the same in
all contexts.
"""

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.model.base import ModelOptions, ModelSetting, State, check_noise, check_state


class IndependentNormal:
    """Normal belief of the expected residual of each of n edges.

    Parameters
    ----------
    prior_variance_wh2
        (n,) prior variances, Wh². The diagonal of the kernel in comparisons with a Gaussian
        process.
    noise_std_wh
        (n,) noise deviation of one measurement, Wh.

    Raises
    ------
    ValueError
        If a number is not positive or the lengths differ.
    """

    def __init__(self, prior_variance_wh2: FloatArray, noise_std_wh: FloatArray) -> None:
        require(
            np.all((prior_variance_wh2 > 0) & (prior_variance_wh2 < np.inf)),
            "prior variances must be positive numbers",
            ValueError,
        )
        require(
            prior_variance_wh2.shape == noise_std_wh.shape,
            (f"{len(prior_variance_wh2)} prior variances but {len(noise_std_wh)} noise deviations"),
            ValueError,
        )
        check_noise(noise_std_wh, len(prior_variance_wh2))
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._precision = 1.0 / prior_variance_wh2
        self._information = np.zeros(len(prior_variance_wh2))

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior: mean ``information / precision``, variance ``1 / precision``."""
        precision = self._precision[arms.id]
        return Belief(
            arms.prior_mean_wh + self._information[arms.id] / precision, 1.0 / np.sqrt(precision)
        )

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

    def update(self, feedback: Feedback) -> None:
        """Add precision and information of each measurement to its edge. Repeats count."""
        weight = self._noise_std[feedback.id] ** -2.0
        np.add.at(self._precision, feedback.id, weight)
        np.add.at(
            self._information, feedback.id, weight * (feedback.energy_wh - feedback.prior_mean_wh)
        )

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance, (a, a) Wh², diagonal."""
        return np.diag(self.posterior(arms).std_wh ** 2)

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
        belief = self.posterior(arms)
        return rng.normal(belief.mean_wh, belief.std_wh, size=(size, len(arms)))

    def state(self) -> State:
        """Return precision and information of each edge, (n,) each."""
        return {"precision": self._precision.copy(), "information": self._information.copy()}

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model on as many edges.
        """
        expected = {name: part.shape for name, part in self.state().items()}
        check_state(state, expected, f"an independent model of {len(self._noise_std)} edges")
        self._precision = np.array(state["precision"], dtype=np.float64)
        self._information = np.array(state["information"], dtype=np.float64)


class IndependentOptions(ModelOptions):
    """Independent normal belief of each edge (Bayesian inference, BI)."""

    label = "BI"

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> IndependentNormal:
        """Return the model before any trip."""
        return IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)
