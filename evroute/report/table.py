"""Tables as data frames: the routes of a plan side by side, and the final values of simulations."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from evroute.planning.plan import Plan
from evroute.report.charts.styles import AXES, axes, in_legend_order
from evroute.report.extras import pd
from evroute.report.words import NUMBERS, distinct_routes

FIRST_TRIPS = 10
LAST_TRIPS = 50
SMALL_SHARE = 0.005
"""Share of the eq. 8 route's energy: headroom below it counts as none, a loss above it as harm."""
MEANINGS = {
    "worlds": "simulated worlds",
    "regret, mean (Wh)": "energy above the best routes by the rule of the search, in all trips",
    "± se (Wh)": "standard error of this mean over the worlds",
    "median (Wh)": "regret in the median world",
    "geometric mean (Wh)": "regret as a geometric mean, which a single bad world moves less",
    f"saved vs physics, last {LAST_TRIPS} (Wh per trip)": (
        "true energy saved on a trip against the route by physics alone"
    ),
    "trips on the best route (%)": "trips without regret",
    "time per trip (ms)": "computing time of a trip",
}
"""What the columns of `final_table` mean, in words."""


def plan_table(plan: Plan) -> "pd.DataFrame":
    """Return one row per distinct route of a plan. Charges only if the plan has a battery."""
    rows: list[dict[str, Any]] = [
        {"route": label} | {each.title: each.of(plan, name) for each in NUMBERS.values()}
        for name, label in distinct_routes(plan).items()
    ]
    return pd.DataFrame(rows).set_index("route").dropna(axis="columns", how="all")


def means(
    frame: "pd.DataFrame", rounds: "pd.DataFrame", keys: list[str], columns: Iterable[str]
) -> "pd.DataFrame":
    """Return the number of trips and the means of columns by group, methods in legend order.

    Parameters
    ----------
    frame
        One row for each trip.
    rounds
        From `results.read_rounds`. Gives the order of the methods.
    keys
        Columns of ``frame`` that name a group, ``method`` among them.
    columns
        Columns of numbers.
    """
    groups = in_legend_order(frame, rounds).groupby(keys, observed=True)
    table = groups[list(columns)].mean().assign(trips=groups.size().astype(float))
    return table[["trips", *columns]].reset_index().astype({"method": str})


def label_columns(rounds: "pd.DataFrame") -> list[str]:
    """Return the columns that name a row of `final_table`."""
    return [
        "network",
        "trip",
        *(axis for axis in AXES if axis == "search" or axis in axes(rounds)),
        "method",
    ]


def final_table(rounds: "pd.DataFrame", timings: "pd.DataFrame") -> "pd.DataFrame":
    """Return the final regret, Wh, and speed: one row per method, trip, search, prior, lengthscale.

    Regrets are cumulative. The geometric mean is 0 if any regret is. A standard error of one world
    is NaN. ``saved vs physics`` is the mean over the last 50 trips of the true expected energy of
    the eq. 8 route minus the energy of the route driven. A trip is on the best route if its regret
    is 0.

    Parameters
    ----------
    rounds, timings
        From `results.read_rounds` and `results.read_timings`.
    """
    keys = label_columns(rounds)
    frame = in_legend_order(rounds, rounds).assign(
        saved_wh=(rounds["eq8_wh"] - rounds["true_wh"]).where(
            rounds["t"] > rounds["t"].max() - LAST_TRIPS
        ),
        on_best=rounds["regret_wh"] == 0,
    )
    runs = (
        frame.groupby([*keys, "run"], observed=True)
        .agg(
            final_wh=("regret_wh", "sum"),
            saved_wh=("saved_wh", "mean"),
            on_best=("on_best", "mean"),
        )
        .join(timings.groupby("run")["ms"].mean(), on="run")
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
            f"saved vs physics, last {LAST_TRIPS} (Wh per trip)": ("saved_wh", "mean"),
            "trips on the best route (%)": ("on_best", "mean"),
            "time per trip (ms)": ("ms", "mean"),
        }
    )
    table["geometric mean (Wh)"] = np.exp(table["geometric mean (Wh)"])
    table["trips on the best route (%)"] *= 100
    return table.reset_index().astype({"method": str})
