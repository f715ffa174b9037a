"""Summary of a simulation: final regret and energy of each method on each trip, over its worlds."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd

BLOCK = ["world", "search", "prior", "lengthscale"]
GROUP = ["network", "trip", *BLOCK, "method"]


def summarise(rounds: pa.Table) -> "pd.DataFrame":
    """Summarise ``rounds.parquet`` by group, in the order of the experiment.

    Groups of one world, search, prior and lengthscale stay together.

    Returns
    -------
    pandas.DataFrame
        One row per network, trip, world, search, prior, lengthscale and method: ``worlds``, the
        number of seeds; ``regret_wh`` and ``regret_se_wh``, mean final cumulative regret and its
        standard error (NaN for one seed); ``regret_geometric_wh``, its geometric mean (0 if any is
        0), less sensitive to heavy tails; ``against_eq8_wh`` and ``headroom_wh``, the true expected
        energy of the route driven, and of the best route, minus that of the eq. 8 route, means over
        all rounds. Wh.
    """
    frame = rounds.select([*GROUP, "run", "regret_wh", "true_wh", "eq8_wh", "best_wh"]).to_pandas()
    frame["against_eq8_wh"] = frame["true_wh"] - frame["eq8_wh"]
    frame["headroom_wh"] = frame["best_wh"] - frame["eq8_wh"]
    final_wh = frame.groupby([*GROUP, "run"], sort=False)["regret_wh"].sum()
    with np.errstate(divide="ignore"):
        table = final_wh.groupby(GROUP, sort=False).agg(
            worlds="size",
            regret_wh="mean",
            regret_se_wh="sem",
            regret_geometric_wh=lambda each: np.exp(np.log(each).mean()),
        )
    table = table.join(
        frame.groupby(GROUP, sort=False)[["against_eq8_wh", "headroom_wh"]].mean()
    ).reset_index()
    order: pd.DataFrame = table.iloc[
        table.groupby(BLOCK, sort=False).ngroup().argsort(kind="stable")
    ]
    return order
