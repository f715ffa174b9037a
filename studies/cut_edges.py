"""Least energies on networks whose edges are cut in two: ``python studies/cut_edges.py``.

Every edge is cut by a junction without angle or control, and every piece of its profile in halves.
Least energies of 300 random pairs (seed 0) by the driver's physics, before and after the cut: with
changes of speed over whole edges, and along the road. Needs ``EVROUTE_DATA_DIR``
and ``PYTHONPATH=tests/oracles``.
"""

from unittest.mock import patch

import numpy as np
from halved_edges import halved

from evroute.arrays import FloatArray, IntArray
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner

PAIRS = 300


def over_edges_wh(
    energy: TurnEnergy, rows: IntArray, speed_mps: FloatArray, other_wh: FloatArray
) -> FloatArray:
    """Return the energy of turns with changes of speed over whole edges, (a,) Wh."""
    edge, place = np.unique(energy.table.entered[rows], return_inverse=True)
    return energy._over_edge_wh(rows, edge, place, speed_mps) + other_wh


def changes(network: RoadNetwork, car: str) -> tuple[FloatArray, FloatArray]:
    """Return the changes of least energies by the cut, Wh and as a share."""
    joined = set(network.strongest_component().edge_id)
    inside = np.array([row for row, each in enumerate(network.edge_id) if each in joined])
    ends = np.random.default_rng(0).permutation(inside)[: 2 * PAIRS].reshape(2, -1)
    whole, cut = (
        Planner(roads, load_vehicle(car), physics="driving").energies(*rows).energy_wh
        for roads, rows in (
            (network, ends),
            (halved(network), (2 * ends[0], 2 * ends[1] + 1)),
        )
    )
    return abs(cut - whole), abs(cut - whole) / abs(whole)


def cells(network: RoadNetwork, car: str) -> str:
    """Return median, 99th percentile and greatest change as cells of a table."""
    wh, share = changes(network, car)
    return (
        f"{100 * np.median(share):.2f} % | {100 * np.quantile(share, 0.99):.1f} % | "
        f"{wh.max():.1f} Wh ({(share > 0.02).sum()} above 2 %)"
    )


def main() -> None:
    """Print the table."""
    print("| city, car | whole edge: median | 99 % | most | along the road: median | 99 % | most |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in ("denver", "luxembourg", "monaco"):
        network = load_network(name)
        for car in ("nissan-leaf-40", "reference"):
            along = cells(network, car)
            with patch.object(TurnEnergy, "_along_road_wh", over_edges_wh):
                print(f"| {name}, {car} | {cells(network, car)} | {along} |")


if __name__ == "__main__":
    main()
