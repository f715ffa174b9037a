"""Distances between pins and the ends of trips, for docs/figures/positions.md.

Run ``python studies/position_figures.py 1000``: random points of the roads of each network.
"""

import sys

import numpy as np

from evroute.network.catalog import load_network
from evroute.network.coordinates import WGS84, transformer
from evroute.network.places.positions import Position, nearest_positions, point
from evroute.network.road_network import RoadNetwork

NETWORKS = "denver", "luxembourg", "monaco"


def distances_m(network: RoadNetwork, points: int) -> tuple[list[float], list[float]]:
    """Return distances from random points of the roads to where trips begin, m.

    Parameters
    ----------
    network
        The roads.
    points
        Number of points; a road is drawn in proportion to its length.

    Returns
    -------
    before, after
        To the end of the block, where trips began, and to the position.
    """
    rng, before, after = np.random.default_rng(1), [], []
    to_degrees = transformer(network.crs, WGS84)
    edges = rng.choice(network.n_edges, points, p=network.length_m / network.length_m.sum())
    for edge, share in zip(edges.tolist(), rng.uniform(size=points).tolist(), strict=True):
        drawn = Position(edge, share * float(network.length_m[edge]))
        place = point(network, drawn)
        lon, lat = to_degrees.transform(place.x, place.y)
        near = nearest_positions(network, lat, lon, leaving=True)
        before.append(float(network.length_m[edge]) - drawn.along_m)
        after.append(min(point(network, each).distance(place) for each in near))
    return before, after


def main(points: int) -> None:
    """Print a row for each network.

    Parameters
    ----------
    points
        Number of points on each.
    """
    print("| network | end of the block: median | 90 % | most | position: most |")
    print("| --- | --: | --: | --: | --: |")
    for name in NETWORKS:
        before, after = distances_m(load_network(name), points)
        numbers = np.quantile(before, [0.5, 0.9, 1.0])
        cells = [f"{number:,.0f} m" for number in numbers]
        print(f"| {name} | {' | '.join(cells)} | {1000 * max(after):.3f} mm |")


if __name__ == "__main__":
    main(int(sys.argv[1]))
