"""Page Learn: a shipped run that shows the learning, own simulations, and saved runs below."""

from typing import Any

import streamlit as st
from address import write_inputs
from cache import RECOMMENDED, RUNS, choose_known_network, methods, network, price_s
from driven_trips import MAP_HEIGHT, driven
from findings import show_findings, show_table
from lan import reads_only
from learned_story import shipped_story
from learned_trip import ask_named, ask_trip, follow_plan
from literal import literal
from map_component import show_map
from naming import car_title
from pictures import in_plain_words, show_pictures
from pydantic import ValidationError
from saved_runs import saved_runs
from simulations import (
    folder_name,
    is_running,
    own_world,
    progress,
    running,
    start,
    stop,
    trouble,
)
from state import ask as ask_input
from state import given, put, starting
from visit import show_notices, visit

from evroute.energy.defaults import PAPER_VEHICLE
from evroute.energy.vehicle import vehicle_names
from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.network.catalog import network_names
from evroute.planning.weights import WEIGHT_RULES
from evroute.report.abstract import SHOWN_SENTENCES, abstract
from evroute.report.charts.rounds import beta, has_beta
from evroute.report.results import read_rounds, read_timings
from evroute.report.table import final_table
from evroute.validation.invalid import first_problem
from evroute.worlds.demand.demand import is_file
from evroute.worlds.world import shipped_worlds

# whether the page shows own simulations; Streamlit would write a bare string on the page
OWN = "mine"
# inputs in the address of the page; Streamlit would write a bare string on the page
ADDRESS = ("known_network", "own_trip", "world", "horizon", "seeds", "methods", "sparse")
ADDRESS += ("learner", "rule")
# label of the sparse variational process; Streamlit writes a bare string on the page
SPARSE = "SVGP-TS"
REDRAW_S = 2.0
WORLDS = {
    "congestion": "Traffic slower than the map",
    "sampled-gp": "Roads that differ from physics at random",
    "wind": "A strong wind and a roof box",
    "cold": "A frosty day",
    "payload": "A loaded car",
    "everything": "Traffic, wind, cold and load at once",
    "changing": "Rush hours, and weather that changes",
    "congestion-known": "Rush hours whose speeds are known",
    "free-flow": "As physics expects, with noise",
    "physics": "As physics expects",
}


def main() -> None:
    if set(given()) & {*ADDRESS, "own_trip"}:
        starting(OWN, True)
    names = [OWN]
    title, switch = st.columns([5, 1], vertical_alignment="center")
    title.title("Watch it learn", anchor=False)
    is_own = starting(OWN, False)
    switch.button(
        "Back to the example" if is_own else "With my trip",
        key="switch",
        on_click=put,
        args=(OWN, not is_own),
    )
    try:
        if is_own:
            own_simulation(names)
        else:
            show_notices()
            shipped_story()
            others(running(RUNS))
    except (EvrouteError, OSError) as error:
        st.error(literal(f"{error}."))
    names += saved_runs(newest=not is_own)
    write_inputs(names)


def own_simulation(names: list[str]) -> None:
    """Ask for a simulation and show its results. Add the names of its inputs to ``names``."""
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        experiment = ask(names)
        folder = None if experiment is None else RunFolder(RUNS / folder_name(experiment))
        others([each for each in running(RUNS) if each != folder])
    if experiment is None or folder is None:
        return
    with left:
        buttons(experiment, folder)
    with right:
        watch(experiment, folder)


def ask(names: list[str]) -> Experiment | None:
    """Ask for the experiment. Return None if an input is missing or invalid.

    The names of the inputs are added to ``names``.
    """
    st.caption(
        "A learner drives one trip repeatedly in simulated worlds that differ from physics, "
        "and chooses its routes by its measurements."
    )
    follow_plan(list(network_names()))
    network_name = choose_known_network()
    trip = ask_trip(network_name)
    starting("world", "congestion", [*WORLDS, *shipped_worlds()])
    world: Any = ask_input(
        st.selectbox,
        "World",
        "world",
        options=list(dict.fromkeys([*WORLDS, *shipped_worlds()])),
        format_func=lambda name: WORLDS.get(name, name),
        help="Source of the true energies, unknown to the learner.",
    )
    starting("horizon", 40, (10, 500))
    horizon = ask_input(st.slider, "Trips", "horizon", min_value=10, max_value=500, step=10)
    with st.expander("Methods and worlds"):
        ask_named(network_name)
        starting("seeds", 8, (1, 20))
        seeds = ask_input(
            st.slider, "Worlds", "seeds", min_value=1, max_value=20, help="Drawn independently."
        )
        starting("methods", [RECOMMENDED], list(methods()))
        chosen = ask_input(st.multiselect, "Methods", "methods", options=list(methods()))
        labels = with_sparse(chosen)
        starting("learner", PAPER_VEHICLE, vehicle_names())
        vehicle_name = ask_input(
            st.selectbox, "Vehicle", "learner", options=vehicle_names(), format_func=car_title
        )
        starting("rule", "potential-rectified", list(WEIGHT_RULES))
        search = ask_input(st.selectbox, "Search", "rule", options=list(WEIGHT_RULES))
        file = st.file_uploader("A world file of your own", "toml", max_upload_size=1)
        world = world if file is None else own_world(file.getvalue())
    show_notices()
    names += [f"trip:{network_name}", *ADDRESS]
    if not trip or not labels:
        st.info("Choose a trip and at least one method.")
        return None
    if is_file(trip):
        raise EvrouteError(f"'{trip}' is a file. Files of trips are for `evroute simulate`")
    try:
        return Experiment(
            trips={network_name: (trip,)},
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


def with_sparse(labels: list[str]) -> list[str]:
    """Offer the sparse variational process, and return the chosen methods."""
    starting("sparse", False, [False, True])
    beside = ask_input(
        st.checkbox,
        "Beside them, the sparse process (SVGP)",
        "sparse",
        help="A sparse variational Gaussian process with at most 400 inducing points, at its "
        "optimum, with Thompson sampling.",
    )
    return list(dict.fromkeys([*labels, SPARSE] if beside else labels))


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
            if button.button(literal(stop_label), key=key, width="stretch", disabled=reads_only()):
                stop(folder)
                st.rerun()

    live()


def buttons(experiment: Experiment, folder: RunFolder) -> None:
    """Show the expected duration, and buttons to start, continue and stop."""
    runs = list(experiment.runs())
    left, works = [run for run in runs if not folder.is_finished(run)], is_running(folder)
    go, halt = st.columns(2)
    verb = "Continue" if len(left) < len(runs) else "Start"
    if not left:
        verb = "Finished"
    if go.button(
        literal(verb),
        type="primary",
        disabled=works or not left or reads_only(),
        key="go",
        width="stretch",
    ):
        start(experiment, folder)
        st.rerun()
    if halt.button("Stop", disabled=not works or reads_only(), key="stop", width="stretch"):
        stop(folder)
        st.rerun()
    done = f"{len(runs) - len(left)} of them finished. " if len(left) < len(runs) else ""
    st.caption(
        f"{len(runs):d} {'run' if len(runs) == 1 else 'runs'} of {experiment.horizon:d} trips "
        f"{'takes' if len(runs) == 1 else 'take'} about "
        f"**{max(price_s(experiment), 1):.0f} s** from the start. "
        f"{literal(f'{done}They are kept in {folder.path}.')}"
    )


def watch(experiment: Experiment, folder: RunFolder) -> None:
    """Show progress and finished runs. Refresh every 2 s while a run is active."""
    works = is_running(folder)

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
                return
            except EvrouteError as error:
                if not works:  # else a damaged part will be run again
                    st.error(literal(f"{error}."))
        (network_name,) = experiment.trips
        roads = network(network_name)
        hint = "" if works else "Press Start: the routes of each trip appear here."
        show_map(roads, key="learn-map", height=MAP_HEIGHT, drawn={"hint": hint})

    live()


def found(experiment: Experiment, folder: RunFolder, *, finished: bool) -> None:
    """Show the results of the finished runs: findings, a map of the trips, charts, diagnostics.

    Parameters
    ----------
    experiment, folder
        The experiment and its run folder.
    finished
        True if no run is active, so that the text is final.
    """
    rounds = in_plain_words(read_rounds(folder))
    if finished:
        show_findings(abstract(rounds)[:SHOWN_SENTENCES])
    driven(experiment, folder, rounds, still=finished)
    show_pictures(rounds, columns=2)
    st.caption("Bands: one standard error of the mean over the worlds.")
    with st.expander("Diagnostics"):
        if has_beta(rounds):
            st.altair_chart(beta(rounds), width="content", theme="streamlit")
            st.caption("Beta: width of the confidence bounds of a method.")
        show_table(final_table(rounds, read_timings(folder)))


with visit():
    main()
