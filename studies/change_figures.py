"""The change test on streams and in worlds: false alarms, delay, recovery, coverage and cost.

    python studies/change_figures.py runs/carry-change runs/carry-change-afresh
    python studies/change_figures.py runs/false-alarms

The folders are of carry-change.toml and carry-change-afresh.toml, whose comments define a false
alarm and recovery, or one folder of false-alarms.toml. Without folders the streams are tested.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from evroute.experiments.runs import RunFolder
from evroute.learning.change import ChangeTest
from evroute.report.results import read_diagnostics, read_rounds

CHANGE, WINDOW, GOAL = 70, 20, 50
TEST = ", change test"
WORLD = ["network", "seed"]


def streams() -> None:
    """Print alarms in 1,000 stationary trips, and delays after a change at trip 71."""
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((1000, 2000))
    heavy = rng.standard_t(2.5, (1000, 2000))
    learning = normal * (1 + 3 / np.sqrt(np.arange(1, 1001)))[:, np.newaxis]
    for name, errors, change in (
        ("normal", normal, (0.0, 1.0)),
        ("Student's t, 2.5 degrees", heavy, (0.0, 1.0)),
        ("errors shrink by learning", learning, (0.0, 1.0)),
        ("mean shifts by 2", normal[:270], (2.0, 1.0)),
        ("mean shifts by 4", normal[:270], (4.0, 1.0)),
        ("twice as large", normal[:270], (0.0, 2.0)),
        ("four times as large", normal[:270], (0.0, 4.0)),
    ):
        changed = errors.copy()
        changed[CHANGE:] = change[0] + change[1] * changed[CHANGE:]
        first, test = np.full(2000, np.inf), ChangeTest()
        for trip, score in enumerate(np.abs(changed), start=1):
            test.add(score)
            first[np.isinf(first) & test.detected] = trip
        alarms, driven = np.isfinite(first), np.minimum(first, len(errors)).sum()
        if change == (0.0, 1.0):
            print(f"{name}: {alarms.mean():.1%} of streams, {1000 * alarms.sum() / driven:.2f} "
                  "alarms in 1,000 trips")  # fmt: skip
        else:
            delay = first[first > CHANGE] - CHANGE
            within = np.mean((first > CHANGE) & (first <= CHANGE + WINDOW))
            print(f"{name}: within {WINDOW} trips {within:.0%}, median delay {np.median(delay):g}")


def read(path: str) -> pd.DataFrame:
    """Return the rounds of a folder with the number of restarts so far."""
    folder = RunFolder(Path(path))
    state = read_diagnostics(folder)
    state = state.reindex(columns=["run", "t", "restarts"])
    rounds = read_rounds(folder).merge(state, on=["run", "t"], how="left")
    rounds["learner"] = rounds["method"].str.replace(TEST, "")
    rounds["tested"] = rounds["method"].str.endswith(TEST)
    inside = (rounds["energy_wh"] - rounds["predicted_wh"]).abs() <= rounds["half90_wh"]
    return rounds.assign(inside=inside)


def alarms(rounds: pd.DataFrame) -> None:
    """Print false alarms of the runs with the test, and the restarts after the first change."""
    tested = rounds[rounds["tested"]]
    quiet = tested[(tested["world"] != "drift") | (tested["t"] <= CHANGE)]
    false = int(quiet.groupby("run")["restarts"].max().sum())
    print(f"false alarms: {false} in {len(quiet)} trips, {1000 * false / len(quiet):.2f} in 1,000")
    for learner, group in tested[tested["world"] == "drift"].groupby("learner"):
        delays = []
        for _, run in group.groupby("run"):
            run = run.set_index("t")["restarts"]
            after = run[run > run[CHANGE]].index
            delays.append(after[0] - CHANGE if len(after) else np.inf)
        print(f"drift, {learner}: trips from the first change to a restart: {sorted(delays)}")


def unchanged(rounds: pd.DataFrame) -> None:
    """Print the restarts of worlds in which nothing changes: all of them are false alarms."""
    for world, group in [*rounds.groupby("world"), ("all", rounds)]:
        false, trips = int(group.groupby("run")["restarts"].max().sum()), len(group)
        print(f"{world}: {false} alarms in {trips} trips, {1000 * false / trips:.2f} in 1,000")


def recovery(rounds: pd.DataFrame, afresh: pd.DataFrame) -> None:
    """Print trips to recovery, regret and coverage after the first change, with and without."""
    drift = rounds[rounds["world"] == "drift"]
    starts = {key: run.sort_values("t") for key, run in afresh.groupby([*WORLD, "learner"])}
    for (learner, tested), group in drift.groupby(["learner", "tested"]):
        trips, regret_wh, fresh_wh = [], [], []
        for key, run in group.groupby(WORLD):
            fresh = starts[(*key, learner)]
            after = run[(run["t"] > CHANGE) & (run["t"] <= 2 * CHANGE)].sort_values("t")
            ours, theirs, eq8 = (
                frame[name].rolling(WINDOW).mean().to_numpy()[WINDOW - 1 :]
                for frame, name in ((after, "regret_wh"), (fresh, "regret_wh"), (after, "eq8_wh"))
            )
            recovered = np.flatnonzero(ours <= 1.2 * theirs + 0.002 * np.abs(eq8))
            trips.append(recovered[0] + WINDOW if len(recovered) else np.inf)
            regret_wh.append(after["regret_wh"].mean())
            fresh_wh.append(fresh["regret_wh"].mean())
        held = [
            group[(group["t"] > CHANGE + low) & (group["t"] <= CHANGE + high)]["inside"].mean()
            for low, high in ((0, WINDOW), (WINDOW, CHANGE))
        ]
        print(
            f"drift, {learner}, {'with' if tested else 'without'} the test: recovered within "
            f"{GOAL} trips {np.mean(np.array(trips) <= GOAL):.0%} (median {np.median(trips):g}); "
            f"regret {np.mean(regret_wh):.1f} Wh a trip, afresh {np.mean(fresh_wh):.1f}; 90 % "
            f"intervals hold {held[0]:.0%} of trips 1 to {WINDOW} and {held[1]:.0%} of trips "
            f"{WINDOW + 1} to {CHANGE} after the change"
        )


def cost(rounds: pd.DataFrame) -> None:
    """Print the energy with the test over that without, and the regret after the first change."""
    for (world, learner), group in rounds.groupby(["world", "learner"]):
        with_test, without = (group[group["tested"] == tested] for tested in (True, False))
        more = with_test["true_wh"].sum() / without["true_wh"].sum() - 1.0
        after = [each[each["t"] > CHANGE]["regret_wh"].mean() for each in (with_test, without)]
        print(
            f"{world}, {learner}: energy {100 * more:+.2f} %; regret from trip {CHANGE + 1} on "
            f"{after[0]:.1f} Wh a trip with the test, {after[1]:.1f} without"
        )


if __name__ == "__main__":
    if len(sys.argv) == 2:
        unchanged(read(sys.argv[1]))
    else:
        streams()
    if len(sys.argv) == 3:
        of_changes = read(sys.argv[1])
        alarms(of_changes)
        recovery(of_changes, read(sys.argv[2]))
        cost(of_changes)
