"""Noise of one trip: by edge, with a factor that all edges of the trip share; either may be learned.

``y_e = f_e + b s_e + eps_e``, with s_e what edge e dissipates, ``b ~ N(0, tau²)`` drawn once a trip
and ``eps_e ~ N(0, sigma_e²)``: one trip's noise covariance is ``diag(sigma²) + tau² s s'``.

What is learned of tau and sigma comes from *surprises*, what a trip measured minus what was
expected just before. With V their covariance, a trip tells without bias, whatever tau and sigma_e
are,

    tau²       b_hat² - 1 / (s' V0^-1 s),    b_hat = s' V0^-1 r / (s' V0^-1 s),    V0 = V - tau² s
    s' sigma_e²   (u_e / P_ee)² - (1 / P_ee - sigma_e²),    P = V^-1,    u = P r

the first as in DerSimonian & Laird, *Meta-analysis in clinical trials* (1986), for the spread of
random effects, the second from leave-one-out residuals (Rasmussen & Williams, eq. 5.12). Both are
averaged, trips that tell little counting for little. A trip is learned with the numbers from before
it, and stays so.

Learn both or the trips alone: where trips share a factor, noise learned by edge without it takes
the factor for a property of edges, which averages out along a route, and intervals of routes come
out too narrow.
"""

from typing import Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State

START_TRIP_STD = 0.1
"""Of the factor of a trip, before any has told."""
TRIPS = 3.0
"""So many trips the start counts for."""
ALL_EDGES = 20.0
"""So many measurements count for the deviations given, in the scale of all edges together."""
ONE_EDGE = 10.0
"""So many count for that scale, in the scale of one edge."""
LEAST_RATIO = 0.01
"""Of a variance learned to the one given: noise is never believed to be gone."""

TripEffect = float | Literal["learned"] | None


class TripNoise:
    """The deviations in force, and what they were learned from.

    noise_std_wh: (n,) of one measurement of each edge before any trip, Wh.  trip_effect: tau, a
    share; off if 0 or none.  noise: whether the deviations given stay, or are the start of what is
    learned.
    std_wh: (n,) in force, Wh.  trip_std: tau in force.  n_measured: measurements heard, where edges
    learn.

    Raises
    ------
    ValueError
        If tau is negative or not finite.
    """

    def __init__(
        self,
        noise_std_wh: FloatArray,
        *,
        trip_effect: TripEffect,
        noise: Literal["prior", "learned"],
    ) -> None:
        if isinstance(trip_effect, float | int) and not 0 <= trip_effect < np.inf:
            raise ValueError(
                f"trip_effect is {trip_effect:g}; it is the deviation of the factor that all edges "
                "of a trip share, "
                "a share of what they dissipate, at least 0, or 'learned'"
            )
        self.learns_trips = trip_effect == "learned"
        self.learns_edges = noise == "learned"
        self.learns = self.learns_trips or self.learns_edges
        self.shares = self.learns_trips or bool(trip_effect)
        self._start_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._fixed_trip_std = 0.0 if self.learns_trips else float(trip_effect or 0.0)
        self.reset()

    def reset(self) -> None:
        """Forget every trip."""
        n = len(self._start_std)
        self._trips = np.array([TRIPS * START_TRIP_STD**2, TRIPS])
        self._edges = np.zeros((2, n))
        self.n_measured = 0
        self._take()

    def update(
        self,
        edge: IntArray,
        count: IntArray,
        surprise_wh: FloatArray,
        belief: FloatArray,
        dissipated_wh: FloatArray,
    ) -> None:
        """Learn from one trip.

        edge, count: (k,) edges, maybe in several contexts, and how often the trip passed each.
        surprise_wh: (k,) mean measured minus expected.  belief: (k, k) posterior covariance before
        the trip, Wh².
        dissipated_wh: (k,) s.
        """
        variance = self.std_wh[edge] ** 2 / count
        told_trip = self._of_trip(belief + np.diag(variance), surprise_wh, dissipated_wh)
        if self.learns_edges:
            self.n_measured += int(count.sum())
            shared = self.trip_std * dissipated_wh
            self._hear_edges(
                edge, count, surprise_wh, belief + np.diag(variance) + np.outer(shared, shared)
            )
        if self.learns_trips:
            self._trips = self._trips + told_trip
        self._take()

    def state(self) -> State:
        """Return what was learned; nothing if nothing is to be."""
        learned: State = {}
        if self.learns_trips:
            learned["noise_trips"] = self._trips.copy()
        if self.learns_edges:
            learned["noise_edges"] = self._edges.copy()
            learned["noise_measured"] = np.array(self.n_measured)
        return learned

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each part of the state."""
        return {name: part.shape for name, part in self.state().items()}

    def restore(self, state: State) -> None:
        """Take over a state with parts of these shapes; other parts are left alone."""
        if self.learns_trips:
            self._trips = np.array(state["noise_trips"], dtype=np.float64)
        if self.learns_edges:
            self._edges = np.array(state["noise_edges"], dtype=np.float64)
            self.n_measured = int(state["noise_measured"])
        self._take()

    def _of_trip(
        self, independent: FloatArray, surprise_wh: FloatArray, dissipated_wh: FloatArray
    ) -> FloatArray:
        """Return what a trip tells of tau², times its weight, and the weight."""
        solved = cho_solve(cho_factor(independent, lower=True), dissipated_wh)
        known = float(dissipated_wh @ solved)
        if not known > 0:
            return np.zeros(2)
        told = (float(solved @ surprise_wh) / known) ** 2 - 1.0 / known
        weight = (START_TRIP_STD**2 / (START_TRIP_STD**2 + 1.0 / known)) ** 2
        return weight * np.array([told, 1.0])

    def _hear_edges(
        self, edge: IntArray, count: IntArray, surprise_wh: FloatArray, covariance: FloatArray
    ) -> None:
        precision = cho_solve(cho_factor(covariance, lower=True), np.eye(len(edge)))
        diagonal = precision.diagonal()
        left_out = precision @ surprise_wh / diagonal
        start = self._start_std[edge] ** 2
        rest = np.maximum(1.0 / diagonal - self.std_wh[edge] ** 2 / count, 0.0)
        weight = (start / (start + rest * count)) ** 2
        np.add.at(self._edges[0], edge, weight * (left_out**2 - rest) * count / start)
        np.add.at(self._edges[1], edge, weight)

    def _take(self) -> None:
        """Let what was heard be in force."""
        told, weight = self._trips
        self.trip_std = (
            float(np.sqrt(max(told / weight, 0.0))) if self.learns_trips else self._fixed_trip_std
        )
        self.std_wh = self._start_std
        if self.learns_edges:
            told_edges, weights = self._edges
            of_all = max((ALL_EDGES + told_edges.sum()) / (ALL_EDGES + weights.sum()), LEAST_RATIO)
            ratio = np.maximum((ONE_EDGE * of_all + told_edges) / (ONE_EDGE + weights), LEAST_RATIO)
            self.std_wh = self._start_std * np.sqrt(ratio)
