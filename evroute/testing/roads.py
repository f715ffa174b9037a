"""Small networks by hand, on which contracts are checked."""

from collections.abc import Sequence

import numpy as np

from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source


def make_network(
    edges: Sequence[tuple[str, int, int]],
    positions: Sequence[tuple[float, float, float]],
    *,
    speed_mps: float | Sequence[float] = 10.0,
    length_m: Sequence[float] | None = None,
    name: str = "toy",
) -> RoadNetwork:
    """Return a network of straight edges.

    Every pair of edges that meet may turn, save straight back along the same two junctions.

    Parameters
    ----------
    edges
        Id, tail and head of each of n edges. Junctions are rows of ``positions``.
    positions
        x, y and z of each junction, m, in UTM zone 32.
    speed_mps
        Speed limit of all edges, or of each edge, m/s.
    length_m
        Length of each edge, m. Its 3-D distance by default.
    name
        Name of the network.
    """
    n = len(edges)
    x, y, z = (np.array(column, dtype=float) for column in zip(*positions, strict=True))
    tail = np.array([e[1] for e in edges])
    head = np.array([e[2] for e in edges])
    straight = np.sqrt(
        (x[head] - x[tail]) ** 2 + (y[head] - y[tail]) ** 2 + (z[head] - z[tail]) ** 2
    )
    turns = [
        (a, b) for a in range(n) for b in range(n) if head[a] == tail[b] and tail[a] != head[b]
    ]
    return RoadNetwork(
        name=name,
        edge_id=tuple(e[0] for e in edges),
        tail=tail,
        head=head,
        length_m=straight if length_m is None else np.array(length_m, dtype=float),
        speed_mps=np.broadcast_to(np.array(speed_mps, dtype=float), n),
        structure=np.zeros(n, dtype=int),
        street=("",) * n,
        road_class=("",) * n,
        turns=np.array(sorted(turns), dtype=int).reshape(-1, 2),
        junction_id=tuple(f"j{k}" for k in range(len(positions))),
        x_m=x,
        y_m=y,
        elevation_m=z,
        shape_start=2 * np.arange(n + 1),
        shape_x_m=np.column_stack([x[tail], x[head]]).ravel(),
        shape_y_m=np.column_stack([y[tail], y[head]]).ravel(),
        crs="EPSG:32632",
        source=Source(kind="hand-made"),
    )


def hill() -> RoadNetwork:
    """Return a way over a hill and a longer level way, from ``in`` to ``out``, and a road back.

    in -> (over: up, down | round: east, west) -> out -> home -> in. Junctions 1..4 lie 1,000 m
    apart along x. The hilltop is 40 m high. The way round is 2,400 m long.
    """
    positions = [
        (0.0, 0.0, 0.0),
        (1000.0, 0.0, 0.0),
        (2000.0, 0.0, 40.0),
        (3000.0, 0.0, 0.0),
        (4000.0, 0.0, 0.0),
        (2000.0, 600.0, 0.0),
    ]
    edges = [
        ("in", 0, 1),
        ("up", 1, 2),
        ("down", 2, 3),
        ("east", 1, 5),
        ("west", 5, 3),
        ("out", 3, 4),
        ("home", 4, 0),
    ]
    lengths = [1000.0, 1001.0, 1001.0, 1200.0, 1200.0, 1000.0, 4000.0]
    return make_network(edges, positions, length_m=lengths, name="hill")
