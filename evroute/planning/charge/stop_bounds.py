"""Lower bounds of the cost that is left to plans with charging stops.

A plan that stops once more passes a station. Chargers are of two groups, quick and slow, apart
where their least costs of a Wh differ most. If a quick one is used again, the route passes one, and
each Wh costs at least as at the quickest. Slow ones then charge what its way there lacks. If none
is, the route passes a slow one, and each Wh costs at least as at the quickest of these. So a search
for each group goes back from the destination, with the energy at its price. It has two costs of
each state, to the destination and over a station of the group, and goes towards the start.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
from evroute.planning.battery import Battery
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.chargers import Charger
from evroute.planning.searches import lower_bounds
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.searches.settle import BEFORE_START

APART = 1.5
"""Least ratio of the costs of a Wh at which groups are apart."""
ROUNDING_WH = 1e-6
"""Energy by which sums along ways may differ in rounding, Wh."""
BEYOND = 1.1
"""Multiple of the cost from the start up to which bounds are exact (`lower_bounds`)."""
FAR_BEYOND = 2.0
"""The same for searches that take many labels."""


@dataclass(frozen=True, slots=True, eq=False)
class StopBounds:
    """Lower bounds of one request with c chargers from s states.

    Parameters
    ----------
    rest_wh, rest
        (s,) least energy, Wh, and least cost of driving to the destination. The latter may be minus
        infinity.
    rest_both
        (s,) least sum of cost and energy, each Wh at ``per_wh``.
    by_quick, by_slow
        (s,) likewise over a quick or a slow charger, each Wh at ``per_wh`` or ``slow_per_wh``.
        Infinite where there is none.
    to_quick_wh
        (s,) least energy to a quick charger, Wh. Infinite where none is reached.
    slow
        (c,) 1 for slow chargers, else 0.
    per_wh, slow_per_wh
        Least cost of a Wh, charged anywhere or missing on arrival, and at slow chargers.
    """

    rest_wh: FloatArray
    rest: FloatArray
    rest_both: FloatArray
    by_quick: FloatArray
    by_slow: FloatArray
    to_quick_wh: FloatArray
    slow: IntArray
    per_wh: float
    slow_per_wh: float

    @classmethod
    def of(
        cls,
        problem: SearchProblem,
        battery: Battery,
        chargers: Sequence[Charger],
        aim: Aim,
        left: "EnergiesLeft",
        beyond: float,
    ) -> Self:
        """Return the bounds of a request, without the cost of driving alone.

        Parameters
        ----------
        problem
            The request and its numbers.
        battery
            Usable capacity.
        chargers
            Sockets that fit the car.
        aim
            The costs.
        left
            Energies left of the request.
        beyond
            Multiple of the cost over a charger up to which bounds are exact.
        """
        each_per_wh = _least_per_wh(battery, aim)
        slow = _slow(each_per_wh)
        per_wh, slow_per_wh = aim.per_wh(battery), float(each_per_wh[slow].min(initial=np.inf))
        quick_edges = _edges(chargers, ~slow)
        weights = problem.summed(aim.arm_cost, per_wh)
        guide = lower_bounds.since(
            problem.legs, weights, tuple({each.edge for each in problem.legs.starts})
        )
        led = guide, beyond
        both, by_quick = _over(problem, aim, per_wh, quick_edges, led)
        by_slow = np.full(len(both), np.inf)
        if slow.any():  # a guide by the lower price is a lower bound here
            by_slow = _over(problem, aim, slow_per_wh, _edges(chargers, slow), led)[1]
        to_quick_wh = np.zeros(len(both))
        if slow.any() or not aim.unlimited:
            to_quick_wh = left.to_stations_wh(quick_edges)
        rest = np.full(len(both), -np.inf)
        kinds = slow.astype(np.int64)
        costs = rest, both, by_quick, by_slow, to_quick_wh
        return cls(left.rest_wh, *costs, kinds, per_wh, slow_per_wh)


@dataclass(frozen=True, eq=False)
class EnergiesLeft:
    """Energies left of a request, and bounds of its plans, that several searches share.

    Parameters
    ----------
    problem
        The request and its numbers.
    """

    problem: SearchProblem
    _to_stations: dict[tuple[int, ...], FloatArray] = field(default_factory=dict, repr=False)
    _bounds: dict[tuple[Aim, float, float], StopBounds] = field(default_factory=dict, repr=False)

    @cached_property
    def rest_wh(self) -> FloatArray:
        """(s,) lower bounds of the energy from each state, Wh."""
        return self.problem.label_search.bounds(None, beyond=BEYOND)[0]

    def to_stations_wh(self, edges: Sequence[int]) -> FloatArray:
        """Return the least energy from every state to one of some edges, (s,) Wh."""
        key = tuple(edges)
        if key not in self._to_stations:
            self._to_stations[key] = _to_stations(self.problem, edges)
        return self._to_stations[key]

    def bounds(
        self,
        battery: Battery,
        chargers: Sequence[Charger],
        aim: Aim,
        *,
        stops: bool,
        beyond: float = BEYOND,
    ) -> StopBounds:
        """Return the bounds of plans with one aim. For the same capacity they are kept.

        Parameters
        ----------
        battery
            Usable capacity.
        chargers
            Sockets that fit the car, the same in each call.
        aim
            The costs.
        stops
            Whether each plan stops. The least cost of driving alone then bounds little.
        beyond
            As in `StopBounds.of`.
        """
        key = aim, battery.capacity_wh, beyond
        if key not in self._bounds:
            given = self.problem, battery, chargers, aim
            self._bounds[key] = StopBounds.of(*given, self, beyond)
        found = self._bounds[key]
        if aim.unlimited or stops:
            return found
        rest = found.rest_both
        if found.per_wh:
            rest = self.problem.rests.of(aim.arm_cost, beyond=BEYOND)
        return replace(found, rest=rest)


def needs_stop(
    problem: SearchProblem, battery: Battery, rest_wh: FloatArray, arrive_wh: float
) -> bool:
    """Return True if no route without a stop arrives with a charge.

    Parameters
    ----------
    problem, battery
        The request, and the charge at the start.
    rest_wh
        (s,) from `EnergiesLeft`.
    arrive_wh
        Least charge at the end, Wh.
    """
    legs = problem.legs
    least_wh = min(
        float(problem.energy_wh[arm] + rest_wh[min(into, legs.n_states)])
        for into, arm in legs.own_turns()[BEFORE_START]
    )
    return battery.start_wh - least_wh < arrive_wh - ROUNDING_WH


def _least_per_wh(battery: Battery, aim: Aim) -> FloatArray:
    """Return the least cost of a Wh that a plan with each charger lacks, (c,)."""
    steps = np.diff(aim.table, axis=1).min(axis=1, initial=np.inf)
    per_wh: FloatArray = steps / (battery.capacity_wh / 100)
    return np.minimum(per_wh, aim.credit) if aim.credit else per_wh


def _slow(per_wh: FloatArray) -> NDArray[np.bool_]:
    """Return the chargers above the widest ratio between costs of a Wh (c,) in order, (c,)."""
    ordered = np.unique(per_wh)
    ratio = ordered[1:] / ordered[:-1]
    if ratio.max(initial=1.0) < APART:
        return np.zeros(len(per_wh), dtype=np.bool_)
    return per_wh > ordered[int(ratio.argmax())]


def _edges(chargers: Sequence[Charger], chosen: NDArray[np.bool_]) -> list[int]:
    """Return the nodes of the chosen ones of c chargers, each once."""
    used = [each for each, is_chosen in zip(chargers, chosen.tolist(), strict=True) if is_chosen]
    return sorted({edge for each in used for edge in each.nodes})


def _over(
    problem: SearchProblem,
    aim: Aim,
    per_wh: float,
    edges: Sequence[int],
    led: tuple[FloatArray, float],
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the sum of cost and energy to the destination, and over one of some edges.

    Parameters
    ----------
    problem, aim
        As in `StopBounds.of`.
    per_wh
        Cost of a Wh.
    edges
        Edges with stations.
    led
        Lower bounds of the sum from the start to each state, (s,), and the multiple of the sum over
        a station up to which the bounds are exact.
    """
    legs = problem.legs
    both = problem.summed(aim.arm_cost, per_wh)
    rest, over = lower_bounds.rest_over(legs, both, edges, beyond=led[1], guide=led[0])
    climbs = per_wh * lower_bounds.climbs_wh(legs, problem.head_wh)
    climbs[:-1] -= per_wh * problem.excess_wh
    return rest + climbs, over + climbs


def _to_stations(problem: SearchProblem, edges: Sequence[int]) -> FloatArray:
    """Return the least energy from every state to one of some edges, Wh. Infinite on arrival."""
    legs = problem.legs
    if not edges:
        return np.full(legs.n_states + 1, np.inf)

    def tree_wh() -> FloatArray:
        after_wh = legs.after_wh(problem.head_wh)
        lowest_wh = float(after_wh[list(edges)].min())
        roots = Ends(np.array(edges, dtype=np.int64), after_wh[list(edges)] - lowest_wh)
        return legs.search.rest(problem.weights(), roots) + (lowest_wh - after_wh)

    name = legs.search, "to one of", *edges
    to_one_wh = problem.once(name, tree_wh, problem.weights())
    to_one_wh = to_one_wh - problem.excess_wh
    return np.append(np.tile(to_one_wh, len(legs.stops)), np.inf)
