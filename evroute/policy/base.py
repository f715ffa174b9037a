"""What an agent asks of an index, and a confidence bound of its schedule.

An index says, before each trip, how costly every edge may be taken to be: Algorithm 2, line 2 of
Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian Process
Bandits*. It asks the model for what it needs, and names that need, so that a pair that cannot work
is refused before the first round.
"""

import math
from typing import Protocol, runtime_checkable

from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel


class Index(Protocol):
    """Optimistic, sampled or plain energy of each arm."""

    @property
    def needs(self) -> type:
        """The protocol that the model has to meet."""
        ...

    @property
    def beta(self) -> float:
        """The confidence parameter of the last call; NaN for an index that has none."""
        ...

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the index of each arm in round ``t`` (from 1): (a,) Wh, may be negative."""
        ...


@runtime_checkable
class HasMultiplier(Protocol):
    """An index that departs from the mean otherwise than by the root of a beta, and says how far."""

    @property
    def multiplier(self) -> float:
        """How many of the model's posterior deviations, in the last call."""
        ...


@runtime_checkable
class HasLeastNorm(Protocol):
    """An index under a bound on the norm of the truth."""

    @property
    def b_min(self) -> float:
        """The least norm of a function that fits what was measured, in the last call."""
        ...


def multiplier(index: Index) -> float:
    """Return how many posterior deviations an index departs from the mean: what all indices can be compared by.

    Of a sampled index it is the deviation of the draws; NaN where an index does not follow the
    model.
    """
    return index.multiplier if isinstance(index, HasMultiplier) else math.sqrt(index.beta)


def least_norm(index: Index) -> float:
    """Return the least norm that fits what was measured; NaN for an index that does not ask."""
    return index.b_min if isinstance(index, HasLeastNorm) else math.nan


class Schedule(Protocol):
    """The confidence parameter over time."""

    @property
    def needs(self) -> type:
        """The protocol that the model has to meet."""
        ...

    def __call__(self, t: int, n_arms: int, model: EnergyModel) -> float:
        """Return ``beta_t``, finite and at least 0, for round ``t`` (from 1) with ``n_arms`` available."""
        ...
