"""Coefficients: the posterior of a model with a few numbers common to all edges."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from evroute.arrays import FloatArray, freeze


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """Posterior of p deviations from the values assumed by the prior mean, 0 before any trip.

    The coefficients absorb other departures from the prior mean as far as they can; ``std`` does
    not account for that.

    Parameters
    ----------
    names, units
        p names and units.
    mean, std
        (p,) posterior mean and deviation, in these units.
    prior_std
        (p,) prior deviation, in these units.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    mean: FloatArray
    std: FloatArray
    prior_std: FloatArray

    def __post_init__(self) -> None:
        shape = (len(self.names),)
        freeze(
            self,
            **{
                name: (getattr(self, name), np.float64, shape)
                for name in ("mean", "std", "prior_std")
            },
        )


@runtime_checkable
class HasCoefficients(Protocol):
    """A model with such coefficients."""

    def coefficients(self) -> Coefficients:
        """Return the current posterior of the coefficients."""
