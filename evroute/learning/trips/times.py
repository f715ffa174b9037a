"""TripTimes: travel times of trips by the pace of roads, with intervals for whole trips.

The expected time of a trip is the sum of the expected times of its edges (`Pace`). Its noise, tail
and intervals come from a `TripBelief` in seconds instead of Wh, with one term, the expected time,
whose coefficient is 1.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.arrays import FloatArray, IntArray, flat, part_of
from evroute.learning.intervals import TripPrediction
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.trip_belief import TripBelief
from evroute.planning.forecasts.forecast import TIME_NOISE_S
from evroute.planning.forecasts.pace import START_FACTOR, Pace

START_S = TripNoiseScale(*TIME_NOISE_S)
"""Noise before any trip: s per trip, per root of a km and per km."""


class TripTimes:
    """Expected travel times on known roads.

    Parameters
    ----------
    roads
        The roads, the network's first.
    driving
        Whether drivers' plans give the pace before any trip.

    Attributes
    ----------
    pace
        Pace of the edges.
    errors
        Belief of the times of whole trips, in s. Its test for changes sees errors in the noise
        before any trip: its own deviation falls as it is learned, which made later errors larger.
    """

    def __init__(self, roads: KnownRoads, *, driving: bool = False) -> None:
        self._roads, self._driving = roads, driving
        start = 1.0 if driving else START_FACTOR
        self.pace = Pace(*self._columns(), start, roads.network)
        known = CoefficientPrior(np.array([0.0, 1.0]), np.zeros(2), np.zeros((0, 2)))
        self.errors = TripBelief(known, START_S, unit=START_S)

    def expect(
        self,
        edge: IntArray,
        *,
        departed_s: float | None = None,
        speed_factor: float = 1.0,
        routes: int = 1,
        share: FloatArray | float = 1.0,
    ) -> dict[str, float]:
        """Return moments and intervals of the travel time of a trip by name, s.

        Parameters
        ----------
        edge
            (k,) edges of the trip, or of its plausible routes, one after another.
        departed_s
            Departure since a midnight, s, or None for the mean of the day.
        speed_factor
            Driven speed over the usual one.
        routes
            Number of these routes.
        share
            (k,) shares of the edges that are driven.
        """
        row = self._row(edge, departed_s, speed_factor, share) / routes
        return measures_s(self.errors.expect(row))

    @property
    def noise_s(self) -> tuple[float, float, float]:
        """Noise of a trip, of the root of a kilometre, and of a kilometre, s."""
        noise = self.errors.noise
        return noise.trip_wh, noise.root_km_wh, noise.km_wh

    def learn(
        self,
        edge: IntArray,
        travel_s: FloatArray,
        departed_s: float | None = None,
        share: FloatArray | float = 1.0,
        *,
        car: str = "",
    ) -> None:
        """Learn one trip.

        Parameters
        ----------
        edge, travel_s, departed_s
            Edges, travel times of the parts driven and departure, as in `Pace.learn`.
        share
            (k,) shares of the edges that were driven. The pace of an edge is learned where it was
            driven whole: a trip that begins inside an edge starts there from a standstill.
        car
            The car that drove, whose errors are tested by themselves. Empty without names.
        """
        measured, share = np.isfinite(travel_s), np.broadcast_to(share, len(edge))
        if measured.any():
            row = self._row(edge[measured], departed_s, share=share[measured])
            self.errors.learn(row, float(travel_s[measured].sum()), car=car)
        self.pace.learn(edge, np.where(share < 1.0, np.nan, travel_s), departed_s)

    def beside(self, roads: KnownRoads) -> "TripTimes":
        """Return the same times over other roads, to which some can be added."""
        own = copy(self)
        own._roads, own.pace = roads, copy(self.pace)
        return own

    def extend(self) -> None:
        """Add the roads that became known since."""
        self.pace.extend(*self._columns())

    def _columns(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return length, m, time by the map, s, and middle, m, of all roads."""
        roads = self._roads
        return roads.length_m, roads.map_s(driving=self._driving), roads.middle_m

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that was learned, as arrays."""
        return flat(pace=self.pace.state(), errors=self.errors.state())

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state of the same roads."""
        self.pace.restore(part_of(state, "pace"))
        self.errors.restore(part_of(state, "errors"))

    def _row(
        self,
        edge: IntArray,
        departed_s: float | None,
        speed_factor: float = 1.0,
        share: FloatArray | float = 1.0,
    ) -> FloatArray:
        """Return length, km, and expected time, s, of shares of edges (k,)."""
        expected_s = (share * self.pace.times(edge, departed_s)).sum() / speed_factor
        return np.array([(share * self._roads.length_m[edge]).sum() / 1000.0, expected_s])


def measures_s(prediction: TripPrediction) -> dict[str, float]:
    """Return moments and intervals of a travel time by name, at least 0 s."""
    return {name: max(number, 0.0) for name, number in prediction.measures("s").items()}
