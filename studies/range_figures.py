"""Ranges against single plans on random targets, and their times (`docs/figures/risk.md`).

    python studies/range_figures.py luxembourg 500
    python studies/range_figures.py luxembourg belief 60

The second call has the times of ranges by a belief of 60 random trips on their fastest route, with
the deviations of single roads and without them, in turns.
"""

import sys
import time

import numpy as np

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.measured import MeasuredTrip
from evroute.learning.physics_belief import physics_belief
from evroute.learning.roads import sections
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.planning.reach import charge_needed, reach

SEED = 0
ORIGINS = 5
RISK = 0.05
REPEATS = 5


def main(name: str, targets: int) -> None:
    """Print the greatest differences between ranges and plans, and median times."""
    network, car = load_network(name), load_vehicle("reference")
    planner = Planner(network, car, uncertainty=physics_belief(network, car, "eq8"), physics="eq8")
    battery = Battery.of_percent(car.battery_kwh, 4.0, 1.0)
    rng = np.random.default_rng(SEED)
    charges, risks, refused = [], 0, 0
    for origin in rng.choice(network.n_edges, ORIGINS, replace=False).tolist():
        found, risky = reach(planner, origin, battery), reach(planner, origin, battery, risk=RISK)
        others = np.setdiff1d(np.arange(network.n_edges), [origin])
        for target in rng.choice(others, targets // ORIGINS, replace=False).tolist():
            try:
                best = planner.plan(origin, target, battery=battery).routes["energy"]
            except NoRouteError:
                refused += not found.within[target]
                continue
            percent = battery.percent(float(best.charge.charge_wh[-1]))
            charges.append(abs(found.charge_percent[0.5][target] - percent))
            charge = planner.forecasts.of_route(best.route, battery)[1]
            safe = charge.never_below_reserve >= 1 - RISK
            risks += safe != risky.within[target]
    print(f"{len(charges)} targets within reach, {refused} out of reach in both, of {targets}")
    print(f"greatest difference of arrival charge: {max(charges):.1e} %; of risk: {risks} targets")
    for title, call in (
        ("range", lambda: reach(planner, origin, battery)),
        (f"range, risk {RISK:.0%}", lambda: reach(planner, origin, battery, risk=RISK)),
        ("least charge from every road", lambda: charge_needed(planner, origin, battery)),
    ):
        taken_s = []
        for _ in range(REPEATS):
            start = time.process_time()
            call()
            taken_s.append(time.process_time() - start)
        print(f"{title}: median {np.median(taken_s):.2f} s of one core, worst {max(taken_s):.2f} s")


def believer(setting: Setting, trips: int, most: int) -> Planner:
    """Return the planner of a belief of trips with at most so many columns of roads."""
    sections.MOST = most
    belief, rng = TripEnergies(setting), np.random.default_rng(SEED)
    network, car = setting.network, setting.vehicle
    planner, roads = Planner(network, car), np.exp(0.3 * rng.standard_normal(network.n_edges))
    while belief.trips < trips:
        ends = rng.choice(network.n_edges, 2, replace=False).tolist()
        edge = np.array(planner.plan(*ends).routes["time"].route.edges)
        energy_wh = network.length_m[edge] * (0.03 + 0.11 * roads[edge])
        energy_wh = energy_wh * np.exp(0.05 * rng.standard_normal())
        trip = MeasuredTrip(str(belief.trips), edge, energy_wh, 1.1 * network.time_s[edge])
        belief.learn(trip)
    return Planner(network, car, belief)


def times(name: str, trips: int) -> None:
    """Print the median times of ranges by a belief, with single roads and without."""
    setting = Setting(load_network(name), load_vehicle("reference"))
    planners = {most: believer(setting, trips, most) for most in (0, sections.MOST)}
    rng, kwh = np.random.default_rng(SEED), setting.vehicle.battery_kwh
    for percent in (4.0, 40.0):
        battery, taken_s = Battery.of_percent(kwh, percent, 1.0), {most: [] for most in planners}
        for origin in rng.choice(setting.network.n_edges, 40, replace=False).tolist():
            for most, planner in planners.items():
                start = time.process_time()
                reach(planner, origin, battery)
                taken_s[most].append(1000 * (time.process_time() - start))
        without, with_roads = (np.median(each[1:]) for each in taken_s.values())
        print(
            f"range from {percent:.0f} %: {without:.1f} ms without single roads, "
            f"{with_roads:.1f} ms with {sections.MOST} columns, {with_roads / without:.2f} times"
        )


if __name__ == "__main__":
    if sys.argv[2] == "belief":
        times(sys.argv[1], int(sys.argv[3]))
    else:
        main(sys.argv[1], int(sys.argv[2]))
