"""Summary of a simulation: final regret and energy of each method on each trip, over its worlds."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Summary:
    """One method on one trip in one world with one search, prior and lengthscale, over all seeds.

    Parameters
    ----------
    network, trip, world, prior, lengthscale, search, method
        Keys of the group.
    worlds
        Number of seeds.
    regret_wh, regret_se_wh
        Mean final cumulative regret and its standard error (NaN for one seed), Wh.
    regret_geometric_wh
        Geometric mean of the final regret (0 if any is 0), less sensitive to heavy tails, Wh.
    against_eq8_wh
        Mean over all rounds of the true expected energy of the route driven minus that of the eq.
        8 route, Wh.
    headroom_wh
        Mean over all rounds of the true expected energy of the best route minus that of the eq. 8
        route, Wh: the possible saving, negative.
    """

    network: str
    trip: str
    world: str
    prior: str
    lengthscale: float
    search: str
    method: str
    worlds: int
    regret_wh: float
    regret_se_wh: float
    regret_geometric_wh: float
    against_eq8_wh: float
    headroom_wh: float


def summarise(rounds: pa.Table) -> list[Summary]:
    """Summarise ``rounds.parquet`` by group, in the order of the experiment.

    Groups of one world, search, prior and lengthscale stay together.
    """
    keys = ("network", "trip", "world", "prior", "lengthscale", "search", "method")
    names = list(zip(*(rounds[key].to_pylist() for key in keys), strict=True))
    run, regret_wh, saved_wh = (
        np.asarray(rounds[name].to_pylist()) for name in ("run", "regret_wh", "true_wh")
    )
    saved_wh = saved_wh - rounds["eq8_wh"].to_numpy()
    headroom_wh = rounds["best_wh"].to_numpy() - rounds["eq8_wh"].to_numpy()
    summaries = []
    for group in dict.fromkeys(names):
        network, trip, world, prior, lengthscale, search, method = group
        rows = np.array([name == group for name in names])
        _, of_world = np.unique(run[rows], return_inverse=True)
        final_wh = np.bincount(of_world, weights=regret_wh[rows])
        n = len(final_wh)
        with np.errstate(divide="ignore"):
            geometric_wh = float(np.exp(np.log(final_wh).mean()))
        summaries.append(
            Summary(
                network=network,
                trip=trip,
                world=world,
                prior=prior,
                lengthscale=lengthscale,
                search=search,
                method=method,
                worlds=n,
                regret_wh=float(final_wh.mean()),
                regret_se_wh=float(final_wh.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan"),
                regret_geometric_wh=geometric_wh,
                against_eq8_wh=float(saved_wh[rows].mean()),
                headroom_wh=float(headroom_wh[rows].mean()),
            )
        )
    blocks = list(dict.fromkeys(map(_block, summaries)))
    return sorted(summaries, key=lambda each: blocks.index(_block(each)))


def _block(summary: Summary) -> tuple[str, str, str, float]:
    return summary.world, summary.search, summary.prior, summary.lengthscale
