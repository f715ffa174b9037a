"""The table of final values: what each method cost on each trip, over its worlds."""

from typing import TYPE_CHECKING

import numpy as np

from evroute.report.charts import method_styles

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("network", "trip", "search", "method")
LAST_TRIPS = 50
_TIMES = ["posterior_s", "index_s", "search_s", "update_s"]


def final_table(rounds: "pd.DataFrame", timings: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row for each network, trip, search and method; regrets are cumulative, at the end, Wh.

    The geometric mean is 0 if any regret is; a standard error of one world is NaN. ``vs eq. 8`` is the mean over the
    last 50 trips of the true expected energy of the route driven minus that of the eq. 8 route. A trip is on the best
    route if its regret is 0.

    Parameters
    ----------
    rounds, timings
        From `results.read_rounds` and `results.read_timings`.
    """
    import pandas as pd

    keys = [*LABELS]
    order = list(method_styles(rounds))
    frame = rounds.assign(
        method=pd.Categorical(rounds["method"], order, ordered=True),
        saved_wh=(rounds["true_wh"] - rounds["eq8_wh"]).where(rounds["t"] > rounds["t"].max() - LAST_TRIPS),
        on_best=rounds["regret_wh"] == 0,
    )
    ms_of_run = timings.assign(ms=timings[_TIMES].sum(axis=1) * 1000).groupby("run")["ms"].mean()
    runs = (
        frame.groupby([*keys, "run"], observed=True)
        .agg(final_wh=("regret_wh", "sum"), saved_wh=("saved_wh", "mean"), on_best=("on_best", "mean"))
        .join(ms_of_run, on="run")
    )
    with np.errstate(divide="ignore"):
        runs["log_wh"] = np.log(runs["final_wh"])
    table = runs.groupby(level=keys, observed=True).agg(
        **{
            "worlds": ("final_wh", "size"),
            "regret, mean (Wh)": ("final_wh", "mean"),
            "± se (Wh)": ("final_wh", "sem"),
            "median (Wh)": ("final_wh", "median"),
            "geometric mean (Wh)": ("log_wh", "mean"),
            f"vs eq. 8, last {LAST_TRIPS} (Wh per trip)": ("saved_wh", "mean"),
            "trips on the best route (%)": ("on_best", "mean"),
            "time per trip (ms)": ("ms", "mean"),
        }
    )
    table["geometric mean (Wh)"] = np.exp(table["geometric mean (Wh)"])
    table["trips on the best route (%)"] *= 100
    return table.reset_index().astype({"method": str})
