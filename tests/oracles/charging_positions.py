"""Requests between positions with stations inside edges, for `charging_checks`.

A network of hilly streets, most of them two-way, is cut by hand at all positions of a request. The
independent search drives over the pieces; their energies are eq. 8, written out. A car that stops
goes on ahead, or on the other direction of the street.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from charging_requests import Request, draw_curve

from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.network.places.positions import Position
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger, StopWishes
from evroute.planning.planner import Planner
from evroute.planning.searches.halt_roads import HaltRoads
from evroute.planning.searches.halts import Halt
from evroute.testing.roads import make_network

CAR = load_vehicle("reference")
JUNCTIONS, STATIONS = 9, 5
Cut = tuple[int, float]
"""Edge, and metres along it."""


def draw_roads(rng: np.random.Generator) -> RoadNetwork:
    """Return two-way and one-way streets over hills, each with one slope."""
    x, y = rng.uniform(0, 3000, (2, JUNCTIONS))
    z = rng.uniform(0, 60, JUNCTIONS)
    pairs = [(k, (k + 1) % JUNCTIONS) for k in range(JUNCTIONS)]
    pairs += [tuple(rng.choice(JUNCTIONS, 2, replace=False).tolist()) for _ in range(4)]
    edges = []
    for k, (a, b) in enumerate(pairs):
        edges.append((f"{k}+", a, b))
        if rng.random() < 0.7:
            edges.append((f"{k}-", b, a))
    speed_mps = rng.choice([8.0, 14.0, 22.0], len(edges))
    return make_network(edges, list(zip(x, y, z, strict=True)), speed_mps=speed_mps)


def both(network: RoadNetwork, edge: int, share: float) -> tuple[Position, ...]:
    """Return a position on both directions of a street."""
    name = network.edge_id[edge]
    back = network.row_of.get(name.translate(str.maketrans("+-", "-+")))
    found = [Position(edge, share * float(network.length_m[edge]))]
    if back is not None:
        found.append(Position(back, float(network.length_m[back]) - found[0].along_m))
    return tuple(found)


def eq8_wh(car: Vehicle, network: RoadNetwork, edge: int, metres: float) -> float:
    """Return eq. 8 of some metres of an edge of one slope, Wh, written out by hand."""
    length_m, speed_mps = float(network.length_m[edge]), float(network.speed_mps[edge])
    rise_m = float(np.diff(network.elevation_m[[network.tail[edge], network.head[edge]]])[0])
    climb_m = rise_m * metres / length_m
    weight_n, level_m = car.mass_kg * GRAVITY_MPS2, (metres**2 - climb_m**2) ** 0.5
    drag = 0.5 * car.drag * car.front_m2 * AIR_DENSITY_KGPM3 * metres * speed_mps**2
    work = weight_n * climb_m + weight_n * car.rolling * level_m + drag
    factor = 1 / car.propulsion_efficiency if work >= 0 else car.recuperation_efficiency
    return (work * factor + car.auxiliary_w * metres / speed_mps) / 3600


def draw(seed: int) -> Request:
    """Return a request between positions with stations inside edges."""
    rng = np.random.default_rng(seed)
    network = draw_roads(rng)
    n = network.n_edges
    share = rng.uniform(0.05, 0.95, STATIONS + 2)
    entered = np.unique(network.turns[:, 1])
    rows = rng.choice(entered, len(share)).tolist()
    at = [both(network, row, part) for row, part in zip(rows, share.tolist(), strict=True)]
    if seed % 3 == 0:  # two stations on one street, and one on the street of the start
        at[1], at[2] = both(network, at[0][0].edge, 0.9), both(network, at[-1][0].edge, 0.5)
    starts, ends, stations = at[-1], at[-2], at[:-2]
    planner = Planner(network, CAR, physics="eq8", single=seed % 2 == 0)
    halts = [Halt(places, places) for places in stations]
    problem = HaltRoads.of(planner.numbers, planner.search, halts).problem(starts, (), ends)
    least_wh = np.median([eq8_wh(CAR, network, edge, network.length_m[edge]) for edge in range(n)])
    capacity_wh = float(abs(least_wh) * rng.uniform(2.0, 5.0))
    battery = Battery(capacity_wh, rng.uniform(0.3, 0.9) * capacity_wh, 0.05 * capacity_wh)
    sockets = [
        Charger(f"S{k}", (), "ac", 1.0, draw_curve(rng, rng.uniform(1, 6), capacity_wh), halt=halt)
        for k, halt in enumerate(halts)
    ]
    request = cut(network, starts, ends, stations, battery, sockets)
    bound = [each.at_nodes(problem.legs.halts) for each in sockets]
    return replace(request, between=problem, sockets=bound)


def cut(
    network: RoadNetwork,
    starts: Sequence[Position],
    ends: Sequence[Position],
    stations: Sequence[Sequence[Position]],
    battery: Battery,
    sockets: Sequence[Charger],
) -> Request:
    """Return a request over the pieces of edges between all positions.

    Parameters
    ----------
    network
        Roads of one slope each.
    starts, ends
        Positions at one of which it begins, and at one of which it ends.
    stations
        Positions of each station.
    battery, sockets
        The battery, and the charger of each station.
    """
    points: dict[int, set[float]] = {edge: set() for edge in range(network.n_edges)}
    for place in (starts, ends, *stations):
        for each in place:
            points[each.edge].add(each.along_m)
    pieces: list[tuple[int, float, float]] = []
    for edge, inner in points.items():
        at_m = [0.0, *sorted(inner), float(network.length_m[edge])]
        pieces += [(edge, low, high) for low, high in pairwise(at_m)]
    begins = {(edge, low): row for row, (edge, low, _) in enumerate(pieces)}
    finishes = {(edge, high): row for row, (edge, _, high) in enumerate(pieces)}
    following: list[list[int]] = []
    for edge, _, high in pieces:
        onward = [begins[edge, high]] if (edge, high) in begins else []
        if high == float(network.length_m[edge]):
            into = network.turns[network.turns[:, 0] == edge, 1].tolist()
            onward = [begins[after, 0.0] for after in into]
        following.append(onward)
    rows = [[finishes[each.edge, each.along_m] for each in place] for place in stations]
    onto = [[begins[each.edge, each.along_m] for each in place] for place in stations]
    turned: dict[int, list[int]] = {}
    for arrivals, departures in zip(rows, onto, strict=True):
        for row in arrivals:
            turned.setdefault(row, []).extend(departures)
    edge, low, high = (np.array(each) for each in zip(*pieces, strict=True))
    length_m = network.length_m[edge]
    height_wh = CAR.mass_kg * GRAVITY_MPS2 / 3600 * network.elevation_m
    tail_wh, head_wh = height_wh[network.tail[edge]], height_wh[network.head[edge]]
    rise_wh = head_wh - tail_wh
    return Request(
        network.time_s[edge] * (high - low) / length_m,
        np.array([eq8_wh(CAR, network, row, to - at) for row, at, to in pieces]),
        np.array([tail_wh + low / length_m * rise_wh, tail_wh + high / length_m * rise_wh]),
        following,
        (begins[starts[0].edge, starts[0].along_m], finishes[ends[0].edge, ends[0].along_m]),
        battery,
        [replace(each, nodes=tuple(at)) for each, at in zip(sockets, rows, strict=True)],
        StopWishes(),
        tuple(begins[each.edge, each.along_m] for each in starts),
        tuple(finishes[each.edge, each.along_m] for each in ends),
        turned,
    )
