"""Figures of simulated runs, each below its finding: the same ones as on the page of a report."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st
from literal import literal

from evroute.methods.method import Method
from evroute.methods.parts import named
from evroute.report.charts import CURVES
from evroute.report.charts.curves import Curve
from evroute.report.findings import finding

RECOMMENDED = "recommended method"
HEIGHT = 280
"""Height of a figure, pixels. Its width is given by its place."""


def in_plain_words(rounds: pd.DataFrame) -> pd.DataFrame:
    """Return rounds whose methods are called as in the README.

    Parameters
    ----------
    rounds
        From `read_rounds`.
    """
    label = Method.model_validate("recommended").label
    return rounds.assign(method=rounds["method"].str.replace(label, RECOMMENDED, regex=False))


def figures_of(rounds: pd.DataFrame) -> dict[str, Curve]:
    """Return the figures for which rounds have the numbers, by their names.

    Parameters
    ----------
    rounds
        From `read_rounds`.
    """
    found: dict[str, Any] = {name: named(CURVES, "figure", name) for name in CURVES}
    return {name: curve for name, curve in found.items() if curve.wanted(rounds)}


def show_pictures(rounds: pd.DataFrame, *, columns: int) -> None:
    """Show the figures of the runs of one trip, each below its finding.

    Parameters
    ----------
    rounds
        From `read_rounds`, of one trip.
    columns
        Number of figures beside each other. On a phone it is one.
    """
    pictures = {name: curve for name, curve in figures_of(rounds).items() if curve.short}
    names = list(pictures)
    for first in range(0, len(names), columns):
        row = names[first : first + columns]
        for name, place in zip(row, st.columns(columns, gap="medium"), strict=False):
            curve = pictures[name]
            chart = curve.small(rounds)
            with place:
                st.markdown(literal(finding(name, rounds)))
                st.caption(literal(chart.title.text))
                chart.title = alt.Undefined  # a chart cuts a title that is wider than itself
                chart = chart.properties(height=HEIGHT)
                st.altair_chart(chart, width="stretch", theme="streamlit")
