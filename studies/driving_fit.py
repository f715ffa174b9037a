"""Counts SUMO's stops, and compares drivers' plans with its drives: ``studies/driving_fit.py``.

Eq. 8 routes of 200 random pairs each in Luxembourg and Monaco (seed 0), driven once. Half of each
city's routes (seed 0) count the stops; the others judge: error of the energy and time of routes.
Needs ``evroute[sumo]`` and ``EVROUTE_DATA_DIR``.
"""

from collections import defaultdict

import numpy as np
from world_figures import City, routes

from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3
from evroute.energy.defaults import VEHICLE
from evroute.energy.free_flow import speed_factors
from evroute.energy.prior import edge_parts
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.network.controls import NAMES
from evroute.network.turn_table import TurnTable
from evroute.worlds import trace_energy
from evroute.worlds.sumo_drive import Trace

STOPPED_MPS, MOVING_MPS, NEAR = 0.5, 1.0, 0.3


def stops(trace: Trace) -> FloatArray:
    """Return 1 for each edge before which, or in whose first third, the car stopped, (k,)."""
    stopped = np.zeros(len(trace.rows))
    begun = int(np.argmax(trace.speed_mps > MOVING_MPS))
    for step in begun + np.flatnonzero(trace.speed_mps[begun:] < STOPPED_MPS):
        place = trace.place[step]
        on_edge = np.flatnonzero(trace.place == place)
        driven = np.cumsum(trace.speed_mps[on_edge])
        share = driven[step - on_edge[0]] / max(driven[-1], 1e-9)
        entered = place if share < NEAR else place + 1
        if 0 < entered < len(stopped):
            stopped[entered] = 1.0
    return stopped


class Drives:
    """Drives of a city, with the energies that physics expects."""

    def __init__(self, city: City) -> None:
        car = load_vehicle(VEHICLE)
        self.network = network = city.setting.network
        self.table = table = TurnTable.from_network(network)
        self.traces = [
            city.trace(rows, 1000 + i) for i, rows in enumerate(routes(city.setting, named=False))
        ]
        self.wh = np.array(
            [
                trace_energy.energy_wh(
                    trace, network, car, np.zeros(network.n_edges), AIR_DENSITY_KGPM3
                ).sum()
                for trace in self.traces
            ]
        )
        self.seconds = np.array(
            [trace.travel_s(network.length_m[trace.rows]).sum() for trace in self.traces]
        )
        self.km = np.array([network.length_m[trace.rows].sum() for trace in self.traces]) / 1000
        rows = np.arange(len(table))
        turns = TurnEnergy(network, car, table)
        driving = TurnEnergy(network, car, table, free_flow=True)
        eq8 = edge_parts(network, car).total_wh
        at = [table.rows_along(trace.rows) for trace in self.traces]
        self.expected = {
            "eq. 8": np.array([eq8[trace.rows].sum() for trace in self.traces]),
            "turns": summed(turns.mean_wh(rows, network.speed_mps), at),
            "driving": summed(driving.usual_wh, at),
        }
        driven_s = network.time_s / speed_factors(network)
        self.limit_s = np.array([network.time_s[trace.rows].sum() for trace in self.traces])
        self.driven_s = np.array([driven_s[trace.rows].sum() for trace in self.traces])
        order = np.random.default_rng(0).permutation(len(self.traces))
        self.fits, self.judges = np.split(order, 2)


def summed(values: FloatArray, at: list) -> FloatArray:
    """Return the sum of the values of each list of rows."""
    return np.array([values[rows].sum() for rows in at])


def fit(cities: list[Drives]) -> None:
    """Print what the halves of development say."""
    slow, stopped = (defaultdict(lambda: np.zeros(2)) for _ in range(2))
    for city in cities:
        for i in city.fits:
            trace, network = city.traces[i], city.network
            seconds = trace.travel_s(network.length_m[trace.rows])
            for row, took in zip(trace.rows, seconds, strict=True):
                kind = network.road_class[row].removeprefix("highway.").split("_")[0]
                slow[kind] += network.time_s[row], took
            control = city.table.control[city.table.rows_along(trace.rows)]
            for kind, stop in zip(control[1:], stops(trace)[1:], strict=True):
                stopped[NAMES[kind]] += stop, 1
    for kind, (limit_s, took_s) in slow.items():
        print(f"speed factor {kind}: {limit_s / took_s:.3f} ({took_s:.0f} s)")
    for kind, (count, passages) in stopped.items():
        print(f"stops {kind}: {count / passages:.3f} of {passages:.0f}")


def judge(name: str, city: Drives) -> None:
    """Print the errors on the other half of the routes."""
    wh, km = city.wh[city.judges], city.km[city.judges].sum()
    print(f"\n{name}: {len(wh)} routes, {wh.sum() / km:.0f} Wh/km driven\n")
    print(
        "| physics | Wh/km | bias | RMSE of routes Wh | median error |\n"
        "| --- | --- | --- | --- | --- |"
    )
    for physics, expected in city.expected.items():
        off = expected[city.judges] - wh
        print(
            f"| {physics} | {expected[city.judges].sum() / km:.0f} | "
            f"{100 * off.sum() / wh.sum():+.1f} % | {np.sqrt((off**2).mean()):.0f} | "
            f"{100 * np.median(abs(off) / abs(wh)):.1f} % |"
        )
    took = city.seconds[city.judges]
    for label, seconds in (("limits", city.limit_s), ("factors", city.driven_s)):
        off = seconds[city.judges] - took
        print(
            f"time by {label}: {seconds[city.judges].mean():.0f} s for {took.mean():.0f} s, "
            f"RMSE {np.sqrt((off**2).mean()):.0f} s"
        )


if __name__ == "__main__":
    found = {name: Drives(City(name)) for name in ("luxembourg", "monaco")}
    fit(list(found.values()))
    for city_name, drives in found.items():
        judge(city_name, drives)
