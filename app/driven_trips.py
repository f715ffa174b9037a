"""The trips of a simulation on the map: today's route, its rivals, and the roads driven before."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from cache import network
from literal import sentence
from map_component import bounds_of, classes_of, is_dark, legend_of_marks, show_map
from naming import place_label
from player import played
from road_files import flipped
from state import ask, starting

from evroute.arms import Route
from evroute.experiments.experiment import Experiment
from evroute.experiments.rivals import Rivals
from evroute.experiments.runs import Run, RunFolder
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.report.colours import visit_classes
from evroute.report.lines import route_line
from evroute.report.results import read_route, read_visits

MAP_HEIGHT = "440px"
DRIVEN = {False: "#222222", True: "#f4f4f4"}
"""Colour of the driven route, by whether the page is dark."""
RIVALS = {"physics": ("by physics alone", "#e69f00", ""), "best": ("best route", "#cc79a7", "1 13")}
"""Words, colour and dashes of the rivals of a route, in the order in which they are drawn."""
WIDTHS = {"physics": 11, "best": 9}
"""Of the lines of the rivals, which lie below the route, pixels."""


def driven(experiment: Experiment, folder: RunFolder, rounds: pd.DataFrame, *, still: bool) -> None:
    """Show the route of a trip over the roads driven before, with a slider and a play button.

    Parameters
    ----------
    experiment, folder
        The experiment and its run folder.
    rounds
        From `read_rounds`.
    still
        True if no run is active. Only then trips can be played.
    """
    (network_name,) = experiment.trips
    roads = network(network_name)
    shown = list(dict.fromkeys(rounds["method"]))
    starting("driver", shown[0], shown)

    def draw(trip: int) -> None:
        method = shown[0]
        if len(shown) > 1:
            method = ask(st.selectbox, "Driven by", "driver", options=shown)
        name = str(rounds[rounds["method"] == method]["run"].iloc[0])
        run = next(each for each in experiment.runs() if each.name == name)
        before = read_visits(folder, [name], roads.n_edges, until=trip - 1)
        route = read_route(folder, run.name, trip)
        drawn = trip_drawn(roads, trip, route, _rivals(run).at(trip), DRIVEN[is_dark()])
        classes = visit_classes(max(int(before.max()), 1))
        of_roads = classes_of(roads, np.where(before > 0, before, np.nan), classes)
        drawn["legends"] = [*of_roads["legends"], *drawn["legends"]]
        corners = [point for each in drawn["routes"] for point in each["line"]]
        show_map(
            roads,
            key="learn-map",
            height=MAP_HEIGHT,
            drawn=of_roads | drawn,
            bounds=bounds_of(corners),
        )
        now = rounds[(rounds["run"] == name) & (rounds["t"] == trip)].iloc[0]
        st.caption(sentence(trip_words(trip, now)))

    played(str(experiment.horizon), experiment.horizon, draw, still=still)


def trip_drawn(
    roads: RoadNetwork, trip: int, driven: Route, rivals: Mapping[str, Route], colour: str
) -> dict[str, Any]:
    """Return the contents of a map of one trip: its route, its rivals, and its ends.

    Parameters
    ----------
    roads
        The network.
    trip, driven
        Number of the trip, and its route.
    rivals
        Other routes by their names in `RIVALS`.
    colour
        Colour of the driven route.
    """
    line = flipped(route_line(roads, Stretches.of_route(roads, driven)))
    stretch = {"colour": colour, "line": line, "text": f"trip {trip}"}
    routes = [
        {
            "name": name,
            "selected": False,
            "line": flipped(route_line(roads, Stretches.of_route(roads, route))),
            "label": "",
            "text": RIVALS[name][0],
            "colour": RIVALS[name][1],
            "weight": WIDTHS[name],
            "dashes": RIVALS[name][2],
        }
        for name, route in rivals.items()
    ]
    routes.append({"name": str(trip), "selected": True, "line": line, "stretches": [stretch]})
    ends = {"A": line[0], "B": line[-1]}
    marks = {f"trip {trip}": ("line", colour)}
    marks |= {RIVALS[name][0]: ("line", RIVALS[name][1]) for name in rivals}
    return {
        "routes": routes,
        "pins": [
            {
                "row": row,
                "label": label,
                "text": place_label(roads, f"{at[0]},{at[1]}"),
                "at": at,
                "stop": False,
            }
            for row, (label, at) in enumerate(ends.items())
        ],
        "legends": [legend_of_marks(marks)],
    }


def trip_words(trip: int, now: "pd.Series[Any]") -> str:
    """Return a sentence on the energy of a trip against the energy of its rivals.

    Parameters
    ----------
    trip
        Number of the trip.
    now
        Its row of `read_rounds`.
    """
    saved_wh = round(float(now["eq8_wh"] - now["true_wh"]))
    lost_wh = round(float(now["true_wh"] - now["best_wh"]))
    against = f"{abs(saved_wh)} Wh {'less' if saved_wh > 0 else 'more'} than the route by physics"
    if not saved_wh:
        against = "as much energy as the route by physics"
    best = f"{lost_wh} Wh more than the best route" if lost_wh > 0 else "as little as the best one"
    return (
        f"trip {trip} over the roads of earlier trips in the first world. It takes "
        f"{against}, and {best}"
    )


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs={Run: lambda run: repr(run)})
def _rivals(run: Run) -> Rivals:
    return Rivals.of_run(run)
