"""The figures of docs/figures/engines.md, late trips and early regret of `svgp`.

    python studies/sparse_figures.py 5000 svgp recommended

World `changing`, Denver A. The trips before the measured ones drive routes of least energy under
random errors by edge, so that many roads are met. Only then does the method choose its routes.

    python studies/sparse_figures.py regret 4

Regret of the first 120 trips with arms on edges, of `exact` and of `svgp` in a corridor. The 20
worlds have seeds that no choice of the model has seen (its options were tried in worlds 0 to 2). In
each world both models play once with the run's own Thompson draws, then with further draws, by
number. The goal: the regret of `svgp`, summed over the worlds and the draws, is at most 5 % above
the regret of `exact`. Without a difference between the models the ratio of two sums of draws still
varies, so ratios of the exact process with itself are printed beside it.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from time import process_time

import numpy as np
from numpy.random import SeedSequence, default_rng
from threadpoolctl import threadpool_limits

from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.experiment import grid
from evroute.experiments.play import run_loop
from evroute.experiments.runs import Run
from evroute.experiments.streams import streams
from evroute.methods.method import NEAR
from evroute.methods.setting import load_setting
from evroute.worlds.demand.demand import load_demand
from evroute.worlds.environment import child

ERROR = 0.35
"""Deviation of the logarithm of the errors by edge on the routes before."""
MEASURED = 50
TRIPS = 120
WORLDS = range(3, 23)
MODELS = ("exact", "svgp")


def late_trips(method: str, before: int) -> None:
    """Print the CPU time of plans and of learning after ``before`` trips of a method."""
    experiment = grid(
        networks=["denver"], trips=["A"], options={}, world=["changing"], methods=[method]
    )
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


def regret(run: Run, draw: int) -> float:
    """Return the regret of a run with Thompson draws of a number, Wh. 0 are the run's own."""
    setting = load_setting(run.network, run.vehicle, run.assumed)
    seeds = streams(run, setting)
    policy = child(seeds.policy, draw) if draw else seeds.policy
    world = run.world.build(setting, load_demand(run.trip, setting, seeds.trips), seeds.world)
    agents = {"": make_learners(run, ("",), policy, seeds.model)[""].agent}
    judges = make_scorers(run, ("",))
    log = run_loop(agents, world, judges, horizon=run.horizon, on_round=lambda t: None)
    return float(np.sum(log.rounds["regret_wh"]))


def runs_of(model: str) -> Iterator[Run]:
    """Yield the runs of a model, one for each world."""
    return grid(
        networks=["denver"],
        trips=["A"],
        models=[model],
        indices=["ts"],
        options={"corridor": NEAR} if model == "svgp" else {"exact_contexts": True},
        world=["changing"],
        horizon=TRIPS,
        first_seed=WORLDS.start,
        seeds=len(WORLDS),
    ).runs()


def compare(draws: int) -> None:
    """Print the regret of both models in each world, and the ratios after each set of draws."""
    found_wh = np.empty((draws, len(WORLDS), len(MODELS)))
    for draw in range(draws):
        for place, runs in enumerate(zip(*(runs_of(model) for model in MODELS), strict=True)):
            start = process_time()
            found_wh[draw, place] = [regret(run, draw) for run in runs]
            row = ", ".join(
                f"{model} {wh:,.0f} Wh"
                for model, wh in zip(MODELS, found_wh[draw, place], strict=True)
            )
            taken_s = process_time() - start
            print(f"draws {draw}, world {WORLDS[place]}: {row}; {taken_s:.0f} s of CPU", flush=True)
        summarize(found_wh[: draw + 1])


def summarize(found_wh: np.ndarray) -> None:
    """Print ratios of regret.

    Parameters
    ----------
    found_wh
        (draws, worlds, 2) regret of both models, Wh.
    """
    of_worlds = found_wh.mean(axis=0)
    ratio = of_worlds[:, 1] / of_worlds[:, 0]
    sums = of_worlds.sum(axis=0)
    chosen = default_rng(0).integers(len(WORLDS), size=(10_000, len(WORLDS)))
    drawn = of_worlds[chosen].sum(axis=1)
    low, high = np.quantile(drawn[:, 1] / drawn[:, 0], [0.05, 0.95])
    print(
        f"{len(found_wh)} draws a world: sums {sums[0]:,.0f} and {sums[1]:,.0f} Wh, ratio "
        f"{sums[1] / sums[0]:.3f} (90 % of drawn sets of worlds: {low:.3f} to {high:.3f})\n"
        f"  ratio by world: median {np.median(ratio):.3f}, quartiles "
        f"{np.quantile(ratio, 0.25):.3f} and {np.quantile(ratio, 0.75):.3f}, least "
        f"{ratio.min():.3f}, worst {ratio.max():.3f}; above 1.05 in {np.sum(ratio > 1.05)} worlds"
    )
    for model, of_draws in zip(MODELS, np.moveaxis(found_wh.sum(axis=1), -1, 0), strict=True):
        print(
            f"  {model}, sums by set of draws over the first: {of_draws / of_draws[0]}", flush=True
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        if sys.argv[1] == "regret":
            compare(int(sys.argv[2]))
            sys.exit()
        for named in sys.argv[2:]:
            late_trips(named, int(sys.argv[1]))
