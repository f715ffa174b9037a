"""The guarded learner beside the unguarded one and the static prior, in many worlds.

    python -m studies.guard_worlds play runs/guard-worlds recommended unguarded static --seeds 67
    python -m studies.guard_worlds table runs/guard-worlds    # writes docs/tables/guard-worlds.csv

Rule, committed before the first run with these pairs of ends: the families, cities and trips below,
seeds from 0. Every trip of every world is a row of METHOD/FAMILY-CITY-SEED.parquet; a file that
exists is not made again. The table has the worlds that all its methods have finished. Savings are
against the eq. 8 route in the last 50 trips, of the headroom in the worlds together and in the
median world with a headroom of at least 0.5 %. A world loses if its last 50 trips take at least
0.5 % more than by eq. 8. Development used other pairs: Denver, 3 to 7 km, seeds from 5000.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student_t
from threadpoolctl import threadpool_limits

from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.experiment import Experiment
from evroute.experiments.play import run_loop
from evroute.experiments.streams import streams
from evroute.files import replacing
from evroute.methods.setting import load_setting
from evroute.worlds.demand.demand import load_demand
from studies.pages.tables import store

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
    "unguarded": TURNS,
    "static": {"model": "factor", "index": "greedy", "arms": "turns", "factor_std": 1e-6},
}
NAMES = {"unguarded": "without a guard", "static": "static prior, nothing learned"}
WORLDS = {"no-repeats": "no repeats", "physics-right": "physics right"}
LAST, HEADROOM, LOSES = 50, 0.005, 0.005


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
    agent = make_learners(run, ("",), seeds.policy, seeds.model)[""].agent
    log = run_loop(
        {"": agent},
        environment,
        make_scorers(run, ("",)),
        horizon=horizon,
        on_round=lambda t: None,
    )
    columns = ("t", "true_wh", "eq8_wh", "best_wh")
    return pd.DataFrame({name: log.rounds[name] for name in columns} | dict(log.diagnostics))


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


def row(family: str, method: str, runs: dict[str, pd.DataFrame]) -> list[str]:
    """Return the row of a method in the worlds of a family."""
    last = np.array([(r["eq8_wh"] - r["true_wh"]).tail(LAST).sum() for r in runs.values()])
    head = np.array([(r["eq8_wh"] - r["best_wh"]).tail(LAST).sum() for r in runs.values()])
    taken = np.array([run["eq8_wh"].tail(LAST).abs().sum() for run in runs.values()])
    able = head >= HEADROOM * taken
    of_budget = [
        ((r["true_wh"] - r["eq8_wh"]).cumsum() / r["guard_budget_wh"]).max()
        for r in runs.values()
        if "guard_budget_wh" in r
    ]
    return [
        f"{WORLDS.get(family, family)}: {NAMES.get(method, method)}",
        f"{len(runs)}",
        f"{head.mean() / LAST:.1f}",
        f"{last.mean() / LAST:+.1f} ± {half_interval(last / LAST):.1f}",
        f"{100 * last.sum() / head.sum():.0f}",
        f"{100 * np.median(last[able] / head[able]):.0f}" if able.any() else "–",
        f"{100 * np.mean(last <= -LOSES * taken):.1f}",
        f"{last.min() / LAST:.1f}",
        f"{100 * max(of_budget):.0f}" if of_budget else "–",
    ]


def table(out: Path) -> None:
    """Write the table of the worlds that all methods of a folder have finished."""
    methods = [name for name in METHODS if (out / name).is_dir()]
    rows = []
    for family in FAMILIES:
        files = [{path.name for path in (out / m).glob(f"{family}-[!.]*.parquet")} for m in methods]
        common = sorted(set.intersection(*files)) if files else []
        for method in methods if common else ():
            runs = {name: pd.read_parquet(out / method / name) for name in common}
            rows.append(row(family, method, runs))
    columns = ["world: method", "worlds", "headroom, Wh a trip", "saved, Wh a trip"]
    columns += ["of the headroom, %", "in the median world, %", "worlds that lose, %"]
    columns += ["least saving, Wh a trip", "worst loss, of the budget, %"]
    command = "python -m studies.guard_worlds play runs/guard-worlds recommended unguarded static"
    store("guard-worlds", columns, rows, command=f"{command} --seeds 67", networks=CITIES)


def main() -> None:
    """Play worlds or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["play", "table"])
    parser.add_argument("out", type=Path)
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--cities", nargs="+", choices=CITIES, default=list(CITIES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    given = parser.parse_args()
    if given.command == "play":
        seeds = range(given.first_seed, given.first_seed + given.seeds)
        play(given.out, given.methods, given.families, given.cities, seeds)
    else:
        table(given.out)


if __name__ == "__main__":
    main()
