"""Speeds driven by SUMO on given edges, through libsumo: one open simulation, one car at a time.

SUMO provides motion only (its default car, alone on the road, without dawdling): stopping,
turning, lights, priority. Heights do not affect it. Energy is computed afterwards
(`trace_energy`), on our inclines: SUMO's slopes jump with the heights of its source, and its
lanes end at the borders of junctions.

Driving inside a junction counts for the edge entered next. Every drive begins in the same state
of the simulation, at a departure time drawn by its seed, so that drives of one seed meet the same
lights.
"""

import importlib
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.network.road_network import RoadNetwork

STEP_S = 0.5
LONGEST_S = 4 * 3600.0
# Departures are spread over about one cycle of traffic lights.
LIGHTS_S = 90.0
# SUMO's range of drivers' speed factors for passenger cars, normc(1, 0.1, 0.2, 2).
SPEED_FACTOR_RANGE = 0.2, 2.0
_CAR = (
    '<additional><vType id="ev" vClass="passenger" sigma="0" speedFactor="1" speedDev="0"/>'
    "</additional>"
)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One trip over the k edges ``rows``, with one entry for each of s steps of `STEP_S`.

    Parameters
    ----------
    rows
        (k,) edges.
    speed_mps
        (s,) speed at the end of each step, m/s. 0 before the first.
    place
        (s,) index of the edge among the k, never decreasing. An edge shorter than a step may have
        no step.
    """

    rows: IntArray
    speed_mps: FloatArray
    place: IntArray

    def by_edge(self, values: FloatArray, length_m: FloatArray) -> FloatArray:
        """Return values of steps (s,) summed by edge, (k,).

        Edges without a step share the value of the next edge in proportion to length (k,).
        """
        k = len(self.rows)
        seen = np.unique(self.place)
        group = np.minimum(np.searchsorted(seen, np.arange(k)), len(seen) - 1)
        total = np.bincount(group[self.place], weights=values, minlength=len(seen))
        return total[group] * length_m / np.bincount(group, weights=length_m)[group]

    def travel_s(self, length_m: FloatArray) -> FloatArray:
        """Return the time on each edge, (k,) s."""
        return self.by_edge(np.full(len(self.place), STEP_S), length_m)


@contextmanager
def _projections_kept() -> Iterator[None]:
    """Confine SUMO's older table of projections, which its import sets for the whole process."""
    before = {name: os.environ.get(name) for name in ("PROJ_LIB", "PROJ_DATA")}
    try:
        yield
    finally:
        for name, place in before.items():
            if place is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = place


class SumoDrive:
    """The only SUMO simulation of a process, on the source file of the network.

    Parameters
    ----------
    network
        Road network read from ``source``.
    source
        SUMO network, .net.xml or .net.xml.gz.

    Raises
    ------
    EvrouteError
        If libsumo is missing, another simulation is open, or the network has another source.
    """

    def __init__(self, network: RoadNetwork, source: Path) -> None:
        try:
            with _projections_kept():
                self._sumo: Any = importlib.import_module("libsumo")
        except ImportError:
            raise EvrouteError(
                "SUMO is missing. Install it with: pip install 'evroute[sumo]'"
            ) from None
        require(
            source.is_file(),
            f"SUMO's network {source} does not exist. Give the .net.xml of '{network.name}'",
        )
        require(
            not self._sumo.isLoaded(), "a SUMO simulation is open in this process. Close it first"
        )
        self.network = network
        self._folder = TemporaryDirectory(prefix="evroute-sumo-")
        self._state = str(Path(self._folder.name, "state.xml"))
        car = Path(self._folder.name, "car.add.xml")
        car.write_text(_CAR, encoding="utf-8")
        command = [
            "sumo",
            "-n",
            source,
            "-a",
            car,
            "--step-length",
            STEP_S,
            "--no-step-log",
            "--no-warnings",
            "--time-to-teleport",
            -1,
        ]
        try:
            with _projections_kept():
                os.environ.setdefault(
                    "PROJ_LIB", str(Path(os.environ["SUMO_HOME"], "data", "proj"))
                )
                self._sumo.start([str(word) for word in command])
        except (self._sumo.TraCIException, self._sumo.FatalTraCIError) as error:
            raise EvrouteError(f"SUMO cannot read {source.name}: {error}") from None
        if missing := set(network.edge_id) - set(self._sumo.edge.getIDList()):
            self.close()
            raise EvrouteError(
                f"edge '{min(missing)}' of network '{network.name}' is not in {source.name}"
            )
        self._inside_mps = self._limits_inside_junctions()
        self._sumo.simulation.saveState(self._state)
        self._trips = 0

    def close(self) -> None:
        """End the simulation, so that another can be opened."""
        self._sumo.close()
        self._folder.cleanup()

    def drive(
        self,
        rows: IntArray,
        speed_mps: FloatArray,
        driver_std: float,
        seeds: np.random.SeedSequence,
    ) -> Trace:
        """Drive the (k,) edges from standstill. The seed draws the driver and the departure time.

        Parameters
        ----------
        rows
            (k,) edges.
        speed_mps
            (n,) speed limits of all edges of the network, m/s.
        driver_std
            Deviation of the factor by which drivers obey the limits.
        seeds
            Seeds of the driver and the departure.

        Raises
        ------
        EvrouteError
            If SUMO refuses the route, or the car has not arrived after four hours.
        """
        sumo, self._trips = self._sumo, self._trips + 1
        car, ids = f"car{self._trips}", [self.network.edge_id[e] for e in rows]
        rng = np.random.default_rng(seeds)
        departed_s = STEP_S * rng.integers(int(LIGHTS_S / STEP_S))
        factor = float(np.clip(1 + driver_std * rng.standard_normal(), *SPEED_FACTOR_RANGE))
        sumo.simulation.loadState(self._state)
        sumo.simulationStep(departed_s)
        self._limit(rows, speed_mps)
        try:
            sumo.route.add(car, ids)
            sumo.vehicle.add(car, car, typeID="ev", departLane="best", departSpeed="0")
        except sumo.TraCIException as error:
            raise EvrouteError(f"SUMO refuses a route of {len(rows)} edges: {error}") from None
        sumo.vehicle.setSpeedFactor(car, factor)
        speed: list[float] = []
        place: list[int] = []
        for _ in range(int(LONGEST_S / STEP_S)):
            sumo.simulationStep()
            if sumo.simulation.getArrivedNumber():
                return Trace(rows, np.array(speed), np.array(place))
            if sumo.vehicle.getIDCount():
                speed.append(sumo.vehicle.getSpeed(car))
                place.append(
                    sumo.vehicle.getRouteIndex(car) + sumo.vehicle.getRoadID(car).startswith(":")
                )
        raise EvrouteError(
            f"SUMO's car did not arrive within {LONGEST_S:.0f} s on a route of {len(rows)} edges"
        )

    def _limit(self, rows: IntArray, speed_mps: FloatArray) -> None:
        """Set the limits of a route's edges. Inside junctions at most the larger of its two."""
        for row in rows:
            self._sumo.edge.setMaxSpeed(self.network.edge_id[row], float(speed_mps[row]))
        for left, entered in pairwise(rows):
            both_mps = float(max(speed_mps[left], speed_mps[entered]))
            for edge_id, limit_mps in self._inside_mps.get(
                self.network.junction_id[self.network.tail[entered]], ()
            ):
                self._sumo.edge.setMaxSpeed(edge_id, min(limit_mps, both_mps))

    def _limits_inside_junctions(self) -> dict[str, list[tuple[str, float]]]:
        """Return the ids of each junction's internal edges and their limits, m/s."""
        inside: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for edge_id in self._sumo.edge.getIDList():
            junction, _, number = edge_id.removeprefix(":").rpartition("_")
            if edge_id.startswith(":") and number.isdigit():
                inside[junction].append((edge_id, self._sumo.lane.getMaxSpeed(f"{edge_id}_0")))
        return inside


_open: dict[tuple[str, Path], SumoDrive] = {}


def simulation(network: RoadNetwork, source: Path) -> SumoDrive:
    """Return the simulation of this process on a network. Close one on another network."""
    key = network.digest, source
    if key not in _open:
        close()
        _open[key] = SumoDrive(network, source)
    return _open[key]


def close() -> None:
    """Close the simulation of this process, if it is open."""
    while _open:
        _open.popitem()[1].close()
