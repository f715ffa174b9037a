"""Whether the routes that the demo learns are also faster, over 30 worlds.

    evroute simulate data/experiments/demo.toml --seeds 30 --jobs 2 --out runs/demo-30
    python studies/demo_figures.py runs/demo-30

The rule was written before the run: the learned routes are called faster if the time that they
save against the routes by physics, over the last trips of a world, has a 95 % interval over the
worlds (Student's t) above zero, and at most one world in ten is slower.
"""

import sys
from pathlib import Path

import numpy as np

from evroute.experiments.runs import RunFolder
from evroute.report.abstract import faster
from evroute.report.charts.mean_interval import half_interval
from evroute.report.charts.worlds import saved_shares
from evroute.report.results import read_rounds


def main(folder: Path) -> None:
    """Print both savings and the verdict."""
    for measure, rows in saved_shares(read_rounds(RunFolder(folder))).groupby("measure"):
        saved = rows["value"].to_numpy()
        half = half_interval(saved, 0.95)
        lost = (saved < 0).mean()
        print(
            f"{measure}: mean {saved.mean():+.1f} ± {half:.1f}, median {np.median(saved):+.1f}, "
            f"worst {saved.min():+.1f}, below zero in {lost:.0%} of {len(saved)} worlds"
        )
        if measure.startswith("time"):
            verdict = "faster" if faster(saved) else "not called faster"
            print(f"the learned routes are {verdict} (`evroute.report.abstract.faster`)")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
