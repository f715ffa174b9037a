"""Learn: let methods drive a trip over and over in simulated worlds, and watch their regret."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from zlib import crc32

import streamlit as st
from cache import LEAFLET, RUNS, choose_known_network, methods, network, seconds
from pydantic import ValidationError
from state import key, starting
from streamlit_folium import st_folium

from evroute.energy.vehicle import vehicle_names
from evroute.errors import EvrouteError
from evroute.network.trips import load_trips
from evroute.planning.weights import WEIGHT_RULES
from evroute.report.charts import beta, cumulative_regret, has_beta, saving
from evroute.report.maps import visits_map
from evroute.report.results import read_rounds, read_timings, read_visits
from evroute.report.table import final_table
from evroute.resources import app_path
from evroute.simulation.experiment import Experiment
from evroute.simulation.runs import RunFolder
from evroute.simulation.worlds.world import WORLDS, shipped_worlds

DEFAULT_METHODS = ["GP-TS", "BI-TS", "GP-greedy"]
WITHOUT_A_FILE = {"sampled-gp", "physics"}
REDRAW_S = 2.0
MAP_HEIGHT = 480


def main() -> None:
    try:
        experiment = ask()
        if experiment is None:
            return
        folder = RunFolder(RUNS / folder_name(experiment))
        watch(experiment, folder)
    except (EvrouteError, OSError) as error:
        st.error(f"{error}.")


def ask() -> Experiment | None:
    """Ask for the experiment; None while something is missing or makes no sense."""
    with st.sidebar:
        network_name = choose_known_network()
        trips = list(load_trips(network_name))
        named = st.multiselect("Trips", trips, trips[:1], key=key(f"trips:{network_name}"))
        starting("own_trip", "")
        own = st.text_input("And one of your own", key=key("own_trip"), placeholder="PLACE to PLACE")
        worlds = [*sorted(WORLDS.keys() & WITHOUT_A_FILE), *shipped_worlds()]
        starting("world", "sampled-gp", worlds)
        world = st.selectbox("World", worlds, key=key("world"), help="Where the truth comes from.")
        starting("learner", vehicle_names()[0], vehicle_names())
        vehicle_name = st.selectbox("Vehicle", vehicle_names(), key=key("learner"))
        known = [label for label in DEFAULT_METHODS if label in methods()]
        labels = st.multiselect("Methods", list(methods()), known, key=key("methods"))
        starting("search", "potential-rectified", list(WEIGHT_RULES))
        search = st.selectbox("Search", list(WEIGHT_RULES), key=key("search"))
        starting("horizon", 100, (10, 500))
        horizon = st.slider("Trips per world", 10, 500, step=10, key=key("horizon"))
        starting("seeds", 3, (1, 20))
        seeds = st.slider("Worlds", 1, 20, key=key("seeds"))
    wanted = [*named, own.strip()] if own.strip() else named
    if not wanted or not labels:
        st.info("Choose at least one trip and one method.")
        return None
    try:
        return Experiment(
            trips={network_name: tuple(wanted)},
            methods=tuple(methods()[label] for label in labels),
            search=(search,),
            horizon=horizon,
            seeds=seeds,
            vehicle=vehicle_name,
            world=(world,),
        )
    except ValidationError as error:
        st.error(f"{error.errors()[0]['msg']}.")
        return None


def folder_name(experiment: Experiment) -> str:
    """Name the folder after the experiment, so that the same question always continues the same runs."""
    ((network_name, trips),) = experiment.trips.items()
    name = f"{network_name}-{'-'.join(trips)}"
    safe = "".join(sign if sign.isalnum() or sign == "-" else "_" for sign in name)[:60]
    return f"{safe}-{crc32(experiment.model_dump_json().encode()):08x}"


def watch(experiment: Experiment, folder: RunFolder) -> None:
    """Tell the price, offer the buttons, and show what is finished: anew every other second while it runs."""
    runs = len(list(experiment.runs()))
    st.write(
        f"{runs} runs of {experiment.horizon} trips take about **{max(price_s(experiment), 1):.0f} s** from the "
        f"start. They are kept in `{folder.path}`; stopped, the same button continues."
    )
    running = worker(folder) is not None
    go, halt, _ = st.columns([2, 1, 3])
    if go.button("Run or continue", type="primary", disabled=running):
        start(experiment, folder)
        st.rerun()
    if halt.button("Stop", disabled=not running):
        stop(folder)
        st.rerun()

    @st.fragment(run_every=REDRAW_S if running else None)
    def live() -> None:
        trouble = progress(folder)
        if running and worker(folder) is None:
            st.rerun()
        if trouble:
            st.error(f"{trouble}.")
        if folder.finished_runs():
            try:
                curves(folder)
            except EvrouteError as error:
                if not running:  # else a damaged part is about to be run again
                    st.error(f"{error}.")

    live()
    if not running and folder.finished_runs():
        numbers(experiment, folder)


def price_s(experiment: Experiment) -> float:
    """Return what the experiment takes from the start, s, from a few timed trips of each method."""
    ((network_name, trips),) = experiment.trips.items()
    (search,), (world,) = experiment.search, experiment.world
    total_s = 0.0
    for trip in trips:
        for method in experiment.methods:
            start_s, trip_s = seconds(
                network_name, trip, experiment.vehicle, search, world.name or world.kind, method.label
            )
            total_s += experiment.seeds * (start_s + experiment.horizon * trip_s)
    return total_s


def workers() -> dict[str, tuple[subprocess.Popen[bytes], Path]]:
    """Return the simulations that this session started, and where each tells its progress, by folder."""
    started: dict[str, tuple[subprocess.Popen[bytes], Path]] = st.session_state.setdefault("workers", {})
    return started


def worker(folder: RunFolder) -> subprocess.Popen[bytes] | None:
    """Return the process that works on a folder, if one does."""
    process, _ = workers().get(folder.path.name, (None, None))
    return process if process is not None and process.poll() is None else None


def start(experiment: Experiment, folder: RunFolder) -> None:
    place = Path(mkdtemp(prefix="evroute-"))
    (place / "experiment.json").write_text(experiment.model_dump_json(exclude_none=True), encoding="utf-8")
    command = [sys.executable, app_path("worker.py"), place / "experiment.json", folder.path, place / "progress.json"]
    process = subprocess.Popen(list(map(str, command)))
    workers()[folder.path.name] = (process, place / "progress.json")


def stop(folder: RunFolder) -> None:
    if process := worker(folder):
        process.terminate()
        process.wait()


def progress(folder: RunFolder) -> str:
    """Show how far the work on a folder is; return what went wrong, if anything did."""
    process, path = workers().get(folder.path.name, (None, Path()))
    if process is None:
        return ""
    told = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if process.poll() is None:
        share = told["done"] / told["total"] if told else 0.0
        st.progress(share, f"{told['done']:,} of {told['total']:,} trips" if told else "Preparing …")
    return str(told.get("error", ""))


def curves(folder: RunFolder) -> None:
    """Show the curves of the finished runs."""
    rounds = read_rounds(folder)
    st.altair_chart(cumulative_regret(rounds), width="content", theme=None)
    st.altair_chart(saving(rounds), width="content", theme=None)
    if has_beta(rounds):
        st.altair_chart(beta(rounds), width="content", theme=None)


def numbers(experiment: Experiment, folder: RunFolder) -> None:
    """Show the final table, and the roads that one of the methods drove."""
    rounds = read_rounds(folder)
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
