"""Thompson sampling with one seed beside independent draws, on two routes.

    python studies/shared_seed.py
    python studies/shared_seed.py RUNS

The unknown route has k independent arms of 0.8 each. Another route is known and costs 0.9 k. The
prior of each arm is N(1, 0.5²), the noise of a measurement N(0, 0.5²). Draws below 0 are raised to
0, as the weight rule `potential` does where nothing rises. Three starts: the prior; every arm
measured once, one deviation too dear; a prior whose mean is 1.2. A run ends with the first of ten
rounds in a row on the unknown route, the better one, or after `MOST` rounds. `RUNS` runs each.
All of this was stated before the first run.

RUNS is a folder of ``evroute simulate`` with the index ``ts-shared``. The means of its rounds are
printed by the normal number z of the round, which is drawn again from the seed of the run: the
share of edges that cost nothing at this z before any trip, the length of the route, its regret.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.random import default_rng

from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.experiments.streams import streams
from evroute.methods.setting import load_setting

RUNS, MOST, IN_A_ROW = 300, 3000, 10
TRUE, KNOWN, PRIOR, STD, NOISE = 0.8, 0.9, 1.0, 0.5, 0.5
STARTS = ("prior", "one measurement too dear", "common error")
SCALES = (1.0, 0.5)


def rounds(k: int, start: str, scale: float, *, shared: bool) -> np.ndarray:
    """Return the rounds until the better route stays, (RUNS,). Infinite if it does not.

    Parameters
    ----------
    k
        Number of arms.
    start, scale
        One of `STARTS`, and the factor of the sampled variances.
    shared
        Whether all arms take the same quantile.
    """
    rng = np.random.default_rng([k, STARTS.index(start), int(shared), int(10 * scale)])
    mean = np.full((RUNS, k), 1.2 if start == "common error" else PRIOR)
    precision = np.full((RUNS, 1), STD**-2)
    if start == "one measurement too dear":
        mean = (mean * precision + (TRUE + NOISE) * NOISE**-2) / (precision + NOISE**-2)
        precision = precision + NOISE**-2
    row, found = np.zeros(RUNS), np.full(RUNS, np.inf)
    for t in range(1, MOST + 1):
        normal = rng.standard_normal((RUNS, 1 if shared else k))
        draw = np.maximum(mean + normal * np.sqrt(scale / precision), 0.0).sum(axis=1)
        chosen = draw < KNOWN * k
        energy = TRUE + NOISE * rng.standard_normal((RUNS, k))
        learned = precision + NOISE**-2
        updated = (mean * precision + energy * NOISE**-2) / learned
        mean = np.where(chosen[:, np.newaxis], updated, mean)
        precision = np.where(chosen[:, np.newaxis], learned, precision)
        row = np.where(chosen, row + 1, 0)
        found = np.where(np.isinf(found) & (row == IN_A_ROW), t - IN_A_ROW + 1, found)
        if np.isfinite(found).all():
            break
    return found


def by_z(path: Path) -> None:
    """Print the means of the rounds with one seed, by the normal number z of the round."""
    folder, tables = RunFolder(path), []
    experiment = Experiment.model_validate(folder.manifest()["configuration"])
    for run in experiment.runs():
        if run.method.index != "ts-shared":
            continue
        setting = load_setting(run.network, run.vehicle, run.assumed)
        z = default_rng(streams(run, setting).policy).standard_normal(run.horizon)
        scale = run.method.options.get("variance_scale", 0.5)
        in_std = setting.prior.dissipated_wh / np.sqrt(scale * setting.prior_variance_wh2)
        part = pq.read_table(path / "parts" / f"{run.name}.parquet").to_pandas()
        tables.append(
            pd.DataFrame(
                {
                    "model": run.method.model,
                    "z": pd.cut(z, [-np.inf, -1, 0, 1, np.inf]),
                    "free edges, %": 100 * (z[:, np.newaxis] < -in_std).mean(axis=1),
                    "length_m": part["length_m"],
                    "regret_wh": part["regret_wh"],
                }
            )
        )
    groups = pd.concat(tables).groupby(["model", "z"], observed=True)
    print(groups.mean().join(groups.size().rename("rounds")).round(1).to_string())


def main() -> None:
    """Print mean and 90 % quantile of the rounds."""
    rows = []
    for scale in SCALES:
        for start in STARTS:
            for k in (5, 20, 80):
                for shared in (False, True):
                    found = rounds(k, start, scale, shared=shared)
                    ended = np.isfinite(found)
                    rows.append(
                        {
                            "v": scale,
                            "start": start,
                            "k": k,
                            "draws": "shared" if shared else "independent",
                            "ended": int(ended.sum()),
                            "mean": found[ended].mean() if ended.any() else np.nan,
                            "90 %": np.quantile(np.where(ended, found, 1e9), 0.9),
                        }
                    )
    print(pd.DataFrame(rows).round(0).to_string(index=False))


if __name__ == "__main__":
    if sys.argv[1:]:
        by_z(Path(sys.argv[1]))
    else:
        main()
