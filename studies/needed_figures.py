"""Trips that the guard's promise needs, as printed and as driven (`docs/figures/worlds.md`).

    python studies/needed_figures.py play runs/needed 0 20        # first seed, the one after
    python studies/needed_figures.py play runs/needed 0 20 800    # shorter worlds
    python studies/needed_figures.py table runs/needed

World `rough`, random pairs of ends that never repeat, 3.3 to 7.3 km, `recommended`, 4,000 trips.
Seed s has the city s modulo 3 of `guard_worlds.CITIES`, and world seed 9000 + s. Rule, fixed before
the first run: the count printed after trip 100 (and after 50 and 200 beside it) is compared with
the trip from which the probability of the eq. 8 route stays below 0.5. It must be within a factor
of 2. A trip that is not reached, or less than 50 trips before the end, is reported as such.
Development: Denver 5000 and Monaco 5001. A world that has its file is not driven again.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from guard_worlds import ANY, CITIES
from threadpoolctl import threadpool_limits

from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.experiment import Experiment
from evroute.experiments.play import run_loop
from evroute.experiments.streams import streams
from evroute.files import replacing
from evroute.methods.setting import load_setting
from evroute.worlds.demand.demand import load_demand

FIRST, TRIPS, AFTER, LEFT = 9000, 4000, (50, 100, 200), 50


def world(city: str, seed: int, trips: int) -> pd.DataFrame:
    """Drive the trips of a world. Return the count and the probability after each."""
    grid = {"trips": {city: [ANY]}, "methods": ["recommended"], "world": ["rough"]}
    grid |= {"horizon": trips, "seeds": 1, "first_seed": seed}
    run = next(Experiment.model_validate(grid).runs())
    setting = load_setting(city, run.vehicle, run.assumed)
    seeds = streams(run, setting)
    demand = load_demand(run.trip, setting, seeds.trips)
    environment = run.world.build(setting, demand, seeds.world)
    agent = make_learners(run, ("",), seeds.policy, seeds.model)[""].agent
    rows: list[dict[str, float]] = []

    def on_round(t: int) -> None:
        guard = agent.guard
        rows.append(
            {"t": t, "probability": guard.probability, "needed": guard.ledger.trips_needed()}
        )

    judges = make_scorers(run, ("",))
    log = run_loop({"": agent}, environment, judges, horizon=trips, on_round=on_round)
    energies = {name: log.rounds[name] for name in ("true_wh", "eq8_wh", "best_wh")}
    return pd.DataFrame(rows).assign(**energies)


def play(out: Path, first: int, end: int, trips: int) -> None:
    """Drive the worlds that have no file yet."""
    for seed in range(first, end):
        path = out / f"{seed}-{CITIES[seed % 3]}.parquet"
        if not path.exists():
            with threadpool_limits(1), replacing(path) as temporary:
                world(CITIES[seed % 3], FIRST + seed, trips).to_parquet(temporary)


def table(out: Path) -> None:
    """Print a row for each world, and how many counts are within a factor of 2."""
    heads = ", ".join(f"after {t}" for t in AFTER)
    print(f"seed, city: trips; printed {heads}; driven in most trips from; saved of headroom")
    ratios = []
    for path in sorted(out.glob("[!.]*.parquet"), key=lambda each: int(each.stem.split("-")[0])):
        run = pd.read_parquet(path)
        late = run["t"][run["probability"] >= 0.5]
        from_t = late.max() + 1 if len(late) else 1
        reached = from_t <= len(run) - LEFT
        needed = run.set_index("t")["needed"]
        ratios.append([needed[t] / from_t if reached else np.nan for t in AFTER])
        saved_wh = (run["eq8_wh"] - run["true_wh"]).sum()
        share = saved_wh / (run["eq8_wh"] - run["best_wh"]).sum()
        shown = ", ".join(f"{needed[t]:.0f}" for t in AFTER)
        print(f"{path.stem}: {len(run)}; {shown}; {from_t if reached else 'not'}; {share:.0%}")
    for t, ratio in zip(AFTER, np.array(ratios).T, strict=True):
        known = ratio[np.isfinite(ratio)]
        within = int(((known >= 0.5) & (known <= 2.0)).sum())
        middle = f"median {np.median(known):.2f}" if len(known) else "none reached"
        print(f"after {t}: {within} of {len(known)} within a factor of 2, {middle}")


if __name__ == "__main__":
    if sys.argv[1] == "play":
        first, end, *trips = map(int, sys.argv[3:])
        play(Path(sys.argv[2]), first, end, *(trips or [TRIPS]))
    else:
        table(Path(sys.argv[2]))
