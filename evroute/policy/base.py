"""Protocol of an index, and its options.

Before each trip an index gives the energy to plan with for every arm: Algorithm 2, line 2 of
Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian Process
Bandits*. It names the protocol that it needs of the model, so that an impossible pair is refused
before the first round.
"""

import math
from typing import ClassVar, Protocol

from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.validation.options import PartOptions


class Index(Protocol):
    """Optimistic, sampled or mean energy of each arm. An index derives from it."""

    needs: ClassVar[type] = EnergyModel
    """Protocol that the model must meet."""

    @property
    def beta(self) -> float:
        """Confidence parameter of the last call, or NaN for an index without one."""
        return math.nan

    @property
    def multiplier(self) -> float:
        """Distance from the mean in posterior deviations, in the last call.

        For a sampled index it is the deviation of the draws, or NaN for an index that ignores the
        model.
        """
        return math.sqrt(self.beta)

    @property
    def b_min(self) -> float:
        """Least norm of a function that fits the measurements, in the last call, or NaN."""
        return math.nan

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the index of each arm.

        Parameters
        ----------
        t
            Round, from 1.
        arms
            The a arms of the round.
        model
            A model that meets `needs`.
        rng
            Source of randomness.

        Returns
        -------
        FloatArray
            (a,) Wh, may be negative.
        """


class IndexSetting(Protocol):
    """Values that an index takes from its network and vehicle, over a arms."""

    @property
    def potential_wh(self) -> FloatArray:
        """(a,) rise of the potential over each arm, Wh."""


class IndexOptions(PartOptions):
    """Options of an index."""

    def build(self, setting: IndexSetting) -> Index:
        """Return the index before the first round."""
        raise NotImplementedError
