"""Drivers' plans against SUMO on a city of no fit: ``python studies/third_city.py``.

Denver's roads as a SUMO network, by ``netconvert`` on the PATH (``pip install eclipse-sumo``):
positions, shapes, limits, classes and turns of the shipped network, lights where its turns have
them, priority by class, two lanes on primary and secondary roads. SUMO then drives the eq. 8 routes
of 200 random pairs (seed 0) once each, as in `driving_fit`; all of them judge.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from xml.etree.ElementTree import Element, ElementTree, SubElement

import numpy as np
from driving_fit import Drives, judge, stops
from world_figures import DRIVER_STD, SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.controls import LIGHT, NAMES, STOP
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import sumo_net
from evroute.worlds.sumo_drive import simulation

PRIORITY = {"primary": 5, "secondary": 4, "tertiary": 3}


def converted(network: RoadNetwork, folder: Path) -> Path:
    """Return the file of a network that netconvert made of the roads of another."""
    at_light, at_stop = (
        {network.head[left] for left in network.turns[network.control == kind, 0]}
        for kind in (LIGHT, STOP)
    )
    nodes, edges, links = Element("nodes"), Element("edges"), Element("connections")
    for k in range(len(network.x_m)):
        kind = "traffic_light" if k in at_light else "allway_stop" if k in at_stop else "priority"
        x, y = f"{network.x_m[k]:.2f}", f"{network.y_m[k]:.2f}"
        SubElement(nodes, "node", id=str(k), x=x, y=y, type=kind)
    x_m, y_m = network.shape_x_m, network.shape_y_m
    for e in range(network.n_edges):
        first, last = network.shape_start[e : e + 2]
        kind = network.road_class[e].split("_")[0]
        SubElement(
            edges,
            "edge",
            {"from": str(network.tail[e]), "to": str(network.head[e])},
            id=str(e),
            type=f"highway.{network.road_class[e]}",
            speed=f"{network.speed_mps[e]:.3f}",
            priority=str(PRIORITY.get(kind, 2)),
            numLanes=str(1 + (kind in ("primary", "secondary"))),
            shape=" ".join(f"{x_m[i]:.2f},{y_m[i]:.2f}" for i in range(first, last)),
        )
    for left, entered in network.turns.tolist():
        SubElement(links, "connection", {"from": str(left), "to": str(entered)})
    command = ["netconvert", "--offset.disable-normalization", "--junctions.join", "false"]
    for option, root in (("node", nodes), ("edge", edges), ("connection", links)):
        path = folder / f"{option}.xml"
        ElementTree(root).write(path)
        command += [f"--{option}-files", str(path)]
    made = folder / "denver.net.xml"
    subprocess.run([*command, "--output-file", str(made)], check=True)
    return made


class ThirdCity:
    """A city as `driving_fit` drives it."""

    def __init__(self, network: RoadNetwork, made: Path) -> None:
        roads = sumo_net.read(made, "denver", "junctions")
        of = {str(k): height_m for k, height_m in enumerate(network.elevation_m)}
        height_m = np.array([of[junction] for junction in roads.junction_id])
        fields = {name: getattr(roads, name) for name in roads.__dataclass_fields__}
        roads = RoadNetwork(**fields | {"elevation_m": height_m})
        self.setting = Setting(roads, load_vehicle("reference"))
        self.sumo = simulation(roads, made)

    def trace(self, rows, seed: int):
        """Drive a route."""
        speed_mps = self.setting.network.speed_mps
        return self.sumo.drive(rows, speed_mps, DRIVER_STD, SeedSequence(seed))


def main() -> None:
    """Print the errors of plans on a city of no fit."""
    network = load_network("denver")
    with TemporaryDirectory() as folder:
        city = ThirdCity(network, converted(network, Path(folder)))
        drives = Drives(city)
    found = SimpleNamespace(**vars(drives) | {"judges": np.arange(len(drives.traces))})
    judge("denver", found)
    stopped: dict[str, list[float]] = {}
    for trace in drives.traces:
        controls = drives.table.control[drives.table.rows_along(trace.rows)[1:]]
        for control, stop in zip(controls, stops(trace)[1:], strict=True):
            stopped.setdefault(NAMES[control], []).append(stop)
    for name, each in stopped.items():
        print(f"stops at {name}: {np.mean(each):.3f} of {len(each)} passages")


if __name__ == "__main__":
    main()
