"""The guarded learner beside the unguarded one, today's guard and rivals, in many worlds.

    python studies/guard_worlds.py play runs/guard-worlds recommended unguarded --seeds 10
    git worktree add ../today ae536484
    PYTHONPATH=../today python studies/guard_worlds.py play runs/guard-worlds today --seeds 10
    python studies/guard_worlds.py table runs/guard-worlds
    python studies/guard_worlds.py differ runs/before runs/now
    python studies/guard_worlds.py left runs/before

Rule, committed before the first run with these pairs of ends: the families, cities and trips below,
seeds from 0. Every trip of every world is a row of METHOD/FAMILY-CITY-SEED.parquet; a file that
exists is not made again. The table has the worlds that all its methods have finished. *Kept* is the
saving against the eq. 8 route in the last 50 trips over the unguarded learner's saving, all worlds
together, and of the headroom in the median world with a headroom of at least 0.5 %. A budget is
broken if the energy lost so far exceeds it after any trip. A world loses if its last 50 trips take
at least 0.5 % more than by eq. 8. Development used other pairs: Denver, 3 to 7 km, seeds from 5000.
`differ` compares two folders in the worlds that both have: Wh a trip of the last 50 trips, ± half a
95 % interval of the paired differences by Student's t.
`left` counts the worlds without a change whose best driven route was driven at most three times and
takes at least 0.5 % less than the last 50 trips.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student_t
from threadpoolctl import threadpool_limits

from evroute.arms import Feedback, Round, Route
from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.experiment import Experiment
from evroute.experiments.play import run_loop
from evroute.experiments.streams import streams
from evroute.files import replacing
from evroute.methods.setting import load_setting
from evroute.worlds.demand.demand import load_demand

PAIR, ANY = "random pair 3.3-7.3 km", "random 3.3-7.3 km"
FAMILIES = {
    "rough": ("rough", PAIR, 200),
    "congestion": ("judged-congestion", PAIR, 200),
    "daily": ("daily", PAIR, 200),
    "drift": ("drift", PAIR, 240),
    "no-repeats": ("rough", ANY, 200),
    "physics-right": ("judged-free", PAIR, 200),
}
CITIES = ("denver", "monaco", "luxembourg")
TURNS = {"model": "exact", "index": "ts", "arms": "turns", "learn_speeds": True}
METHODS = {
    "recommended": "recommended",
    "today": "recommended",  # the guard of another checkout
    "unguarded": TURNS,
    "tested": TURNS | {"change_test": True},  # unguarded, begins anew after a change
    "twenty-trips": "recommended",  # a budget of 20 trips at the start
    "unlucky": "recommended",  # the first drive of each route but the first takes more
    "regression": {"model": "physics", "index": "greedy", "arms": "turns", "learn_speeds": True},
    "static": {"model": "factor", "index": "greedy", "arms": "turns", "factor_std": 1e-6},
}
LAST, HEADROOM, LOSES = 50, 0.005, 0.005
STATIC = ("rough", "congestion", "physics-right")
"""Families in which a route takes the same energy on all trips."""
FEW_DRIVES, BETTER = 3, 0.005
BAD_LUCK = 0.15
"""Share of energy that the first drive of a further route takes more if ``unlucky``: three
deviations of the factor of a trip."""


def world(method: str, family: str, city: str, seed: int) -> pd.DataFrame:
    """Drive the trips of a world and return a row for each."""
    kind, trip, horizon = FAMILIES[family]
    grid = {
        "trips": {city: [trip]},
        "methods": [METHODS[method]],
        "world": [kind],
        "horizon": horizon,
        "seeds": 1,
        "first_seed": seed,
    }
    run = next(Experiment.model_validate(grid).runs())
    setting = load_setting(city, run.vehicle, run.assumed)
    seeds = streams(run, setting)
    trips = load_demand(run.trip, setting, seeds.trips)
    environment = run.world.build(setting, trips, seeds.world)
    if method == "unlucky":
        environment.drive = unlucky(environment.drive)
    agent = make_learners(run, ("",), seeds.policy, seeds.model)[""].agent
    if method == "twenty-trips":
        eq8 = make_scorers(run, ("",))[""].physics_route(environment.observe(1))
        agent.guard.ledger.start_wh = 20 * float(setting.prior.dissipated_wh[eq8.rows].sum())
    log = run_loop(
        {"": agent},
        environment,
        make_scorers(run, ("",)),
        horizon=horizon,
        on_round=lambda t: None,
    )
    columns = ("t", "true_wh", "eq8_wh", "best_wh")
    return pd.DataFrame({name: log.rounds[name] for name in columns} | dict(log.diagnostics))


def unlucky(drive: Callable[[Round, Route], Feedback]) -> Callable[[Round, Route], Feedback]:
    """Return how trips are driven where the first drive of each further route has bad luck."""
    driven: set[tuple[int, ...]] = set()

    def drive_unlucky(request: Round, route: Route) -> Feedback:
        feedback = drive(request, route)
        if driven and route.edges not in driven:
            more_wh = BAD_LUCK * np.abs(feedback.energy_wh)
            feedback = replace(feedback, energy_wh=feedback.energy_wh + more_wh)
        driven.add(route.edges)
        return feedback

    return drive_unlucky


def play(
    out: Path, methods: list[str], families: list[str], cities: list[str], seeds: range
) -> None:
    """Drive all worlds that have no file yet, seed by seed."""
    for seed in seeds:
        for family in families:
            for city in cities:
                for method in methods:
                    path = out / method / f"{family}-{city}-{seed}.parquet"
                    if not path.exists():
                        with threadpool_limits(1), replacing(path) as temporary:
                            world(method, family, city, seed).to_parquet(temporary)


def half_interval(values: np.ndarray) -> float:
    """Return half the width of a 95 % interval of a mean, by Student's t. NaN for one value."""
    if len(values) < 2:
        return np.nan
    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(error * student_t.ppf(0.975, len(values) - 1))


def row(family: str, method: str, runs: dict[str, pd.DataFrame], free: dict) -> dict:
    """Return the row of a method in the worlds of a family."""
    saved = {name: run["eq8_wh"] - run["true_wh"] for name, run in runs.items()}
    last = np.array([saved[name].tail(LAST).sum() for name in runs])
    every = np.array([saved[name].sum() for name in runs])
    trips = np.array([len(run) for run in runs.values()])
    head = np.array([(r["eq8_wh"] - r["best_wh"]).tail(LAST).sum() for r in runs.values()])
    taken = np.array([run["eq8_wh"].tail(LAST).abs().sum() for run in runs.values()])
    unguarded = np.array([(free[n]["eq8_wh"] - free[n]["true_wh"]).tail(LAST).sum() for n in runs])
    able = head >= HEADROOM * taken
    of_budget = [
        (-saved[name].cumsum() / run["guard_budget_wh"]).max()
        for name, run in runs.items()
        if "guard_budget_wh" in run
    ]
    return {
        "world": family,
        "method": method,
        "worlds": len(runs),
        "headroom (Wh)": head.mean() / LAST,
        "saved (Wh)": last.mean() / LAST,
        "±": half_interval(last / LAST),
        "of headroom (%)": 100 * last.sum() / head.sum(),
        "of unguarded (%)": 100 * last.sum() / unguarded.sum() if unguarded.sum() > 0 else np.nan,
        "median world (%)": 100 * np.median(last[able] / head[able]) if able.any() else np.nan,
        "median of unguarded (%)": (
            100 * np.median(last[able & (unguarded > 0)] / unguarded[able & (unguarded > 0)])
            if (able & (unguarded > 0)).any()
            else np.nan
        ),
        "loses (%)": 100 * np.mean(last <= -LOSES * taken),
        "least (Wh)": last.min() / LAST,
        "all trips (Wh)": (every / trips).mean(),
        "least, all (Wh)": (every / trips).min(),
        "broken": sum(share > 1 for share in of_budget) if of_budget else np.nan,
        "worst of budget (%)": 100 * max(of_budget) if of_budget else np.nan,
        "learner's route, last 50 (%)": (
            100 * np.mean([run["guard_free"].tail(LAST).mean() for run in runs.values()])
            if of_budget
            else np.nan
        ),
    }


def table(out: Path) -> pd.DataFrame:
    """Return the table of the worlds that all methods of a folder have finished."""
    methods = [name for name in METHODS if (out / name).is_dir()]
    rows = []
    for family in FAMILIES:
        having = [m for m in methods if list((out / m).glob(f"{family}-[!.]*.parquet"))]
        files = [
            {path.name for path in (out / method).glob(f"{family}-[!.]*.parquet")}
            for method in having
        ]
        common = sorted(set.intersection(*files)) if files else []
        if not common or "unguarded" not in having:
            continue
        runs = {m: {n: pd.read_parquet(out / m / n) for n in common} for m in having}
        rows += [row(family, method, runs[method], runs["unguarded"]) for method in having]
    return pd.DataFrame(rows)


def differ(before: Path, now: Path) -> pd.DataFrame:
    """Return the savings of the worlds that two folders have, and their paired differences."""
    rows = []
    for method, family in product(METHODS, FAMILIES):
        runs = [
            (pd.read_parquet(before / method / path.name), pd.read_parquet(path))
            for path in sorted((now / method).glob(f"{family}-[!.]*.parquet"))
            if (before / method / path.name).exists()
        ]
        if not runs:
            continue
        saved = np.array([[(r["eq8_wh"] - r["true_wh"]) for r in pair] for pair in runs])
        last, every = saved[..., -LAST:].mean(axis=-1), saved.mean(axis=-1)
        head = np.mean([(r["eq8_wh"] - r["best_wh"]).tail(LAST).mean() for r, _ in runs])
        more = last[:, 1] - last[:, 0]
        guarded = "guard_budget_wh" in runs[0][1]
        rows.append(
            {
                "method": method,
                "world": family,
                "worlds": len(runs),
                "headroom": head,
                "before": last[:, 0].mean(),
                "now": last[:, 1].mean(),
                "difference": more.mean(),
                "±": half_interval(more),
                "least difference": more.min(),
                "least before": last[:, 0].min(),
                "least now": last[:, 1].min(),
                "all trips, before": every[:, 0].mean(),
                "all trips, now": every[:, 1].mean(),
                "worst of budget (%)": max(
                    100 * (-(r["eq8_wh"] - r["true_wh"]).cumsum() / r["guard_budget_wh"]).max()
                    for _, r in runs
                )
                if guarded
                else np.nan,
            }
        )
    return pd.DataFrame(rows)


def left(out: Path) -> pd.DataFrame:
    """Return how many worlds left a better route after few drives, and the energy that it costs."""
    rows = []
    for method, family in product(METHODS, STATIC):
        runs = [pd.read_parquet(path) for path in (out / method).glob(f"{family}-[!.]*.parquet")]
        if not runs:
            continue
        more_wh = []
        for run in runs:
            least_wh, last = run["true_wh"].min(), run.tail(LAST)
            few = np.isclose(run["true_wh"], least_wh, rtol=1e-9).sum() <= FEW_DRIVES
            lost_wh = last["true_wh"].mean() - least_wh
            is_left = few and lost_wh >= BETTER * last["eq8_wh"].abs().mean()
            more_wh.append(lost_wh * is_left)
        regret_wh = np.mean([(r["true_wh"] - r["best_wh"]).tail(LAST).mean() for r in runs])
        rows.append(
            {
                "method": method,
                "world": family,
                "worlds": len(runs),
                "left": np.count_nonzero(more_wh),
                "lost (Wh)": np.mean(more_wh),
                "most (Wh)": np.max(more_wh),
                "regret (Wh)": regret_wh,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Play worlds or print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["play", "table", "differ", "left"])
    parser.add_argument("out", type=Path)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help="or the other folder")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--cities", nargs="+", choices=CITIES, default=list(CITIES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    given = parser.parse_args()
    if given.command == "play":
        seeds = range(given.first_seed, given.first_seed + given.seeds)
        play(given.out, given.methods, given.families, given.cities, seeds)
    elif given.command == "differ":
        print(differ(given.out, Path(given.methods[0])).round(1).to_string(index=False))
    elif given.command == "left":
        print(left(given.out).round(1).to_string(index=False))
    else:
        print(table(given.out).round(1).to_string(index=False))


if __name__ == "__main__":
    main()
