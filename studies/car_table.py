"""Makes ``data/vehicles/cars.csv`` and judges its efficiencies.

Needs ``EVROUTE_DATA_DIR`` (vehicles), FASTSim (cycles) and the package ``wltp`` (cycle class 3b).

- *Measured* cars (``cars/epa.csv``): test weight and road-load power at 50 mph as in the fleet of
  EPA's OMEGA model. One rolling coefficient for all splits the force; drag is the rest.
- One set of efficiencies: least mean absolute log error on UDDS and HWFET, unadjusted. Random
  halves (seeds 0 to 49) judge the choice: fitted on one, errors on the other. All cars ship it.
- *Fitted* cars (``cars/fitted.csv``): weight, battery and WLTP range of the newer data set. Drag of
  a class is the median of the drags at which its cars take their published consumption on WLTC.
"""

import csv
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import fastsim
import numpy as np
from scipy.optimize import brentq, minimize

from evroute.arrays import FloatArray
from evroute.energy.charging import DEFAULT_CURVE
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.resources import data_path
from evroute.worlds.sumo_drive import STEP_S
from evroute.worlds.trace_energy import battery_j, work_at_wheels_j

HERE = Path(__file__).parent / "cars"
KG_PER_LB, W_PER_HP, MPS_PER_MPH, KM_PER_MILE = 0.45359237, 745.69987, 0.44704, 1.609344
WH_PER_GALLON = 33_705.0
CHARGER = 0.86
"""Share of the energy from the wall that reaches the battery: chgEff of FASTSim's vehicle files."""
ROLLING = 0.008
"""Median of wheel_rr_coef of FASTSim 3.1's four electric cars."""
AUXILIARY_W = 250.0
"""pwr_aux_base of FASTSim 3.1's four electric cars."""
LOAD_KG = 100.0
HALVES = 50
COLUMNS = (
    *("name", "car_class", "road_load", "mass_kg", "drag", "battery_kwh", "ac_kw", "dc_kw"),
    *("dc_plug", "charging_curve", "road_load_entry", "battery_entry"),
)
DC_PLUGS = {"nissan-leaf": "chademo", "kia-soul": "chademo"} | dict.fromkeys(
    ("tesla-model-s-", "tesla-model-x-"), "tesla"
)
"""Plugs other than CCS by the start of the name, after `ports` of open-ev-data."""


@dataclass(frozen=True)
class Cycle:
    """Speeds of a cycle at the end of every step of `STEP_S`, (s,) m/s."""

    speed_mps: FloatArray

    @property
    def km(self) -> float:
        """The length of the cycle, km."""
        return float(self.speed_mps.sum()) * STEP_S / 1000

    def wh_per_km(self, vehicle: Vehicle) -> float:
        """Return the consumption of a vehicle on the cycle, Wh per km."""
        work_j = work_at_wheels_j(
            self.speed_mps,
            np.zeros(len(self.speed_mps)),
            vehicle,
            air_mps=self.speed_mps,
            air_density_kgpm3=AIR_DENSITY_KGPM3,
        )
        return float(battery_j(work_j, vehicle).sum()) / J_PER_WH / self.km


def of_seconds(speed_mps: list[float]) -> Cycle:
    """Return the cycle of speeds at 1 Hz, straight between."""
    steps = np.arange(0, len(speed_mps) - 1 + STEP_S, STEP_S)
    return Cycle(np.interp(steps, np.arange(len(speed_mps)), speed_mps))


def of_fastsim(name: str) -> Cycle:
    """Return a cycle of FASTSim."""
    return of_seconds(fastsim.Cycle.from_resource(name).to_dict()["speed_meters_per_second"])


def car(mass_kg: float, drag: float, efficiencies: tuple[float, float]) -> Vehicle:
    """Return a vehicle with a drag area of ``drag``, m²."""
    return Vehicle(
        name="car",
        mass_kg=mass_kg,
        rolling=ROLLING,
        drag=drag,
        front_m2=1.0,
        propulsion_efficiency=efficiencies[0],
        recuperation_efficiency=efficiencies[1],
        auxiliary_w=AUXILIARY_W,
        battery_kwh=50.0,
    )


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a table beside this file."""
    with (HERE / name).open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def measured_load(row: dict[str, str]) -> tuple[float, float]:
    """Return the test mass, kg, and the drag area, m², of a measured car."""
    mass_kg, speed_mps = float(row["etw_lb"]) * KG_PER_LB, 50 * MPS_PER_MPH
    force_n = float(row["road_load_hp"]) * W_PER_HP / speed_mps
    drag_n = force_n - mass_kg * GRAVITY_MPS2 * ROLLING
    return mass_kg, drag_n / (0.5 * AIR_DENSITY_KGPM3 * speed_mps**2)


def errors(
    rows: list[dict[str, str]], cycles: dict[str, Cycle], efficiencies: tuple[float, float]
) -> FloatArray:
    """Return the relative errors of (cars, cycles), by the battery."""
    found = []
    for row in rows:
        vehicle = car(*measured_load(row), efficiencies)
        for name, cycle in cycles.items():
            wall_wh = WH_PER_GALLON / float(row[f"{name}_mpge"]) / KM_PER_MILE
            found.append(cycle.wh_per_km(vehicle) / (wall_wh * CHARGER) - 1)
    return np.array(found).reshape(-1, len(cycles))


def fitted_efficiencies(
    rows: list[dict[str, str]], cycles: dict[str, Cycle]
) -> tuple[float, float]:
    """Return the two efficiencies that make the mean error of the cars least."""
    found = minimize(
        lambda pair: abs(np.log1p(errors(rows, cycles, tuple(pair)))).mean(),
        [0.9, 0.6],
        bounds=[(0.6, 1.0), (0.1, 1.0)],
        method="Nelder-Mead",
    )
    return tuple(np.round(found.x, 3).tolist())


def judge(cycles: dict[str, Cycle]) -> tuple[float, float]:
    """Print the errors of cars with measured consumption; return the shipped efficiencies."""
    rows = sorted((row for row in table("epa.csv") if row["udds_mpge"]), key=lambda r: r["key"])
    shipped = fitted_efficiencies(rows, cycles)
    print("| car | UDDS Wh/km | error | HWFET Wh/km | error |")
    print("| --- | --- | --- | --- | --- |")
    for row, wrong in zip(rows, errors(rows, cycles, shipped), strict=True):
        cells = [row["key"]]
        for name, error in zip(cycles, wrong, strict=True):
            wall_wh = WH_PER_GALLON / float(row[f"{name}_mpge"]) / KM_PER_MILE
            cells += [f"{wall_wh * CHARGER:.0f}", f"{100 * error:+.1f} %"]
        print(f"| {' | '.join(cells)} |")
    medians, worst = [], []
    for seed in range(HALVES):
        order = np.random.default_rng(seed).permutation(len(rows))
        first, other = np.split(order, 2)
        found = fitted_efficiencies([rows[i] for i in first], cycles)
        wrong = abs(errors([rows[i] for i in other], cycles, found))
        medians.append(100 * np.median(wrong))
        worst.append(100 * wrong.max())
    for name, values in (("median", medians), ("worst", worst)):
        low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
        print(
            f"{name} error on the other half, {HALVES} halves: {middle:.1f} % "
            f"({low:.1f}-{high:.1f})"
        )
    return shipped


def main() -> None:
    """Print the tables of docs/figures/cars.md and write cars.csv."""
    cycles = {"udds": of_fastsim("udds.csv"), "hwfet": of_fastsim("hwfet.csv")}
    efficiencies = judge(cycles)
    folder = Path(os.environ["EVROUTE_DATA_DIR"]) / "vehicles"
    batteries = {
        f"{v['brand']}|{v['model']}|{v['variant']}|{v['release_year'] or ''}": v
        for v in json.loads((folder / "ev-data.json").read_text())["data"]
        if v["type"] == "bev"
    }
    newer = {v["id"]: v for v in json.loads((folder / "vehicles-2023-2025.json").read_text())}
    cars = []
    for row in table("epa.csv"):
        if row["battery_id"]:
            mass_kg, drag = measured_load(row)
            entry, numbers = battery(row["battery_id"], batteries)
            cars.append(
                {"name": row["key"], "car_class": row["class"], "road_load": "measured"}
                | {"mass_kg": f"{mass_kg:.0f}", "drag": f"{drag:.3f}"}
                | {"road_load_entry": row["epa_name"], "battery_entry": entry}
                | numbers
            )
    cars += fitted_cars(newer, batteries, efficiencies)
    out = data_path("vehicles", "cars.csv")
    with out.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for each in sorted(cars, key=lambda each: each["name"]):
            plugs = (plug for start, plug in DC_PLUGS.items() if each["name"].startswith(start))
            writer.writerow(each | {"dc_plug": next(plugs, "")})
    print(f"{out}: {len(cars)} cars, efficiencies {efficiencies}")


def battery(prefix: str, batteries: dict[str, dict]) -> tuple[str, dict[str, str]]:
    """Return the first entry of the older data set with this start of its name, and its numbers."""
    entry = next(each for each in batteries if each.startswith(prefix))
    found = batteries[entry]
    dc = found["dc_charger"]
    return " ".join(entry.split("|")).strip(), {
        "battery_kwh": f"{found['usable_battery_size']:g}",
        "ac_kw": f"{found['ac_charger']['max_power']:g}",
        "dc_kw": f"{dc['max_power']:g}" if dc else "",
        "charging_curve": curve_of(found),
    }


def curve_of(entry: dict) -> str:
    """Return the charging curve of an entry as shares and kW; empty if it has none of its own."""
    dc = entry["dc_charger"]
    if not dc or dc["is_default_charging_curve"]:
        return ""
    points = dc["charging_curve"]
    if points[-1]["power"] == 0:  # one car's curve never reaches full: the median shape ends it
        points = [
            *points[:-1],
            {"percentage": 100, "power": DEFAULT_CURVE[-1][1] * dc["max_power"]},
        ]
    return " ".join(f"{p['percentage']:g}:{p['power']:g}" for p in points)


def fitted_cars(
    newer: dict[str, dict], batteries: dict[str, dict], efficiencies: tuple[float, float]
) -> list[dict[str, str]]:
    """Return the rows of cars whose drag is fitted to their range."""
    wltc = of_seconds([kmh / 3.6 for kmh in wltc_kmh()])
    rows = []
    for row in table("fitted.csv"):
        entry = newer[row["id"]]
        mass_kg = entry["curb_weight_kg"] + LOAD_KG
        km = next(r["range_km"] for r in entry["range_rated"] if r["cycle"] == "wltp")
        published = 1000 * entry["battery_kwh_net"] / km

        def surplus(drag: float, mass_kg: float = mass_kg, published: float = published) -> float:
            return wltc.wh_per_km(car(mass_kg, drag, efficiencies)) - published

        least, most = 0.05, 2.9
        drag = (
            brentq(surplus, least, most)
            if surplus(least) < 0 < surplus(most)
            else (least if surplus(least) >= 0 else most)
        )
        rows.append((row, entry, mass_kg, published, drag))
    classes = {
        name: float(np.median([drag for row, *_, drag in rows if row["class"] == name]))
        for name in dict.fromkeys(row["class"] for row, *_ in rows)
    }
    wrong = {name: [] for name in classes}
    cars = []
    for row, entry, mass_kg, published, _ in rows:
        drag = classes[row["class"]]
        wrong[row["class"]].append(wltc.wh_per_km(car(mass_kg, drag, efficiencies)) / published - 1)
        cars.append(
            {"name": row["key"], "car_class": row["class"], "road_load": "fitted"}
            | {"mass_kg": f"{mass_kg:.0f}", "drag": f"{drag:.3f}"}
            | {"battery_kwh": f"{entry['battery_kwh_net']:g}", "ac_kw": f"{entry['ac_max_kw']:g}"}
            | {"dc_kw": f"{entry['dc_max_kw']:g}" if entry.get("dc_max_kw") else ""}
            | {"road_load_entry": row["class"], "battery_entry": entry["id"]}
            | {
                "charging_curve": curve_of(
                    batteries[next(e for e in batteries if e.startswith(row["curve_id"]))]
                )
                if row["curve_id"]
                else ""
            }
        )
    print("| class | cars | drag area m² | median error | worst |")
    print("| --- | --- | --- | --- | --- |")
    for name, drag in classes.items():
        off = np.array(wrong[name])
        print(
            f"| {name} | {len(off)} | {drag:.3f} | {100 * np.median(abs(off)):.1f} % | "
            f"{100 * off[abs(off).argmax()]:+.1f} % |"
        )
    return cars


def wltc_kmh() -> list[float]:
    """Return the speeds of the WLTC class 3b, km/h, one a second."""
    from wltp.cycles import class3

    return class3.class_data_b()["cycle"]


if __name__ == "__main__":
    sys.exit(main())
