"""Guard: a bounded loss of a learner against always driving the eq. 8 route.

It follows conservative bandits (Wu, Shariff, Lattimore & Szepesvári 2016; Kazerouni, Ghavamzadeh,
Abbasi-Yadkori & Van Roy 2017) with two separate objects:

- the licence (`policy.licence`) refuses routes that are expected to take more than the eq. 8 route,
  by at least a standard deviation of that expectation.
- the ledger (`policy.ledger`) bounds the expected energy lost on all trips of the vehicle, between
  whatever ends, and sets the probability with which the eq. 8 route is driven instead. With
  probability 0.95 the loss never exceeds the budget: a share of the energy that eq. 8 dissipates on
  each trip, and the energy of four trips at the start. Savings are income.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.planning.spaces.arm_space import least_energy_route
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.policy.ledger import Ledger
from evroute.policy.licence import Evidence, Journal, Section, differing, total_of, weigh

DEFAULT_SHARE = 0.0025
CAUTION = 2.0
"""Deviations of a trip's noise by which a route may take more than expected."""


@dataclass(frozen=True, slots=True)
class _Bet:
    """A trip whose route was drawn, and the sections of the driven route that differ."""

    probability: float
    is_baseline: bool
    sections: list[Section]
    believed_wh: float
    believed_excess_wh: float
    noise_wh: float
    most_wh: float
    new_share: float


class Guard:
    """A loss budget of the learner of one vehicle: it replaces routes by the eq. 8 route.

    Parameters
    ----------
    edges
        Space of the edges, for the eq. 8 route.
    rng
        Source of the draws between the two routes.
    share
        Share of the energy dissipated on the eq. 8 route that learning may lose per trip, in (0,
        1).
    start_wh
        Budget before the first trip, Wh, or None for the energy of four trips (`Ledger`).

    Attributes
    ----------
    probability
        Probability of the eq. 8 route in the last trip. NaN if no other route was allowed.
    """

    def __init__(
        self,
        edges: EdgeSpace,
        *,
        rng: Generator,
        share: float = DEFAULT_SHARE,
        start_wh: float | None = None,
    ) -> None:
        self.edges = edges
        self.rng = rng
        self.ledger = Ledger(share, start_wh)
        self._journal = Journal()
        self._pending: dict[Section, list[_Bet]] = {}
        # of every edge, as it was last available
        self._eq8_wh, self._dissipated_wh = np.zeros(edges.size), np.zeros(edges.size)
        self._driven = np.zeros(edges.size, dtype=np.bool_)
        self._is_free = False
        self.probability = np.nan

    def choose(
        self, request: Round, proposed: Route, believe: Callable[[Route], FloatArray]
    ) -> Route:
        """Return the proposed route or the eq. 8 route.

        Parameters
        ----------
        request
            Request of the round.
        proposed
            Route that the learner prefers.
        believe
            Returns the believed energy of the edges of a route, (k,) Wh.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        eq8_wh = request.arms.prior_mean_wh
        self._eq8_wh[request.arms.id] = eq8_wh
        self._dissipated_wh[request.arms.id] = eq8_wh - self.edges.potential_wh(request)
        baseline = least_energy_route(self.edges, eq8_wh, request)
        self.ledger.open(float(self._dissipated_wh[baseline.rows].sum()))
        self._is_free, self.probability = proposed == baseline, np.nan
        if self._is_free:
            return proposed
        pairs = differing(proposed.edges, baseline.edges)
        sections = {proposed: [own for own, _ in pairs], baseline: [known for _, known in pairs]}
        evidence = {
            route: self._weigh(route, sections[route], believe(route))
            for route in (proposed, baseline)
        }
        learner, known = evidence[proposed], evidence[baseline]
        excess_wh = learner.mean_wh - known.mean_wh
        if excess_wh >= learner.variance_wh2**0.5:
            return baseline
        noise_wh = max(learner.noise_wh2, known.noise_wh2) ** 0.5
        most_wh = max(excess_wh, 0.0) + CAUTION * noise_wh
        # trips under way may lose as much as they can
        under_way_wh = sum(
            (1.0 - bet.probability) * bet.most_wh for bets in self._pending.values() for bet in bets
        )
        self.probability = float(self.ledger.probability(noise_wh, most_wh, under_way_wh))
        self._is_free = bool(self.rng.random() >= self.probability)
        route = proposed if self._is_free else baseline
        self._pending.setdefault(route.edges, []).append(
            _Bet(
                self.probability,
                not self._is_free,
                sections[route],
                evidence[route].believed_wh,
                learner.believed_wh - known.believed_wh,
                noise_wh,
                most_wh,
                self._new_share(sections[route]),
            )
        )
        return route

    def update(self, feedback: Feedback) -> None:
        """Enter the measurements of a trip into the licence and the ledger."""
        route = Route(tuple(feedback.id.tolist()))
        self._journal.add(route.edges, feedback.energy_wh)
        self._driven[feedback.id] = True
        if not (bets := self._pending.get(route.edges)):
            return
        bet = bets.pop(0)
        self.ledger.settle(
            bet.probability,
            bet.is_baseline,
            sum(total_of(each, route, feedback.energy_wh) for each in bet.sections)
            - bet.believed_wh,
            believed_excess_wh=bet.believed_excess_wh,
            noise_wh=bet.noise_wh,
            most_wh=bet.most_wh,
            new_share=bet.new_share,
        )

    def _new_share(self, sections: list[Section]) -> float:
        """Return the share of the kilometres of sections that no trip drove."""
        edges = np.concatenate([np.array(each) for each in sections])
        length_m = self.edges.network.length_m[edges]
        return float(length_m @ ~self._driven[edges] / length_m.sum())

    def _weigh(self, route: Route, sections: list[Section], believed_wh: FloatArray) -> Evidence:
        """Return the evidence on the sections of a route, given its believed edges, (k,) Wh."""
        return sum(
            (
                weigh(
                    self._journal,
                    each,
                    total_of(each, route, believed_wh),
                    eq8_wh=self._eq8_wh,
                    dissipated_wh=self._dissipated_wh,
                )
                for each in sections
            ),
            Evidence(),
        )

    def forget(self) -> None:
        """Remove the measurements of the licence. The ledger keeps its own."""
        self._journal = Journal()
        self._driven[:] = False

    def diagnostics(self) -> dict[str, float]:
        """Return the state after the last round.

        ``guard_free``: whether the learner's route was driven.  ``guard_left_wh``: budget that is
        left if the loss is at its upper bound, Wh.  ``guard_budget_wh``: budget so far, Wh.
        ``guard_trips``: `Ledger.trips_needed`.
        """
        return {
            "guard_free": float(self._is_free),
            "guard_left_wh": float(self.ledger.income_wh - self.ledger.lost_at_most_wh),
            "guard_budget_wh": float(self.ledger.income_wh),
            "guard_trips": self.ledger.trips_needed(),
        }
