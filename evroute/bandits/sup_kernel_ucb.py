"""SupKernelUCB: levels of certainty with separate measurements, independent within a level.

Source: Valko, Korda, Munos, Flaounas & Cristianini, *Finite-Time Analysis of Kernelised Contextual
Bandits*, UAI 2013, Algorithm 2, after the outline of Zenati et al. 2022. One exact posterior per
level, so for small problems. The edges of a route would belong to different levels, so this method
is not offered on roads.
"""

import math

import numpy as np
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.model.kernels.arms import Covariance
from evroute.model.sparse.posterior import SparsePosterior
from evroute.validation.options import PartOptions


class SupKernelOptions(PartOptions):
    """SupKernelUCB: levels of certainty with separate measurements."""

    label = "sup-k-ucb"

    eta: float = Field(
        default=1.0,
        gt=0,
        description="multiplier of the scaled deviation, over the noise deviation, as other radii "
        "are: larger explores more",
    )
    ridge: float = Field(default=1.0, gt=0, description="lambda over the noise variance")


class SupKernelUCB:
    """Pull arms of a kernel bandit over a known horizon.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    arms
        All reference arms.
    noise_std_wh
        (n,) noise deviations.
    rng
        Source of randomness.
    horizon
        Number of rounds.
    options
        Widths and ridge.

    Raises
    ------
    EvrouteError
        If all widths are at most ``1 / sqrt(T)`` before any measurement: nothing would be learned.
    """

    def __init__(
        self,
        kernel: Covariance,
        arms: Arms,
        noise_std_wh: FloatArray,
        rng: np.random.Generator,
        horizon: int,
        options: SupKernelOptions,
    ) -> None:
        n_levels = max(1, math.ceil(0.5 * math.log2(horizon)) + 1)
        self._levels = [
            SparsePosterior(kernel, noise_std_wh, arms.features.shape[1], options.ridge)
            for _ in range(n_levels)
        ]
        self._noise_std = noise_std_wh
        self._eta = options.eta
        self._narrow = 1.0 / math.sqrt(horizon)
        prior = self._levels[0].kernel.diagonal(arms.id, arms.features)
        widest = float((noise_std_wh[arms.id] * np.sqrt(prior / options.ridge)).max())
        require(
            self._eta * widest > self._narrow,
            f"option eta is {self._eta:g}. It must be above "
            f"{self._narrow / widest:.3g}, or no width exceeds 1/sqrt(T) and nothing is learned",
        )
        self._rng = rng
        self._stored: SparsePosterior | None = None

    def pull(self, arms: Arms) -> int:
        """Return the position of the arm to pull."""
        active = np.arange(len(arms))
        for depth, level in enumerate(self._levels, start=1):
            edge, features = arms.id[active], arms.features[active]
            z = level.embed(edge, features)
            noise = self._noise_std[edge]
            # widths in units of cost, as the rounds' thresholds are
            width = (
                noise
                * self._eta
                * np.sqrt(level.variance(z, level.kernel.diagonal(edge, features)))
            )
            lower = noise * level.mean(z) - width
            wide = np.flatnonzero(width > 2.0**-depth)
            if np.all(width <= self._narrow):
                self._stored = None
                return int(active[np.argmin(lower)])
            if len(wide):
                self._stored = level
                return int(active[self._rng.choice(wide)])
            active = active[lower <= lower.min() + 2.0 ** (1 - depth)]
        self._stored = None
        return int(active[0])

    def learn(self, arms: Arms, pulled: int, cost: float) -> None:
        """Store a measured cost in the level that requested it, if any.

        Parameters
        ----------
        arms
            The arms of the round.
        pulled
            Position of the pulled arm.
        cost
            Measured cost.
        """
        if self._stored is None:
            return
        edge, features = arms.id[[pulled]], arms.features[[pulled]]
        slots = self._stored.slots(edge, features)
        self._stored.span(int(slots[0]))
        self._stored.absorb(slots, np.array([cost]) / self._noise_std[edge])
