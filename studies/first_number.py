"""Plans before the first trip against standard cycles: ``studies/first_number.py FOLDER``.

30 fastest plans of random pairs (seed 0, at least 2.5 km) in each city at 20 °C, the climb from end
to end taken out. Motorways are compared with steady speed, all other roads with the cycles UDDS,
HWFET and the four phases of WLTC at the mean speed of the plans on them, for the same car and
efficiencies. The folder has the files of FASTSim 2 (``fastsim/resources/cycles`` of an environment
of its own). Needs ``EVROUTE_DATA_DIR``.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import evroute
from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.crossings import main_class
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError

CYCLES = (
    *("wltc_low_3", "udds", "wltc_medium_3b"),
    *("wltc_high_3b", "hwfet", "wltc_extrahigh_3"),
)
CARS = ("nissan-leaf-40", "volkswagen-e-golf", "bmw-i3")
PLANS, LEAST_M = 30, 2500.0


def battery_wh_per_km(car: Vehicle, clock_s: FloatArray, speed_mps: FloatArray) -> FloatArray:
    """Return mean speed, km/h, and energy from the battery, Wh/km, of a drive on the level."""
    step_s, mean_mps = np.diff(clock_s), (speed_mps[1:] + speed_mps[:-1]) / 2
    drag = 0.5 * AIR_DENSITY_KGPM3 * car.drag * car.front_m2
    force_n = car.mass_kg * (GRAVITY_MPS2 * car.rolling + np.diff(speed_mps) / step_s)
    work_w = (force_n + drag * mean_mps**2) * mean_mps
    taken_w = work_w * np.where(
        work_w > 0, 1 / car.propulsion_efficiency, car.recuperation_efficiency
    )
    km = (mean_mps * step_s).sum() / 1000
    wh = ((taken_w + car.auxiliary_w) * step_s).sum() / J_PER_WH
    return np.array([km / (step_s.sum() / 3600), wh / km])


def planned(city: str, name: str, cycles: FloatArray) -> str:
    """Return a row of the table: 30 plans of a car in a city."""
    network, car = evroute.load_network(city), load_vehicle(name)
    planner = evroute.Planner(
        network, car, conditions=evroute.DrivingConditions(temperature_c=20.0), physics="driving"
    )
    lon, lat = network.lon_lat
    motorway = np.array([main_class(road) == "motorway" for road in network.road_class])
    rng, count = np.random.default_rng(0), 0
    total_wh = climb_m = 0.0
    metres, seconds = np.zeros(2), np.zeros(2)
    while count < PLANS:
        ends = [f"{lat[row]:.6f},{lon[row]:.6f}" for row in rng.integers(len(lon), size=2)]
        try:
            plan = planner.plan(*ends).fastest
        except EvrouteError:
            continue
        if plan.length_m < LEAST_M:
            continue
        count += 1
        total_wh += plan.energy_wh
        climb_m += plan.ascent_m - plan.descent_m
        fast, driven = motorway[plan.stretches.edge], plan.stretches
        took_s = planner.time_s[driven.edge] * driven.share(network)
        for place, some in enumerate((fast, ~fast)):
            metres[place] += driven.length_m[some].sum()
            seconds[place] += took_s[some].sum()
    total_wh -= car.mass_kg * GRAVITY_MPS2 * climb_m / J_PER_WH / car.propulsion_efficiency
    speeds_kmh = 3.6 * metres / np.maximum(seconds, 1e-9)
    steady = np.full(3600, speeds_kmh[0] / 3.6)
    steady_wh_km = battery_wh_per_km(car, np.arange(3600.0), steady)[1] if metres[0] else 0.0
    of_cycles = np.interp(speeds_kmh[1], *cycles)
    expected_wh = (metres * np.array([steady_wh_km, of_cycles])).sum() / 1000
    return (
        f"| {city}, {name} | {100 * metres[0] / metres.sum():.0f} % | {speeds_kmh[1]:.0f} | "
        f"{1000 * total_wh / metres.sum():.0f} | {1000 * expected_wh / metres.sum():.0f} | "
        f"{total_wh / expected_wh:.2f} |"
    )


def main() -> None:
    """Print the table."""
    print("| city, car | motorway | km/h elsewhere | plans Wh/km | cycles Wh/km | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    folder = Path(sys.argv[1])
    tables = [pd.read_csv(folder / f"{name}.csv").iloc[:, :2].to_numpy().T for name in CYCLES]
    for name in CARS:
        car = load_vehicle(name)
        cycles = np.array([battery_wh_per_km(car, *table) for table in tables])
        order = cycles[np.argsort(cycles[:, 0])].T
        for city in ("denver", "luxembourg", "monaco"):
            print(planned(city, name, order))


if __name__ == "__main__":
    main()
