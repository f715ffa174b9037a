"""Results of saved simulations side by side, and their files for download."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from cache import RUNS, network, run_folders
from findings import show_findings, show_table
from literal import literal, sentence
from map_component import LatLon, bounds_of, classes_of, show_map
from pictures import figures_of, in_plain_words, show_pictures
from player import played
from state import ask, starting

from evroute.arrays import IntArray
from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.network.road_network import RoadNetwork
from evroute.report.abstract import SHOWN_SENTENCES, abstract
from evroute.report.calibration import calibration_table, forecasts, reliability
from evroute.report.charts.profile import svg
from evroute.report.charts.styles import method_styles, panel_labels
from evroute.report.colours import visit_classes
from evroute.report.pages.run_page import build_page
from evroute.report.reserve import charges, reserve_reliability, reserve_table
from evroute.report.results import read_rounds, read_timings, read_visits
from evroute.report.table import final_table
from evroute.tables import csv_of
from evroute.text import slug

MAP_HEIGHT = "440px"


def saved_runs(*, newest: bool) -> list[str]:
    """Show saved runs side by side, and return the names of the inputs.

    Parameters
    ----------
    newest
        Whether the newest folder is shown at first, or none.
    """
    folders = run_folders()
    if not folders:
        return []
    st.header("Saved runs", anchor=False)
    starting("compared", folders[:1] if newest else [], folders)
    chosen = ask(
        st.multiselect,
        "Saved runs",
        "compared",
        options=folders,
        help="Several are compared.",
        label_visibility="collapsed",
    )
    names = ["compared", "panel", *(f"until:{name}" for name in chosen)]
    if not chosen:
        return names
    shown = []
    for name in chosen:
        try:
            folder = RunFolder(RUNS / name)
            shown.append((folder, folder.manifest(), read_rounds(folder)))
        except EvrouteError as error:
            st.error(literal(f"{error}."))
    if shown:
        compare(shown)
        for folder, manifest, rounds in shown:
            details(folder, manifest, in_plain_words(rounds))
    return names


def compare(shown: list[tuple[RunFolder, dict[str, Any], pd.DataFrame]]) -> None:
    """Draw the curves of all folders together. With several, method names start with the folder."""
    frames, timings = [], []
    for folder, _, rounds in shown:
        prefix = f"{folder.path.name}/"
        several = len(shown) > 1
        frames.append(
            rounds.assign(
                method=[prefix + method for method in rounds["method"]]
                if several
                else rounds["method"],
                run=prefix + rounds["run"],
            )
        )
        timings.append(
            read_timings(folder).assign(run=lambda table, prefix=prefix: prefix + table["run"])
        )
    together = in_plain_words(pd.concat(frames, ignore_index=True))
    show_findings(abstract(together)[:SHOWN_SENTENCES])
    panels = panel_labels(together)
    panel = panels.iloc[0]
    if panels.nunique() > 1:
        starting("panel", panel, sorted(panels.unique()))
        panel = ask(st.selectbox, "Runs on", "panel", options=sorted(panels.unique()))
    show_pictures(together[panels == panel], columns=1)
    st.caption("Bands: one standard error of the mean over the worlds.")
    figures = figures_of(together)
    with st.expander("All figures"):
        for curve in figures.values():
            if not curve.short:
                st.altair_chart(curve.draw(together), width="content", theme="streamlit")
                st.caption(literal(curve.caption))
        for name, curve in figures.items():
            download(partial(curve.draw, together), name)
    table = final_table(together, pd.concat(timings, ignore_index=True))
    show_table(table)
    show_calibration(together)
    show_reserve(together)
    left, right = st.columns(2)
    left.download_button(
        "This table (CSV)", csv_of(table), "final.csv", "text/csv", on_click="ignore"
    )
    rows = partial(csv_of, together)
    right.download_button("All rounds (CSV)", rows, "rounds.csv", "text/csv", on_click="ignore")


def figure(chart: Any, name: str) -> None:
    """Show a figure with a download button."""
    st.altair_chart(chart, width="content", theme="streamlit")
    download(lambda: chart, name)


def download(draw: Callable[[], Any], name: str) -> None:
    """Offer a figure as a file. It is drawn once that is wanted."""
    st.download_button(
        f"Figure: {literal(name)} (SVG)",
        lambda: svg(draw()),
        f"{name}.svg",
        "image/svg+xml",
        on_click="ignore",
    )


def show_calibration(rounds: pd.DataFrame) -> None:
    """Show the calibration of the intervals, if the runs are long enough."""
    if "half90_wh" not in rounds:
        return
    frame = forecasts(rounds)
    if frame.empty:
        return
    with st.expander("Calibration of the intervals"):
        st.dataframe(calibration_table(rounds).style.format(precision=1), hide_index=True)
        figure(reliability(frame), "intervals")


def show_reserve(rounds: pd.DataFrame) -> None:
    """Show the calibration of the reserve probability, if the runs have a battery."""
    frame = charges(rounds)
    if frame.empty:
        return
    with st.expander("Charge below the reserve"):
        st.dataframe(reserve_table(rounds).style.format(precision=1), hide_index=True)
        if frame["p_reserve_widened"].notna().any():
            figure(reserve_reliability(frame), "reserve")


def details(folder: RunFolder, manifest: dict[str, Any], rounds: pd.DataFrame) -> None:
    """Show the roads driven up to a round, and offer report and manifest of one folder.

    Parameters
    ----------
    folder, manifest
        The run folder and its manifest.
    rounds
        From `read_rounds`.
    """
    name = folder.path.name
    with st.expander(f"{literal(name)}: roads driven, report, configuration", expanded=True):
        last = max(int(rounds["t"].max()), 2)
        played(name, last, partial(explored, folder, manifest, rounds))
        left, right = st.columns(2)
        if left.button("Make the report", key=f"make:{name}"):
            with st.spinner("Drawing …"):
                st.session_state[f"report:{name}"] = len(rounds), build_page(folder).html
        made_of, html = st.session_state.get(f"report:{name}", (0, ""))
        if made_of == len(rounds):  # else it lacks newer runs
            left.download_button(
                "Download the report (HTML)", html, f"{name}.html", key=f"report-of:{name}"
            )
        right.download_button(
            "Manifest (JSON)",
            json.dumps(manifest, indent=2),
            f"{name}.json",
            key=f"manifest:{name}",
        )
        st.json(manifest["configuration"], expanded=False)


def explored(folder: RunFolder, manifest: dict[str, Any], rounds: pd.DataFrame, until: int) -> None:
    """Show the roads that the methods drove up to a trip.

    Parameters
    ----------
    folder, manifest
        The run folder and its manifest.
    rounds
        From `read_rounds`, with the words of the README.
    until
        Number of the trip.
    """
    name = folder.path.name
    pairs = list(rounds[["network", "trip"]].drop_duplicates().itertuples(index=False, name=None))
    starting(f"explored:{name}", pairs[0], pairs)
    network_name, trip = ask(
        st.selectbox, "Roads driven on", f"explored:{name}", options=pairs, format_func=" ".join
    )
    here = rounds[(rounds["network"] == network_name) & (rounds["trip"] == trip)]
    try:
        roads = network(network_name)
        if roads.digest != manifest["networks"].get(network_name):
            st.info(sentence(f"the network '{network_name}' has changed since the run"))
            return
        runs_of = here.groupby("method")["run"].unique()
        shown = list(method_styles(here))
        method = shown[0]
        if len(shown) > 1:
            starting(f"explored_by:{name}", shown[0], shown)
            method = ask(st.selectbox, "Driven by", f"explored_by:{name}", options=shown)
        visits = read_visits(folder, runs_of[method], roads.n_edges, until=until)
        ever = read_visits(folder, runs_of[shown].explode(), roads.n_edges)
        classes = visit_classes(max(int(ever.max()), 1))
        drawn = classes_of(roads, np.where(visits > 0, visits, np.nan), classes)
        show_map(
            roads,
            key=f"explored-{name}-{network_name}-{slug(trip)}",
            height=MAP_HEIGHT,
            drawn=drawn,
            bounds=around(roads, ever),
        )
        st.caption(sentence(f"roads driven by {method} up to trip {until}, in all worlds"))
    except EvrouteError as error:
        st.error(literal(f"{error}."))


def around(roads: RoadNetwork, visits: IntArray) -> tuple[LatLon, LatLon] | None:
    """Return the corners around the driven roads, or None if none is driven.

    Parameters
    ----------
    roads
        The network.
    visits
        (n,) number of trips over each edge.
    """
    lon, lat = roads.junction_lon_lat
    ends = np.concatenate([each[visits > 0] for each in (roads.tail, roads.head)])
    return bounds_of(list(zip(lat[ends].tolist(), lon[ends].tolist(), strict=True)))
