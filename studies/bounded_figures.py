"""The figures of docs/figures/engines.md, "The bounded model": milliseconds at a late trip.

    python studies/bounded_figures.py 5000 bounded-ts recommended

World `changing`, Denver A. The trips before the measured ones drive routes of least energy under
random errors by edge, so that many roads are met. Only then does the method choose its routes.
"""

import sys
from dataclasses import replace
from time import process_time

import numpy as np
from numpy.random import SeedSequence, default_rng
from threadpoolctl import threadpool_limits

from evroute.experiments.agents import make_learners
from evroute.experiments.experiment import grid
from evroute.methods.setting import load_setting
from evroute.worlds.demand.demand import load_demand

ERROR = 0.35
"""Deviation of the logarithm of the errors by edge on the routes before."""
MEASURED = 50
EDGES = "bounded-ts"
"""Model `bounded` with Thompson sampling, with arms on edges."""


def late_trips(method: str, before: int) -> None:
    """Print the CPU time of plans and of learning after ``before`` trips of a method."""
    parts = {"methods": [method]}
    if method == EDGES:
        parts = {"models": ["bounded"], "indices": ["ts"]}
    experiment = grid(networks=["denver"], trips=["A"], options={}, world=["changing"], **parts)
    run = next(experiment.runs())
    setting = load_setting(run.network, run.vehicle, run.assumed)
    trips = load_demand(run.trip, setting, SeedSequence(0))
    world = run.world.build(setting, trips, SeedSequence(1))
    run = replace(run, method=run.method.model_copy(update={"guard": None}))
    agent = make_learners(run, ("",), SeedSequence(2), SeedSequence(3))[""].agent
    rng = default_rng(5)
    for t in range(1, before + 1):
        request = world.observe(t)
        lost_wh = np.maximum(request.arms.prior_mean_wh - setting.potential_wh, 0.0)
        weights = lost_wh * np.exp(ERROR * rng.standard_normal(len(lost_wh)))
        route = setting.search.route(weights, request.origin, request.destination)
        agent.tell(world.drive(request, route))
    ask_ms, tell_ms = [], []
    for t in range(before + 1, before + MEASURED + 1):
        request = world.observe(t)
        start = process_time()
        route = agent.ask(request)
        ask_ms.append(1e3 * (process_time() - start))
        driven = world.drive(request, route)
        start = process_time()
        agent.tell(driven)
        tell_ms.append(1e3 * (process_time() - start))
    n_arms = len(agent.space.arms(world.observe(before + 1)))
    print(f"{method}: {n_arms:,} arms a plan; {agent.model.diagnostics()}")
    for name, found_ms in (("plan", ask_ms), ("learn", tell_ms)):
        print(f"  {name:5s} {np.median(found_ms):5.1f} ms, worst {max(found_ms):5.1f}")


if __name__ == "__main__":
    with threadpool_limits(1):
        for named in sys.argv[2:]:
            late_trips(named, int(sys.argv[1]))
