"""Guarded: a learner that may lose no more than a budget against always driving the eq. 8 route.

In the spirit of conservative bandits (Wu, Shariff, Lattimore & Szepesvári 2016; Kazerouni, Ghavamzadeh,
Abbasi-Yadkori & Van Roy 2017), but on *measured totals* of whole trips, in which errors of attribution between edges
cancel, and not on the belief that it is to protect against. For every pair of ends, what the learner's routes took
beyond the eq. 8 route so far is its spending; a share of what eq. 8 dissipates, trip by trip, is its income, half a
trip's worth its start. It may drive its own route

- if that has been shown to take less than eq. 8: their anytime-valid confidence sequences (``model.mixture``) part;
- else if what is left covers what the trip is expected to lose.

Otherwise the eq. 8 route is driven, and measured. Savings are income too: where learning pays, the guard steps back.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.model.mixture import Mixture, constant_interval
from evroute.planning.arm_space import ArmSpace
from evroute.planning.search import Search
from evroute.planning.weights import potential
from evroute.policy.agent import Agent
from evroute.policy.base import Index

DEFAULT_SHARE = 0.0025
START_TRIPS = 0.5
UNKNOWN_LOSS = 0.03
DELTA = 0.1
NOISE_SHARE = 0.08
NOISE_TRIPS = 10


@dataclass(slots=True)
class _Totals:
    """Measured totals of one route, Wh."""

    count: int = 0
    total_wh: float = 0.0
    squares_wh2: float = 0.0

    @property
    def mean_wh(self) -> float:
        return self.total_wh / self.count

    def add(self, energy_wh: float) -> None:
        self.count += 1
        self.total_wh += energy_wh
        self.squares_wh2 += energy_wh**2


@dataclass(slots=True)
class _Ends:
    """What is known of the trips between two ends.

    income_wh: the budget so far.  dissipated_wh: of the eq. 8 route.
    """

    baseline: tuple[int, ...] = ()
    dissipated_wh: float = 0.0
    income_wh: float = 0.0
    routes: dict[tuple[int, ...], _Totals] = field(default_factory=dict)

    @property
    def spent_wh(self) -> float:
        """What routes other than eq. 8's took beyond its mean, less one standard error of that mean.

        So a mean that few drives tell of is no licence: the eq. 8 route is driven until it is known well enough.
        """
        known = self.routes.get(self.baseline)
        if known is None:
            return 0.0
        level_wh = known.mean_wh - self.sigma_wh / math.sqrt(known.count)
        others = (each for route, each in self.routes.items() if route != self.baseline)
        return sum(each.total_wh - each.count * level_wh for each in others)

    @property
    def sigma_wh(self) -> float:
        """Deviation of one total: pooled within routes, pulled to `NOISE_SHARE` of what is dissipated."""
        free = sum(each.count - 1 for each in self.routes.values())
        within = sum(each.squares_wh2 - each.count * each.mean_wh**2 for each in self.routes.values())
        guess = (NOISE_SHARE * self.dissipated_wh) ** 2
        return math.sqrt((NOISE_TRIPS * guess + max(within, 0.0)) / (NOISE_TRIPS + free))


class Guarded:
    """An agent with a loss budget; asks and tells as an agent does.

    search, potential_wh: over the edges, for the eq. 8 route.  share: of what the eq. 8 route dissipates that
    learning may lose per trip in the long run.

    Raises
    ------
    ValueError
        If the share is not in (0, 1).
    """

    def __init__(
        self, agent: Agent, *, search: Search, potential_wh: FloatArray, share: float = DEFAULT_SHARE
    ) -> None:
        check_share(share)
        self.agent = agent
        self.search = search
        self.potential_wh = potential_wh
        self.share = share
        self._ends: dict[tuple[int, int, str], _Ends] = {}
        self._free = math.nan
        self._left_wh = math.nan

    @property
    def model(self) -> EnergyModel:
        """The model of the agent."""
        return self.agent.model

    @property
    def index(self) -> Index:
        """The index of the agent."""
        return self.agent.index

    @property
    def space(self) -> ArmSpace:
        """The arm space of the agent."""
        return self.agent.space

    def ask(self, request: Round) -> Route:
        """Choose the learner's route, or that of eq. 8 where the budget does not cover it.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        wanted, baseline = self.agent.propose(request), self._eq8(request)
        ends = self._ends.setdefault((request.origin, request.destination, request.vehicle), _Ends())
        rows = request.arms.rows_of(baseline.rows)
        ends.baseline = baseline.edges
        ends.dissipated_wh = float((request.arms.prior_mean_wh[rows] - self.potential_wh[baseline.rows]).sum())
        if not ends.routes:
            ends.income_wh = START_TRIPS * ends.dissipated_wh
        ends.income_wh += self.share * ends.dissipated_wh
        self._left_wh = ends.income_wh - ends.spent_wh
        allowed = wanted == baseline or self._may(ends, wanted)
        self._free = float(allowed)
        route = wanted if allowed else baseline
        self.agent.announce(request, route)
        return route

    def predict(self, request: Round, route: Route) -> tuple[float, float]:
        """Return what the agent predicts."""
        return self.agent.predict(request, route)

    def tell(self, feedback: Feedback) -> None:
        """Learn from what a trip measured, and keep its total."""
        route = tuple(feedback.edge.tolist())
        ends = self._ends.setdefault((route[0], route[-1], feedback.vehicle), _Ends())
        ends.routes.setdefault(route, _Totals()).add(float(feedback.energy_wh.sum()))
        self.agent.tell(feedback)

    def diagnostics(self) -> dict[str, float]:
        """Return whether the learner had its way in the last round, and what was left of the budget, Wh."""
        return {"guard_free": self._free, "guard_left_wh": self._left_wh}

    def _may(self, ends: _Ends, wanted: Route) -> bool:
        known, own = ends.routes.get(ends.baseline), ends.routes.get(wanted.edges)
        if known is None:  # nothing to compare with yet
            return False
        if own is None:
            return self._left_wh >= UNKNOWN_LOSS * ends.dissipated_wh
        sigma_wh = ends.sigma_wh
        mixture = Mixture(np.array([0.03, 0.1, 0.3]) ** 2 * max(ends.dissipated_wh, 1.0) ** 2)
        # both around the mean of eq. 8, so that the guesses are of the size of differences
        centre_wh = known.mean_wh
        _, high = constant_interval(
            np.array(own.count),
            np.array(own.total_wh - own.count * centre_wh),
            mixture,
            sigma=sigma_wh,
            delta=DELTA / 2,
        )
        low, _ = constant_interval(np.array(known.count), np.array(0.0), mixture, sigma=sigma_wh, delta=DELTA / 2)
        return bool(high < low) or self._left_wh >= max(0.0, own.mean_wh - known.mean_wh)

    def _eq8(self, request: Round) -> Route:
        edge = request.arms.edge
        weights = np.full(len(self.potential_wh), np.inf)
        weights[edge] = potential(request.arms.prior_mean_wh, np.zeros(len(edge)), self.potential_wh[edge])
        return self.search.route(weights, request.origin, request.destination)


def check_share(share: float) -> None:
    """Raise ValueError unless ``0 < share < 1``."""
    if not 0 < share < 1:
        raise ValueError(
            f"guard is {share:g}; it is the share of the eq. 8 route's energy that learning may lose, between 0 and 1"
        )
