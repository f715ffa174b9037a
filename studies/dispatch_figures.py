"""Figures of days of 20 vans (docs/figures/fleets.md, "Dispatch").

    python studies/dispatch_figures.py 4 5   four worlds of five days

World i has seed i and the network Denver. Its type takes a share more of the energy that physics
dissipates, by a log-normal factor with a deviation of 15 %, each of 20 cars a share N(0, 0.08²)
more, each trip a share N(0, 0.05²) more, and each km noise of 20 Wh per root of a km. A belief of
the fleet learns 300 trips of random cars on the fastest routes between random edges. Then each day
has 100 stops and a depot at random junctions. PyVRP orders them for 20 vans of five stops by the
reduced energies of the belief, and by kilometres, 300 iterations each. A van starts with a charge
of its tour's mean and a random number of deviations, from -0.5 to 3, above the reserve of 10 %.

On every second day all vans have 2.3 deviations.

Printed are the true expected energies of the tours by energy against those by kilometres, and by
bins the announced probability of the reserve against the share of tours that kept it. Of the days
with equal deviations the product over the vans is set against the share of days on which all kept.
"""

import sys
from itertools import pairwise
from time import process_time

import numpy as np
from numpy.random import Generator, SeedSequence
from pyvrp import Model
from pyvrp.stop import MaxIterations
from threadpoolctl import threadpool_limits

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.places.positions import positions
from evroute.planning.dispatch.reduced import reduced_energies
from evroute.planning.dispatch.stops import Stop
from evroute.planning.dispatch.tour import TourRequest, joined, tour_asked
from evroute.planning.matrix import energy_matrix
from evroute.planning.places import places_of
from evroute.planning.planner import Planner

VANS, STOPS, LEARNED = 20, 100, 300
TYPE_STD, CAR_STD, TRIP_STD, ROOT_KM_WH = 0.15, 0.08, 0.05, 20.0
RESERVE, SURE = 10.0, 2.3
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


class World:
    """True energies of one fleet.

    Parameters
    ----------
    seed
        Number of the world.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(SeedSequence((39, 2, seed)))
        self.setting = Setting(load_network("denver"), load_vehicle())
        self.physics = Planner(self.setting.network, self.setting.vehicle)
        self.more = np.exp(TYPE_STD * self.rng.standard_normal())
        self.more *= 1.0 + CAR_STD * self.rng.standard_normal(VANS)
        self.belief = TripEnergies(self.setting, physics="driving")
        for number in range(LEARNED):
            car, route = int(self.rng.integers(VANS)), random_route(self.setting, self.rng)
            edge_wh = self.driven_wh(route, car)
            time_s = self.setting.network.time_s[route.rows]
            self.belief.learn(
                MeasuredTrip(str(number), route.rows, edge_wh, time_s, car=f"van-{car:02d}")
            )

    def driven_wh(self, route: Route, car: int, *, noise: bool = True) -> FloatArray:
        """Return the energy of each edge of a route, (k,) Wh; the expected one without noise."""
        driven = self.physics.numbers.driven(route)
        climb_wh = driven.share * self.setting.potential_wh[route.rows]
        factor = self.more[car]
        if noise:
            factor *= 1.0 + TRIP_STD * self.rng.standard_normal()
        found = climb_wh + factor * (driven.energy_wh - climb_wh)
        if noise:
            km = driven.length_m / 1000.0
            found += ROOT_KM_WH * np.sqrt(km) * self.rng.standard_normal(len(km))
        return found


def random_route(setting: Setting, rng: Generator) -> Route:
    """Return the fastest route between random edges at least 1 km apart."""
    network = setting.network
    while True:
        ends = rng.choice(network.n_edges, 2, replace=False).tolist()
        try:
            route = setting.search.route(network.time_s, *ends)
        except NoRouteError:
            continue
        if network.length_m[route.rows].sum() > 1_000.0:
            return route


def places_of_day(world: World) -> list[str]:
    """Return the depot and the stops of a day."""
    network = world.setting.network
    lon, lat = network.junction_lon_lat
    at = world.rng.choice(network.n_junctions, STOPS + 1, replace=False)
    return [f"{lat[row]:.6f},{lon[row]:.6f}" for row in at]


def ordered(costs: IntArray, seed: int) -> list[list[int]]:
    """Return the stops of each van in the order of PyVRP."""
    model = Model()
    locations = [model.add_location(x=0, y=0) for _ in costs]
    depot = model.add_depot(locations[0])
    for location in locations[1:]:
        model.add_client(location, delivery=1)
    model.add_vehicle_type(VANS, capacity=STOPS // VANS, start_depot=depot, end_depot=depot)
    for i, origin in enumerate(locations):
        for j, destination in enumerate(locations):
            if i != j:
                model.add_edge(origin, destination, int(costs[i, j]))
    best = model.solve(MaxIterations(300), seed=seed, display=False).best
    assert best.is_feasible()
    return [[each.idx + 1 for each in route if each.is_client()] for route in best.routes()]


def matrix_of(planner: Planner, places: list[str], by: str = "energy") -> FloatArray:
    """Return energies, times and lengths between places, (3, n, n)."""
    stops = [
        [Stop(each, each, positions(planner.network, each, leaving=leaving)) for each in places]
        for leaving in (True, False)
    ]
    return energy_matrix(planner, *stops, by)


def route_of(planner: Planner, places: list[str], tour: list[int], *, by_time: bool) -> Route:
    """Return the tour of a van as one route."""
    legs = []
    for ends in pairwise(places[k] for k in (0, *tour, 0)):
        problem = planner.between(places_of(planner.network, None, ends))
        cost = problem.with_ties(problem.time_s) if by_time else problem.weights()
        legs.append(problem.legs.route(cost))
    return joined(planner.network, legs)


def day(world: World, planner: Planner, number: int) -> dict[str, list[float]]:
    """Return the numbers of one day, those of single vans as lists."""
    places = places_of_day(world)
    energy_wh = matrix_of(planner, places)[0]
    while np.isnan(energy_wh).any():  # a place that no way leads to, or from
        places = places_of_day(world)
        energy_wh = matrix_of(planner, places)[0]
    fastest_m = matrix_of(planner, places, "time")[2]
    by_energy = ordered(reduced_energies(energy_wh), number)
    by_km = ordered(np.rint(fastest_m).astype(np.int64), number)

    def true_wh(tours: list[list[int]], *, by_time: bool) -> float:
        return sum(
            float(world.driven_wh(route, 0, noise=False).sum())
            for route in (route_of(planner, places, tour, by_time=by_time) for tour in tours)
        )

    found: dict[str, list[float]] = {"p": [], "kept": [], "off": []}
    reserve_wh = RESERVE * 10.0 * planner.vehicle.battery_kwh
    for van, tour in enumerate(by_energy):
        driven = [places[k] for k in (0, *tour, 0)]
        request = TourRequest(soc=100.0, reserve=RESERVE, car=f"van-{van:02d}")
        first = tour_asked(planner, driven, request)
        z = SURE if number % 2 else world.rng.uniform(-0.5, 3.0)
        start_wh = first.mean_wh + z * first.std_wh + reserve_wh
        percent = start_wh / (10.0 * planner.vehicle.battery_kwh)
        asked = tour_asked(planner, driven, request.model_copy(update={"soc": percent}))
        used_wh = np.cumsum(world.driven_wh(asked.driven.route, van))
        found["p"].append(asked.p_reserve)
        found["kept"].append(float(start_wh - used_wh.max() >= reserve_wh))
        found["off"].append((float(used_wh[-1]) - asked.mean_wh) / asked.std_wh)
    by_energy_wh = true_wh(by_energy, by_time=False)
    found["fastest"] = [1.0 - by_energy_wh / true_wh(by_km, by_time=True)]
    found["ordered"] = [1.0 - by_energy_wh / true_wh(by_km, by_time=False)]
    return found


def main(worlds: int, days: int) -> None:
    """Print the figures."""
    found: list[dict[str, list[float]]] = []
    for seed in range(worlds):
        began_s = process_time()
        world = World(seed)
        planner = Planner(world.setting.network, None, world.belief)
        found += [day(world, planner, number) for number in range(days)]
        print(f"worlds 0 to {seed}: {process_time() - began_s:.0f} s of CPU for the last")
        report(found, days)
        sys.stdout.flush()


def report(found: list[dict[str, list[float]]], days: int) -> None:
    """Print the figures of some days."""
    for name, words in (
        ("fastest", "against the order by km on the fastest routes"),
        ("ordered", "against the order by km on the least-energy routes"),
    ):
        saved = 100 * np.array([each[name][0] for each in found])
        print(
            f"true energy {words}: {np.median(saved):.1f} % less (median day), "
            f"from {saved.min():.1f} to {saved.max():.1f} %"
        )
    p, kept, off = (np.concatenate([each[name] for each in found]) for name in ("p", "kept", "off"))
    for low, high in pairwise(BINS):
        within = (p >= low) & ((p < high) | (high == 1.0))
        if within.any():
            print(
                f"announced {low:.2f} to {high:.2f}: {within.sum()} vans, announced "
                f"{p[within].mean():.1%}, kept {kept[within].mean():.1%}"
            )
    print(f"errors in deviations: mean {off.mean():.2f}, sd {off.std():.2f}")
    sure = found[1::2] if days % 2 == 0 else [each for k, each in enumerate(found) if k % days % 2]
    joint = [float(np.prod(each["p"])) for each in sure]
    all_kept = [min(each["kept"]) for each in sure]
    print(
        f"{len(sure)} days of equal deviations: announced for all vans together, as if "
        f"independent, {np.mean(joint):.1%}, kept {np.mean(all_kept):.1%}"
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        main(int(sys.argv[1]), int(sys.argv[2]))
