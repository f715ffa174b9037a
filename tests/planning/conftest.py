"""Every route through a small network."""

from collections.abc import Callable, Iterator

import pytest

from evroute.network.road_network import RoadNetwork


@pytest.fixture
def every_route() -> Callable[[RoadNetwork, int, int], Iterator[list[int]]]:
    """Offer all routes from edge to edge that repeat no edge; a round trip only ever loses
    charge.
    """

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
