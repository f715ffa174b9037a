"""Epsilon-greedy: the posterior mean, and a random route in a share of the rounds.

A baseline of BBKB's experiments.
"""

from numpy.random import Generator
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.policy.base import Index, IndexOptions, IndexSetting
from evroute.policy.baselines import Random


class EpsilonGreedyOptions(IndexOptions):
    """The posterior mean, and a random route in a share of the rounds."""

    label = "epsilon-greedy"

    epsilon: float = Field(
        default=0.1, ge=0, le=1, description="share of the rounds that drive at random"
    )

    def build(self, setting: IndexSetting) -> "EpsilonGreedy":
        """Return the index before the first round."""
        return EpsilonGreedy(setting.potential_wh, epsilon=self.epsilon)


class EpsilonGreedy(Index):
    """The posterior mean; random weights in a share ``epsilon`` of the rounds.

    With probability ``epsilon`` in a round the index of `baselines.Random`.
    """

    def __init__(self, potential_wh: FloatArray, *, epsilon: float) -> None:
        self._random = Random(potential_wh)
        self._epsilon = epsilon

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the posterior means or a random index, (a,) Wh."""
        explore = rng.random() < self._epsilon
        return self._random(t, arms, model, rng) if explore else model.posterior(arms).mean_wh
