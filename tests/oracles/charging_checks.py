"""Plans that may always stop against an independent search over fixed steps of charge.

    python tests/oracles/charging_checks.py 1000 300

Draws that many requests on random networks and on a made-up country of 900 km with fast main roads
and slow side roads, climbs and descents, curves that rise and fall, and a reserve. The independent
search has neither bounds nor open charges: it settles times (or energies) edge by edge, and leaves
a station with any whole step of charge. `charging_orders` has other programs for fixed orders.
"""

import heapq
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
from charging_requests import Request, draw_country, draw_network

from evroute.arrays import FloatArray
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.chargers import Charger
from evroute.planning.charge.stops import StopPlan, best_plan

NEAR = 1e-6
ARRIVED = -2
SLOW, FEWER = ("energy, steps of 1 %", "time, steps of 0.1 %"), 10
"""Comparisons on the country that the independent search takes seconds for: a tenth of them."""


def independent(
    request: Request, step: float, *, by: str = "time", worth: tuple[float, float] = (0.0, 1.0)
) -> float:
    """Return the least time, s, or energy driven, Wh, over steps of charge, %; inf if none.

    Parameters
    ----------
    request
        The request.
    step
        Stops end at whole multiples of it.
    by
        ``time``, ``energy`` or ``money``.
    worth
        Own price of one Wh, and value of one second, money.
    """
    battery, wishes = request.battery, request.wishes
    levels = np.round(np.arange(0, wishes.to_percent + step / 2, step), 9)
    level_wh = (battery.capacity_wh * levels / 100).tolist()
    per_wh, per_s = worth
    whole = [per_s * each.time_s + _paid(each, request, by) for each in request.chargers]
    tables = [np.interp(levels, np.arange(101), each).tolist() for each in whole]
    setup = per_s * wishes.setup_s
    at = {
        edge: [row for row, each in enumerate(request.chargers) if edge in each.nodes]
        for each in request.chargers
        for edge in each.nodes
    }
    time_s, energy_wh = request.time_s.tolist(), request.energy_wh.tolist()
    rise_wh = (request.height_wh[1] - request.height_wh[0]).tolist()
    kept: dict[tuple[int, bool], list[tuple[float, float]]] = {}
    origin, destination = request.ends
    begins, arrives = request.begins or (origin,), request.arrives or (destination,)
    arrive_wh = battery.capacity_wh * wishes.arrive_percent / 100

    def known(at: tuple[int, bool], cost: float, charge_wh: float) -> bool:
        """Return True if as much charge at the edge costs no more, losses of more counted in."""
        if by != "energy":  # the last one has the most charge
            return at in kept and kept[at][-1][1] >= charge_wh - NEAR
        return any(
            left_wh >= charge_wh - NEAR and spent + (left_wh - charge_wh) <= cost + 1e-12
            for spent, left_wh in kept.get(at, ())
        )

    # cost, edge, charge after it; a station and its level, or -1
    queue = [(0.0, -1, battery.start_wh, -1, 0, 0.0)]
    while queue:
        cost, edge, charge_wh, row, level, begun = heapq.heappop(queue)
        if edge == ARRIVED:
            return cost
        if row >= 0 and level + 1 < len(level_wh):
            more = tables[row][level + 1] if by != "energy" else 0.0
            heapq.heappush(queue, (begun + more, edge, level_wh[level + 1], row, level + 1, begun))
        place = edge, row >= 0 and edge in request.turned
        if edge >= 0 and known(place, cost, charge_wh):
            continue
        if edge in arrives and row < 0:
            if charge_wh < arrive_wh - NEAR:
                continue
            from_wh, to_wh = request.height_wh[0, origin], request.height_wh[1, destination]
            if by == "energy":
                return cost + float(to_wh - from_wh)
            own = per_wh * max(battery.start_wh - charge_wh, 0.0)
            heapq.heappush(queue, (cost + own, ARRIVED, charge_wh, -1, 0, 0.0))
            kept.setdefault(place, []).append((cost, charge_wh))
            continue
        kept.setdefault(place, []).append((cost, charge_wh))
        if row < 0 and charge_wh >= battery.capacity_wh * wishes.from_percent / 100:
            percent = battery.percent(charge_wh)
            above = int(np.searchsorted(levels, percent + 1e-9))
            for station in at.get(edge, ()):
                if above < len(levels):
                    since = float(np.interp(percent, np.arange(101), whole[station]))
                    start = cost if by == "energy" else cost + setup - since
                    first = start if by == "energy" else start + tables[station][above]
                    heapq.heappush(queue, (first, edge, level_wh[above], station, above, start))
        after = begins if edge < 0 else request.following[edge]
        for into in (*after, *(request.turned.get(edge, ()) if row >= 0 else ())):
            left_wh = min(battery.capacity_wh, charge_wh - energy_wh[into])
            if left_wh >= battery.reserve_wh - NEAR:
                # less the rise of the potential, no edge takes a negative energy
                spent = cost + per_s * time_s[into]
                if by == "energy":
                    spent = cost + charge_wh - left_wh - rise_wh[into]
                heapq.heappush(queue, (spent, into, left_wh, -1, 0, 0.0))
    return np.inf


def _paid(charger: Charger, request: Request, by: str) -> FloatArray:
    """Return what a charger takes from empty to each whole per cent, (101,) money."""
    if by != "money":
        return np.zeros(101)
    charged_wh = request.battery.capacity_wh * np.arange(101) / 100
    # DC: the wall gives what enters the battery
    per_kwh = request.wishes.own_price if charger.price_kwh is None else charger.price_kwh
    return per_kwh * charged_wh / 1000 + charger.price_minute * charger.time_s / 60


def planned(
    request: Request,
    *,
    compiled: bool,
    by: str = "time",
    worth: tuple[float, float] = (0.0, 1.0),
) -> StopPlan | None:
    """Return the plan of least time, energy or money."""
    problem = request.problem(compiled=compiled)
    chargers = request.sockets or request.chargers
    if by == "time":
        aim = Aim.least_time(problem, chargers, request.wishes)
    elif by == "money":
        aim = Aim.least_money(problem, request.battery, chargers, request.wishes, worth)
    else:
        aim = Aim.least_energy(problem, request.battery, chargers, request.wishes)
    return best_plan(problem, request.battery, chargers, aim, request.wishes)


def check(request: Request, *, compiled: bool, step: float) -> str:
    """Compare a request with the independent search, and return the kind of its plan.

    Never earlier than the plan, and later at most by one step at the slowest power for each stop.
    """
    found, best_s = planned(request, compiled=compiled), independent(request, step)
    if found is None:
        assert best_s == np.inf, best_s
        return "none"
    assert found.exact
    if found.visits:
        slowest_s = step * max(np.diff(each.time_s).max() for each in request.chargers)
        assert found.cost - NEAR <= best_s <= found.cost + len(found.visits) * slowest_s + NEAR
        alone_s = independent(replace(request, chargers=[]), step)
        return "stops, also without" if alone_s < np.inf else "stops"
    assert abs(best_s - found.cost) <= NEAR, (best_s, found.cost)
    return "no stop"


def check_energy(request: Request, *, compiled: bool, step: float) -> str:
    """Compare the least energy driven likewise; a step more at a stop may be lost."""
    found, least_wh = (
        planned(request, compiled=compiled, by="energy"),
        independent(request, step, by="energy"),
    )
    if found is None:
        assert least_wh == np.inf
        return "none"
    lost_wh = len(found.visits) * step / 100 * request.battery.capacity_wh
    assert found.cost - 0.05 <= least_wh <= found.cost + lost_wh + NEAR, (least_wh, found)
    return "stops" if found.visits else "no stop"


def check_money(request: Request, *, compiled: bool, step: float) -> str:
    """Compare the least money likewise, with prices by seed at some stations."""
    rng = np.random.default_rng(len(request.time_s) + int(request.battery.capacity_wh))
    priced = [
        replace(
            each,
            socket="ccs",
            price_kwh=None if rng.random() < 0.3 else rng.uniform(0.1, 0.9),
            price_minute=0.0 if rng.random() < 0.5 else rng.uniform(0.0, 0.3),
        )
        for each in request.chargers
    ]
    own = rng.uniform(0.1, 0.6)
    worth = own / 1000, rng.uniform(0.0, 20.0) / 3600
    sockets = request.sockets and [
        replace(each, nodes=at.nodes) for each, at in zip(priced, request.sockets, strict=True)
    ]
    wishes = replace(request.wishes, own_price=own)
    request = replace(request, chargers=priced, sockets=sockets, wishes=wishes)
    found = planned(request, compiled=compiled, by="money", worth=worth)
    least = independent(request, step, by="money", worth=worth)
    if found is None:
        assert least == np.inf
        return "none"
    steepest = max(
        np.diff(worth[1] * each.time_s + _paid(each, request, "money")).max() for each in priced
    )
    most = found.cost + len(found.visits) * step * steepest
    assert found.cost - NEAR <= least <= most + NEAR, (least, found)
    bought = found.visits and request.battery.percent(request.battery.start_wh)
    return "stops" if bought else "no stop"


def main(networks: int, countries: int) -> None:
    """Check requests and print their kinds."""
    for name, draw, number in (
        ("random networks", draw_network, networks),
        ("country", draw_country, countries),
    ):
        for title, compare, step in (
            ("time, steps of 1 %", check, 1.0),
            ("money, steps of 1 %", check_money, 1.0),
            ("energy, steps of 1 %", check_energy, 1.0),
            ("time, steps of 0.1 %", check, 0.1),
        ):
            begun = time.process_time()
            some = number // FEWER if draw is draw_country and title in SLOW else number
            seen = Counter(compare(draw(seed), compiled=True, step=step) for seed in range(some))
            print(f"{name}, {title}: {dict(seen)}, {time.process_time() - begun:.0f} s of CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
