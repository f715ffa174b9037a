"""Findings of runs: green only where a saving is certain."""

from collections.abc import Iterable

import streamlit as st
from literal import literal

from evroute.report.abstract import Finding


def show_findings(findings: Iterable[Finding]) -> None:
    """Show findings, those of a certain saving in green."""
    for finding in findings:
        (st.success if finding.saves else st.info)(literal(finding.text))
