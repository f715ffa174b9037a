"""Print the time of a plan and an update on a region, by trip length and edges driven before.

``python studies/region_figures.py NETWORK [TRIPS]`` with a network of the catalogue
(``region``: what ``test_scale.write_region`` made, built with ``evroute network build``). The first
use of a network makes its sparse root, minutes; later ones map it. Every figure is the median over
TRIPS trips (5) of CPU and of wall seconds.
"""

import resource
import sys
from time import perf_counter, process_time

import numpy as np
from numpy.random import SeedSequence, default_rng
from threadpoolctl import threadpool_limits

from evroute.arms import Feedback, Round
from evroute.errors import EvrouteError
from evroute.methods.method import Method, make_model
from evroute.methods.setting import Setting, load_setting
from evroute.planning.spaces.corridor import Corridor
from evroute.planning.weights import potential_rectified
from evroute.policy.agent import Agent
from evroute.policy.thompson import IndependentThompson, JointThompson
from evroute.worlds.demand.demand import load_demand

FACTOR = 1.2
LENGTHS_KM = (5, 10, 20, 40)
DRIVEN = (300, 1000, 3000)


def peak_mb() -> int:
    """Return the peak memory of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def agent(setting: Setting, index: IndependentThompson | JointThompson, seed: int) -> Agent:
    """Return an agent with the regional model."""
    return Agent(
        model=make_model(Method(model="regional", index="ts-joint"), setting, default_rng(0)),
        index=index,
        weight_rule=potential_rectified,
        space=Corridor(setting.edges, FACTOR),
        rng=default_rng(seed),
    )


def driven(setting: Setting, trip: object, t: int) -> Feedback:
    """Drive the shortest way of a trip, with eq. 8 off by a tenth and noise."""
    arms = setting.arms
    rows = setting.search.route(setting.network.length_m, trip.origin, trip.destination).rows  # type: ignore[attr-defined]
    noise = default_rng(t).standard_normal(len(rows)) * setting.noise_std_wh[rows]
    dissipated_wh = arms.prior_mean_wh[rows] - setting.potential_wh[rows]
    energy_wh = arms.prior_mean_wh[rows] + 0.1 * dissipated_wh + noise
    return Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], energy_wh)


def fill(setting: Setting, learner: Agent, size: int, seed: int) -> None:
    """Let a learner hear of trips of 10 km until it has met so many edges."""
    trips = load_demand("random 8-12 km", setting, SeedSequence(seed))
    t, met = 0, len(learner.model.state()["edge"])
    while met < size:
        t += 1
        heard = driven(setting, trips.trip(t), t)
        new = np.setdiff1d(heard.id, learner.model.state()["edge"])
        keep = np.isin(heard.id, new[: size - met])
        fields = (heard.id, heard.features, heard.prior_mean_wh, heard.energy_wh)
        learner.tell(Feedback(*(field[keep] for field in fields)))
        met = len(learner.model.state()["edge"])


def measure(
    setting: Setting, index: IndependentThompson | JointThompson, size: int, n_trips: int
) -> None:
    """Print times and memory of trips on a belief with so many measured edges."""
    learner = agent(setting, index, 0)
    fill(setting, learner, size, 3)
    learned = learner.model.state()
    for km in LENGTHS_KM:
        rows = []
        try:
            trips = load_demand(f"random {0.95 * km:g}-{1.05 * km:g} km", setting, SeedSequence(km))
        except EvrouteError:
            print(f"| {size} | {km} km | none on this network |")
            continue
        for t in range(1, n_trips + 1):
            trip = trips.trip(t)
            request = Round(t, setting.arms, trip.origin, trip.destination)
            marks = [(process_time(), perf_counter())]
            edges = len(learner.space.arms(request))
            marks.append((process_time(), perf_counter()))
            route = learner.ask(request)
            marks.append((process_time(), perf_counter()))
            arms, at = setting.arms, route.rows
            heard = Feedback(
                at, arms.features[at], arms.prior_mean_wh[at], 1.1 * arms.prior_mean_wh[at]
            )
            told = (process_time(), perf_counter())
            learner.tell(heard)
            after = (process_time(), perf_counter())
            spans = [
                np.subtract(marks[1], marks[0]),
                np.subtract(marks[2], marks[1]),
                np.subtract(after, told),
            ]
            rows.append([edges, len(route), *np.concatenate([*spans, sum(spans)])])
            learner.model.restore(learned)
        edges, k, *times = np.median(rows, axis=0)
        spans_ms = [
            f"{1000 * cpu:.0f} ({1000 * wall:.0f})"
            for cpu, wall in zip(times[::2], times[1::2], strict=True)
        ]
        name = "joint" if isinstance(index, JointThompson) else "each"
        print(
            f"| {name} | {size} | {km} | {edges:.0f} | {k:.0f} | {' | '.join(spans_ms)} | "
            f"{peak_mb()} |",
            flush=True,
        )


def main() -> None:
    """Print the figures of a network."""
    name, n_trips = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with threadpool_limits(1):
        start = perf_counter()
        setting = load_setting(name, "reference")
        setting.search, setting.sparse_kernel  # noqa: B018  made before the clock of the first trip
        print(
            f"{name}: {setting.network.n_edges:,} edges, ready after {perf_counter() - start:.1f} "
            f"s, {peak_mb()} MB"
        )
        print("ms of CPU (of wall time)")
        print(
            "| draw | driven | km | corridor | route | corridor ms | plan ms | update ms | all ms "
            "| peak MB |"
        )
        print("| --- " * 10 + "|")
        for index in (JointThompson(), IndependentThompson()):
            for size in DRIVEN:
                measure(setting, index, size, n_trips)


if __name__ == "__main__":
    main()
