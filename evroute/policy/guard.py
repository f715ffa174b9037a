"""Guard: a bounded loss of a learner against always driving the eq. 8 route.

It follows conservative bandits (Wu, Shariff, Lattimore & Szepesvári 2016; Kazerouni, Ghavamzadeh,
Abbasi-Yadkori & Van Roy 2017). It judges by the measured energies of the sections in which two
routes differ (`policy.sections`), not by the belief that it protects against. Errors of attribution
between edges cancel over a whole section.

Each pair of ends has an account. Its spending is the measured excess of its routes over the eq. 8
route. Its income is a share of the energy that eq. 8 dissipates on each trip, and half a trip's
worth at the start. The learner drives its own route if

- the route has been shown to take less energy: the anytime-valid confidence sequences of both
  sections (``model.mixture``) are disjoint; or
- the account covers the expected loss of the trip.

Otherwise the eq. 8 route is driven and measured. Savings are income too.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.model.mixture import Mixture, constant_interval
from evroute.planning.arm_space import least_energy_route
from evroute.planning.edge_space import EdgeSpace
from evroute.policy.sections import Journal, Section, Totals, differing

DEFAULT_SHARE = 0.0025
START_TRIPS = 0.5
DELTA = 0.1
TRIP_SHARE = 0.08
EDGE_SHARE = 0.3
NOISE_TRIPS = 10
CAUTION = 2.0
GUESSES = (0.03, 0.1, 0.3)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A section of a route and the section of the eq. 8 route that it replaces.

    excess_wh: energy of the first minus the second by eq. 8, Wh.  dissipated_wh, guess_wh:
    dissipated energy of the second, and the assumed deviation of its measured total, Wh.
    """

    own: Totals
    known: Totals
    excess_wh: float
    dissipated_wh: float
    guess_wh: float

    @classmethod
    def by_eq8(
        cls, journal: Journal, own: Section, known: Section, dissipated_wh: FloatArray
    ) -> "_Pair":
        """Return the pair before any measurement.

        dissipated_wh: (n,) of every edge by eq. 8, Wh; the climb is the same for both sections.
        """
        spent_wh = dissipated_wh[list(known)]
        total_wh = float(spent_wh.sum())
        return cls(
            journal.totals(own),
            journal.totals(known),
            excess_wh=float(dissipated_wh[list(own)].sum()) - total_wh,
            dissipated_wh=total_wh,
            guess_wh=math.hypot(
                TRIP_SHARE * total_wh, EDGE_SHARE * float(np.linalg.norm(spent_wh))
            ),
        )

    @property
    def sigma_wh(self) -> float:
        """Deviation of one total, Wh: pooled within both sections, shrunk to the assumed one."""
        free = max(self.own.count - 1, 0) + max(self.known.count - 1, 0)
        within = self.own.within_wh2 + self.known.within_wh2
        return math.sqrt((NOISE_TRIPS * self.guess_wh**2 + within) / (NOISE_TRIPS + free))

    @property
    def expected_wh(self) -> float:
        """Expected excess energy of the first section, Wh: measured, or by eq. 8 before that."""
        if not (self.own.count and self.known.count):
            return self.excess_wh
        return self.own.mean_wh - self.known.mean_wh

    @property
    def lost_wh(self) -> float:
        """Excess of past trips, Wh, plus `CAUTION` standard errors of the eq. 8 section's mean.

        Adding standard errors keeps a mean from few trips from passing.
        """
        return self.expected_wh + (
            CAUTION * self.sigma_wh / math.sqrt(self.known.count) if self.known.count else 0.0
        )

    def excess_upper_bound_wh(self, delta: float) -> float:
        """Anytime-valid upper bound (level 1 - delta) on the first section's excess, Wh."""
        centre_wh = self.known.mean_wh  # so that the guesses are of the size of differences
        mixture = Mixture((np.array(GUESSES) * self.dissipated_wh) ** 2)
        sigma_wh = self.sigma_wh
        _, high = constant_interval(
            np.array(self.own.count),
            np.array(self.own.total_wh - self.own.count * centre_wh),
            mixture,
            sigma=sigma_wh,
            delta=delta / 2,
        )
        low, _ = constant_interval(
            np.array(self.known.count), np.array(0.0), mixture, sigma=sigma_wh, delta=delta / 2
        )
        return float(high - low)


@dataclass(slots=True)
class _Ends:
    """The account of one pair of ends.

    income_wh: the budget so far, Wh.  driven: number of trips by route, other than the baseline.
    """

    baseline: Section = ()
    income_wh: float = 0.0
    driven: dict[Section, int] = field(default_factory=dict)
    pairs: dict[Section, list[_Pair]] = field(default_factory=dict)


class Guard:
    """A loss budget of a learner: it replaces routes that the budget does not cover.

    Parameters
    ----------
    edges
        Space of the edges, for the eq. 8 route.
    share
        Share of the energy dissipated on the eq. 8 route that learning may lose per trip, in (0,
        1).
    """

    def __init__(self, edges: EdgeSpace, *, share: float = DEFAULT_SHARE) -> None:
        self.edges = edges
        self.share = share
        self._ends: dict[tuple[int, int, str], _Ends] = {}
        self._journals: dict[str, Journal] = {}
        self._dissipated_wh = np.zeros(edges.size)  # of every edge, as it was last available
        self._free = math.nan
        self._left_wh = math.nan

    def choose(self, request: Round, proposed: Route) -> Route:
        """Return the proposed route, or the eq. 8 route if the budget does not cover it.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        eq8_wh = request.arms.prior_mean_wh
        self._dissipated_wh[request.arms.id] = eq8_wh - self.edges.potential_wh(request)
        baseline = least_energy_route(self.edges, eq8_wh, request)
        ends = self._ends.setdefault(
            (request.origin, request.destination, request.vehicle), _Ends()
        )
        if baseline.edges != ends.baseline:
            ends.baseline, ends.pairs = baseline.edges, {}
        dissipated_wh = float(self._dissipated_wh[baseline.rows].sum())
        ends.income_wh += (self.share + (0.0 if ends.income_wh else START_TRIPS)) * dissipated_wh
        spent_wh = sum(
            count * pair.lost_wh
            for route, count in ends.driven.items()
            for pair in self._pairs(request.vehicle, ends, route)
        )
        self._left_wh = ends.income_wh - spent_wh
        pairs = self._pairs(request.vehicle, ends, proposed.edges)
        allowed = proposed == baseline or self._may(pairs)
        self._free = float(allowed)
        return proposed if allowed else baseline

    def update(self, feedback: Feedback) -> None:
        """Enter the measurements of a trip into the accounts."""
        route = tuple(feedback.id.tolist())
        ends = self._ends.setdefault((route[0], route[-1], feedback.vehicle), _Ends())
        ends.driven[route] = ends.driven.get(route, 0) + 1
        self._journal(feedback.vehicle).add(route, feedback.energy_wh)

    def diagnostics(self) -> dict[str, float]:
        """Return whether the last round drove the learner's route, and the budget left, Wh."""
        return {"guard_free": self._free, "guard_left_wh": self._left_wh}

    def _may(self, pairs: list[_Pair]) -> bool:
        if not all(pair.known.count for pair in pairs):  # nothing to compare with yet
            return False
        measured = all(pair.own.count for pair in pairs)
        if measured and sum(pair.excess_upper_bound_wh(DELTA / len(pairs)) for pair in pairs) < 0:
            return True
        return self._left_wh >= max(0.0, sum(pair.expected_wh for pair in pairs))

    def _pairs(self, vehicle: str, ends: _Ends, route: Section) -> list[_Pair]:
        if route not in ends.pairs:
            journal = self._journal(vehicle)
            ends.pairs[route] = [
                _Pair.by_eq8(journal, own, known, self._dissipated_wh)
                for own, known in differing(route, ends.baseline)
            ]
        return ends.pairs[route]

    def _journal(self, vehicle: str) -> Journal:
        return self._journals.setdefault(vehicle, Journal())
