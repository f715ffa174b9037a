"""Table of *real trips*: mean speeds of real trips and of plans before any trip, by length.

Plans have the minutes of the driver's physics alone. Real trips and plans are on other roads, so
only trips of like length are compared. The Twizy's map is made of its own speeds and the bus has
none, so neither can judge minutes on its own roads.
"""

import csv
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

import evroute
from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.experiments.benchmark.data import load_data
from studies.pages.tables import CITIES, store
from studies.pages.trips import data_folder

CLASSES_KM = (0.5, 2.5, 5.5, 10.5, 20.5, 50.5)
"""Bounds of the classes: the Ioniq 5 counts whole kilometres."""
FEWEST = 5
"""Fewest trips of a class with a speed."""
PLANS = 200
CAR = "hyundai-ioniq-5"


def ioniq() -> tuple[FloatArray, FloatArray]:
    """Return km and hours of the trips of an Ioniq 5, (t, 2) with driving and with idling too."""
    with (data_folder() / "ioniq5" / "trips.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    km, driven, idle = (
        np.array([float(row[name]) for row in rows])
        for name in ("Distance", "Drive time", "Idle time")
    )
    return km, np.column_stack([driven, driven + idle]) / 60.0


def pieces(name: str) -> tuple[FloatArray, FloatArray]:
    """Return km and hours of the pieces of the Twizy or the bus whose times are all known."""
    (data,) = load_data(data_folder(), [name])
    length_m = data.setting.network.length_m
    rows = [
        (float(trip.share(length_m) @ length_m[trip.edge]), float(trip.travel_s.sum()))
        for trip in data.trips
    ]
    known = np.array([row for row in rows if np.isfinite(row[1])])
    return known[:, 0] / 1000.0, known[:, 1:] / 3600.0


def plans(city: str) -> tuple[FloatArray, FloatArray]:
    """Return km and hours of fastest plans between random places."""
    network = evroute.load_network(city)
    planner = evroute.Planner(network, CAR)
    lon, lat = network.lon_lat
    rng, rows = np.random.default_rng(0), []
    while len(rows) < PLANS:
        ends = [f"{lat[row]:.6f},{lon[row]:.6f}" for row in rng.integers(len(lon), size=2)]
        try:
            fastest = planner.plan(*ends).fastest
        except EvrouteError:
            continue
        rows.append((fastest.length_m / 1000.0, fastest.time_s / 3600.0))
    numbers = np.array(rows)
    return numbers[:, 0], numbers[:, 1:]


def cells(km: FloatArray, hours: FloatArray) -> Iterable[str]:
    """Yield the mean speed of each class with the number of its trips."""
    for low, high in pairwise(CLASSES_KM):
        of = (low <= km) & (km < high)
        if of.sum() < FEWEST:
            yield "-"
            continue
        speeds = km[of].sum() / hours[of].sum(axis=0)
        yield " / ".join(f"{kmh:.0f}" for kmh in speeds) + f" km/h ({of.sum()})"


def minutes() -> None:
    """Write the speeds by length."""
    columns = {"Ioniq 5, driving / with idling": ioniq()}
    columns |= {"Twizy": pieces("twizy"), "bus": pieces("bus")}
    columns |= {f"plans in {city.title()}": plans(city) for city in CITIES}
    bounds = [f"{low + 0.5:.0f}" for low in CLASSES_KM[:-1]]
    ends = [f"{high - 0.5:.0f}" for high in CLASSES_KM[1:]]
    names = [f"{low} to {high} km" for low, high in zip(bounds, ends, strict=True)]
    rows = zip(names, *(cells(*each) for each in columns.values()), strict=True)
    store(
        "first-minutes",
        ["trips of", *columns],
        [list(row) for row in rows],
        command="python -m studies.pages --run first-minutes",
        networks=CITIES,
    )


RUNS = {"first-minutes": minutes}
