"""Tables of *does learning pay*: `guard_worlds.py` plays the worlds in a night.

`small` plays ten short runs in congestion, which `make test` plays again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import evroute
from evroute.experiments.experiment import load_experiment
from evroute.report.abstract import faster
from evroute.report.charts.interval_scores import interval_table
from evroute.report.charts.mean_interval import half_interval
from evroute.report.charts.worlds import saved_shares
from evroute.report.results import read_rounds
from evroute.resources import data_path
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
RUNS = {"demo-worlds": demo_worlds, "intervals-worlds": intervals_worlds}
INTERVALS = ("Gaussian", "conformal", "energy per km of past trips")
