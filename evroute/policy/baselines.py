"""Baselines: never exploring, never learning, and epsilon-greedy of BBKB's experiments."""

from dataclasses import dataclass

from numpy.random import Generator
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.policy.base import Index, IndexOptions, IndexSetting


@dataclass(frozen=True, slots=True)
class Greedy(Index):
    """The posterior mean, whatever its uncertainty."""

    @property
    def multiplier(self) -> float:
        """Always 0: the index is the mean."""
        return 0.0

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the posterior means, (a,) Wh."""
        return model.posterior(arms).mean_wh


@dataclass(frozen=True, slots=True, eq=False)
class Random(Index):
    """Random plausible routes: the dissipated energy of eq. 8 times a uniform draw from [0, 2).

    The energy of the climb stays as it is. So routes are equally random on hilly networks under
    every search rule, and the expected index is eq. 8 itself.
    """

    potential_wh: FloatArray

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return a randomly scaled eq. 8, (a,) Wh. Measurements are ignored."""
        potential_wh = self.potential_wh[arms.id]
        return potential_wh + 2.0 * rng.random(len(arms)) * (arms.prior_mean_wh - potential_wh)


class GreedyOptions(IndexOptions):
    """The posterior mean, whatever its uncertainty."""

    label = "greedy"

    def build(self, setting: IndexSetting) -> Greedy:
        """Return the index before the first round."""
        return Greedy()


class RandomOptions(IndexOptions):
    """Random plausible routes: the dissipated energy of eq. 8 times uniform draws from [0, 2)."""

    label = "random"

    def build(self, setting: IndexSetting) -> Random:
        """Return the index before the first round."""
        return Random(setting.potential_wh)


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
    """The posterior mean. Random weights in a share ``epsilon`` of the rounds.

    With probability ``epsilon`` in a round the index of `baselines.Random`.
    """

    def __init__(self, potential_wh: FloatArray, *, epsilon: float) -> None:
        self._random = Random(potential_wh)
        self._epsilon = epsilon

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the posterior means or a random index, (a,) Wh."""
        return (
            self._random(t, arms, model, rng)
            if rng.random() < self._epsilon
            else model.posterior(arms).mean_wh
        )
