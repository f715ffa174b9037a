"""Values of one round of Algorithm 1: arms, request, route, feedback and belief.

On a road network the values are energies from the battery in watt-hours (Wh). Smaller is better,
and negative means regenerated. Bandits without roads (`evroute.bandits`) use the same classes for
losses without a unit.
Source: Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian
Process Bandits*.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze
from evroute.errors import require


@dataclass(frozen=True, slots=True, eq=False)
class Arms:
    """The base arms that are available in a round, with their contexts.

    Parameters
    ----------
    id
        (a,) rows of the arms in their space (`planning.arm_space`), strictly increasing: edges of
        a network, rows of its table of turns, or points of a bandit without roads. An arm that is
        not available is absent.
    features
        (a, d) contexts, standardised to unit standard deviation (`network.context`).
    prior_mean_wh
        (a,) expected energy by physics (eq. 8), Wh. 0 in bandits without roads.

    Raises
    ------
    ValueError
        If a shape does not match, or ``id`` does not increase strictly.
    """

    id: IntArray
    features: FloatArray
    prior_mean_wh: FloatArray

    def __post_init__(self) -> None:
        _freeze_arms(self)
        require(np.all(np.diff(self.id) > 0), "Arms.id must be strictly increasing", ValueError)

    def __len__(self) -> int:
        return len(self.id)

    def rows_of(self, ids: IntArray) -> IntArray:
        """Return the positions (k,) of the arms ``ids`` (k,) among these arms.

        Raises
        ------
        ValueError
            If an arm is not among them.
        """
        rows = np.searchsorted(self.id, ids)
        require(
            not (
                np.any(rows >= len(self)) or np.any(self.id[np.minimum(rows, len(self) - 1)] != ids)
            ),
            "an arm is not available in this round",
            ValueError,
        )
        return rows

    def take(self, rows: IntArray) -> "Arms":
        """Return the arms at the positions ``rows``, in increasing order of id."""
        rows = np.unique(rows)
        return Arms(self.id[rows], self.features[rows], self.prior_mean_wh[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One request: drive from one edge to another over the edges that are open.

    Parameters
    ----------
    t
        Number of the round, from 1.
    arms
        The open edges. `planning.arm_space` derives the arms of a learner from them.
    origin, destination
        Network rows of the first and the last edge.
    departed_s
        Time of departure since the midnight before the first trip, s, or None if unknown.
    vehicle
        Name of the vehicle, or empty for the vehicle of the run.
    """

    t: int
    arms: Arms
    origin: int
    destination: int
    departed_s: float | None = None
    vehicle: str = ""


class Pause(NamedTuple):
    """A stop of a route inside an edge, and the position from which it goes on.

    Parameters
    ----------
    after
        Number of edges of the route up to the stop. The next one begins anew, often on the same
        edge.
    to_m, from_m
        Metres along the edge before the stop, and along the one behind it.
    """

    after: int
    to_m: float
    from_m: float


@dataclass(frozen=True, slots=True)
class Route:
    """A super arm: the edges driven (network rows), both ends included, in driving order.

    Parameters
    ----------
    edges
        Network rows. An edge on which the route stops and goes on comes twice.
    start_m, end_m
        Metres along the first edge at which the route begins, and along the last at which it ends.
        None for the end of the last edge.
    pauses
        Stops inside edges, in driving order.
    """

    edges: tuple[int, ...]
    start_m: float = 0.0
    end_m: float | None = None
    pauses: tuple[Pause, ...] = ()

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def rows(self) -> IntArray:
        """The edges as an array, (k,)."""
        return np.asarray(self.edges, dtype=np.int64)

    @property
    def whole(self) -> bool:
        """Whether all edges are driven from end to end."""
        return self.start_m == 0.0 and self.end_m is None and not self.pauses

    @property
    def parts(self) -> tuple["Route", ...]:
        """The routes between the pauses."""
        first = [0, *(pause.after for pause in self.pauses)]
        from_m = [self.start_m, *(pause.from_m for pause in self.pauses)]
        to_m = [*(pause.to_m for pause in self.pauses), self.end_m]
        ends = zip(first, [*first[1:], len(self.edges)], from_m, to_m, strict=True)
        return tuple(Route(self.edges[low:high], begin, end) for low, high, begin, end in ends)

    def without(self, pause: Pause) -> "Route":
        """Return the route that drives on where it stopped. A stop to turn round is left.

        Parameters
        ----------
        pause
            One of the pauses.
        """
        at = pause.after
        if self.edges[at - 1] != self.edges[at] or pause.to_m != pause.from_m:
            return self
        kept = [
            each._replace(after=each.after - (each.after > at))
            for each in self.pauses
            if each is not pause
        ]
        return Route(self.edges[:at] + self.edges[at + 1 :], self.start_m, self.end_m, tuple(kept))


@dataclass(frozen=True, slots=True, eq=False)
class Feedback:
    """Semi-bandit feedback: the measured energy of one trip on each arm of its route.

    Worlds and measured trips give feedback on edges. `ArmSpace.feedback` converts it to the arms of
    a learner.

    Parameters
    ----------
    id
        (k,) rows of the arms as in `Arms`, in driving order. An arm may repeat.
    features
        (k, d) contexts during the trip.
    prior_mean_wh
        (k,) expected energy by physics, Wh.
    energy_wh
        (k,) measured energy, Wh.
    trip_id
        Name of the trip, or empty if it has none.
    vehicle, departed_s
        As in `Round`.
    travel_s
        (k,) measured travel time, s, or NaN where it was not measured.

    Raises
    ------
    ValueError
        If a shape does not match, or a measured energy is not finite.
    """

    id: IntArray
    features: FloatArray
    prior_mean_wh: FloatArray
    energy_wh: FloatArray
    trip_id: str = ""
    vehicle: str = ""
    departed_s: float | None = None
    travel_s: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        k = _freeze_arms(self)
        travel_s = self.travel_s if len(self.travel_s) else np.full(k, np.nan)
        freeze(
            self,
            energy_wh=(self.energy_wh, np.float64, (k,)),
            travel_s=(travel_s, np.float64, (k,)),
        )
        require(np.all(np.isfinite(self.energy_wh)), "measured energies must be finite", ValueError)

    @classmethod
    def of_route(
        cls,
        arms: Arms,
        route: Route,
        energy_wh: FloatArray,
        *,
        trip_id: str = "",
        vehicle: str = "",
        departed_s: float | None = None,
        travel_s: FloatArray | None = None,
    ) -> "Feedback":
        """Return the feedback of one route over the edges of its round.

        Parameters
        ----------
        arms
            The edges of the round.
        route
            The k edges driven.
        energy_wh
            (k,) measured energy in driving order, Wh.
        trip_id, vehicle, departed_s
            As in `Round`.
        travel_s
            (k,) measured travel time in driving order, s, or None if it was not measured.

        Raises
        ------
        ValueError
            If an edge of the route is not among ``arms``.
        """
        rows = arms.rows_of(route.rows)
        return cls(
            id=route.rows,
            features=arms.features[rows],
            prior_mean_wh=arms.prior_mean_wh[rows],
            energy_wh=energy_wh,
            trip_id=trip_id,
            vehicle=vehicle,
            departed_s=departed_s,
            travel_s=np.empty(0) if travel_s is None else travel_s,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """One measurement of a weighted sum of arms: the energy of a trip whose edges are unknown.

    Parameters
    ----------
    id
        (k,) rows of distinct arms.
    features
        (k, d) contexts during the trip.
    prior_mean_wh
        (k,) expected energy by physics, Wh.
    weight
        (k,) how often the trip passes each arm, on average over its plausible routes.
    energy_wh
        Measured sum, Wh.
    known_variance_wh2
        Variance of the measurement beside the noise of the arms, Wh².

    Raises
    ------
    ValueError
        If a shape does not match, or a number is not finite.
    """

    id: IntArray
    features: FloatArray
    prior_mean_wh: FloatArray
    weight: FloatArray
    energy_wh: float
    known_variance_wh2: float = 0.0

    def __post_init__(self) -> None:
        k = _freeze_arms(self)
        freeze(self, weight=(self.weight, np.float64, (k,)))
        numbers = [self.energy_wh, self.known_variance_wh2, *self.weight]
        require(np.all(np.isfinite(numbers)), "measured energies must be finite", ValueError)

    @classmethod
    def of_arms(
        cls,
        arms: Arms,
        rows: IntArray,
        weight: FloatArray,
        energy_wh: float,
        known_variance_wh2: float = 0.0,
    ) -> "Total":
        """Return the sum over the passages of a trip.

        Parameters
        ----------
        arms
            Arms that include the arms of the trip.
        rows
            (p,) positions of the arm of each passage among them.
        weight
            (p,) weight of each passage.
        energy_wh, known_variance_wh2
            As above.
        """
        distinct, place = np.unique(rows, return_inverse=True)
        return cls(
            arms.id[distinct],
            arms.features[distinct],
            arms.prior_mean_wh[distinct],
            np.bincount(place, weight).astype(np.float64),
            energy_wh,
            known_variance_wh2,
        )

    @property
    def residual_wh(self) -> float:
        """Measured minus expected sum, Wh."""
        return self.energy_wh - float(self.weight @ self.prior_mean_wh)

    def noise_wh2(self, noise_std_wh: FloatArray) -> float:
        """Return the noise variance of the measurement, Wh².

        The noise of the passages adds up. Over plausible routes it is their average.

        Parameters
        ----------
        noise_std_wh
            (n,) noise deviation of one measurement of each arm, Wh.
        """
        return float(self.weight @ noise_std_wh[self.id] ** 2) + self.known_variance_wh2


def _freeze_arms(values: Arms | Feedback | Total) -> int:
    """Check and freeze the rows, contexts and prior means that values share. Return their number.

    Raises
    ------
    ValueError
        If a shape does not match.
    """
    k = len(values.id)
    d = np.shape(values.features)[1] if np.ndim(values.features) == 2 else 0
    freeze(
        values,
        id=(values.id, np.int64, (k,)),
        features=(values.features, np.float64, (k, d)),
        prior_mean_wh=(values.prior_mean_wh, np.float64, (k,)),
    )
    return k


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Marginals of the *expected* energy of each arm, without measurement noise.

    The uncertainty of a route needs the joint distribution (`model.base.HasJoint`).

    Parameters
    ----------
    mean_wh, std_wh
        (a,) mean and standard deviation, Wh.
    """

    mean_wh: FloatArray
    std_wh: FloatArray

    def __post_init__(self) -> None:
        a = len(self.mean_wh)
        freeze(
            self, mean_wh=(self.mean_wh, np.float64, (a,)), std_wh=(self.std_wh, np.float64, (a,))
        )
