"""Page My car: its own trips, how good forecasts are, and the findings on the car."""

from typing import Any

import memory
import numpy as np
import pandas as pd
import streamlit as st
from address import write_inputs
from basis import PHYSICS, basis
from cache import choose_network, known_network, planner
from inputs import remembered_words
from lan import reads_only
from literal import literal, sentence
from map_component import classes_of, show_map
from naming import place_label, title_of
from own_trips import (
    ENDINGS,
    OWN_NUMBERS,
    add_log,
    folder_of,
    forget,
    is_recorded,
    is_usable,
    learn_again,
    renew,
    trip_count,
    undo,
)
from request import ask_vehicle
from savings import savings
from state import put
from visit import forget as forget_me
from visit import show_notices, visit

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import DamagedFileError, EvrouteError
from evroute.folder import Folder
from evroute.learning.base import Belief
from evroute.learning.findings import recent
from evroute.learning.learn import Learned
from evroute.learning.measured import MeasuredTrip
from evroute.learning.readers.formats import named_headers
from evroute.learning.records.parts import read_parts
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.sentences import coefficients, heating
from evroute.learning.trips.usual import usual_trip
from evroute.network.road_network import RoadNetwork
from evroute.report.charts.consumption import consumption_chart, trip_points
from evroute.report.colours import value_classes
from evroute.report.own_trips import READINGS, build_trips_page, read_trips, trips_table
from evroute.report.trip_charts import energies_chart, intervals_chart
from evroute.tables import csv_of
from evroute.text import counted

REPORT = "last_upload"
MAP_HEIGHT = "420px"


def main() -> None:
    st.title("My car", anchor=False)
    try:
        title = title_of(known_network())
        with st.container(horizontal=True, gap="xsmall", key="chips"):
            with st.popover(literal(title), key="chip:network"):
                roads = choose_network()
            _, vehicle = ask_vehicle({})
        show_notices()
        changes = [f"{part}:{vehicle.name}" for part in OWN_NUMBERS]
        write_inputs(["network", "vehicle", *changes])
        own(roads, vehicle)
        remembered(roads)
    except (EvrouteError, OSError) as error:
        st.error(sentence(str(error)))


def remembered(roads: RoadNetwork) -> None:
    """Show the contents of the profile, ask for the home, and offer to delete the profile."""
    profile, _ = memory.load()
    st.header("Remembered on this computer", anchor=False)
    if not memory.exists():
        st.caption("Nothing yet. Car, city, charge, price and places are remembered once changed.")
        return
    st.write(literal(remembered_words(profile)))
    recent = ["", *profile.recent(roads.name)]
    home = st.selectbox(
        "Home",
        recent,
        index=recent.index(profile.home.get(roads.name, "")),
        format_func=lambda place: place_label(roads, place) if place else "none",
        help="Plans start here. The last places are offered.",
        disabled=reads_only(),
    )
    if home != profile.home.get(roads.name, ""):
        memory.change(lambda old: old.with_home(roads.name, home))
        st.rerun()
    st.button(
        "Forget me",
        on_click=forget_me,
        help="Deletes the profile. Trips stay.",
        disabled=reads_only(),
    )
    st.caption(literal(f"Kept in {memory.path()}."))


def own(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Show the trips of a car. Offer to learn them again where files are missing or damaged."""
    folder = folder_of(roads, vehicle)
    upload, shown = st.columns([1, 2], gap="medium")
    with upload:
        add(roads, vehicle)
        if is_recorded(folder):
            change(roads, vehicle, folder)
    with shown:
        try:
            if trip_count(folder) and not is_usable(folder, roads, vehicle):
                show_older(roads, vehicle, folder)
            elif trip_count(folder):
                show(roads, vehicle, folder)
            elif is_recorded(folder):
                raise DamagedFileError("the recorded trips of this car are not learned")
            else:
                st.info(
                    "No trips of this car yet. Upload a log, or enter the charge on arrival in "
                    "the tab Arrived of a plan. Plans are based on physics until then."
                )
                show_map(roads, key=f"car-{roads.digest}", height=MAP_HEIGHT, drawn={})
        except DamagedFileError as error:
            st.error(sentence(str(error)))
            if st.button("Learn the recorded trips again", key="again"):
                learn_again(roads, vehicle)
                _changed(folder)


def add(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Ask for logs, learn them, and show which trips were set aside."""
    with st.form("logs", clear_on_submit=True, border=False):
        files = st.file_uploader(
            "Logs of this car (CSV, GPX or Parquet, or zip archives of them)",
            ENDINGS,
            accept_multiple_files=True,
        )
        with st.expander("Other columns"):
            named = st.text_input(
                "Columns by their headers",
                placeholder="lat=gps_lat, lon=gps_lon",
                help="NAME=HEADER, with commas between them. Later logs of this car are read so.",
            )
            totals = st.checkbox(
                "Totals without positions",
                help="Learn the total of each trip by its speeds: numbers of the car, no road.",
            )
        learned = st.form_submit_button("Learn these trips", type="primary", disabled=reads_only())
    if learned and files:
        lines, bar = [], st.progress(0.0, "Reading …")
        for file in files:
            try:
                result = add_log(
                    roads,
                    vehicle,
                    file.name,
                    file.getvalue(),
                    lambda done, total: bar.progress(done / total, f"{done:d} of {total:d} trips"),
                    columns=named_headers(filter(None, map(str.strip, named.split(",")))),
                    totals=totals,
                )
                lines.append(_outcome(file.name, result))
                put("folder", result.folder.name)
            except EvrouteError as error:
                lines.append((file.name, str(error), {}, []))
        st.session_state[REPORT] = lines
        st.rerun()
    for name, text, skipped, notes in st.session_state.get(REPORT, ()):
        (st.success if text.startswith("learned") else st.error)(literal(f"{name}: {text}."))
        if notes:
            with st.expander(f"Notes on this log: {len(notes):d}"):
                for note in notes:
                    st.caption(sentence(note))
        if skipped:
            with st.expander(f"Trips set aside, and why: {len(skipped):d}"):
                st.dataframe(
                    {"trip": list(skipped), "reason": list(skipped.values())}, hide_index=True
                )
    st.caption(
        "A log has positions with time, and energy, power, volts and amps, or the charge. Or a "
        "notebook: trip, from, to, departed, soc_start, soc_end. Trips stay on this computer."
    )


def _outcome(name: str, result: Learned) -> tuple[str, str, dict[str, str], list[str]]:
    text = f"learned {result.new} trip{'s' * (result.new != 1)}"
    if result.known:
        text += f", {result.known} known already"
    return name, text, dict(result.skipped), list(result.notes)


def change(roads: RoadNetwork, vehicle: Vehicle, folder: Folder) -> None:
    """Offer undo, reset and downloads."""
    last, everything = st.columns(2)
    if last.button("Undo the last addition", key="undo", width="stretch", disabled=reads_only()):
        undo(roads, vehicle)
        _changed(folder)
    with everything.popover("Start again", width="stretch"):
        st.write("Set all trips of this car aside? They stay in a folder beside the new ones.")
        if st.button("Set all aside", key="forget", disabled=reads_only()):
            forget(roads, vehicle)
            _changed(folder)
    if trip_count(folder):
        trips = trips_table(read_trips(folder).to_pandas())
        last.download_button(
            "Trips (CSV)", csv_of(trips), "trips.csv", on_click="ignore", width="stretch"
        )
        everything.download_button(
            "Report (HTML)",
            lambda: build_trips_page(folder, roads).html,
            "my-car.html",
            on_click="ignore",
            width="stretch",
        )
    st.caption(literal(f"Kept in {folder.path}."))


def _changed(folder: Folder) -> None:
    st.session_state.pop(REPORT, None)
    if not trip_count(folder):
        put("folder", PHYSICS)
    st.rerun()


def show(roads: RoadNetwork, vehicle: Vehicle, folder: Folder) -> None:
    """Show forecasts, coefficients, roads driven and trips.

    Parameters
    ----------
    roads, vehicle
        Network and car.
    folder
        Folder of its trips.
    """
    rows = read_trips(folder)
    st.header(sentence(recent(rows)), anchor=False)
    using = basis(roads, vehicle) == folder.path.name
    st.write(
        sentence(
            f"{counted(rows.num_rows, 'trip')}. Plans of this car "
            f"{'use them, in any weather' if using else 'use another source'}"
        )
    )
    run = f"{roads.name}-learned"
    planned = planner(roads, vehicle, DrivingConditions(), folder.path.name, run)
    belief = planned.belief
    assert belief is not None, "the folder has one"
    learned = set(rows["trip"].to_pylist())
    recorded = one_route_each(roads, folder, learned)
    if isinstance(belief, TripEnergies):
        consumption(belief, recorded, roads)
    for line in savings(planned, belief, recorded):
        st.write(literal(f"• {line}"))
    trips = rows.to_pandas()
    left, right = st.columns(2)
    left.altair_chart(energies_chart(trips), width="content", theme="streamlit")
    left.caption(literal(READINGS["energies"]))
    right.altair_chart(intervals_chart(trips), width="content", theme="streamlit")
    right.caption(literal(READINGS["intervals"]))
    show_roads(roads, belief, recorded)
    show_trips(trips)


def show_roads(roads: RoadNetwork, belief: Belief, recorded: list[MeasuredTrip]) -> None:
    """Show a map of what the roads of trips cost, as learned, on a mild day.

    Parameters
    ----------
    roads, belief
        Network, and belief of the trips.
    recorded
        Trips of one route each, wholly on the network.
    """
    drawn: dict[str, Any] = {}
    if recorded:
        driven = np.unique(np.concatenate([trip.edge for trip in recorded]))
        wh_per_km = np.full(roads.n_edges, np.nan)
        wh_per_km[driven] = belief.edge_posterior.mean_wh[driven]
        wh_per_km /= roads.length_m / 1000
        drawn = classes_of(roads, wh_per_km, value_classes("Wh per km, as learned", wh_per_km))
    show_map(roads, key=f"car-{roads.digest}", height=MAP_HEIGHT, drawn=drawn)


def one_route_each(roads: RoadNetwork, folder: Folder, learned: set[str]) -> list[MeasuredTrip]:
    """Return the learned trips with one route, wholly on the network.

    Parameters
    ----------
    roads, folder
        Network, and folder of the trips.
    learned
        Names of the learned trips.
    """
    recorded = [trip for trip in read_parts(folder.path, roads).values() if trip.trip in learned]
    return [trip for trip in recorded if trip.routes == 1 and trip.record is None]


def show_trips(trips: pd.DataFrame) -> None:
    """Show a table of trips, the newest first, with energies in kWh."""
    table = trips_table(trips)[::-1]
    energies = [name for name in table if name.endswith("(Wh)")]
    table[energies] /= 1000
    st.dataframe(
        table.rename(columns=lambda name: name.replace("(Wh)", "(kWh)")),
        hide_index=True,
        column_config={"km": st.column_config.NumberColumn(format="%.1f")}
        | {
            name.replace("(Wh)", "(kWh)"): st.column_config.NumberColumn(format="%.2f")
            for name in energies
        },
    )


def show_older(roads: RoadNetwork, vehicle: Vehicle, folder: Folder) -> None:
    """Show trips that were learned with other roads or numbers, and offer to learn them again.

    Parameters
    ----------
    roads, vehicle
        Network and car of today.
    folder
        Folder of the trips.
    """
    trips = read_trips(folder)
    st.header(sentence(f"{counted(trips.num_rows, 'trip')} of this car"), anchor=False)
    st.info(
        "The roads or the numbers of the car have changed since these trips were learned. "
        "Plans use physics until they are learned again."
    )
    if st.button("Learn these trips again", key="renew", type="primary"):
        try:
            put("folder", renew(roads, vehicle).folder.name)
            st.rerun()
        except EvrouteError as error:
            st.error(sentence(str(error)))
    show_trips(trips.to_pandas())


def consumption(belief: TripEnergies, recorded: list[MeasuredTrip], roads: RoadNetwork) -> None:
    """Show the consumption of the car in words, and by temperature and speed with its trips.

    Parameters
    ----------
    belief
        Belief of the trips.
    recorded
        Trips of one route each, wholly on the network.
    roads
        Network.
    """
    usual = usual_trip(belief.belief, belief.vehicle)
    lines = [] if usual is None else [usual.words]
    lines += [coefficients(belief.belief, belief.vehicle), heating(belief.belief)]
    for line in filter(None, lines):
        st.write(literal(f"• {line}"))
    if usual is not None:
        chart = consumption_chart(usual, trip_points(recorded, roads))
        st.altair_chart(chart, width="content", theme="streamlit")
        st.caption(
            "Consumption of the usual trip: line and 90 % band by what was learned, after a cold "
            "start on the left, without heating on the right. Each point is a trip by its driven "
            "metres, with its hills, stops and weather, above the line where they took more."
        )


with visit():
    main()
