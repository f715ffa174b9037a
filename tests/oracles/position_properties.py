"""Properties of plans between positions: ``python tests/oracles/position_properties.py 2000 500``.

Moved ends: the end of a random trip moves by up to 20 m along its road. Each row's own measure
changes by at most the moved piece, in the direction that takes more; the table has the largest
excess. Same block: two random points of one edge; the plan against the sum over three pieces.

A hilly network is made by a formula: a grid of two-way streets, 20 by 20, over waves of 60 m.
Needs ``EVROUTE_DATA_DIR`` for Luxembourg and Monaco. Arguments: pairs, and pairs on one edge.
"""

import sys
from itertools import pairwise

import numpy as np

from evroute.arms import Route
from evroute.errors import NoRouteError
from evroute.network.catalog import load_network
from evroute.network.places.positions import Position
from evroute.network.road_network import RoadNetwork
from evroute.planning.places import Places
from evroute.planning.planner import Planner
from evroute.testing.roads import make_network

SIDE, BLOCK_M, INNER = 20, 300.0, 5
"""Junctions on each side of the hilly grid, m between them, and heights inside a block."""
ROWS = ("energy", "time", "length")


def height_m(x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray:
    """Return the height of the hilly network at positions, m: two waves across each other."""
    return 60 * np.sin(x_m / 700) * np.cos(y_m / 900) + 15 * np.sin(x_m / 90 + y_m / 130)


def hills() -> RoadNetwork:
    """Return a grid of two-way streets over hills, with a profile inside every block."""
    row, column = (each.ravel() for each in np.divmod(np.arange(SIDE**2), SIDE))
    x_m, y_m = 500_000 + BLOCK_M * column, 4_800_000 + BLOCK_M * row
    pairs = [(k, k + 1) for k in range(SIDE**2) if (k + 1) % SIDE]
    pairs += [(k, k + SIDE) for k in range(SIDE**2 - SIDE)]
    pairs += [(b, a) for a, b in pairs]
    tail, head = np.array(pairs).T
    share = np.arange(1, INNER + 1)[:, np.newaxis] / (INNER + 1)
    inner = [at[tail] + share * (at[head] - at[tail]) for at in (x_m, y_m)]
    speed_mps = np.where((row[tail] % 5 == 0) & (row[head] % 5 == 0), 22.0, 12.0)
    at_m = list(zip(x_m, y_m, height_m(x_m, y_m), strict=True))
    edges = [(f"{a}-{b}", a, b) for a, b in pairs]
    network = make_network(edges, at_m, speed_mps=speed_mps, name="hills")
    heights = height_m(*inner).T.ravel().astype(np.float32)
    start = INNER * np.arange(len(pairs) + 1)
    return network.with_tables({"profile": {"start": start, "height_m": heights}})


def both(network: RoadNetwork, edge: int, along_m: float) -> tuple[Position, ...]:
    """Return a position in both directions of a street of the same shape."""
    tail, head, length_m = network.tail, network.head, float(network.length_m[edge])
    back = np.flatnonzero((tail == head[edge]) & (head == tail[edge])).tolist()
    same = [each for each in back if network.length_m[each] == length_m]
    others = tuple(Position(each, length_m - along_m) for each in same[:1])
    return (Position(edge, along_m), *others)


def best(planner: Planner, starts: tuple, ends: tuple) -> list[float]:
    """Return energy, time and length of the best route in each of them, Wh, s and m."""
    problem = planner.between(Places(starts, (), ends, ("", "")))
    weights = problem.weights(), problem.time_s, problem.length_m
    routes = [problem.legs.route(each) for each in weights]
    values = problem.energy_wh, problem.time_s, problem.length_m
    pairs = zip(values, routes, strict=True)
    return [problem.legs.total(value, route) for value, route in pairs]


def pieces(planner: Planner, ends: tuple[Position, ...], moved_m: float) -> list[float]:
    """Return the greatest measure of the moved pieces of the directions, Wh, s and m."""
    found = []
    for end, sign in zip(ends, (1.0, -1.0), strict=False):
        low, high = sorted((end.along_m, end.along_m + sign * moved_m))
        driven = planner.numbers.driven(Route((end.edge,), low, high))
        steady = planner.space.edges.stretch_wh(driven.arms, driven.stretches)
        found.append([abs(float(steady[0])), float(driven.time_s[0]), high - low])
    return np.max(found, axis=0).tolist()


def moved(planner: Planner, pairs: int) -> tuple[np.ndarray, int]:
    """Return the largest excess over the moved piece by row, and the number of compared pairs."""
    network, rng, most, compared = planner.network, np.random.default_rng(1), np.zeros(3), 0
    for edge, other in rng.choice(network.n_edges, (pairs, 2)).tolist():
        length_m = float(network.length_m[other])
        first, last = rng.uniform(0.05, 0.95, 2)
        step_m = float(min(rng.uniform(0.0, 20.0), 0.04 * length_m))
        starts = both(network, edge, first * float(network.length_m[edge]))
        before = both(network, other, last * length_m)
        after = both(network, other, last * length_m + step_m)
        if edge in {each.edge for each in before}:
            continue
        try:
            changes = np.abs(
                np.subtract(best(planner, starts, before), best(planner, starts, after))
            )
        except NoRouteError:
            continue
        compared += 1
        most = np.maximum(most, changes - pieces(planner, before, step_m))
    return most, compared


def same_block(planner: Planner, pairs: int) -> float:
    """Return the largest difference of a plan on one edge and the sum over its pieces, Wh."""
    network, rng, most = planner.network, np.random.default_rng(2), 0.0
    for edge in rng.choice(network.n_edges, pairs).tolist():
        at_m = np.sort(rng.uniform(0, float(network.length_m[edge]), 4)).tolist()
        ends = (Position(edge, at_m[0]),), (Position(edge, at_m[-1]),)
        planned_wh = best(planner, *ends)[0]
        parts = [planner.numbers.driven(Route((edge,), *pair)) for pair in pairwise(at_m)]
        most = max(most, abs(planned_wh - sum(float(part.energy_wh[0]) for part in parts)))
    return most


def main(pairs: int, on_edge: int) -> None:
    """Print the table.

    Parameters
    ----------
    pairs, on_edge
        Numbers of pairs of positions, and of pairs on one edge.
    """
    print(
        "| network, physics | pairs | energy: most beyond the piece | time | length | same block |"
    )
    print("| --- | --: | --: | --: | --: | --: |")
    for name in ("hills", "denver", "luxembourg", "monaco"):
        network = hills() if name == "hills" else load_network(name)
        for physics in ("eq8", "driving"):
            planner = Planner(network, "reference", physics=physics)
            most, compared = moved(planner, pairs)
            block = f"{same_block(planner, on_edge):.0e} Wh" if physics == "eq8" else ""
            units = zip(most.tolist(), ("Wh", "s", "m"), strict=True)
            cells = " | ".join(f"{value:.1e} {unit}" for value, unit in units)
            print(f"| {name}, {physics} | {compared} | {cells} | {block} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
