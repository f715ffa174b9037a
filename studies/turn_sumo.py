"""Priors on edges and turns against SUMO's electric model: the table of docs/figures/turns.md.

    python studies/turn_sumo.py

Needs ``libsumo``, ``traci`` and ``sumolib``. 150 trips on Monaco without heights, one car at a
time; each 0.5 s of its consumption counts for the edge that it is on, a junction for the edge
before. ``EVROUTE_DATA_DIR`` names the data folder.
"""

import gzip
import os
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.random import default_rng

from evroute.arms import Feedback, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Prior, Setting, load_setting
from evroute.planning.spaces.turn_space import TurnSpace

N_TRIPS, STEP_S, LONGEST_S = 150, 0.5, 4000
FEWEST_EDGES, FEWEST_VISITS = 10, 4
VEHICLE_TYPE = """<routes><vType id="ev" vClass="passenger" emissionClass="Energy/unknown"
 mass="1830" sigma="0" speedDev="0" speedFactor="1"><param key="rotatingMass" value="0"/>
<param key="frontSurfaceArea" value="2.6"/>
<param key="airDragCoefficient" value="0.35"/><param key="rollDragCoefficient" value="0.01"/>
<param key="radialDragCoefficient" value="0"/><param key="constantPowerIntake" value="0"/>
<param key="propulsionEfficiency" value="0.98"/><param key="recuperationEfficiency" value="0.96"/>
</vType></routes>"""


def write_flat(path: Path) -> None:
    """Write the source network without heights."""
    source = Path(os.environ["EVROUTE_DATA_DIR"], "monaco", "most.net.xml.gz")
    with gzip.open(source, "rt") as handle:
        text = handle.read()

    def flat(shape: re.Match[str]) -> str:
        points = (",".join(point.split(",")[:2]) for point in shape[2].split())
        return f'{shape[1]}="{" ".join(points)}"'

    text = re.sub(r'(shape|customShape)="([^"]*)"', flat, text)
    path.write_text(re.sub(r' z="[^"]*"', "", text))


def drive(setting: Setting) -> list[tuple[Route, FloatArray]]:
    """Drive eq. 8 routes between random edges; return each with the energy of its edges, Wh."""
    import libsumo

    rng, trips, name = default_rng(0), [], 0
    while len(trips) < N_TRIPS:
        origin, destination = rng.integers(setting.network.n_edges, size=2).tolist()
        route = setting.search.route(setting.prior.dissipated_wh, origin, destination)
        if len(route) < FEWEST_EDGES:
            continue
        name += 1
        car, energy_wh, arrived = f"car{name}", np.zeros(len(route)), False
        libsumo.route.add(car, [setting.network.edge_id[e] for e in route.edges])
        libsumo.vehicle.add(car, car, typeID="ev", departSpeed="0", departLane="best")
        for _ in range(int(LONGEST_S / STEP_S)):
            libsumo.simulationStep()
            if arrived := car in libsumo.simulation.getArrivedIDList():
                break
            if (
                car in libsumo.vehicle.getIDList()
                and (i := libsumo.vehicle.getRouteIndex(car)) >= 0
            ):
                energy_wh[i] += libsumo.vehicle.getElectricityConsumption(car) * STEP_S
        if arrived:
            trips.append((route, energy_wh))
    return trips


def within(values: FloatArray, group: IntArray) -> float:
    """Return the standard deviation within groups that have at least FEWEST_VISITS values."""
    _, place, count = np.unique(group, return_inverse=True, return_counts=True)
    mean = np.bincount(place, values) / count
    kept = count[place] >= FEWEST_VISITS
    degrees = kept.sum() - np.count_nonzero(count >= FEWEST_VISITS)
    return float(np.sqrt(((values - mean[place])[kept] ** 2).sum() / degrees))


def main() -> None:
    """Print the table."""
    import libsumo

    roads = load_setting("monaco", "reference", Prior("dissipation")).network
    setting = Setting(
        replace(roads, elevation_m=np.zeros(roads.n_junctions)),
        load_vehicle("reference"),
        Prior("dissipation"),
    )
    with TemporaryDirectory() as folder:
        write_flat(Path(folder, "flat.net.xml"))
        Path(folder, "type.rou.xml").write_text(VEHICLE_TYPE)
        files = ["-n", f"{folder}/flat.net.xml", "-r", f"{folder}/type.rou.xml"]
        libsumo.start(
            ["sumo", *files, "--step-length", str(STEP_S), "--no-step-log", "--no-warnings"]
        )
        trips = drive(setting)
        libsumo.close()
    spaces = {
        "edges": None,
        "turns": setting.on_turns().space,
        "turns-braked": TurnSpace(setting.edges, setting.turn_table, braked=True),
    }
    print("| arms | RMSE per edge Wh | correlation | RMSE of routes Wh | within an arm Wh |")
    for name, space in spaces.items():
        told = [Feedback.of_route(setting.arms, route, energy_wh) for route, energy_wh in trips]
        told = [space.feedback(each) for each in told] if space else told
        measured = np.concatenate([each.energy_wh for each in told])
        expected = np.concatenate([each.prior_mean_wh for each in told])
        totals = np.array([each.energy_wh.sum() - each.prior_mean_wh.sum() for each in told])
        print(
            f"| {name} | {np.sqrt(np.mean((measured - expected) ** 2)):.1f} "
            f"| {np.corrcoef(measured, expected)[0, 1]:.3f} | {np.sqrt(np.mean(totals**2)):.0f} "
            f"| {within(measured, np.concatenate([each.id for each in told])):.1f} |"
        )


if __name__ == "__main__":
    main()
