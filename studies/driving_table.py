"""Wh/km of plans by network and car: ``python studies/driving_table.py``.

Least-energy routes between 200 random pairs of each network (seed 1), one slope per edge:
eq. 8 (before) and the physics of drivers (after), beside the published unadjusted city
consumption. Needs ``EVROUTE_DATA_DIR``.
"""

import csv
from pathlib import Path

import numpy as np

from evroute.energy.defaults import KINDS_OF_PHYSICS as PHYSICS
from evroute.energy.vehicle import load_vehicle
from evroute.network.catalog import load_network
from evroute.planning.planner import Planner

PAIRS = 200
CARS = (
    *("reference", "nissan-leaf-40", "tesla-model-3-lr", "chevrolet-bolt", "volkswagen-e-golf"),
    *("tesla-model-x-100d", "smart-fortwo", "tesla-model-3", "renault-zoe"),
)
CHARGER, KM_PER_MILE, WH_PER_GALLON = 0.86, 1.609344, 33_705.0


def city_wh_per_km() -> dict[str, float]:
    """Return the published consumption on UDDS by car, from the battery, Wh/km."""
    with (Path(__file__).parent / "cars/epa.csv").open(newline="", encoding="utf-8") as handle:
        return {
            row["key"]: WH_PER_GALLON / float(row["udds_mpge"]) / KM_PER_MILE * CHARGER
            for row in csv.DictReader(handle)
            if row["udds_mpge"]
        }


def main() -> None:
    """Print the table."""
    networks = [load_network(name) for name in ("denver", "luxembourg", "monaco")]
    published = city_wh_per_km()
    print("| car | published UDDS |", " | ".join(network.name for network in networks), "|")
    print("| --- | --- |", " --- |" * len(networks))
    for name in CARS:
        cells = [f"{published[name]:.0f}" if name in published else ""]
        for network in networks:
            joined = set(network.strongest_component().edge_id)
            inside = [row for row, each in enumerate(network.edge_id) if each in joined]
            pairs = np.random.default_rng(1).choice(inside, (PAIRS, 2))
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
            before_after = []
            for physics in PHYSICS:
                planner = Planner(network, load_vehicle(name), physics=physics)
                found = planner.energies(*pairs.T)
                before_after.append(found.energy_wh.sum() / found.length_m.sum() * 1000)
            cells.append("{:.0f} → {:.0f}".format(*before_after))
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
