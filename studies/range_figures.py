"""Ranges against single plans on random targets, and their times (`docs/figures/risk.md`).

python studies/range_figures.py luxembourg 500
"""

import sys
import time

import numpy as np

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.physics_belief import physics_belief
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


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
