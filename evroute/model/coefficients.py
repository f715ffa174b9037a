"""Coefficients: what a model with a few numbers for all edges believes of these numbers."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from evroute.arrays import FloatArray, freeze


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """Beliefs about p deviations from what the prior mean takes for granted, 0 before any trip.

    names, units: p each.  mean, std: (p,) of the posterior.  prior_std: (p,).  What else departs
    from the prior mean is taken up by them as far as they can, and ``std`` does not reckon with
    that.
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
    """A model that learns such numbers."""

    def coefficients(self) -> Coefficients:
        """Return what is believed of them now."""
