"""Ways in which a belief of trips learns deviations of single roads: its option ``roads``.

``none``: it learns none. ``sections``: roads that the same trips drove deviate together
(`sections`). ``kernel``: near and alike roads deviate alike (`road_kernel`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import UnknownNameError
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.roads.road_features import RoadFeatures
from evroute.learning.roads.sections import RoadSections
from evroute.learning.states import Kept
from evroute.methods.setting import Setting


class RoadChoice(Protocol):
    """Chooses the features of roads by the trips so far."""

    def chosen(
        self, before: RoadFeatures, driven: Sequence[IntArray], shares: Sequence[FloatArray]
    ) -> RoadFeatures:
        """Return the features of roads after the trips so far.

        Parameters
        ----------
        before
            Features chosen before.
        driven, shares
            Rows of the roads of each trip, and the share of each that it drove.
        """

    def variance(self, edge: IntArray, known: KnownRoads) -> FloatArray:
        """Return the prior variances of whole roads over s², (k,).

        Parameters
        ----------
        edge
            (k,) rows of known roads.
        known
            The known roads, those of earlier trips that the network lacks included.
        """

    def deviation(self, root_km_wh: float) -> float:
        """Return the centre of the prior of s.

        Parameters
        ----------
        root_km_wh
            Deviation of the noise of trips along the way, Wh per root of a km.
        """

    def words(self, s: float, root_km_wh: float, columns: int) -> str:
        """Return the deviation of roads in words. Empty where none is learned.

        Parameters
        ----------
        s, root_km_wh
            Deviation of the coefficients, and as in `deviation`.
        columns
            Number of columns of roads.
        """

    def state(self) -> dict[str, Any]:
        """Return what it keeps beside the features, as arrays."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state."""


class NoRoads(Kept):
    """No deviation of roads. See `RoadChoice`."""

    def chosen(
        self, before: RoadFeatures, driven: Sequence[IntArray], shares: Sequence[FloatArray]
    ) -> RoadFeatures:
        """Return no features.

        Parameters
        ----------
        before, driven, shares
            As in `RoadChoice`.
        """
        return RoadFeatures.none()

    def variance(self, edge: IntArray, known: KnownRoads) -> FloatArray:
        """Return 0 for each road, (k,). Parameters as in `RoadChoice`."""
        return np.zeros(len(edge))

    def deviation(self, root_km_wh: float) -> float:
        """Return 0. Parameters as in `RoadChoice`."""
        return 0.0

    def words(self, s: float, root_km_wh: float, columns: int) -> str:
        """Return nothing.

        Parameters
        ----------
        s, root_km_wh, columns
            As in `RoadChoice`.
        """
        return ""


ROADS = ("none", "sections", "kernel")
"""Names of the ways."""
DEFAULT_ROADS = "sections"


def check_choice(name: str) -> str:
    """Return the name of a way after checking it.

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message lists the names.
    """
    if name not in ROADS:
        raise UnknownNameError(f"roads is '{name}', expected one of {', '.join(ROADS)}")
    return name


def choice_of(name: str, setting: Setting, known: KnownRoads) -> RoadChoice:
    """Return a way by its name, before any trip.

    Parameters
    ----------
    name
        One of `ROADS`.
    setting
        Network and vehicle.
    known
        Roads of the belief.
    """
    if name == "kernel":
        from evroute.learning.roads.road_kernel import RoadKernel

        return RoadKernel(setting)
    return RoadSections(known) if name == "sections" else NoRoads()
