"""Make the two made years of `evroute benchmark` (data/benchmark/made-*.csv.gz).

    python studies/made_years.py

A car drives the fastest routes of random trips of 1 to 6 km in Denver in the world `year`, with
other parameters than its vehicle file. The noise is that of the world.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evroute.arms import Feedback, Round
from evroute.files import replacing
from evroute.learning.measured import MeasuredTrip
from evroute.methods.setting import Setting, load_setting
from evroute.resources import data_path
from evroute.worlds.demand.demand import load_demand
from evroute.worlds.environment import Environment
from evroute.worlds.world import load_world
from evroute.worlds.year import YearWorld

NEW_YEAR_S = 1_704_067_200.0  # 2024-01-01 in UTC
TRIPS = 300
YEAR = {"kind": "year", "trips_a_year": TRIPS, "first_day": 1}
YEARS = {
    "made-1": ("nissan-leaf-40", YEAR | {"rolling_factor": 1.2, "auxiliary_w": 500}, 1),
    "made-2": (
        "renault-zoe",
        YEAR | {"heat_pump": True, "drag_factor": 1.15, "noise_share": 0.2, "trip_std": 0.1},
        2,
    ),
}


def world_of(setting: Setting, world: object, seed: int) -> Environment:
    """Return a world with random trips of 1 to 6 km."""
    world_seed, trip_seed = np.random.SeedSequence(seed).spawn(2)
    demand = load_demand("random 1-6 km", setting, trip_seed)
    return load_world(world).build(setting, demand, world_seed)


def driven(setting: Setting, world: Environment, trips: int) -> Iterator[tuple[Round, Feedback]]:
    """Yield the trips of a world on their fastest routes."""
    for t in range(1, trips + 1):
        request = world.observe(t)
        fast = setting.search.route(setting.network.time_s, request.origin, request.destination)
        yield request, world.drive(request, fast)


def measured(setting: Setting, world: Environment, trips: int) -> list[MeasuredTrip]:
    """Return the trips of a world as a belief learns them."""
    return [
        MeasuredTrip(
            str(request.t),
            found.id,
            found.energy_wh,
            found.travel_s,
            NEW_YEAR_S + float(request.departed_s or 0.0),
        )
        for request, found in driven(setting, world, trips)
    ]


def table(vehicle: str, options: dict[str, object], seed: int) -> str:
    """Return a made year with a row for each edge."""
    setting = load_setting("denver", vehicle)
    world = world_of(setting, options, seed)
    assert isinstance(world, YearWorld)
    lines = ["trip,edge,energy_wh,travel_s,departed_s,temperature_c,parked_minutes"]
    for request, found in driven(setting, world, TRIPS):
        start = world.start(request.t)
        ends = (
            f"{NEW_YEAR_S + start.departed_s:.0f}",
            f"{start.temperature_c:.1f}",
            f"{start.parked_s / 60.0:.0f}",
        )
        for k, edge in enumerate(found.id):
            of_day = ends if k == 0 else ("", "", "")
            numbers = f"{found.energy_wh[k]:.2f},{found.travel_s[k]:.1f}"
            name = setting.network.edge_id[edge]
            cell = f'"{name}"' if "," in name else name
            lines.append(",".join([str(request.t), cell, numbers, *of_day]))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both years."""
    for name, (vehicle, options, seed) in YEARS.items():
        packed = gzip.compress(table(vehicle, options, seed).encode(), mtime=0)
        path: Path = data_path("benchmark", f"{name}.csv.gz")
        with replacing(path) as temporary:
            temporary.write_bytes(packed)
        print(f"{path.name}: {len(packed):,} bytes")


if __name__ == "__main__":
    main()
