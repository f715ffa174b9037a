"""Label searches with two costs: the energy from a battery, and an additive one (time, length).

Arms change the charge by their charge functions (`charge_functions`), terrain inside included.
Labels of (charge, cost) per state of the legs, pruned by lower bounds from searches from the
destination, which hold with a battery, too, since a bounded battery only adds cost. More charge is
never worse later, and with the potential p of the states the energy E actually taken from a charge
x keeps ``max(E, x - capacity) - p >= E - p >= 0``: labels in the order of the least energy to the
destination (A*) are final. Eisner, Funke & Storandt (2011), *Optimal route planning for electric
vehicles in large networks*, solve the same problem with profiles of the start charge.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.heating import NO_WARM_UP, WarmUp
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.warming import Warming
from evroute.planning.searches import lower_bounds
from evroute.planning.searches.charge_steps import Charges, Steps
from evroute.planning.searches.compiled import read_only, run
from evroute.planning.searches.legs import Legs
from evroute.planning.searches.settle import (
    ALL,
    PARETO,
    TOLERANCE_S,
    Costs,
    Limits,
    Settled,
    settle,
)

GREATEST_EFFORT = 200_000
"""Number of labels after which a search with two costs stops."""
_UNBOUNDED = Battery(np.inf, 0.0, 0.0)
_NONE = read_only(np.empty(0))
NO_WARMING = Warming(0.0, 0.0, 0.0, _NONE, _NONE, _NONE, False)
"""No warm-up."""


@dataclass(frozen=True, slots=True)
class LabelSearch:
    """Exact searches for one request with a battery, an additive cost, or both.

    Parameters
    ----------
    legs
        The legs of the request.
    head_wh
        (a,) potential after each arm, Wh.
    charge
        Charge functions of the arms.
    excess_wh
        By how much sums of the weights along a route exceed those of the energies, Wh.
    weights
        (a,) energy of each arm above the rise of the potential, at least 0, Wh.
    rests
        Lower bounds of the request.
    time_s
        (a,) travel time of each arm, s.
    warm_up
        Energy of warming up over the time driven.
    """

    legs: Legs
    head_wh: FloatArray
    charge: ChargeFunctions
    excess_wh: float
    weights: FloatArray
    rests: lower_bounds.Rests
    time_s: FloatArray
    warm_up: WarmUp = NO_WARM_UP

    def cheapest(
        self,
        battery: Battery | None,
        time_s: FloatArray,
        limit_s: float = np.inf,
        *,
        worth: tuple[float, float] = (1.0, 0.0),
        better_than: float = np.inf,
        effort: int = GREATEST_EFFORT,
    ) -> tuple[Route | None, bool]:
        """Return the route of least cost of energy and time within a time limit.

        Parameters
        ----------
        battery
            Bounds of the charge, or None for an unbounded battery.
        time_s
            (a,) travel time of each arm, or another additive cost.
        limit_s
            Longest travel time, s.
        worth
            Cost of one Wh and of one second, >= 0, one of them > 0.
        better_than
            Cost of a known route. Only better ones are returned.
        effort
            Number of labels after which the search stops.

        Returns
        -------
        route
            The best route found, or None if none is better than the known one.
        complete
            True if no better one exists. False if the search stopped before that was proven.
        """
        return self._settled(
            battery,
            time_s,
            (limit_s + TOLERANCE_S, better_than - TOLERANCE_WH * worth[0]),
            worth,
            effort,
        )

    def most_charge(self, battery: Battery) -> tuple[Route | None, bool]:
        """Return the route that arrives with the most charge and keeps the reserve, or None.

        The second value is True if no route arrives with more. After a cold start the search may
        stop before that is proven.
        """
        cost = self.time_s if self.warm_up else None
        given = battery, cost, (np.inf, np.inf), (1.0, 0.0), 2**62
        found, proven = self._settled(*given)
        if found is None and not proven:
            return self._settled(*given, loses=False)[0], False
        return found, proven

    def within_reach(self, battery: Battery) -> Settled:
        """Return the labels of all states within reach, those of most charge plus potential first.

        After a cold start a state has a further label where less of its warm-up is left.
        """
        head_wh = self.head_wh[self.legs.search.starts]
        rest_wh = np.append(head_wh.min() - head_wh, 0.0)  # the order, below any need
        cost = self.time_s if self.warm_up else np.zeros(len(self.time_s))
        zeros = np.zeros(self.legs.n_states + 1)
        warming = self.warming(self.time_s, battery.lossless_wh, left=False)
        return self._run(
            battery.charges(),
            Costs(read_only(cost), read_only(rest_wh), read_only(zeros)),
            Limits(np.inf, np.inf, 1.0, 0.0, PARETO, 2**62, 2**62),
            warming._replace(rest_s=read_only(zeros)),
        )

    def warming(
        self, cost: FloatArray | None, lossless_wh: float = np.inf, *, left: bool = True
    ) -> Warming:
        """Return the warm-up as the loops take it.

        Parameters
        ----------
        cost
            (a,) cost of the search, or None for none.
        lossless_wh
            Charge up to which no regeneration is lost, Wh. Infinite to take it that none is.
        left
            Whether with bounds of the time left.
        """
        if not self.warm_up:
            return NO_WARMING
        rest_s = self.rests.of(self.time_s) if left else _NONE
        room_wh = np.full(self.legs.n_states + 1, np.inf)
        if lossless_wh < np.inf:
            least_wh = self.rests.onward_wh(self.weights, self.head_wh, self.excess_wh, self.charge)
            room_wh = np.append(
                lossless_wh + np.tile(least_wh, max(len(self.legs.stops), 1)), np.inf
            )
        return Warming(
            self.warm_up.wh_per_s,
            self.warm_up.whole_wh,
            self.warm_up.whole_s,
            read_only(self.time_s),
            read_only(rest_s),
            read_only(room_wh),
            cost is None or cost is self.time_s,
        )

    def bounds(
        self, cost: FloatArray | None, *, beyond: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower bounds of energy, Wh, and cost (a,) from each state. `rest` ``beyond``."""
        rest_wh = self.with_climbs(self.rests.of(self.weights, beyond=beyond))
        if cost is None:
            return rest_wh, np.zeros(len(rest_wh))
        return rest_wh, self.rests.of(cost, beyond=beyond)

    def with_climbs(self, rest_wh: FloatArray) -> FloatArray:
        """Return lower bounds of the energy from those above the rise of the potential.

        Parameters
        ----------
        rest_wh
            (s + 1,) bounds from each state, Wh.
        """
        climbs_wh = lower_bounds.climbs_wh(self.legs, self.head_wh)
        climbs_wh += rest_wh
        climbs_wh[:-1] -= self.excess_wh
        return climbs_wh

    def _settled(
        self,
        battery: Battery | None,
        cost: FloatArray | None,
        limits: tuple[float, float],
        worth: tuple[float, float],
        effort: int,
        *,
        loses: bool = True,
    ) -> tuple[Route | None, bool]:
        rest_wh, rest = self.bounds(cost)
        bounded = battery or _UNBOUNDED
        limit, better_than = limits
        settled = self._run(
            bounded.charges(-np.inf if battery is None else None),
            Costs(
                read_only(np.zeros(len(self.time_s)) if cost is None else cost),
                read_only(rest_wh),
                read_only(rest),
            ),
            Limits(
                float(limit),
                float(better_than),
                float(worth[0]),
                float(worth[1]),
                PARETO,
                2**62,
                effort if cost is None else min(effort, GREATEST_EFFORT),
            ),
            self.warming(cost, bounded.lossless_wh if loses else np.inf),
        )
        found = self.legs.arrived(settled)
        return found[-1] if found else None, settled.bound == np.inf

    def in_order(
        self,
        battery: Battery,
        costs: Costs,
        worth: tuple[float, float],
        most: float,
        effort: tuple[int, int],
    ) -> tuple[list[Route], float]:
        """Return routes without a loop that keep the reserve, cheapest first.

        Parameters
        ----------
        battery
            Charge at the start and reserve.
        costs
            An additive cost, and bounds.
        worth
            Cost of one Wh and of one unit of the additive cost.
        most
            Greatest additive cost.
        effort
            Labels and routes after which the search ends.

        Returns
        -------
        routes, bound
            No further route costs less than the bound, or infinite if there is none.
        """
        settled = self._run(
            battery.charges(),
            costs,
            Limits(
                float(most + TOLERANCE_S),
                np.inf,
                float(worth[0]),
                float(worth[1]),
                ALL,
                effort[1],
                effort[0],
            ),
            self.warming(costs.cost),
        )
        return self.legs.arrived(settled), settled.bound

    def _run(self, charges: Charges, costs: Costs, limits: Limits, warming: Warming) -> Settled:
        """Return the settled labels of a search."""
        charge = self.charge
        if charges.least_wh == -np.inf:  # without a battery the energies of arms suffice
            steps = Steps(_numbered(len(charge.energy_wh) + 1), read_only(charge.energy_wh))
        else:
            steps = Steps(read_only(charge.start), read_only(charge.step_wh))
        legs = self.legs
        settled: Settled = run(
            legs.search, settle, legs.ways(), steps, charges, costs, limits, warming
        )
        return settled


def _numbered(number: int) -> IntArray:
    """Return the first numbers, as many as wanted, read-only."""
    return _numbers(1 << number.bit_length())[:number]


@lru_cache(maxsize=4)
def _numbers(number: int) -> IntArray:
    return read_only(np.arange(number))
