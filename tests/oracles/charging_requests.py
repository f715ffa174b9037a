"""Requests with charging stops on random networks and across a made-up country, by seed."""

from dataclasses import dataclass, field, replace

import numpy as np

from evroute.arrays import FloatArray
from evroute.network.line_graph import LineGraph
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.chargers import Charger, StopWishes
from evroute.planning.searches.legs import Legs
from evroute.planning.searches.search import Search
from evroute.planning.searches.search_problem import SearchProblem

CLIMB_WH = 5.2
"""Energy of a metre of climb of a car of 1,900 kg, Wh."""


@dataclass(frozen=True)
class Request:
    """A request on roads: time, s, and energy, Wh, of each edge, the turns, and the chargers.

    For a request between positions the edges are the pieces of roads between all positions.

    Parameters
    ----------
    time_s, energy_wh
        (n,) of each edge.
    height_wh
        (2, n) potential before and after each edge, Wh.
    following
        Edges onto which turns lead, by edge.
    ends
        First and last edge.
    battery, chargers, wishes
        Battery, chargers at the ends of edges, and wishes for the stops.
    begins, arrives
        Edges of a request between positions, on one of which it begins and at whose end it arrives.
    turned
        Further edges onto which a car goes on after a stop, by edge.
    between, sockets
        Search problem of a request between positions, and the chargers at its nodes.
    """

    time_s: FloatArray
    energy_wh: FloatArray
    height_wh: FloatArray
    following: list[list[int]]
    ends: tuple[int, int]
    battery: Battery
    chargers: list[Charger]
    wishes: StopWishes = field(default_factory=StopWishes)
    begins: tuple[int, ...] = ()
    arrives: tuple[int, ...] = ()
    turned: dict[int, list[int]] = field(default_factory=dict)
    between: SearchProblem | None = None
    sockets: list[Charger] | None = None

    def problem(self, *, compiled: bool) -> SearchProblem:
        """Return the search problem of the request."""
        if self.between is not None:
            return self.between
        n = len(self.time_s)
        counts = np.array([len(after) for after in self.following], dtype=np.int32)
        into = np.array([edge for after in self.following for edge in after], dtype=np.int32)
        indptr = np.append(0, np.cumsum(counts)).astype(np.int32)
        source = np.repeat(np.arange(n, dtype=np.int32), counts)
        search = Search(LineGraph(indptr, into, source), compiled=compiled)
        return SearchProblem(
            Legs.over(search, self.ends, lambda route: route.rows),
            self.time_s,
            self.time_s,
            ChargeFunctions.of_one_step(self.energy_wh),
            lambda: np.ones(n),
            *self.height_wh,
        )


def draw_curve(rng: np.random.Generator, kw: float, capacity_wh: float) -> FloatArray:
    """Return the time from empty to each whole per cent on a curve that may rise, s."""
    shape = rng.uniform(0.3, 1.0, rng.integers(1, 6))
    power = kw * np.interp(np.linspace(0, 1, 100), np.linspace(0, 1, len(shape)), shape)
    return np.concatenate([[0.0], np.cumsum(3.6 * capacity_wh / 100 / power)])


def draw_network(seed: int) -> Request:
    """Return a request on a random network of ten junctions with slopes."""
    rng = np.random.default_rng(seed)
    height_m = rng.uniform(0, 60, 10)
    at_m = rng.uniform(0, 1000, (10, 2))
    streets = [(k, k + 1) for k in range(9)]
    streets += [tuple(rng.choice(10, 2, replace=False).tolist()) for _ in range(9)]
    streets += [(b, a) for a, b in streets]
    tail, head = np.array(streets).T
    length_m = np.hypot(*(at_m[head] - at_m[tail]).T)
    time_s = length_m / rng.uniform(5, 25, len(tail))
    energy_wh = 0.15 * length_m * rng.uniform(0.7, 1.5, len(tail)) + _climb(tail, head, height_m)
    capacity_wh = rng.uniform(250, 600)
    places = rng.choice(len(tail), 10, replace=False).tolist()
    chargers = [
        Charger(f"S{k}", (k,), "ac", 1.0, draw_curve(rng, rng.uniform(1, 6), capacity_wh))
        for k in places[2:]
    ]
    return _request(rng, (tail, head), height_m, (time_s, energy_wh), capacity_wh, places, chargers)


def draw_country(seed: int) -> Request:
    """Return a request across a country: 13 columns of towns 75 km apart, in three rows.

    Main roads lead along the middle row, slow side roads everywhere else.
    """
    rng = np.random.default_rng(seed)
    columns, rows = 13, 3
    height_m = rng.uniform(0, 900, columns * rows)
    pairs = [(k * rows + r, (k + 1) * rows + r) for k in range(columns - 1) for r in range(rows)]
    pairs += [(k * rows + r, k * rows + r + 1) for k in range(columns) for r in range(rows - 1)]
    pairs += [(b, a) for a, b in pairs]
    tail, head = np.array(pairs).T
    main = (tail % rows == 1) & (head % rows == 1)
    length_m = np.where(tail // rows == head // rows, 20e3, 75e3) * rng.uniform(0.9, 1.2, len(tail))
    time_s = length_m / np.where(main, rng.uniform(27, 36), rng.uniform(9, 17, len(tail)))
    energy_wh = length_m * np.where(main, rng.uniform(0.19, 0.24), rng.uniform(0.10, 0.15))
    energy_wh = energy_wh + _climb(tail, head, height_m)
    capacity_wh = rng.uniform(30e3, 110e3)
    towns = rng.choice(columns * rows, 12, replace=False)
    kw = rng.choice([11.0, 22.0, 50.0, 150.0], 12)
    chargers = [
        Charger(
            f"town {town}",
            tuple(np.flatnonzero(head == town).tolist()),
            "ccs",
            float(power),
            draw_curve(rng, power, capacity_wh),
        )
        for town, power in zip(towns, kw, strict=True)
    ]
    begins = np.flatnonzero(tail // rows < 2)
    ends = np.flatnonzero(head // rows == rng.integers(3, columns))
    places = [int(rng.choice(begins)), int(rng.choice(ends))]
    numbers = time_s, energy_wh
    request = _request(rng, (tail, head), height_m, numbers, capacity_wh, places, chargers)
    start_wh = rng.uniform(0.4, 1.0) * capacity_wh
    return replace(request, battery=replace(request.battery, start_wh=start_wh))


def _climb(tail, head, height_m):
    return CLIMB_WH * (height_m[head] - height_m[tail])


def _request(rng, ends, height_m, numbers, capacity_wh, places, chargers):
    tail, head = ends
    time_s, energy_wh = numbers
    height_wh = CLIMB_WH * height_m
    # the potential is never left with more than the energy taken
    least_wh = height_wh[head] - height_wh[tail]
    reserve_wh = capacity_wh * rng.uniform(0, 0.1)
    turns = [
        [b for b in range(len(tail)) if head[a] == tail[b] and tail[a] != head[b]]
        for a in range(len(tail))
    ]
    return Request(
        time_s,
        np.maximum(energy_wh, least_wh),
        np.array([height_wh[tail], height_wh[head]]),
        turns,
        (places[0], places[1]),
        Battery(capacity_wh, rng.uniform(0.2, 0.7) * capacity_wh, reserve_wh),
        chargers,
    )


def wished(request: Request, seed: int) -> Request:
    """Return a request with wishes for its stops, by seed."""
    rng = np.random.default_rng(seed)
    wishes = StopWishes(
        setup_s=rng.uniform(0, 900),
        from_percent=rng.uniform(0, 20),
        to_percent=float(rng.integers(50, 100)),
        arrive_percent=rng.uniform(0, 45),
    )
    return replace(request, wishes=wishes)
