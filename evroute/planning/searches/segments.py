"""Segments of charge: the charges that a route may have left since its last stop, with their costs.

The pieces of the loop of `stop_loops` that drive a segment over an arm, and its cost. numba does
not look at other files: change `stop_loops` with this one.
"""

import math
from typing import NamedTuple

from evroute.arrays import FloatArray, IntArray
from evroute.planning.searches.charge_steps import Charges, Steps, after_step
from evroute.planning.searches.settle import Costs

NEAR_WH = 1e-9
REACHED_WH = 1e-6
"""Energy by which sums along ways may differ in rounding, Wh."""


class Sockets(NamedTuple):
    """The c chargers at n edges, and lower bounds from s states.

    Parameters
    ----------
    first, charger
        (n + 1,) first entry of each edge, and the charger of each entry.
    table
        (c, 101) cost of each charger from empty to each whole per cent, rising.
    corner
        (c, 101) next whole per cent above each at which the slope of the cost changes. 101 for
        none.
    rest_both
        (s + 1,) least sum of cost and of energy by ``per_wh`` of the pace, or 0 on arrival.
    by_quick, by_slow
        (s + 1,) likewise over a quick or a slow charger, energy by ``per_wh`` or ``slow_per_wh``.
    to_quick_wh
        (s + 1,) least energy to a quick charger, Wh. Infinite where none is reached.
    slow
        (c,) 1 for slow chargers, else 0.
    """

    first: IntArray
    charger: IntArray
    table: FloatArray
    corner: IntArray
    rest_both: FloatArray
    by_quick: FloatArray
    by_slow: FloatArray
    to_quick_wh: FloatArray
    slow: IntArray


class Pace(NamedTuple):
    """Numbers of a search with charging stops.

    Parameters
    ----------
    per_wh, slow_per_wh, from_wh
        Least cost of one Wh that is charged, at any charger or at a slow one, or that is missing on
        arrival, and the charge from which on it is not needed, Wh.
    setup
        Cost of a stop beside charging.
    low_wh, high_wh, arrive_wh
        Least charge on arrival at a stop, greatest charge on leaving it, and least charge at the
        end, Wh.
    credit, credit_wh, least_credit
        Cost on arrival of each Wh below a charge, that charge, Wh, and the least sum of it.
    greed, effort
        Factor of the cost that is left, 1 for an exact search. Number of labels at which it ends.
    near
        Difference of costs that counts as none.
    """

    per_wh: float
    slow_per_wh: float
    from_wh: float
    setup: float
    low_wh: float
    high_wh: float
    arrive_wh: float
    credit: float
    credit_wh: float
    least_credit: float
    greed: float
    effort: int
    near: float


Bounds = tuple[float, float, float, float, float, float]
"""Bounds at a state: ``rest_wh`` and ``rest`` of `Costs`, and the four of `Sockets`."""


class Segment(NamedTuple):
    """Charges from ``low_wh`` to ``high_wh``, and their costs.

    Charge c costs ``base`` plus the cost of the charger from empty to ``c + net_wh``, the charge on
    leaving the last stop. ``base`` alone if there was none.
    """

    charger: int
    base: float
    net_wh: float
    low_wh: float
    high_wh: float


def lossy(charges: Charges, held: Segment, left: Segment) -> tuple[int, int]:
    """Return the range of whole per cents at the last stop that a segment left out on an arm.

    They lose regeneration that fades. It is empty without a fade.

    Parameters
    ----------
    charges
        The battery.
    held, left
        The segment before and after the arm.
    """
    if charges.fade == 0.0 or held.low_wh == held.high_wh:
        return 0, 0
    unit_wh = charges.capacity_wh / 100.0
    first = math.floor((left.high_wh + left.net_wh) / unit_wh + NEAR_WH) + 1
    return first, math.floor((held.high_wh + held.net_wh) / unit_wh + NEAR_WH) + 1


def at_leaving(held: Segment, full_wh: float) -> Segment:
    """Return the segment with one charge on leaving the last stop, Wh."""
    charge_wh = full_wh - held.net_wh
    return Segment(held.charger, held.base, held.net_wh, charge_wh, charge_wh)


def driven(
    steps: Steps, charges: Charges, held: Segment, arm: int, cost: float, drawn_wh: float
) -> Segment:
    """Return the segment after an arm. Its high charge is below the reserve if none gets over it.

    Charges that lose regeneration are left out as long as a lower one does not, and then all but
    the least. Without a fade that loses nothing, since the charge left is the same.

    Parameters
    ----------
    steps, charges
        Charge functions of the arms, and the battery.
    held
        The segment before the arm.
    arm, cost
        The arm, and its cost.
    drawn_wh
        Energy of the warm-up on it, Wh, which joins its first step.
    """
    net_wh = held.net_wh
    low_wh, high_wh = held.low_wh, held.high_wh
    for step in range(steps.start[arm], steps.start[arm + 1]):
        energy_wh = steps.step_wh[step] + drawn_wh
        drawn_wh = 0.0
        left_wh = low_wh - energy_wh
        if energy_wh < 0.0 and left_wh >= charges.lossless_wh:
            before_wh = low_wh + net_wh
            left_wh = after_step(charges, low_wh, energy_wh)
            low_wh = left_wh
            high_wh = left_wh
            net_wh = before_wh - left_wh
        else:
            net_wh += energy_wh
            high_wh -= energy_wh
            if energy_wh < 0.0:
                high_wh = min(high_wh, charges.lossless_wh)
            if high_wh < charges.least_wh:
                return Segment(held.charger, held.base, net_wh, high_wh, high_wh)
            low_wh = min(max(left_wh, charges.reserve_wh), high_wh)
    return Segment(held.charger, held.base + cost, net_wh, low_wh, high_wh)


def cost_of(sockets: Sockets, capacity_wh: float, held: Segment, charge_wh: float) -> float:
    """Return the cost of a charge of a segment.

    Parameters
    ----------
    sockets, capacity_wh
        Costs of the chargers, and the usable capacity, Wh.
    held, charge_wh
        The segment, and one of its charges, Wh.
    """
    if held.charger < 0:
        return held.base
    percent = 100.0 * (charge_wh + held.net_wh) / capacity_wh
    whole = min(max(int(percent), 0), 99)
    since = sockets.table[held.charger][whole]
    slope = sockets.table[held.charger][whole + 1] - since
    return held.base + since + (percent - whole) * slope


def next_corner(sockets: Sockets, held: Segment, charge_wh: float, unit_wh: float) -> float:
    """Return the next charge of a segment above one at which the slope of its cost changes, Wh.

    Parameters
    ----------
    sockets
        Costs of the chargers.
    held, charge_wh
        The segment, and one of its charges, Wh.
    unit_wh
        One per cent of the usable capacity, Wh.
    """
    if held.charger < 0:
        return math.inf
    percent = math.floor((charge_wh + held.net_wh) / unit_wh + NEAR_WH)
    return sockets.corner[held.charger][min(percent, 100)] * unit_wh - held.net_wh


def rest_at(costs: Costs, sockets: Sockets, place: int) -> Bounds:
    """Return the bounds at a state.

    Parameters
    ----------
    costs, sockets
        Bounds of driving, and over chargers.
    place
        The state.
    """
    return (
        costs.rest_wh[place],
        costs.rest[place],
        sockets.rest_both[place],
        sockets.by_quick[place],
        sockets.by_slow[place],
        sockets.to_quick_wh[place],
    )


def bound_of(
    charges: Charges,
    sockets: Sockets,
    pace: Pace,
    held: Segment,
    bounds: Bounds,
) -> float:
    """Return a lower bound of the cost on arrival of all charges of a segment.

    The least charge has it, or the least one that may need no further stop.

    Parameters
    ----------
    charges, sockets, pace
        Battery, chargers and numbers of the search.
    held, bounds
        The segment, and the bounds at its state.
    """
    rest_wh, rest = bounds[:2]
    both = bounds[2]
    low_wh = held.low_wh
    enough_wh = pace.arrive_wh + rest_wh
    spent = cost_of(sockets, charges.capacity_wh, held, low_wh)
    above_wh = low_wh - pace.from_wh
    if low_wh >= enough_wh - NEAR_WH:
        return spent + pace.greed * max(rest, both - pace.per_wh * above_wh)
    left = left_by_stops(charges, sockets, pace, held, bounds)
    bound = spent + pace.greed * max(rest, left) + pace.setup
    if held.high_wh >= enough_wh - NEAR_WH:
        spent = cost_of(sockets, charges.capacity_wh, held, enough_wh)
        left = max(rest, both - pace.per_wh * (enough_wh - pace.from_wh))
        bound = min(bound, spent + pace.greed * left)
    return bound


def left_by_stops(
    charges: Charges, sockets: Sockets, pace: Pace, held: Segment, bounds: Bounds
) -> float:
    """Return a lower bound of the cost that is left with at least one stop, less its set-up.

    Either a quick stop follows, before which slow ones charge as much as its way needs, or slow
    ones only. A quick charger so far may have been left with more.

    Parameters
    ----------
    charges, sockets, pace, held, bounds
        As in `bound_of`.
    """
    both, by_quick, by_slow, to_quick_wh = bounds[2:]
    above_wh = held.low_wh - pace.from_wh
    quick = held.charger >= 0 and sockets.slow[held.charger] == 0
    left = math.inf
    if by_slow < math.inf:
        left = by_slow - pace.slow_per_wh * above_wh
        if quick:
            left = both - pace.per_wh * above_wh
    if by_quick < math.inf:
        through = by_quick - pace.per_wh * above_wh
        needed_wh = to_quick_wh + max(pace.low_wh, charges.least_wh)
        if not quick and held.low_wh < needed_wh - REACHED_WH:
            through += (pace.slow_per_wh - pace.per_wh) * (needed_wh - held.low_wh)
            if held.high_wh < needed_wh - REACHED_WH:
                through += pace.setup
        left = min(left, through)
    return left


def dominated(
    sockets: Sockets, pace: Pace, settled: Segment, given: tuple[Segment, float, float, float]
) -> float:
    """Return up to which charge of a segment a settled one has as much at no more cost, Wh.

    Minus infinity if it has not even as much as the least.

    Parameters
    ----------
    sockets, pace
        Costs of the chargers, and numbers of the search.
    settled
        The segment of a settled label of the same state.
    given
        The segment, the capacity, by how much more charge the settled one needs, since more of
        its warm-up is left, and up to which charge it counts then (`warming.is_covered`), Wh.
    """
    held, capacity_wh, above_wh, most_wh = given
    # charges of the settled one less those that it needs more
    other = Segment(
        settled.charger,
        settled.base,
        settled.net_wh + above_wh,
        settled.low_wh - above_wh,
        min(settled.high_wh, most_wh) - above_wh,
    )
    unit_wh = capacity_wh / 100.0
    at_wh = held.low_wh
    until_wh = -math.inf
    end_wh = held.high_wh
    if other.high_wh < end_wh - NEAR_WH:
        end_wh = other.high_wh
    while at_wh <= end_wh:
        known = cost_of(sockets, capacity_wh, other, max(at_wh, other.low_wh))
        if known > cost_of(sockets, capacity_wh, held, at_wh) + pace.near:
            break
        until_wh = at_wh
        if at_wh == end_wh:
            break
        corner_wh = min(end_wh, next_corner(sockets, held, at_wh, unit_wh))
        if at_wh < other.low_wh:
            corner_wh = min(corner_wh, other.low_wh)
        else:
            corner_wh = min(corner_wh, next_corner(sockets, other, at_wh, unit_wh))
        at_wh = corner_wh
    return until_wh
