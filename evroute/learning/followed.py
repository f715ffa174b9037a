"""FollowedBelief: the belief of a folder in memory, which takes over what other calls learn.

Planners hold the same object and follow it, so nothing of a region is made anew for a trip.
"""

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path

from evroute.learning.base import Belief
from evroute.learning.belief import belief_of, stored_belief
from evroute.learning.stored import Description
from evroute.network.road_network import RoadNetwork


class FollowedBelief:
    """The belief of a folder.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    network
        The network of the plans.
    """

    def __init__(self, folder: Path, network: RoadNetwork) -> None:
        self._folder = folder
        self._network = network
        self._version: Hashable = None
        self._about: Description | None = None
        self._belief: Belief | None = None

    def at(self, version: Hashable) -> Belief:
        """Return the belief as its file is now.

        Another object is returned where the file is about another subject, or has fewer trips.

        Parameters
        ----------
        version
            Changes whenever the file does. Never None.

        Raises
        ------
        EvrouteError
            If the file is unreadable, or about another network or profile.
        """
        if self._belief is not None and version == self._version:
            return self._belief
        stored = stored_belief(self._folder)
        known, self._belief = self._belief, None  # it stays so if the file is damaged
        about = replace(stored.about, trips=None)
        if known is not None and about == self._about and (stored.about.trips or 0) > known.trips:
            known.take_over(stored)
        else:
            known = belief_of(stored, self._network)
        self._version, self._about = version, about
        self._belief = known
        return known
