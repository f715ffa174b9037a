"""Diagonal: joint posterior of models with independent edges."""

from abc import ABC, abstractmethod

import numpy as np

from evroute.arms import Arms, Belief
from evroute.arrays import FloatArray


class Diagonal(ABC):
    """Covariance and draws from the marginals alone.

    Parameters
    ----------
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    """

    def __init__(self, noise_std_wh: FloatArray) -> None:
        if not np.all((noise_std_wh > 0) & (noise_std_wh < np.inf)):
            raise ValueError("noise_std_wh must be positive numbers")
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)

    @abstractmethod
    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance, (a, a) Wh², diagonal."""
        return np.diag(self.posterior(arms).std_wh ** 2)

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms, (a,) Wh."""
        draw: FloatArray = self.sample_many(arms, rng, 1)[0]
        return draw

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
