"""Chargers, the stops of a plan at them, and wishes for the stops."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple, Self

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.charging import Number, wall_wh
from evroute.planning.battery import Battery
from evroute.planning.request import SETUP_S, PlanRequest
from evroute.planning.searches.halts import Halt, Halts
from evroute.planning.searches.search_problem import SearchProblem

NEAR_PERCENT = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Charger:
    """A socket that fits the car.

    Parameters
    ----------
    station
        Name of the station.
    nodes
        Nodes of the search at whose end the car can stop there, the nodes of its halt in a request.
    socket, kw
        Kind of the socket, and its power, kW.
    time_s
        (101,) time from empty to each whole per cent of charge, s (`energy.charging`).
    assumed
        Values of the socket that its source does not state, in words. "" if it states all.
    price_kwh, price_minute
        Prices of a kWh from the wall and of a minute, money, or None where the first is unknown, 0
        where there is no price of a minute.
    station_id, network
        Id of the station in its source, and its charging network; maybe empty, or several with
        commas between.
    halt
        Positions on roads at which it stands, or None for one that stands at the ends of ``nodes``.
    """

    station: str
    nodes: tuple[int, ...]
    socket: str
    kw: float
    time_s: FloatArray
    assumed: str = ""
    price_kwh: float | None = None
    price_minute: float = 0.0
    station_id: str = ""
    network: str = ""
    halt: Halt | None = None

    def at_nodes(self, halts: Halts | None) -> "Charger":
        """Return the charger with the nodes of its halt.

        Parameters
        ----------
        halts
            Halts of a request, or None for a request without.
        """
        if self.halt is None or halts is None:
            return self
        return replace(self, nodes=halts.nodes.get(self.halt, ()))

    def paid(self, energy_wh: Number, time_s: Number, own: float | None) -> Number | None:
        """Return the price of charges, money, or None where it is unknown.

        Parameters
        ----------
        energy_wh, time_s
            Energies into the battery, Wh, and their times, s.
        own
            Price of a kWh where the station has none, money, or None if it is unknown, too.
        """
        per_kwh = own if self.price_kwh is None else self.price_kwh
        if per_kwh is None:
            return None
        from_wall_wh = wall_wh(self.socket, energy_wh, time_s)
        return per_kwh * from_wall_wh / 1000 + self.price_minute * time_s / 60


@dataclass(frozen=True, slots=True)
class StopWishes:
    """Wishes for the stops of a plan.

    Parameters
    ----------
    setup_s
        Time of a stop beside charging, s.
    from_percent, to_percent
        Least charge on arrival at a stop, and greatest charge on leaving it, %.
    arrive_percent
        Least charge at the end, %.
    own_price
        Price of a kWh where a station has none, money, or None if it is unknown.
    """

    setup_s: float = SETUP_S
    from_percent: float = 0.0
    to_percent: float = 100.0
    arrive_percent: float = 0.0
    own_price: float | None = None

    def arrive_wh(self, battery: Battery) -> float:
        """Return the least charge at the end, at least the reserve, Wh.

        Parameters
        ----------
        battery
            Capacity and reserve.
        """
        return float(max(battery.reserve_wh, self.arrive_percent * (battery.capacity_wh / 100)))

    @classmethod
    def of(cls, request: PlanRequest) -> Self:
        """Return the wishes of a request, with a charge at the end in per cent only."""
        return cls(
            60 * request.stop_minutes,
            request.stop_from,
            request.stop_to,
            0.0 if isinstance(request.arrive, str) else request.arrive or 0.0,
            request.price,
        )


class Visit(NamedTuple):
    """A stop before it is shown: its charger, the edges driven before, and charge to leave with."""

    charger: Charger
    after_edges: int
    to_percent: float


@dataclass(frozen=True, slots=True)
class ChargingStop:
    """One stop of a plan.

    Parameters
    ----------
    station, socket, kw
        Name of the station, kind of the socket, and its power, kW.
    after_edges
        Number of edges of the route driven before the stop.
    arrive_s
        Time of arrival after departure, s.
    arrive_percent, to_percent
        Charge on arrival and on leaving, %.
    time_s
        Time of the stop, that beside charging included, s.
    energy_wh
        Energy charged, Wh.
    wall_wh
        Energy taken from the wall for it, Wh: the one that is paid for.
    assumed
        Values of the socket that its source does not state, in words. "" if it states all.
    paid
        Price of the charge at the station, money, or None if it is unknown.
    at_m, from_m
        Metres along the edge before the stop at which the car stops, and along the one behind it
        from which it goes on, or None at the end of an edge.
    """

    station: str
    socket: str
    kw: float
    after_edges: int
    arrive_s: float
    arrive_percent: float
    to_percent: int
    time_s: float
    energy_wh: float
    wall_wh: float
    assumed: str = ""
    paid: float | None = None
    at_m: float | None = None
    from_m: float | None = None

    @property
    def advice(self) -> str:
        """The stop in words: where, how much, and the values of the socket that are assumed."""
        assumed = f" ({self.assumed} assumed)" if self.assumed else ""
        return f"charge at {self.station} to {self.to_percent} %{assumed}"

    @property
    def mark(self) -> str:
        """The stop as a map has it: the advice, the charge on arrival, and the minutes."""
        return f"{self.advice}: {self.numbers}"

    @property
    def numbers(self) -> str:
        """Charges on arrival and on leaving, and the minutes of the stop, in words."""
        return f"{self.arrive_percent:.0f} to {self.to_percent} %, {self.time_s / 60:.0f} min"

    @property
    def plug(self) -> str:
        """The socket in words: kind and power, and the values that are assumed."""
        assumed = f", {self.assumed} assumed" if self.assumed else ""
        return f"{self.socket}, {self.kw:g} kW{assumed}"


def stops_at(
    problem: SearchProblem,
    battery: Battery,
    route: Route,
    visits: Sequence[Visit],
    wishes: StopWishes,
    *,
    more: int = 0,
) -> tuple[Route, tuple[ChargingStop, ...]]:
    """Return the route and the stops of a plan, their charges rounded up to whole per cents.

    A stop at which the car arrives with as much is left out, and the route drives on there.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Charge at the start.
    route, visits
        The route, and where it stops.
    wishes
        Wishes for the stops.
    more
        Number of per cents that each stop charges in addition, up to the greatest charge.
    """
    kept = list(visits)
    while True:
        to = [_rounded(visit, wishes, more) for visit in kept]
        pairs = [(visit.after_edges, percent) for visit, percent in zip(kept, to, strict=True)]
        charge_wh = problem.follow(battery, route, pairs).charge_wh
        arrive = [battery.percent(float(charge_wh[after])) for after, _ in pairs]
        idle = [k for k, at in enumerate(arrive) if at >= to[k] - NEAR_PERCENT]
        if not idle:
            break
        route, kept = _without(route, kept, idle[0])
    arms = problem.legs.arms_of_route(route)
    driven_s = np.append(0.0, np.cumsum(problem.time_s[arms]))
    pauses = {pause.after: pause for pause in route.pauses}
    stops: list[ChargingStop] = []
    for visit, at, percent in zip(kept, arrive, to, strict=True):
        used, pause = visit.charger, pauses.get(visit.after_edges)
        charged_s = float(used.time_s[percent] - np.interp(at, np.arange(101), used.time_s))
        energy_wh = battery.capacity_wh * (percent - at) / 100
        stops.append(
            ChargingStop(
                station=used.station,
                socket=used.socket,
                kw=used.kw,
                after_edges=visit.after_edges,
                arrive_s=float(driven_s[visit.after_edges]) + sum(each.time_s for each in stops),
                arrive_percent=at,
                to_percent=percent,
                time_s=wishes.setup_s + charged_s,
                energy_wh=energy_wh,
                wall_wh=wall_wh(used.socket, energy_wh, charged_s),
                assumed=used.assumed,
                paid=used.paid(energy_wh, charged_s, wishes.own_price),
                at_m=None if pause is None else pause.to_m,
                from_m=None if pause is None else pause.from_m,
            )
        )
    return route, tuple(stops)


def _without(route: Route, visits: Sequence[Visit], idle: int) -> tuple[Route, list[Visit]]:
    """Return a route that drives on at a visit, and the other visits.

    Parameters
    ----------
    route, visits
        The route, and where it stops.
    idle
        Position of the visit.
    """
    at = visits[idle].after_edges
    paused = [pause for pause in route.pauses if pause.after == at]
    joined = route.without(paused[0]) if paused else route
    shorter = len(route) - len(joined)
    others = [each for each in visits if each is not visits[idle]]
    return joined, [
        each._replace(after_edges=each.after_edges - shorter * (each.after_edges > at))
        for each in others
    ]


def _rounded(visit: Visit, wishes: StopWishes, more: int) -> int:
    """Return the charge to leave a stop with as shown, %."""
    return min(ceil(visit.to_percent - NEAR_PERCENT) + more, ceil(wishes.to_percent))
