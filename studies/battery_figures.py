"""Figures of the learned size of a battery (docs/figures/seasons.md).

python studies/battery_figures.py 10

Ten worlds of `season_figures` on Luxembourg, each with a battery of 75 to 100 % of the size in the
vehicle file. The car shows its charge in whole per cents, and a meter counts its energy. The belief
learns 60 trips; before each of the next 60 the charge on arrival is forecast along the route that
is driven, with the learned size and with that of the vehicle file.
"""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
from season_figures import made_trips

from evroute.arms import Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner

LEARNED, JUDGED = 60, 60


def charged(trip: MeasuredTrip, size_wh: float, rng: np.random.Generator) -> MeasuredTrip:
    """Return a trip with the charge that the car shows at both ends, from 40 to 100 %."""
    start = rng.uniform(40.0, 100.0)
    end = start - 100.0 * float(trip.energy_wh.sum()) / size_wh
    ends = {"soc_percent": float(np.round(start)), "soc_end_percent": float(np.round(end))}
    return replace(trip, **ends)


def interval(belief: TripEnergies, trip: MeasuredTrip, car: Vehicle) -> tuple[float, float]:
    """Return the 90 % interval of the charge on arrival of a trip, %."""
    day = DrivingConditions(temperature_c=trip.temperature_c, parked_minutes=trip.parked_minutes)
    planner = Planner(belief.network, car, belief, conditions=day)
    battery = Battery.of_percent(car.battery_kwh, trip.soc_percent, 0.0)
    route = Route(tuple(trip.edge.tolist()))
    return planner.forecasts.of_route(route, battery)[1].arrival_interval_percent


def played(seed: int) -> pd.DataFrame:
    """Return a row for each judged trip of a world."""
    rng, car = np.random.default_rng((35, 3, seed)), load_vehicle()
    setting, health = Setting(load_network("luxembourg"), car), rng.uniform(0.75, 1.0)
    size_wh, belief, rows = health * car.battery_kwh * 1000.0, TripEnergies(setting), []
    for number, made in enumerate(made_trips(seed, setting)):
        trip = charged(made, size_wh, rng)
        if number >= LEARNED:
            end = trip.soc_percent - 100.0 * float(trip.energy_wh.sum()) / size_wh
            for name, of in (("learned", belief.car), ("vehicle file", car)):
                low, high = interval(belief, trip, of)
                held = low <= end <= high
                rows.append({"size": name, "held": held, "width": high - low, "health": health})
        belief.learn(trip)
        if number == LEARNED + JUDGED - 1:
            break
    found = belief.car.battery_kwh / car.battery_kwh
    return pd.DataFrame(rows).assign(error=found / health - 1.0)


def main(worlds: int) -> None:
    """Print the table."""
    rows = pd.concat([played(2 * seed + 1) for seed in range(worlds)], ignore_index=True)
    for name, own in rows.groupby("size"):
        cars = own.groupby("health")["held"].mean()
        print(
            f"{name:14} {len(own)} trips: held {own['held'].mean():.1%} of 90 %, by car "
            f"{cars.min():.0%} to {cars.max():.0%}, width {own['width'].mean():.2f} %"
        )
    error = rows.groupby("health")["error"].first()
    print(f"error of the size: mean {error.mean():+.1%}, largest {error.abs().max():.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
