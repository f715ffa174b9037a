"""SUMO's own electric car on given edges, through libsumo: one simulation kept open, one car at a time.

The settings make its model that of Table 2 (section 6 of the notes on worlds): no radial drag (its default makes
energy depend on the step), no rotating mass, auxiliary power as a constant intake. What a car takes inside a junction
counts for the edge that it left, the one SUMO's route index names until the next edge begins.
"""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.network.sumo_copy import write_copy

STEP_S = 0.5
LONGEST_S = 7200.0
# Sd of drivers' speed factors: SUMO's default for passenger cars, normc(1, 0.1, 0.2, 2).
SPEED_FACTOR_SD, SPEED_FACTOR_RANGE = 0.1, (0.2, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class Drive:
    """One trip. energy_wh, travel_s: (k,) of the edges driven.

    The trace has one entry a step: speed_mps, slope (m climbed per m driven), and place: which of the k edges.
    """

    energy_wh: FloatArray
    travel_s: FloatArray
    speed_mps: FloatArray
    slope: FloatArray
    place: IntArray


class SumoDrive:
    """The one SUMO simulation of a process, on a copy of ``source`` with our heights, written into ``folder``.

    Raises
    ------
    EvrouteError
        If libsumo is missing, another simulation is open, or SUMO cannot drive the network.
    """

    def __init__(self, network: RoadNetwork, source: Path, vehicle: Vehicle, folder: Path) -> None:
        try:
            self._sumo: Any = importlib.import_module("libsumo")
        except ImportError:
            raise EvrouteError("SUMO is missing; install it with: pip install 'evroute[sumo]'") from None
        if self._sumo.isLoaded():
            raise EvrouteError("a SUMO simulation is open in this process; close it first")
        self.network = network
        net, car = folder / "copy.net.xml", folder / "car.add.xml"
        write_copy(source, network, net)
        car.write_text(_vehicle_type(vehicle), encoding="utf-8")
        command = ["sumo", "-n", net, "-a", car, "--step-length", STEP_S, "--no-step-log", "--no-warnings"]
        self._sumo.start([str(word) for word in command])
        self._trips = 0

    def close(self) -> None:
        """End the simulation, so that another can be opened."""
        self._sumo.close()

    def drive(self, edges: IntArray, seeds: SeedSequence) -> Drive:
        """Drive (k,) edge rows, from standing, with the driver that the seed draws.

        Lights stand where the simulation's clock has them: two drives of a seed may meet them at other phases.

        Raises
        ------
        EvrouteError
            If SUMO refuses the route, or the car has not arrived after two hours.
        """
        sumo, self._trips = self._sumo, self._trips + 1
        car = f"car{self._trips}"
        try:
            sumo.route.add(car, [self.network.edge_id[e] for e in edges])
            sumo.vehicle.add(car, car, typeID="ev", departLane="best", departSpeed="0")
        except sumo.TraCIException as error:
            raise EvrouteError(f"SUMO refuses a route of {len(edges)} edges: {error}") from None
        factor = float(np.clip(1 + SPEED_FACTOR_SD * default_rng(seeds).standard_normal(), *SPEED_FACTOR_RANGE))
        sumo.vehicle.setSpeedFactor(car, factor)
        trace: list[tuple[float, float, int, float]] = []
        for _ in range(int(LONGEST_S / STEP_S)):
            sumo.simulationStep()
            if car in sumo.simulation.getArrivedIDList():
                return _summed(np.array(trace), len(edges))
            if car in sumo.vehicle.getIDList():
                watt_hours = sumo.vehicle.getElectricityConsumption(car) * STEP_S
                slope = np.sin(np.radians(sumo.vehicle.getSlope(car)))
                trace.append((sumo.vehicle.getSpeed(car), slope, sumo.vehicle.getRouteIndex(car), watt_hours))
        sumo.vehicle.remove(car)
        raise EvrouteError(f"SUMO's car did not arrive within {LONGEST_S:.0f} s on a route of {len(edges)} edges")


def _summed(trace: FloatArray, k: int) -> Drive:
    place = trace[:, 2].astype(np.int64)
    energy_wh: FloatArray = np.bincount(place, weights=trace[:, 3], minlength=k).astype(float)
    travel_s: FloatArray = np.bincount(place, minlength=k) * np.float64(STEP_S)
    return Drive(
        energy_wh=energy_wh,
        travel_s=travel_s,
        speed_mps=trace[:, 0],
        slope=trace[:, 1],
        place=place,
    )


def _vehicle_type(vehicle: Vehicle) -> str:
    parameters = {
        "rotatingMass": 0,
        "frontSurfaceArea": vehicle.front_m2,
        "airDragCoefficient": vehicle.drag,
        "rollDragCoefficient": vehicle.rolling,
        "radialDragCoefficient": 0,
        "constantPowerIntake": vehicle.auxiliary_w,
        "propulsionEfficiency": vehicle.propulsion_efficiency,
        "recuperationEfficiency": vehicle.recuperation_efficiency,
    }
    inside = "".join(f'<param key="{key}" value="{value}"/>' for key, value in parameters.items())
    head = f'<vType id="ev" vClass="passenger" emissionClass="Energy/unknown" mass="{vehicle.mass_kg}" sigma="0">'
    return f"<additional>{head}{inside}</vType></additional>"
