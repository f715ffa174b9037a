"""Page Learn: watch a learner drive a trip repeatedly in simulated worlds."""

from typing import Any

import numpy as np
import streamlit as st
from address import write_inputs
from cache import RECOMMENDED, RUNS, choose_known_network, first_trip, methods, network, price_s
from findings import show_findings, show_table
from lan import reads_only
from literal import literal, sentence
from map_component import classes_of, flipped, show_map
from naming import place_label
from pydantic import ValidationError
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
from state import key, starting
from visit import show_notices, visit

from evroute.energy.defaults import PAPER_VEHICLE
from evroute.energy.vehicle import vehicle_names
from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.network.heights.stretches import Stretches
from evroute.planning.places import load_trips
from evroute.planning.weights import WEIGHT_RULES
from evroute.report.abstract import SHOWN_SENTENCES, abstract
from evroute.report.charts.rounds import beta, cumulative_regret, has_beta, saving
from evroute.report.colours import visit_classes
from evroute.report.lines import route_line
from evroute.report.results import read_rounds, read_route, read_timings, read_visits
from evroute.report.table import final_table
from evroute.validation.invalid import first_problem
from evroute.worlds.demand.demand import is_file
from evroute.worlds.world import shipped_worlds

# inputs in the address of the page; Streamlit would write a bare string on the page
ADDRESS = ("known_network", "own_trip", "world", "horizon", "seeds", "methods", "sparse")
ADDRESS += ("learner", "rule")
SPARSE = "SVGP-TS"
"""Method of the sparse variational process."""
REDRAW_S = 2.0
FRAME_S = 1.0
FRAMES = 40
MAP_HEIGHT = "440px"
ROUTE_COLOUR = "#222222"
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
    st.title("Watch it learn", anchor=False)
    left, right = st.columns([1, 2.6], gap="medium")
    try:
        with left:
            experiment = ask()
            folder = None if experiment is None else RunFolder(RUNS / folder_name(experiment))
            others([each for each in running(RUNS) if each != folder])
        if experiment is None or folder is None:
            return
        with left:
            buttons(experiment, folder)
        with right:
            watch(experiment, folder)
    except (EvrouteError, OSError) as error:
        st.error(literal(f"{error}."))


def ask() -> Experiment | None:
    """Ask for the experiment; return None if an input is missing or invalid."""
    st.caption(
        "A learner drives one trip repeatedly in simulated worlds that differ from physics, "
        "and chooses its routes by its measurements."
    )
    network_name = choose_known_network()
    trip = ask_trip(network_name)
    starting("world", "congestion", [*WORLDS, *shipped_worlds()])
    world: Any = st.selectbox(
        "World",
        list(dict.fromkeys([*WORLDS, *shipped_worlds()])),
        key=key("world"),
        format_func=lambda name: WORLDS.get(name, name),
        help="Source of the true energies, unknown to the learner.",
    )
    starting("horizon", 40, (10, 500))
    horizon = st.slider("Trips", 10, 500, step=10, key=key("horizon"))
    with st.expander("Advanced"):
        starting("seeds", 8, (1, 20))
        seeds = st.slider("Worlds", 1, 20, key=key("seeds"), help="Drawn independently.")
        starting("methods", [RECOMMENDED], list(methods()))
        chosen = st.multiselect("Methods", list(methods()), key=key("methods"))
        labels = with_sparse(chosen)
        starting("learner", PAPER_VEHICLE, vehicle_names())
        vehicle_name = st.selectbox("Vehicle", vehicle_names(), key=key("learner"))
        starting("rule", "potential-rectified", list(WEIGHT_RULES))
        search = st.selectbox("Search", list(WEIGHT_RULES), key=key("rule"))
        file = st.file_uploader("A world file of your own", "toml", max_upload_size=1)
        world = world if file is None else own_world(file.getvalue())
    show_notices()
    write_inputs((f"trip:{network_name}", *ADDRESS))
    if not trip or not labels:
        st.info("Choose a trip and at least one method.")
        return None
    if is_file(trip):
        raise EvrouteError(f"'{trip}' is a file; files of trips are for `evroute simulate`")
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
    installed = SPARSE in methods()
    starting("sparse", False, [False, True] if installed else [False])
    beside = st.checkbox(
        "Beside them, the sparse process (SVGP)",
        key=key("sparse"),
        disabled=not installed,
        help="A Gaussian process of GPyTorch with at most 1000 inducing points, with Thompson "
        "sampling. Its first trip takes seconds.",
    )
    if not installed:
        st.caption(literal("SVGP needs GPyTorch. Install it with: pip install 'evroute[gp]'"))
    return list(dict.fromkeys([*labels, SPARSE] if beside else labels))


def ask_trip(network_name: str) -> str:
    """Ask for a named trip, by its streets, or for two places."""
    roads, trips = network(network_name), load_trips(network_name)
    if trips:
        starting(f"trip:{network_name}", first_trip(roads), list(trips))
        st.selectbox(
            "Trip",
            list(trips),
            key=key(f"trip:{network_name}"),
            format_func=lambda name: " to ".join(
                place_label(roads, end) for end in (trips[name].origin, trips[name].destination)
            ),
        )
    starting("own_trip", "")
    own = st.text_input(
        "Another trip" if trips else "Trip",
        key=key("own_trip"),
        placeholder="PLACE to PLACE",
        help="Names as on the page Plan, or: random 2-5 km",
    )
    named = st.session_state.get(key(f"trip:{network_name}"), "")
    return str(own.strip() or named)


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
    """Show progress and finished runs; refresh every 2 s while a run is active."""
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
    rounds = read_rounds(folder)
    if finished:
        show_findings(abstract(rounds)[:SHOWN_SENTENCES])
    driven(experiment, folder, rounds, still=finished)
    left, right = st.columns(2)
    left.altair_chart(cumulative_regret(rounds, compact=True), width="content", theme="streamlit")
    right.altair_chart(saving(rounds, compact=True), width="content", theme="streamlit")
    right.caption(
        "Above the dashed line the learner saves energy against routes by physics alone. "
        "Band: one standard error of the mean over the worlds."
    )
    with st.expander("Diagnostics"):
        if has_beta(rounds):
            st.altair_chart(beta(rounds), width="content", theme=None)
            st.caption("Beta: width of the confidence bounds of a method.")
        show_table(final_table(rounds, read_timings(folder)))


def driven(experiment: Experiment, folder: RunFolder, rounds: Any, *, still: bool) -> None:
    """Show the route of a trip over the roads driven before, with a slider and a play button.

    Parameters
    ----------
    experiment, folder
        The experiment and its run folder.
    rounds
        From `read_rounds`.
    still
        True if no run is active; only then trips can be played.
    """
    (network_name,), last = experiment.trips, experiment.horizon
    roads = network(network_name)
    shown = list(dict.fromkeys(rounds["method"]))
    starting("driver", shown[0], shown)
    playing = still and st.session_state.get("play", False)

    @st.fragment(run_every=FRAME_S if playing else None)
    def board() -> None:
        trip = int(starting(f"until:{last}", last, (1, last)))
        if playing and trip < last:
            trip = min(last, trip + max(1, last // FRAMES))
            st.session_state[key(f"until:{last}")] = trip
        elif playing:
            st.session_state["play"] = False
        play, at, by = st.columns([1, 4, 2], vertical_alignment="bottom")
        if (
            still
            and play.toggle("Play", key="play", on_change=_rewind, args=(last,)) is not playing
        ):
            st.rerun()
        trip = at.slider("Trip", 1, last, key=key(f"until:{last}"))
        method = shown[0]
        if len(shown) > 1:
            method = by.selectbox("Driven by", shown, key=key("driver"))
        run = str(rounds[rounds["method"] == method]["run"].iloc[0])
        before = read_visits(folder, [run], roads.n_edges, until=trip - 1)
        classes = visit_classes(max(int(before.max()), 1))
        drawn = classes_of(roads, np.where(before > 0, before, np.nan), classes)
        driven = Stretches.of_route(roads, read_route(folder, run, trip))
        line = flipped(route_line(roads, driven))
        stretch = {"colour": ROUTE_COLOUR, "line": line, "text": f"trip {trip}"}
        route = {"name": str(trip), "selected": True, "line": line, "stretches": [stretch]}
        show_map(roads, key="learn-map", height=MAP_HEIGHT, drawn=drawn | {"routes": [route]})
        now = rounds[(rounds["run"] == run) & (rounds["t"] == trip)].iloc[0]
        saved_wh = round(float(now["eq8_wh"] - now["true_wh"]))
        words = f"{abs(saved_wh)} Wh {'less' if saved_wh > 0 else 'more'} than"
        if not saved_wh:
            words = "as much energy as"
        st.caption(
            sentence(
                f"trip {trip}, black, over the roads of earlier trips in the first world; "
                f"it takes {words} the route by physics"
            )
        )

    board()


def _rewind(last: int) -> None:
    """Start playing at the first trip."""
    if st.session_state["play"]:
        st.session_state[key(f"until:{last}")] = 1


with visit():
    main()
