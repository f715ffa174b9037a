"""Worlds in which the guard broke its budget, and the savings that it kept.

    python studies/guard_figures.py runs/carry-pairs runs/carry-random

A row for each family of worlds and each guarded method. A world breaks its budget if the expected
energy lost against the eq. 8 route so far exceeds ``guard_budget_wh`` after any trip. Savings are
those of all worlds together, over all trips and the last 50, beside the same learner without the
guard in the same worlds; ``nan`` without such runs, or if the learner alone saves nothing.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from evroute.experiments.runs import RunFolder
from evroute.report.results import read_diagnostics, read_rounds

LAST = 50
UNGUARDED = "GP-TS turns with speeds"
WORLD = ["network", "trip", "world", "seed"]


def worlds(path: Path) -> pd.DataFrame:
    """Return one row for each run of a folder."""
    rounds = read_rounds(RunFolder(path))
    rounds["saved_wh"] = rounds["eq8_wh"] - rounds["true_wh"]
    state = read_diagnostics(RunFolder(path))
    columns = ["guard_budget_wh", "guard_free", "guard_trips"]
    state = state.reindex(columns=["run", "t", *columns])
    rounds = rounds.merge(state, on=["run", "t"], how="left")
    rows = []
    for _, run in rounds.groupby("run", sort=False):
        run = run.sort_values("t")
        lost_wh, last = -run["saved_wh"].cumsum(), run.tail(LAST)
        rows.append(
            run.iloc[0][[*WORLD, "method"]].to_dict()
            | {
                "broke": float((lost_wh > run["guard_budget_wh"] + 1e-6).any()),
                "lost_wh": lost_wh.iloc[-1],
                "all_wh": run["saved_wh"].sum(),
                "last_wh": last["saved_wh"].sum(),
                "budget_wh": run["guard_budget_wh"].iloc[-1],
                "free": last["guard_free"].mean(),
                "trips": run["guard_trips"].iloc[-1],
            }
        )
    return pd.DataFrame(rows)


def main(paths: list[str]) -> None:
    """Print the table of some run folders."""
    runs = pd.concat([worlds(Path(path)) for path in paths], ignore_index=True)
    free = runs[runs["method"] == UNGUARDED].set_index(WORLD)[["all_wh", "last_wh"]]
    free = free.add_suffix("_unguarded")
    guarded = runs[runs["budget_wh"].notna()].join(free, on=WORLD)
    rows = []
    for (world, method), group in guarded.groupby(["world", "method"]):
        kept = {
            part: 100 * group[f"{part}_wh"].sum() / group[f"{part}_wh_unguarded"].sum()
            for part in ("all", "last")
            if group[f"{part}_wh_unguarded"].sum(min_count=len(group)) > 0
        }
        rows.append(
            {
                "world": world,
                "method": method,
                "worlds": len(group),
                "broke (%)": 100 * group["broke"].mean(),
                "worst, of the budget (%)": 100 * (group["lost_wh"] / group["budget_wh"]).max(),
                "saved, all (kWh)": group["all_wh"].sum() / 1000,
                "unguarded": group["all_wh_unguarded"].sum(min_count=len(group)) / 1000,
                "kept, all (%)": kept.get("all", np.nan),
                "kept, last 50 (%)": kept.get("last", np.nan),
                "learner's route, last 50 (%)": 100 * group["free"].mean(),
                "trips needed, median": group["trips"].median(),
            }
        )
    print(pd.DataFrame(rows).round(1).to_string(index=False))


if __name__ == "__main__":
    main(sys.argv[1:])
