"""IndependentNormal: the conjugate normal update of each edge (Bayesian-inference baseline, BI).

Sandberg et al., section 4: there is no kernel, so a measurement informs its edge only. The
context does not matter either: a residual, measured energy minus prior mean, counts the same in
all contexts.

`EdgeSpeeds` is eq. 8 at learned speeds. Only travel times are learned, not energies. A passage of
edge e takes the time of its assumed speed times ``exp(s_e)``, with independent slowness ``s_e ~
N(0, slowness_std²)`` and log-normal noise. The model is conjugate in logarithms: a speed is shrunk
to the assumed one and stays positive. The slowness multiplies the time of any speed that a round
assumes. Energy is eq. 8 at the speed of the mean slowness, auxiliary power included. Its deviation
is first order, ``dE/ds = auxiliary - 2 drag``.
"""

from abc import ABC, abstractmethod
from typing import cast

import numpy as np
from pydantic import Field

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.energy.regressors import Regressors
from evroute.errors import require
from evroute.model.base import ModelOptions, ModelSetting, State, check_noise, check_state


class Diagonal(ABC):
    """Covariance and draws from the marginals alone.

    Parameters
    ----------
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    prior_variance
        (n,) prior variances of the learned number of each edge.
    """

    title: str
    """Name of the model in messages."""
    prefix: str = ""
    """Begins the names of the arrays of a state."""

    def __init__(self, noise_std_wh: FloatArray, prior_variance: FloatArray) -> None:
        check_noise(noise_std_wh, len(prior_variance))
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._precision = 1.0 / prior_variance
        self._information = np.zeros(len(prior_variance))

    @abstractmethod
    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

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
        """Return precision and information of the learned number of each edge, (n,) each."""
        return {
            f"{self.prefix}precision": self._precision.copy(),
            f"{self.prefix}information": self._information.copy(),
        }

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model on as many edges.
        """
        expected = {name: part.shape for name, part in self.state().items()}
        check_state(state, expected, f"an {self.title} model of {len(self._noise_std)} edges")
        self._precision = np.array(state[f"{self.prefix}precision"], dtype=np.float64)
        self._information = np.array(state[f"{self.prefix}information"], dtype=np.float64)


class IndependentNormal(Diagonal):
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

    title = "independent"

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
        super().__init__(noise_std_wh, prior_variance_wh2)

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior: mean ``information / precision``, variance ``1 / precision``."""
        precision = self._precision[arms.id]
        return Belief(
            arms.prior_mean_wh + self._information[arms.id] / precision, 1.0 / np.sqrt(precision)
        )

    def update(self, feedback: Feedback) -> None:
        """Add precision and information of each measurement to its edge. Repeats count."""
        weight = self._noise_std[feedback.id] ** -2.0
        np.add.at(self._precision, feedback.id, weight)
        np.add.at(
            self._information, feedback.id, weight * (feedback.energy_wh - feedback.prior_mean_wh)
        )


class IndependentOptions(ModelOptions):
    """Independent normal belief of each edge (Bayesian inference, BI)."""

    label = "BI"

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> IndependentNormal:
        """Return the model before any trip."""
        return IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)


class EdgeSpeedsOptions(ModelOptions):
    """Eq. 8 at speeds learned from travel times, edges independent."""

    label = "edge-speeds"
    only_edges = "the speed of an edge is the same however it is entered"

    slowness_std: float = Field(
        default=0.4, gt=0, description="prior deviation of the logarithm of an edge's travel time"
    )
    time_std: float = Field(
        default=0.2, gt=0, description="deviation of the logarithm of one measured travel time"
    )

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "EdgeSpeeds":
        """Return the model before any trip."""
        return EdgeSpeeds(cast(Regressors, setting.regressors), setting.noise_std_wh, options=self)


class EdgeSpeeds(Diagonal):
    """Eq. 8 at speeds learned from travel times, edges independent.

    Parameters
    ----------
    regressors
        Parts of eq. 8 at a speed.
    noise_std_wh
        (n,) noise deviation of one energy measurement of each edge, Wh.
    options
        Deviations of log travel times. Our prior of 0.4 holds half the speed limit (level of
        service D of the Highway Capacity Manual 2010) within 2 deviations.
    """

    title = "edge speeds"
    prefix = "slowness_"

    def __init__(
        self, regressors: Regressors, noise_std_wh: FloatArray, *, options: EdgeSpeedsOptions
    ) -> None:
        super().__init__(noise_std_wh, np.full(len(noise_std_wh), options.slowness_std**2.0))
        self._regressors = regressors
        self._weight = options.time_std**-2.0

    def posterior(self, arms: Arms) -> Belief:
        """Return eq. 8 at the learned speeds and its deviation to first order, (a,) Wh each."""
        precision = self._precision[arms.id]
        slowness = self._information[arms.id] / precision
        assumed_mps = self._regressors.speed_mps(arms.features)
        learned = self._regressors.parts(arms.id, assumed_mps * np.exp(-slowness))
        change_wh = learned.total_wh - self._regressors.parts(arms.id, assumed_mps).total_wh
        by_slowness_wh = learned.auxiliary_wh - 2.0 * learned.drag_wh
        return Belief(arms.prior_mean_wh + change_wh, np.abs(by_slowness_wh) / np.sqrt(precision))

    def update(self, feedback: Feedback) -> None:
        """Learn the measured travel times. Repeats of an edge count each time.

        Raises
        ------
        ValueError
            If a time is not positive.
        """
        timed = ~np.isnan(feedback.travel_s)
        edge, travel_s = feedback.id[timed], feedback.travel_s[timed]
        if np.any(travel_s <= 0):
            raise ValueError(
                f"a trip took {travel_s.min():g} s on an edge. Travel times must be positive"
            )
        assumed_s = self._regressors.network.length_m[edge] / self._regressors.speed_mps(
            feedback.features[timed]
        )
        np.add.at(self._precision, edge, self._weight)
        np.add.at(self._information, edge, self._weight * np.log(travel_s / assumed_s))
