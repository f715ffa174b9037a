"""Page Learn: methods drive a trip repeatedly in simulated worlds; their regret is shown."""

from typing import Any

import numpy as np
import streamlit as st
from cache import RUNS, choose_known_network, first_trip, methods, network, price_s
from literal import literal
from map_component import classes_of, show_map
from pydantic import ValidationError
from simulations import (
    WITHOUT_A_FILE,
    folder_name,
    is_running,
    own_world,
    progress,
    running,
    start,
    stop,
    trouble,
)
from state import key, starting

from evroute.energy.vehicle import vehicle_names
from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.invalid import first_problem
from evroute.network.trips import load_trips
from evroute.planning.weights import WEIGHT_RULES
from evroute.report.abstract import SHOWN_SENTENCES, abstract
from evroute.report.charts import beta, cumulative_regret, has_beta, saving
from evroute.report.colours import visit_classes
from evroute.report.results import read_rounds, read_timings, read_visits
from evroute.report.table import final_table
from evroute.worlds.demand.demand import is_file
from evroute.worlds.world import shipped_worlds

DEFAULT_METHODS = ["GP-TS", "BI-TS", "BI-UCB"]
REDRAW_S = 2.0
MAP_HEIGHT = "480px"


def main() -> None:
    st.title("Let methods learn", anchor=False)
    st.caption(
        "Methods drive a trip repeatedly in simulated worlds, where roads take more or less "
        "energy than by physics, and learn from their measurements. Regret is the energy lost "
        "against a driver who knows the world."
    )
    try:
        experiment = ask()
        folder = None if experiment is None else RunFolder(RUNS / folder_name(experiment))
        others([each for each in running(RUNS) if each != folder])
        if experiment is not None and folder is not None:
            watch(experiment, folder)
    except (EvrouteError, OSError) as error:
        st.error(literal(f"{error}."))


def ask() -> Experiment | None:
    """Ask for the experiment; return None if an input is missing or invalid."""
    with st.sidebar:
        network_name = choose_known_network()
        trips = list(load_trips(network_name))
        first = [first_trip(network(network_name))] if trips else []
        starting(f"trips:{network_name}", first)
        named = st.multiselect("Trips", trips, key=key(f"trips:{network_name}"))
        starting("own_trip", "")
        own = st.text_input(
            "Another trip",
            key=key("own_trip"),
            placeholder="PLACE to PLACE",
            help="Or: random 2-5 km",
        )
        world = ask_world()
        known = [label for label in DEFAULT_METHODS if label in methods()]
        starting("methods", known)
        labels = st.multiselect("Methods", list(methods()), key=key("methods"))
        starting("horizon", 100, (10, 500))
        horizon = st.slider("Trips per world", 10, 500, step=10, key=key("horizon"))
        starting("seeds", 3, (1, 20))
        seeds = st.slider("Worlds", 1, 20, key=key("seeds"))
        starting("learner", vehicle_names()[0], vehicle_names())
        vehicle_name = st.selectbox("Vehicle", vehicle_names(), key=key("learner"))
        starting("search", "potential-rectified", list(WEIGHT_RULES))
        search = st.selectbox("Search", list(WEIGHT_RULES), key=key("search"))
    requested = [*named, own.strip()] if own.strip() else named
    if not requested or not labels:
        st.info("Choose at least one trip and one method.")
        return None
    if is_file(own.strip()):
        raise EvrouteError(f"'{own.strip()}' is a file; files of trips are for `evroute simulate`")
    try:
        return Experiment(
            trips={network_name: tuple(requested)},
            methods=tuple(methods()[label] for label in labels),
            search=(search,),
            horizon=horizon,
            seeds=seeds,
            vehicle=vehicle_name,
            world=(world,),
        )
    except ValidationError as error:
        st.error(literal(f"{first_problem(error)}."))
        return None


def ask_world() -> Any:
    """Ask for the world: a kind that needs no file, a shipped one, or an uploaded world file.

    Raises
    ------
    EvrouteError
        If the file is no world, or one of a kind that reads other files.
    """
    worlds = [*WITHOUT_A_FILE, *shipped_worlds()]
    starting("world", "sampled-gp", worlds)
    world = st.selectbox(
        "World",
        worlds,
        key=key("world"),
        help="Source of the true energies. sampled-gp: random deviations from physics, similar on "
        "similar roads. Others: physics with wind, cold, traffic or load unknown to the methods.",
    )
    with st.expander("A world of your own"):
        file = st.file_uploader("World file", "toml", max_upload_size=1)
    return world if file is None else own_world(file.getvalue())


def others(folders: list[RunFolder]) -> None:
    """Show the other running simulations, each with a button to stop it."""

    @st.fragment(run_every=REDRAW_S if folders else None)
    def live() -> None:
        for folder in folders:
            if not is_running(folder):
                st.rerun()
            name, button = st.columns([3, 1])
            share, words = progress(folder)
            name.progress(share, literal(f"{folder.path}: {words}"))
            key, stop_label = f"stop:{folder.path.name}", f"Stop {folder.path.name}"
            if button.button(literal(stop_label), key=key, width="stretch"):
                stop(folder)
                st.rerun()

    live()


def watch(experiment: Experiment, folder: RunFolder) -> None:
    """Show duration, buttons and finished runs; refresh every 2 s while a run is active."""
    runs = list(experiment.runs())
    left, works = [run for run in runs if not folder.is_finished(run)], is_running(folder)
    done = f"{len(runs) - len(left)} of them finished. " if len(left) < len(runs) else ""
    st.write(
        f"{len(runs):d} runs of {experiment.horizon:d} trips take about "
        f"**{max(price_s(experiment), 1):.0f} s** from the start. "
        f"{literal(f'{done}They are kept in {folder.path}.')}"
    )
    go, halt, _ = st.columns([1, 1, 3])
    verb = "Finished" if not left else "Continue" if len(left) < len(runs) else "Run"
    if go.button(
        literal(verb), type="primary", disabled=works or not left, key="go", width="stretch"
    ):
        start(experiment, folder)
        st.rerun()
    if halt.button("Stop", disabled=not works, key="stop", width="stretch"):
        stop(folder)
        st.rerun()

    @st.fragment(run_every=REDRAW_S if works else None)
    def live() -> None:
        if works and not is_running(folder):
            st.rerun()
        if works:
            share, row = progress(folder)
            st.progress(share, literal(row))
        elif failed := trouble(folder):
            st.error(literal(f"{failed}."))
        if folder.finished_runs():
            try:
                found(experiment, folder, finished=not works)
            except EvrouteError as error:
                if not works:  # else a damaged part will be run again
                    st.error(literal(f"{error}."))

    live()


def found(experiment: Experiment, folder: RunFolder, *, finished: bool) -> None:
    """Show the results of the finished runs: text, curves, a map of the driven roads, table.

    Parameters
    ----------
    experiment, folder
        The experiment and its run folder.
    finished
        True if no run is active, so that the text is final.
    """
    rounds = read_rounds(folder)
    for finding in abstract(rounds)[:SHOWN_SENTENCES] if finished else ():
        st.success(literal(finding))
    left, right = st.columns(2)
    left.altair_chart(cumulative_regret(rounds), width="content", theme=None)
    right.altair_chart(saving(rounds), width="content", theme=None)
    right.caption(
        "Eq. 8 is the physics alone: below the dotted line a method saves energy against it."
    )
    explored(experiment, folder, rounds)
    if has_beta(rounds):
        st.altair_chart(beta(rounds), width="content", theme=None)
        st.caption("Beta: width of the confidence bounds of a method.")
    st.dataframe(
        final_table(rounds, read_timings(folder)).style.format(precision=1), hide_index=True
    )


def explored(experiment: Experiment, folder: RunFolder, rounds: Any) -> None:
    """Show a map of the roads that a method drove up to a trip.

    Parameters
    ----------
    experiment, folder
        The experiment and its run folder.
    rounds
        From `read_rounds`.
    """
    left, middle, right = st.columns(3)
    method = left.selectbox(
        "Roads driven by", list(dict.fromkeys(rounds["method"])), key=key("driver")
    )
    trip = middle.selectbox("on trip", list(dict.fromkeys(rounds["trip"])), key=key("driven_trip"))
    last = experiment.horizon
    starting(f"driven_until:{last}", last, (1, last))
    until = right.slider("up to trip number", 1, last, key=key(f"driven_until:{last}"))
    (network_name,) = experiment.trips
    roads = network(network_name)
    chosen = rounds[(rounds["method"] == method) & (rounds["trip"] == trip)]["run"].unique()
    visits = read_visits(folder, chosen, roads.n_edges, until=until)
    driven = np.where(visits > 0, visits, np.nan)
    show_map(
        roads,
        key=f"explored-{roads.digest}",
        height=MAP_HEIGHT,
        drawn=classes_of(roads, driven, visit_classes(int(visits.max()))),
    )


main()
