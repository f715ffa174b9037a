"""The shipped run of the page Learn: the regret, large, beside the routes that part."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from cache import network
from driven_trips import RIVALS, is_dark, trip_drawn
from literal import sentence
from map_component import SPOT, LatLon, bounds_of, show_map
from naming import car_title, place_label
from player import played
from road_files import flipped

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.report.learned_run import LearnedRun
from evroute.report.lines import route_line

HEIGHT = 520
"""Of the map and of the chart, pixels."""
LEARNED = {False: "#0072b2", True: "#56b4e9"}
"""Colour of what was learned, by whether the page is dark."""
ROAD = "#d62976"
"""Colour of the marked road."""
LINES = {"learned": "as learned", "physics": "by physics alone"}


def shipped_story() -> None:
    """Show the shipped run: its map and its regret, trip by trip.

    Raises
    ------
    EvrouteError
        If the file is damaged, or of other roads or of another car.
    """
    run = _run()
    roads = network(run.network)
    run.check(roads, load_vehicle(run.vehicle))
    corners = parting(roads, run)
    played("shipped", len(run.trips), lambda trip: _draw(roads, run, trip, corners))


@st.cache_resource(show_spinner=False)
def _run() -> LearnedRun:
    return LearnedRun.read()


def _draw(roads: RoadNetwork, run: LearnedRun, trip: int, corners: Sequence[LatLon]) -> None:
    """Show the sentence, the routes and the regret of a trip."""
    first = Route(tuple(run.routes[run.trips[0].physics]))
    ends = [f"{lat},{lon}" for lon, lat in _ends(roads, first)]
    car, (origin, goal) = car_title(run.vehicle), (place_label(roads, end) for end in ends)
    st.markdown(f"**{sentence(run.sentence(trip))}**")
    with st.container(key="story"):
        left, right = st.columns(2, gap="medium")
    with left:
        show_map(
            roads,
            key="learn-map",
            height=f"{HEIGHT}px",
            drawn=map_of(roads, run, trip),
            bounds=bounds_of(list(corners)),
        )
        st.caption(sentence(words_of(roads, run, trip)))
    with right:
        chart = regret_chart(run, trip, dark=is_dark())
        st.altair_chart(chart, width="stretch", theme="streamlit")
        st.caption(
            sentence(
                f"a {car} drives from {origin} to {goal} again and again, in traffic that its map "
                f"does not know. Bands hold 90 % of {len(run.learned_wh)} simulated worlds. The "
                "map shows the one whose regret is the median"
            )
        )


def _ends(roads: RoadNetwork, route: Route) -> list[tuple[float, float]]:
    line = route_line(roads, Stretches.of_route(roads, route))
    return [(line[0][0], line[0][1]), (line[-1][0], line[-1][1])]


def parting(roads: RoadNetwork, run: LearnedRun) -> list[LatLon]:
    """Return the points of the roads that only one of the two routes of some trip takes."""
    unshared = {
        road
        for trip in run.trips
        for road in set(run.routes[trip.learned]) ^ set(run.routes[trip.physics])
    }
    lon, lat = roads.junction_lon_lat
    rows = np.array(sorted(unshared), dtype=int)
    ends = np.concatenate([roads.tail[rows], roads.head[rows]])
    return list(zip(lat[ends].tolist(), lon[ends].tolist(), strict=True))


def map_of(roads: RoadNetwork, run: LearnedRun, trip: int) -> dict[str, object]:
    """Return the contents of the map of a trip, with the road that shows why the routes part.

    Parameters
    ----------
    roads, run
        Network and run.
    trip
        Number of the trip, from 1.
    """
    now = run.trips[trip - 1]
    learned, physics = (Route(tuple(run.routes[each])) for each in (now.learned, now.physics))
    drawn = trip_drawn(roads, trip, learned, {"physics": physics}, LEARNED[is_dark()])
    if now.road is not None:
        line = flipped(route_line(roads, Stretches.of_route(roads, Route((now.road,)))))
        drawn["classes"] = [{"colour": ROAD, "weight": 22, "lines": [line]}]
        more = f"{now.learned_wh - now.physics_wh:+.0f} Wh"
        words = f"{roads.street[now.road]}: {more} against physics"
        drawn["spots"] = [
            {"text": words, "at": line[len(line) // 2], "label": more, "colour": SPOT}
        ]
    return drawn


def words_of(roads: RoadNetwork, run: LearnedRun, trip: int) -> str:
    """Return a sentence on the routes of a trip.

    Parameters
    ----------
    roads, run
        Network and run.
    trip
        Number of the trip, from 1.
    """
    now = run.trips[trip - 1]
    if now.learned == now.physics:
        return f"trip {trip} takes the route by physics"
    if now.road is None:
        return f"trip {trip} leaves the route by physics"
    return (
        f"trip {trip} leaves the route by physics: {roads.street[now.road]} (marked) takes "
        f"{now.learned_wh:.0f} Wh as learned, and {now.physics_wh:.0f} Wh by physics"
    )


def regret_chart(run: LearnedRun, trip: int, *, dark: bool) -> alt.LayerChart:
    """Return the chart of the regret so far: two lines with bands, and their gap at a trip.

    Parameters
    ----------
    run
        The run.
    trip
        Number of the trip, from 1, whose gap is labelled.
    dark
        Whether the page is dark.
    """
    bands = run.bands_kwh()
    frame = pd.concat(
        [
            pd.DataFrame(bands[name], columns=["mean", "low", "high"]).assign(
                trip=np.arange(1, len(run.trips) + 1), route=label
            )
            for name, label in LINES.items()
        ]
    )
    colours = {LINES["learned"]: LEARNED[dark], LINES["physics"]: RIVALS["physics"][1]}
    colour = alt.Color(
        "route:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=None
    )
    x = alt.X("trip:Q", title="Trip", scale=alt.Scale(domain=[1, len(run.trips)], nice=False))
    title = "Energy lost so far against the best routes (kWh)"
    lines = alt.Chart(frame).encode(x=x, color=colour)
    last = frame[frame["trip"] == len(run.trips)]
    at = frame[frame["trip"] == trip]
    low, high = sorted(at["mean"])
    gap = pd.DataFrame({"trip": [trip], "low": [low], "high": [high]})
    saved = bands["saved"][trip - 1, 0]
    gap["text"] = f"{abs(saved):.2f} kWh {'saved' if saved >= 0 else 'more'}"
    late = trip > len(run.trips) / 2
    mark = alt.Chart(gap).encode(x="trip:Q")
    ink = "white" if dark else "#222222"
    return (
        alt.layer(
            lines.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=title), y2="high:Q"),
            lines.mark_line(strokeWidth=3).encode(y="mean:Q"),
            alt.Chart(last)
            .encode(x=x, y="mean:Q", text="route:N")
            .mark_text(align="right", dx=-8, dy=-14, fontSize=14, fontWeight="bold", color=ink),
            mark.mark_rule(strokeWidth=2, color=ink).encode(y="low:Q", y2="high:Q"),
            mark.mark_text(
                align="right" if late else "left",
                dx=-8 if late else 8,
                fontSize=18,
                fontWeight="bold",
                color=ink,
            )
            .encode(y=alt.Y("middle:Q"), text="text:N")
            .transform_calculate(middle="(datum.low + datum.high) / 2"),
        )
        .properties(height=HEIGHT)
        .configure_axis(labelFontSize=13, titleFontSize=13)
    )
