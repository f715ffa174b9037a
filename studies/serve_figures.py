"""The figures of docs/figures/scale.md, "A plan, and a plan on a belief".

    python studies/serve_figures.py           # on eq. 8, and on the physics of drivers
    python studies/serve_figures.py trips     # on the default belief of 150 trips
    python studies/serve_figures.py 800 4000  # on exact beliefs of so many driven edges
    python studies/serve_figures.py turns 800 # on exact beliefs of so many driven turns
    python studies/serve_figures.py command   # the process of `evroute route --belief`

CPU time of one process with one BLAS thread on Luxembourg, in multiples of a scipy Dijkstra on the
same line graph, measured in turns. ``EVROUTE_DATA_DIR`` names the data folder.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from threadpoolctl import threadpool_limits

import evroute
from evroute.arms import Feedback
from evroute.energy.defaults import KINDS_OF_PHYSICS as PHYSICS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.planning.searches.search import Search

N_PLANS = 60
REPEATS = 3
MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.2f} s of CPU, {used.ru_maxrss / 1e3:.0f} MB")
"""
"""A small process between: a child that leaves a large one counts the memory of both."""
Requests = list[tuple[int, int]]


def requests_of(planner: Planner, seed: int, number: int) -> Requests:
    """Return random requests that have a route."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < number:
        ends = origin, destination = tuple(rng.integers(planner.network.n_edges, size=2).tolist())
        try:
            problem = planner.problem(ends)
            problem.legs.route(problem.time_s)
        except NoRouteError:
            continue
        if origin != destination:
            found.append(ends)
    return found


def ratio(
    network: RoadNetwork, name: str, plan: Callable[[int, int], object], requests: Requests
) -> None:
    """Print the cost of plans in Dijkstras; the first round apart from the median of the others."""
    source, target = network.turns.T
    turns = csr_matrix((network.length_m[target] + 1.0, (source, target)), (network.n_edges,) * 2)
    in_trees, in_ms = [], []
    for _ in range(REPEATS):
        start = process_time()
        for origin, _ in requests:
            dijkstra(turns, indices=origin)
        middle = process_time()
        for ends in requests:
            plan(*ends)
        in_ms.append(1e3 * (process_time() - middle) / len(requests))
        in_trees.append((process_time() - middle) / (middle - start))
    later = np.median(in_trees[1:]), np.median(in_ms[1:])
    print(f"{name:34s} {in_trees[0]:7.1f} first, then {later[0]:6.1f} ({later[1]:6.2f} ms)")


def plans_on_physics(network: RoadNetwork, physics: str) -> None:
    """Print the cost of searches and plans without a belief."""
    print(physics)
    planner = Planner(network, load_vehicle("reference"), physics=physics)
    requests = requests_of(planner, 5, N_PLANS)
    battery = Battery.of_percent(planner.vehicle.battery_kwh, 60.0, 10.0)
    search = Search(planner.search.line_graph, turns=planner.search.turns)
    problem = planner.problem(())

    def three(origin: int, destination: int) -> None:
        for weights in (problem.time_s, problem.length_m, problem.weights()):
            search.route(weights, origin, destination)

    ratio(network, "three routes, no more", three, requests)
    ratio(network, "plan", planner.plan, requests)
    for name, options in (
        ("plan with a battery", {"battery": battery}),
        ("plan with 5 % extra time", {"max_extra_time": 0.05}),
        ("plan over one place", {"via": [1000]}),
        ("plan over ten places", {"via": list(range(100, 1100, 100))}),
    ):
        some = requests if "via" not in options else requests[:10]
        ratio(network, name, lambda a, b, options=options: planner.plan(a, b, **options), some)

    def from_nothing(origin: int, destination: int) -> None:
        places = [network.edge_id[e] for e in (origin, destination)]
        evroute.plan(network, waypoints=places, physics=physics)

    ratio(network, "evroute.plan from nothing", from_nothing, requests)


def plans_on_trips(network: RoadNetwork) -> None:
    """Print the cost of plans on the default belief of 150 trips."""
    setting, rng = Setting(network, load_vehicle("reference")), np.random.default_rng(1)
    belief, physics = (
        TripEnergies(setting, physics="eq8"),
        Planner(network, setting.vehicle, physics="eq8"),
    )
    for k, ends in enumerate(requests_of(physics, 111, 150)):
        route = physics.problem(ends).legs.route(physics.time_s)
        wh = physics.mean_wh[route.rows] * rng.normal(1.1, 0.02, len(route))
        trip = MeasuredTrip(f"{k}", route.rows, wh, network.time_s[route.rows], None)
        belief.learn(trip)
    ratios_on(Planner(network, setting.vehicle, belief), "150 trips")


def exact_belief(network: RoadNetwork, driven: int, arms_on: str) -> LearnedBelief:
    """Return an exact belief of ``driven`` edges or turns of random routes."""
    setting = Setting(network, load_vehicle("reference"))
    made = LearnedBelief.before_trips(Method(model="exact", index="greedy", arms=arms_on), setting)
    physics, met = Planner(network, setting.vehicle, physics="eq8"), set()
    for ends in requests_of(physics, 111, 40 * network.n_edges // 100):
        if len(met) < driven:
            route = physics.problem(ends).legs.route(physics.time_s)
            met |= set(made.space.arms_of_route(route).tolist())
    rows = np.array(sorted(met))[:driven]
    arms = made.space.reference.take(rows)
    wh = arms.prior_mean_wh * 1.1
    made.model.update(Feedback(rows, arms.features, arms.prior_mean_wh, wh))
    return made


def plans_on_exact(network: RoadNetwork, driven: int, arms_on: str) -> None:
    """Print the cost of plans on an exact belief of ``driven`` edges or turns."""
    belief = exact_belief(network, driven, arms_on)
    planner = Planner(network, belief.setting.vehicle, belief)
    ratios_on(planner, f"exact, {driven} driven {arms_on}")


def command_on_exact(network: RoadNetwork, driven: int) -> None:
    """Print CPU time and peak memory of `evroute route` on stored beliefs of ``driven`` edges."""
    ends = [f"--{side}={network.edge_id[row]}" for side, row in (("from", 2000), ("to", 4500))]
    with TemporaryDirectory() as folder:
        belief = exact_belief(network, driven, "edges")
        belief.save(Path(folder) / "beliefs" / "luxembourg-learned.npz")
        words = ["-m", "evroute", "route", "--network", "luxembourg", "--belief", folder]
        for _ in range(REPEATS):
            subprocess.run([sys.executable, "-c", MEASURED, *words, *ends], check=True)


def ratios_on(planner: Planner, name: str) -> None:
    """Print the cost of plans on a belief, without and with a battery."""
    requests = requests_of(planner, 5, N_PLANS)
    battery = Battery.of_percent(planner.vehicle.battery_kwh, 60.0, 10.0)
    ratio(planner.network, name, planner.plan, requests)
    ratio(
        planner.network,
        f"{name}, battery",
        lambda a, b: planner.plan(a, b, battery=battery),
        requests,
    )


if __name__ == "__main__":
    luxembourg = evroute.load_network("luxembourg")
    with threadpool_limits(1):
        if not sys.argv[1:]:
            for name in PHYSICS:
                plans_on_physics(luxembourg, name)
        arms_on = "turns" if "turns" in sys.argv else "edges"
        for chosen in [each for each in sys.argv[1:] if each != "turns"]:
            if chosen == "trips":
                plans_on_trips(luxembourg)
            elif chosen == "command":
                command_on_exact(luxembourg, 4300)
            else:
                plans_on_exact(luxembourg, int(chosen), arms_on)
