"""DrivenSpeeds: speeds of edges as trips drove them, relative to the speeds known of the day.

The speeds known of a day may differ from the map's, as in known congestion. So the `Pace` of
each road alone learns the ratio of measured and known times, as a multiple of the time on the map.
Times along a trip are smoothed before (`speed_filter`), since the energy of turns follows from
differences of speeds.
"""

import numpy as np

from evroute.arms import Feedback
from evroute.arrays import FloatArray
from evroute.model.base import State
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.pace import Pace
from evroute.planning.spaces.speed_filter import smoothed

PREFIX = "space_pace_"
"""Of the keys of the state."""


class DrivenSpeeds:
    """Speeds of the n edges of a network, from the travel times of trips.

    Parameters
    ----------
    network
        Roads and the speeds of the map.

    Attributes
    ----------
    length_m, map_s
        (n,) lengths, m, and times on the map, s.
    """

    def __init__(self, network: RoadNetwork) -> None:
        self.length_m = network.length_m
        self.map_s = network.time_s
        self._pace = Pace(network.length_m, network.time_s, network.middle_m, 1.0, alone=True)

    @property
    def trips(self) -> int:
        """Number of trips with at least one measured travel time."""
        return self._pace.trips

    def learn(self, feedback: Feedback, known_mps: FloatArray) -> None:
        """Learn the travel times of a trip.

        Parameters
        ----------
        feedback
            Feedback on its edges.
        known_mps
            (n,) speeds of all edges that were known before, m/s.
        """
        measured = np.isfinite(feedback.travel_s) & (feedback.travel_s > 0)
        edge = feedback.id[measured]
        driven_mps = self.length_m[edge] / feedback.travel_s[measured]
        log_ratio = smoothed(np.log(driven_mps / known_mps[edge]))
        self._pace.learn(edge, self.map_s[edge] * np.exp(-log_ratio), feedback.departed_s)

    def driven_mps(self, known_mps: FloatArray, departed_s: float | None) -> FloatArray:
        """Return the expected speeds of all edges, (n,) m/s.

        Parameters
        ----------
        known_mps
            (n,) speeds known of the day, m/s.
        departed_s
            Departure, s since midnight, or None for the mean of the day.
        """
        if not self.trips:
            return known_mps
        time_s = self._pace.times(np.arange(len(self.map_s)), departed_s)
        return known_mps * (self.map_s / time_s)

    def error(self, feedback: Feedback, known_mps: FloatArray) -> float:
        """Return ``log(measured/expected time)`` on the edges of a trip that were driven before.

        NaN if they are less than half of its edges.

        Parameters
        ----------
        feedback
            Feedback on its edges.
        known_mps
            (n,) speeds of all edges that were known before, m/s.
        """
        travel_s = feedback.travel_s
        driven = np.isin(feedback.id, self._pace.passed) & (travel_s > 0)
        if driven.mean() < 0.5:
            return float("nan")
        expected_mps = self.driven_mps(known_mps, feedback.departed_s)
        expected_s = (self.length_m / expected_mps)[feedback.id[driven]]
        return float(np.log(travel_s[driven].sum() / expected_s.sum()))

    def state(self) -> State:
        """Return the learned times, as arrays."""
        return {f"{PREFIX}{name}": values for name, values in self._pace.state().items()}

    def restore(self, state: State) -> None:
        """Take over a state. Other entries are ignored."""
        own = (name for name in state if name.startswith(PREFIX))
        self._pace.restore({name.removeprefix(PREFIX): state[name] for name in own})
