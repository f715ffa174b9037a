"""Measurement noise of a trip: independent by edge, plus one factor that all its edges share.

``y_e = f_e + b s_e + eps_e``, with s_e the energy that edge e dissipates, ``b ~ N(0, tau²)``
drawn once a trip and ``eps_e ~ N(0, sigma_e²)``: the noise covariance of one trip is
``diag(sigma²) + tau² s s'``.

tau and sigma can be learned from *surprises* r, measurements minus predictions just before the
trip. With V the covariance of r, one trip gives unbiased estimates, for any tau and sigma_e:

    tau²       b_hat² - 1 / (s' V0^-1 s),    b_hat = s' V0^-1 r / (s' V0^-1 s),    V0 = V - tau² s
    s' sigma_e²   (u_e / P_ee)² - (1 / P_ee - sigma_e²),    P = V^-1,    u = P r

The first is as in DerSimonian & Laird, *Meta-analysis in clinical trials* (1986), for the spread
of random effects. The second is from leave-one-out residuals (Rasmussen & Williams, eq. 5.12).
Both are averaged, with small weights for trips of little information. A trip is learned with the
numbers from before it, and is not corrected later.

Learn both or the trips alone: where trips share a factor, noise learned by edge alone attributes
the factor to edges. Independent noise averages out along a route, so intervals of routes come out
too narrow.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from scipy.linalg import cho_factor, cho_solve

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.options import ModelOptions

START_TRIP_STD = 0.1
"""Deviation of the trip factor before the first trip."""
TRIPS = 3.0
"""Weight of `START_TRIP_STD`, in trips."""
ALL_EDGES = 20.0
"""Weight of the given deviations in the scale of all edges together, in measurements."""
ONE_EDGE = 10.0
"""Weight of the common scale in the scale of one edge, in measurements."""
LEAST_RATIO = 0.01
"""Smallest ratio of a learned variance to the given one; noise never vanishes."""


class TripEffectOptions(ModelOptions):
    """Options of models whose trips share a factor of the noise."""

    trip_effect: Annotated[float, Field(ge=0)] | Literal["learned"] | None = Field(
        default=None,
        description="deviation of the factor that all edges of a trip share, a share of the "
        "dissipated energy; learned: estimated from the trips",
    )


class TripNoiseOptions(TripEffectOptions):
    """Options of models that learn their noise."""

    noise: Literal["prior", "learned"] = Field(
        default="prior", description="deviations of measurements: prior (as given), learned"
    )


class TripNoise:
    """Noise deviations in force, and their estimation from trips.

    Parameters
    ----------
    noise_std_wh
        (n,) noise deviation of one measurement of each edge before any trip, Wh.
    options
        tau (0 or None for none), and whether the deviations are learned.

    Attributes
    ----------
    std_wh
        (n,) deviations in force, Wh.
    trip_std
        tau in force.
    n_measured
        Measurements learned, if edges learn.
    """

    def __init__(self, noise_std_wh: FloatArray, options: TripNoiseOptions) -> None:
        trip_effect = options.trip_effect
        self.learns_trips = trip_effect == "learned"
        self.learns_edges = options.noise == "learned"
        self.learns = self.learns_trips or self.learns_edges
        self.shares = self.learns_trips or bool(trip_effect)
        self._start_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._fixed_trip_std = 0.0 if trip_effect == "learned" else trip_effect or 0.0
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

        Parameters
        ----------
        edge
            (k,) edges, possibly repeated in several contexts.
        count
            (k,) passages of each.
        surprise_wh
            (k,) mean measurement minus prediction, Wh.
        belief
            (k, k) posterior covariance before the trip, Wh².
        dissipated_wh
            (k,) s, Wh.
        """
        variance = self.std_wh[edge] ** 2 / count
        estimate = self._of_trip(belief + np.diag(variance), surprise_wh, dissipated_wh)
        if self.learns_edges:
            self.n_measured += int(count.sum())
            shared = self.trip_std * dissipated_wh
            self._learn_edges(
                edge, count, surprise_wh, belief + np.diag(variance) + np.outer(shared, shared)
            )
        if self.learns_trips:
            self._trips = self._trips + estimate
        self._take()

    def state(self) -> State:
        """Return the learned state; empty if neither noise is learned."""
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
        """Restore a state with parts of these shapes; other parts are ignored."""
        if self.learns_trips:
            self._trips = np.array(state["noise_trips"], dtype=np.float64)
        if self.learns_edges:
            self._edges = np.array(state["noise_edges"], dtype=np.float64)
            self.n_measured = int(state["noise_measured"])
        self._take()

    def _of_trip(
        self, independent: FloatArray, surprise_wh: FloatArray, dissipated_wh: FloatArray
    ) -> FloatArray:
        """Return a trip's estimate of tau² times its weight, and the weight."""
        solved = cho_solve(cho_factor(independent, lower=True), dissipated_wh)
        information = float(dissipated_wh @ solved)
        if not information > 0:
            return np.zeros(2)
        variance = (float(solved @ surprise_wh) / information) ** 2 - 1.0 / information
        weight = (START_TRIP_STD**2 / (START_TRIP_STD**2 + 1.0 / information)) ** 2
        return weight * np.array([variance, 1.0])

    def _learn_edges(
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
        """Update the deviations in force."""
        total, weight = self._trips
        self.trip_std = (
            float(np.sqrt(max(total / weight, 0.0))) if self.learns_trips else self._fixed_trip_std
        )
        self.std_wh = self._start_std
        if self.learns_edges:
            totals, weights = self._edges
            of_all = max((ALL_EDGES + totals.sum()) / (ALL_EDGES + weights.sum()), LEAST_RATIO)
            ratio = np.maximum((ONE_EDGE * of_all + totals) / (ONE_EDGE + weights), LEAST_RATIO)
            self.std_wh = self._start_std * np.sqrt(ratio)
