"""Tables of *does learning pay*: `guard_worlds.py` plays the worlds in a night.

`small` plays ten short runs in congestion, which `make test` plays again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import evroute
from evroute.experiments.experiment import load_experiment
from evroute.report.abstract import faster
from evroute.report.charts.interval_scores import interval_table
from evroute.report.charts.mean_interval import half_interval
from evroute.report.charts.worlds import saved_shares
from evroute.report.results import read_diagnostics, read_rounds
from evroute.resources import data_path
from studies.pages.day_alarms import rate
from studies.pages.tables import ROOT, store


def demo_worlds() -> None:
    """Write energy and time that the demo's learner saves in its last 20 trips, in 30 worlds.

    The routes are called faster if the 95 % interval of the time saved, over the worlds, lies
    above zero and at most one world in ten is slower.
    """
    with TemporaryDirectory() as folder:
        demo = load_experiment(data_path("experiments", "demo.toml"))
        runs = evroute.simulate(demo.model_copy(update={"seeds": 30}), Path(folder))
        shares = saved_shares(read_rounds(runs))
    rows = []
    for measure, of in shares.groupby("measure"):
        saved = of["value"].to_numpy()
        rows.append(
            [
                str(measure),
                f"{saved.mean():.1f} ± {half_interval(saved, 0.95):.1f}",
                f"{np.median(saved):.1f}",
                f"{saved.min():.1f}",
                f"{100 * (saved < 0).mean():.0f} %",
                ("yes" if faster(saved) else "no") if str(measure).startswith("time") else "",
            ]
        )
    columns = ["saved in 30 worlds, %", "mean", "median", "worst", "worlds that lose", "faster"]
    command = "python -m studies.pages --run demo-worlds"
    store("demo-worlds", columns, rows, command=command, networks=("denver",))


def intervals_worlds() -> None:
    """Write how three kinds of intervals hold in every world, by ``recommended``.

    The runs are kept in ``runs/worlds-coverage``, and played where they are not there.
    """
    coverage = load_experiment(data_path("experiments", "worlds-coverage.toml"))
    rounds = read_rounds(evroute.simulate(coverage, ROOT / "runs" / "worlds-coverage"))
    guarded = rounds[rounds["method"].str.contains("guarded")]
    rows = []
    for world, of_world in guarded.groupby("world", sort=False):
        found = interval_table(of_world.assign(trip="A and B")).reset_index()
        for routes in ("chosen", "random"):
            cells = [
                of.iloc[0][["held (%)", "width (Wh)", "interval score (Wh)"]]
                for kind in INTERVALS
                if len(of := found[(found["routes"] == routes) & (found["interval"] == kind)])
            ]
            texts = [", ".join(f"{number:.0f}" for number in of) for of in cells]
            rows.append([f"{world}, {routes}", *texts, *["–"] * (len(INTERVALS) - len(texts))])
    columns = ["world, routes", "Gaussian", "conformal", "no model: Wh per km of past trips"]
    command = "python -m studies.pages --run intervals-worlds"
    store("intervals-worlds", columns, rows, command=command, networks=("monaco",))


def restarts_of(name: str) -> pd.DataFrame:
    """Return the rounds of an experiment with the number of restarts so far.

    The runs are kept in a folder of ``runs``, and played where they are not there.
    """
    wanted = load_experiment(data_path("experiments", f"{name}.toml"))
    folder = evroute.simulate(wanted, ROOT / "runs" / name)
    state = read_diagnostics(folder).reindex(columns=["run", "t", "restarts"])
    return read_rounds(folder).merge(state, on=["run", "t"], how="left")


def false_alarms() -> None:
    """Write the restarts of ``recommended`` in worlds in which nothing changes."""
    rounds, rows = restarts_of("false-alarms"), []
    for world, of in [*rounds.groupby("world", sort=False), ("all", rounds)]:
        alarms = int(of.groupby("run")["restarts"].max().sum())
        rows.append([str(world), f"{len(of):,}", str(alarms), rate(alarms, len(of))])
    columns = ["world", "trips", "alarms", "alarms in 1,000 trips"]
    command = "python -m studies.pages --run false-alarms"
    store("false-alarms", columns, rows, command=command, networks=("denver",))


def changed_worlds() -> None:
    """Write how soon the test finds the first change of congestion, and what it changes."""
    rounds = restarts_of("carry-change-times")
    rounds = rounds[rounds["world"] == "drift"]
    cells = []
    for tested in (False, True):
        of = rounds[rounds["method"].str.endswith(", change test") == tested]
        since = of["t"] - CHANGE
        inside = (of["energy_wh"] - of["predicted_wh"]).abs() <= of["half90_wh"]
        early, late = (since > 0) & (since <= WITHIN), (since > WITHIN) & (since <= CHANGE)
        held = [f"{inside[some].mean():.0%}".replace("%", " %") for some in (early, late)]
        regret_wh = of["regret_wh"][early | late].mean()
        cells.append([*alarms_after(of), *held, f"{regret_wh:.1f}"])
    cells[0][:2] = ["–", "–"]
    names = [
        f"changes detected within {WITHIN} trips",
        "trips to the alarm",
        f"90 % intervals hold, trips 1 to {WITHIN}",
        f"90 % intervals hold, trips {WITHIN + 1} to {CHANGE}",
        "regret (Wh a trip)",
    ]
    rows = [list(row) for row in zip(names, *cells, strict=True)]
    columns = ["from the first change on", "without tests", "with tests"]
    command = "python -m studies.pages --run changed-worlds"
    store("changed-worlds", columns, rows, command=command, networks=("denver", "monaco"))


def alarms_after(rounds: pd.DataFrame) -> list[str]:
    """Return the worlds with an alarm soon after the first change, and the trips of all."""
    delays = []
    for _, run in rounds.sort_values("t").groupby("run"):
        restarts = run.set_index("t")["restarts"]
        after = restarts.index[restarts > restarts[CHANGE]]
        delays.append(after[0] - CHANGE if len(after) else np.inf)
    found = sum(delay <= WITHIN for delay in delays)
    trips = ", ".join("none" if np.isinf(delay) else str(delay) for delay in sorted(delays))
    return [f"{found} of {len(delays)} worlds", trips]


CHANGE, WITHIN = 70, 20
"""Trips before the first change, and soon after it."""


def small(names: tuple[str, ...]) -> list[list[str]]:
    """Return energies of ten runs of eight trips in Denver: driven, by eq. 8, and the best."""
    wanted = evroute.Experiment.model_validate(
        {
            "trips": {"denver": ["C"]},
            "methods": ["recommended", "gp-ts"],
            "world": ["congestion"],
            "horizon": 8,
            "seeds": 5,
        }
    )
    with TemporaryDirectory() as folder:
        rounds = read_rounds(evroute.simulate(wanted, Path(folder)))
    rows = []
    for (method, seed), of in rounds.groupby(["method", "seed"]):
        sums = (of["true_wh"].sum(), of["eq8_wh"].sum(), of["best_wh"].sum())
        rows.append([f"{method}, world {seed}", *(f"{wh:.2f}" for wh in sums)])
    return rows


SMALL = ["method, world", "driven, Wh", "eq. 8 route, Wh", "best route, Wh"]
RUNS = {
    "demo-worlds": demo_worlds,
    "intervals-worlds": intervals_worlds,
    "false-alarms": false_alarms,
    "changed-worlds": changed_worlds,
}
INTERVALS = ("Gaussian", "conformal", "energy per km of past trips")
