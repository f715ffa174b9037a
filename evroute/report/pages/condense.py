"""Parts of many runs that fit on a page: pooled trips, the first panels, methods and maps."""

from typing import TYPE_CHECKING

from evroute.report.charts.styles import axes, method_styles, panel_labels

if TYPE_CHECKING:
    import pandas as pd

MAX_PANELS = 12
"""Largest number of panels of curves."""
MAX_METHODS = 12
"""Largest number of methods with maps, calibration and beliefs."""
MAX_MAPS = 4
"""Largest number of trips with maps."""


def few_panels(rounds: "pd.DataFrame") -> tuple["pd.DataFrame", list[str]]:
    """Return rounds that make at most 12 panels, and notes on the reduction.

    Too many trips become one panel for each network, prior, search and so on. Each world of each
    trip then counts as a separate world. If there are still too many panels, the first 12 in
    alphabetical order are kept.
    """
    notes = []
    if (panels := panel_labels(rounds).nunique()) > MAX_PANELS and rounds["trip"].nunique() > 1:
        trips = rounds.groupby("network")["trip"].transform("nunique")
        rounds = rounds.assign(
            seed=rounds.groupby(["trip", "seed"]).ngroup(),
            trip=trips.astype(str) + " trips together",
        )
        notes.append(
            f"Curves are means over all trips and worlds: {panels} panels would be too many."
        )
    labels = panel_labels(rounds)
    if (panels := labels.nunique()) > MAX_PANELS:
        rounds = rounds[labels.isin(sorted(labels.unique())[:MAX_PANELS])]
        notes.append(f"Curves of {MAX_PANELS} panels of {panels}. The tables have all panels.")
    return rounds, notes


def few_methods(rounds: "pd.DataFrame") -> tuple["pd.DataFrame", list[str]]:
    """Return the rounds of the first 12 methods in legend order, and a note on omitted ones."""
    methods = list(method_styles(rounds))
    if len(methods) <= MAX_METHODS:
        return rounds, []
    return rounds[rounds["method"].isin(methods[:MAX_METHODS])], [
        f"Maps, calibration figures and beliefs of {MAX_METHODS} methods of {len(methods)}. "
        "The tables have all methods."
    ]


def few_maps(rounds: "pd.DataFrame") -> tuple["pd.DataFrame", list[str]]:
    """Return the rounds of the first 4 trips and settings, and a note on omitted ones."""
    of_group = rounds.groupby(["network", "trip", *axes(rounds)], sort=False).ngroup()
    if (groups := int(of_group.max()) + 1) <= MAX_MAPS:
        return rounds, []
    return rounds[of_group < MAX_MAPS], [f"Maps of {MAX_MAPS} trips and settings of {groups}."]
