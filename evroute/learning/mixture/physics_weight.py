"""Weight of the driver's physics against steady speeds, by the trips that both expected.

Before any trip it is `LIMITS` where the speeds of the network are limits, since cars stop and slow
down below them, else `UNKNOWN`. Each trip adds the log density of its measured energy under the
Student t of each belief. The sum of the differences is discounted by `DISCOUNT` a trip.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from evroute.arrays import FloatArray
from evroute.learning.intervals import ErrorSpread, TripPrediction
from evroute.learning.tail import DISCOUNT
from evroute.network.road_network import RoadNetwork

LIMITS = 0.9
UNKNOWN = 0.5
SOURCES_WITH_LIMITS = ("osm", "osmnx", "sumo")
"""Kinds of sources whose speeds are speed limits."""


def prior_weight(network: RoadNetwork) -> float:
    """Return the weight of the driver's physics before any trip."""
    return LIMITS if network.source.kind in SOURCES_WITH_LIMITS else UNKNOWN


class PhysicsWeight:
    """Weight of the first of two beliefs.

    Parameters
    ----------
    prior
        Weight before any trip, in (0, 1).

    Attributes
    ----------
    evidence
        Discounted sum of the differences of log densities.
    """

    def __init__(self, prior: float) -> None:
        self.prior = prior
        self.evidence = 0.0

    @property
    def first(self) -> float:
        """Weight of the first belief, in [0, 1]."""
        return float(expit(logit(self.prior) + self.evidence))

    def add(self, energy_wh: float, first: TripPrediction, second: TripPrediction) -> None:
        """Add a trip.

        Parameters
        ----------
        energy_wh
            Measured energy, Wh.
        first, second
            Predictions of both beliefs from before the trip.
        """
        gain = first.log_density(energy_wh) - second.log_density(energy_wh)
        self.evidence = DISCOUNT * self.evidence + gain

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the learned number as an array."""
        return {"evidence": np.array(self.evidence)}

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state."""
        self.evidence = float(state["evidence"])

    def mixed(self, first: Any, second: Any) -> Any:
        """Return the weighted mean of numbers or arrays of both beliefs."""
        weight = self.first
        return weight * first + (1.0 - weight) * second

    def covariance(self, first: FloatArray, second: FloatArray, apart: FloatArray) -> FloatArray:
        """Return the covariance of the mixture, (k, k).

        Parameters
        ----------
        first, second
            (k, k) covariances by each belief.
        apart
            (k,) mean by the first belief less that by the second.
        """
        weight = self.first
        covariance: FloatArray = self.mixed(first, second)
        return covariance + weight * (1.0 - weight) * np.outer(apart, apart)

    def variance(self, first: Any, second: Any, apart: Any) -> Any:
        """Return variances of the mixture, element by element.

        Parameters
        ----------
        first, second
            Variances by each belief.
        apart
            Means by the first belief less those by the second.
        """
        weight = self.first
        return self.mixed(first, second) + weight * (1.0 - weight) * apart**2

    def predicted(
        self, first: TripPrediction, second: TripPrediction, spread: ErrorSpread
    ) -> TripPrediction:
        """Return the prediction of the mixture.

        Parameters
        ----------
        first, second
            Predictions by each belief.
        spread
            Of the errors of the mixture.
        """
        apart = first.mean_wh - second.mean_wh
        return TripPrediction(
            mean_wh=self.mixed(first.mean_wh, second.mean_wh),
            sd_wh=float(np.sqrt(self.variance(first.sd_wh**2, second.sd_wh**2, apart))),
            spread=spread,
            trips=max(first.trips, second.trips),
            moved_wh=self.mixed(first.moved_wh, second.moved_wh),
        )
