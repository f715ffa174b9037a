"""The values of one round of Algorithm 1: what may be driven, what was chosen, what was measured, what is believed.

Energies are watt-hours (Wh) from the battery everywhere; smaller is better and negative means
regenerated.
Source: Sandberg, Akerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian
Process Bandits*.
"""

from dataclasses import dataclass, field

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze


@dataclass(frozen=True, slots=True, eq=False)
class Arms:
    """The base arms of a round: the edges that may be driven, with their contexts.

    edge: (a,) network rows, strictly increasing; a closed edge is simply absent.
    features: (a, d) contexts, standardised to unit standard deviation (``network.context``).
    prior_mean_wh: (a,) physics energy of each edge (eq. 8), Wh.
    """

    edge: IntArray
    features: FloatArray
    prior_mean_wh: FloatArray

    def __post_init__(self) -> None:
        a = len(self.edge)
        d = np.shape(self.features)[1] if np.ndim(self.features) == 2 else 0
        freeze(
            self,
            edge=(self.edge, np.int64, (a,)),
            features=(self.features, np.float64, (a, d)),
            prior_mean_wh=(self.prior_mean_wh, np.float64, (a,)),
        )
        if np.any(np.diff(self.edge) <= 0):
            raise ValueError("Arms.edge must be strictly increasing")

    def __len__(self) -> int:
        return len(self.edge)

    def rows_of(self, edges: IntArray) -> IntArray:
        """Return the positions in this set of the given network rows, in the order given.

        Raises
        ------
        ValueError
            If one of the edges is not among the arms.
        """
        rows = np.searchsorted(self.edge, edges)
        if np.any(rows >= len(self)) or np.any(self.edge[np.minimum(rows, len(self) - 1)] != edges):
            raise ValueError("an edge is not available in this round")
        return rows

    def take(self, rows: IntArray) -> "Arms":
        """Keep those arms alone, in increasing order of edge."""
        rows = np.unique(rows)
        return Arms(self.edge[rows], self.features[rows], self.prior_mean_wh[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One request: drive from edge ``origin`` to edge ``destination`` over the available arms; ``t`` is from 1.

    departed_s: since the midnight before the first trip, s.  vehicle: its name, empty where all
    trips are driven by the same.
    """

    t: int
    arms: Arms
    origin: int
    destination: int
    departed_s: float = 0.0
    vehicle: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """A super arm: the network rows driven, origin and destination edge included, in driving order."""

    edges: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def rows(self) -> IntArray:
        """(k,) the same as an array."""
        return np.asarray(self.edges, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Feedback:
    """Semi-bandit feedback: what one trip measured on each edge that it drove.

    edge: (k,) network rows in driving order; entry i + 1 follows entry i; an edge may repeat.
    features: (k, d) contexts when driven.  prior_mean_wh: (k,) Wh.  energy_wh: (k,) measured, Wh.
    travel_s: (k,) measured, s; NaN where it was not.
    trip_id, vehicle, departed_s (as in `Round`) belong to the trip as a whole.
    """

    edge: IntArray
    features: FloatArray
    prior_mean_wh: FloatArray
    energy_wh: FloatArray
    trip_id: str = ""
    vehicle: str = ""
    departed_s: float = 0.0
    travel_s: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        k = len(self.edge)
        d = np.shape(self.features)[1] if np.ndim(self.features) == 2 else 0
        freeze(
            self,
            edge=(self.edge, np.int64, (k,)),
            features=(self.features, np.float64, (k, d)),
            prior_mean_wh=(self.prior_mean_wh, np.float64, (k,)),
            energy_wh=(self.energy_wh, np.float64, (k,)),
            travel_s=(
                self.travel_s if len(self.travel_s) else np.full(k, np.nan),
                np.float64,
                (k,),
            ),
        )
        if not np.all(np.isfinite(self.energy_wh)):
            raise ValueError("measured energies must be finite")

    @classmethod
    def of_route(
        cls,
        arms: Arms,
        route: Route,
        energy_wh: FloatArray,
        *,
        trip_id: str = "",
        vehicle: str = "",
        departed_s: float = 0.0,
        travel_s: FloatArray | None = None,
    ) -> "Feedback":
        """Build the feedback of one route over the arms of its round.

        ``energy_wh`` and ``travel_s``, if that was measured, are (k,), in driving order.
        """
        rows = arms.rows_of(route.rows)
        return cls(
            edge=route.rows,
            features=arms.features[rows],
            prior_mean_wh=arms.prior_mean_wh[rows],
            energy_wh=energy_wh,
            trip_id=trip_id,
            vehicle=vehicle,
            departed_s=departed_s,
            travel_s=np.empty(0) if travel_s is None else travel_s,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Marginals of the *expected* energy of each arm, measurement noise excluded.

    mean_wh, std_wh: (a,) Wh. The uncertainty of a route needs the joint: see
    ``model.base.HasJoint``.
    """

    mean_wh: FloatArray
    std_wh: FloatArray

    def __post_init__(self) -> None:
        a = len(self.mean_wh)
        freeze(
            self, mean_wh=(self.mean_wh, np.float64, (a,)), std_wh=(self.std_wh, np.float64, (a,))
        )
