"""Diagonal: precision, information and joint posterior of models with independent edges."""

from abc import ABC, abstractmethod

import numpy as np

from evroute.arms import Arms, Belief
from evroute.arrays import FloatArray
from evroute.model.base import State, check_noise, check_state


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
