"""Learn: let methods drive a trip over and over in simulated worlds, and watch their regret."""

from contextlib import suppress
from pathlib import Path
from time import monotonic
from zlib import crc32

import streamlit as st
from cache import LEAFLET, methods, network, seconds
from streamlit_folium import st_folium

from evroute.energy.vehicle import vehicle_names
from evroute.errors import EvrouteError
from evroute.network.catalog import network_names
from evroute.network.trips import load_trips
from evroute.planning.weights import WEIGHT_RULES
from evroute.report.charts import beta, cumulative_regret, has_beta, saving
from evroute.report.maps import visits_map
from evroute.report.results import read_rounds, read_timings, read_visits
from evroute.report.table import final_table
from evroute.simulation.experiment import Experiment, simulate
from evroute.simulation.runs import RunFolder

RUNS = Path("runs")
DEFAULT_METHODS = ("GP-TS", "BI-TS", "GP-greedy")
REDRAW_S = 2.0
MAP_HEIGHT = 480


def main() -> None:
    try:
        experiment = ask()
        if experiment is None:
            return
        folder = RunFolder(RUNS / folder_name(experiment))
        tell_time(experiment, folder)
        if st.button("Run or continue", type="primary"):
            run(experiment, folder)
        if folder.finished_runs():
            show(experiment, folder)
    except (EvrouteError, OSError) as error:
        st.error(f"{error}.")


def ask() -> Experiment | None:
    """Ask for the experiment; None while something is missing."""
    with st.sidebar:
        network_name = st.selectbox("Network", list(network_names()))
        trips = st.multiselect("Trips", list(load_trips(network_name)), list(load_trips(network_name))[:1])
        vehicle_name = st.selectbox("Vehicle", vehicle_names())
        labels = st.multiselect("Methods", list(methods()), DEFAULT_METHODS)
        search = st.selectbox("Search", list(WEIGHT_RULES), list(WEIGHT_RULES).index("potential-rectified"))
        horizon = st.slider("Trips per world", 10, 500, 100, step=10)
        seeds = st.slider("Worlds", 1, 20, 3)
    if not trips or not labels:
        st.info("Choose at least one trip and one method.")
        return None
    return Experiment(
        trips={network_name: tuple(trips)},
        methods=tuple(methods()[label] for label in labels),
        search=(search,),
        horizon=horizon,
        seeds=seeds,
        vehicle=vehicle_name,
    )


def folder_name(experiment: Experiment) -> str:
    """Name the folder after the experiment, so that the same question always continues the same runs."""
    ((network_name, trips),) = experiment.trips.items()
    return f"{network_name}-{'-'.join(trips)}-{crc32(experiment.model_dump_json().encode()):08x}"


def tell_time(experiment: Experiment, folder: RunFolder) -> None:
    ((network_name, trips),) = experiment.trips.items()
    (search,) = experiment.search
    total_s = 0.0
    for trip in trips:
        for method in experiment.methods:
            start_s, trip_s = seconds(network_name, trip, experiment.vehicle, search, method.label)
            total_s += experiment.seeds * (start_s + experiment.horizon * trip_s)
    runs = len(list(experiment.runs()))
    st.write(
        f"{runs} runs of {experiment.horizon} trips take about **{max(total_s, 1):.0f} s** from the start. They are "
        f"kept in `{folder.path}`; interrupted, the same button continues."
    )


def run(experiment: Experiment, folder: RunFolder) -> None:
    """Simulate; redraw the regret of the runs finished so far now and then."""
    bar, picture = st.progress(0.0, "Preparing …"), st.empty()
    drawn_at, drawn = monotonic(), 0

    def on_progress(done: int, total: int) -> None:
        nonlocal drawn_at, drawn
        if done < total and monotonic() - drawn_at < REDRAW_S:
            return
        drawn_at = monotonic()
        bar.progress(done / total, f"{done:,} of {total:,} trips")
        if (finished := len(folder.finished_runs())) > drawn:
            drawn = finished
            with suppress(EvrouteError):  # a damaged part from before is about to be run again
                picture.altair_chart(cumulative_regret(read_rounds(folder)), width="content")

    simulate(experiment, folder.path, on_progress=on_progress)
    bar.empty()
    picture.empty()


def show(experiment: Experiment, folder: RunFolder) -> None:
    """Show the figures of the finished runs, and the roads that one of the methods drove."""
    rounds = read_rounds(folder)
    st.altair_chart(cumulative_regret(rounds), width="content")
    st.altair_chart(saving(rounds), width="content")
    if has_beta(rounds):
        st.altair_chart(beta(rounds), width="content")
    st.dataframe(final_table(rounds, read_timings(folder)).style.format(precision=1), hide_index=True)

    left, right = st.columns(2)
    method = left.selectbox("Roads driven by", list(dict.fromkeys(rounds["method"])))
    trip = right.selectbox("on trip", list(dict.fromkeys(rounds["trip"])))
    (network_name,) = experiment.trips
    roads = network(network_name)
    chosen = rounds[(rounds["method"] == method) & (rounds["trip"] == trip)]["run"].unique()
    st_folium(
        visits_map(roads, read_visits(folder, chosen, roads.n_edges), LEAFLET),
        key="explored",
        height=MAP_HEIGHT,
        use_container_width=True,
        returned_objects=[],
    )


main()
