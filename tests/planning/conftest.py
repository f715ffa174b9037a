"""Random small hilly networks, and every route through one."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from evroute.network.road_network import RoadNetwork

N_JUNCTIONS, N_STREETS = 7, 12


@pytest.fixture
def hilly(make_network: Callable[..., RoadNetwork]) -> Callable[[int], RoadNetwork]:
    """Offer random networks by seed: junctions up to 120 m high within a kilometre, streets one-way or two-way."""

    def draw(seed: int) -> RoadNetwork:
        rng = np.random.default_rng(seed)
        positions = rng.uniform([0, 0, 0], [1000, 1000, 120], size=(N_JUNCTIONS, 3))
        streets = [(k, k + 1) for k in range(N_JUNCTIONS - 1)]
        streets += [tuple(rng.choice(N_JUNCTIONS, 2, replace=False)) for _ in range(N_STREETS - len(streets))]
        edges = []
        for k, (a, b) in enumerate(streets):
            edges.append((f"{k}+", int(a), int(b)))
            if rng.random() < 0.6:
                edges.append((f"{k}-", int(b), int(a)))
        return make_network(edges, positions.tolist(), speed_mps=rng.uniform(5, 25, len(edges)))

    return draw


@pytest.fixture
def every_route() -> Callable[[RoadNetwork, int, int], Iterator[list[int]]]:
    """Offer all routes from edge to edge that repeat no edge; a round trip only ever loses charge."""

    def routes(network: RoadNetwork, origin: int, destination: int) -> Iterator[list[int]]:
        following: dict[int, list[int]] = {e: [] for e in range(network.n_edges)}
        for a, b in network.turns.tolist():
            following[a].append(b)
        stack = [[origin]]
        while stack:
            route = stack.pop()
            if route[-1] == destination:
                yield route
                continue
            stack += [[*route, e] for e in following[route[-1]] if e not in route]

    return routes
