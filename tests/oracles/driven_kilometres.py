"""Kilometres of plans on SUMO networks: ``python tests/oracles/driven_kilometres.py``.

Plans between 100 random pairs of Luxembourg and Monaco (seed 0), with lengths as driven and to the
centres of junctions: their stated kilometres against the lanes of the file, by a reader of this
program, and the length of their tracks (GPX, with heights) against the stated kilometres. Needs
``EVROUTE_DATA_DIR``.
"""

import gzip
import os
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from pyproj import Geod

from evroute.network import catalog
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import sumo_net
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.report.exports import route_gpx

FILES = {"luxembourg": "lust.net.xml.gz", "monaco": "most.net.xml.gz"}


class Lanes:
    """Lanes and connections of a SUMO file, by the standard library alone."""

    def __init__(self, path: Path) -> None:
        self.lanes: dict[str, ElementTree.Element] = {}
        self.after: defaultdict[str, list[ElementTree.Element]] = defaultdict(list)
        with gzip.open(path) as stream:
            for element in ElementTree.parse(stream).getroot().iter():
                if element.tag == "lane":
                    self.lanes[element.attrib["id"]] = element
                elif element.tag == "connection":
                    a = element.attrib
                    self.after[f"{a['from']}_{a['fromLane']}"].append(element)

    def open_lanes(self, edge: str) -> list[str]:
        """Return the lanes of an edge that cars may use, from the right."""
        every = [f"{edge}_{k}" for k in range(20) if f"{edge}_{k}" in self.lanes]
        return [lane for lane in every if drivable(self.lanes[lane])]

    def edge_m(self, edge: str) -> float:
        """Return the length of an edge, m."""
        return max(float(self.lanes[lane].attrib["length"]) for lane in self.open_lanes(edge))

    def turn_m(self, left: str, entered: str) -> float:
        """Return the length of the turn from the rightmost lane."""
        for lane in self.open_lanes(left):
            for found in self.after[lane]:
                into = f"{entered}_{found.attrib['toLane']}"
                if found.attrib["to"] == entered and into in self.open_lanes(entered):
                    return self.inside_m(found.attrib.get("via"), entered)
        raise AssertionError((left, entered))

    def inside_m(self, via: str | None, entered: str) -> float:
        """Return the length of the lanes in a junction from one on, m."""
        if via is None:
            return 0.0
        after = next(each for each in self.after[via] if each.attrib["to"] == entered)
        rest_m = self.inside_m(after.attrib.get("via"), entered)
        return float(self.lanes[via].attrib["length"]) + rest_m

    def route_m(self, edges: tuple[str, ...]) -> float:
        """Return the length of a route, m."""
        pairs = pairwise(edges)
        return sum(map(self.edge_m, edges)) + sum(self.turn_m(*pair) for pair in pairs)


def drivable(lane: ElementTree.Element) -> bool:
    """Return whether cars may use a lane."""
    allow, disallow = (lane.attrib.get(name, "").split() for name in ("allow", "disallow"))
    return "passenger" in allow if allow else "passenger" not in disallow and "all" not in disallow


def gpx_m(network: RoadNetwork, plan: Plan) -> float:
    """Return the length of a track on the ellipsoid, with its heights, m."""
    text = route_gpx(network, plan)
    found = re.findall(r'<trkpt lat="(\S+)" lon="(\S+)">\s*<ele>(\S+)</ele>', text)
    lat, lon, height_m = np.array(found, dtype=float).T
    across_m = Geod(ellps="WGS84").inv(lon[:-1], lat[:-1], lon[1:], lat[1:])[2]
    return float(np.hypot(across_m, np.diff(height_m)).sum())


def plans(network: RoadNetwork, count: int) -> list[Plan]:
    """Return plans by the driver's physics between random pairs of edges."""
    planner, rng = Planner(network, "reference", physics="driving"), np.random.default_rng(0)
    joined = network.strongest_component().edge_id
    pairs = [rng.choice(len(joined), 2, replace=False) for _ in range(count)]
    return [planner.plan(joined[a], joined[b]) for a, b in pairs]


def shares(values: list[float]) -> str:
    """Return median, 5th to 95th percentile and greatest difference of ratios as cells."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    most = 100 * max(abs(each - 1.0) for each in values)
    return f"{middle:.4f} | {low:.4f} to {high:.4f} | {most:.1f} %"


def main() -> None:
    """Print the table."""
    print(
        "| city, lengths | stated / lanes | 5 to 95 % | most | track / stated | 5 to 95 % ", end=""
    )
    print("| most |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for city, file in FILES.items():
        path = Path(os.environ["EVROUTE_DATA_DIR"]) / city / file
        lanes = Lanes(path)
        for lengths in sumo_net.LENGTHS[::-1]:
            network = catalog.build(sumo_net.read(path, city, lengths))
            found = plans(network, 100)
            stated = [plan.recommended_route for plan in found]
            of_file = [each.length_m / lanes.route_m(each.edges) for each in stated]
            tracks = [
                gpx_m(network, plan) / each.length_m
                for plan, each in zip(found, stated, strict=True)
            ]
            print(f"| {city}, {lengths} | {shares(of_file)} | {shares(tracks)} |")


if __name__ == "__main__":
    main()
