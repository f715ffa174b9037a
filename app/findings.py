"""Findings of runs, green only where a saving is certain, and tables that fit the page."""

from collections.abc import Iterable

import pandas as pd
import streamlit as st
from literal import literal

from evroute.report.abstract import Finding

NAMES_WIDTH = 240
"""Of the names of a turned table, pixels."""


def show_findings(findings: Iterable[Finding]) -> None:
    """Show findings, a certain saving in green."""
    for finding in findings:
        (st.success if finding.saves else st.info)(literal(finding.text))


def show_table(table: pd.DataFrame) -> None:
    """Show a table of few rows and many columns turned on its side: a column for each row."""
    texts = table.map(lambda value: f"{value:.1f}" if isinstance(value, float) else str(value))
    turned = texts.T
    if texts["method"].is_unique:
        turned = texts.set_index("method").T
    names = {"_index": st.column_config.TextColumn(width=NAMES_WIDTH)}
    st.dataframe(turned.rename(columns=str), width="stretch", column_config=names)
