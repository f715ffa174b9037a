"""Page Advanced: layers of the roads, their source and its gaps, and the last plan as GeoJSON."""

import json

import numpy as np
import streamlit as st
from address import write_inputs
from basis import choose_basis, follow_belief
from cache import choose_network, planner
from literal import literal
from map_component import classes_of, show_map
from naming import car_title
from state import ask, key, starting
from visit import show_notices, visit

from evroute.arrays import FloatArray
from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle, vehicle_names
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.network.views.summary import summary
from evroute.planning.planner import Planner
from evroute.report.charts.rounds import distribution
from evroute.report.colours import value_classes
from evroute.report.exports import route_geojson
from evroute.report.pages.differences import differences

MAP_HEIGHT = "560px"
MOST_ROADS = 25


def main() -> None:
    st.title("Advanced", anchor=False)
    try:
        first, second, third = st.columns(3)
        with first:
            roads = choose_network()
        follow_belief("seen_by")
        planned = st.session_state.get(key("vehicle"))
        usual = planned if planned in vehicle_names() else defaults.VEHICLE
        starting("seen_by", usual, vehicle_names())
        vehicle = load_vehicle(
            ask(
                second.selectbox,
                "Vehicle",
                "seen_by",
                options=vehicle_names(),
                format_func=car_title,
            )
        )
        with third:
            folder, run = choose_basis(roads, vehicle)
        believed = planner(roads, vehicle, DrivingConditions(), folder, run)
    except (EvrouteError, OSError) as error:
        st.error(literal(f"{error}."))
        return
    layers = layers_of(roads, believed)
    starting("layer", next(iter(layers)), list(layers))
    title = ask(st.selectbox, "Colour the roads by", "layer", options=list(layers))
    show_notices()
    write_inputs(("network", "seen_by", "folder", "run", "layer"))
    drawn = classes_of(roads, layers[title], value_classes(title, layers[title]))
    show_map(roads, key=f"layer-{roads.digest}", height=MAP_HEIGHT, drawn=drawn)
    left, right = st.columns(2)
    with left:
        st.header("Length of road by value", anchor=False)
        st.altair_chart(
            distribution(layers[title], title, weights=roads.length_m / 1000), width="stretch"
        )
    with right:
        st.header("Data source and its gaps", anchor=False)
        show_source(roads)
    if (posterior := believed.edge_posterior) is not None:
        st.header("Roads that differ most from physics", anchor=False)
        st.caption("z: the difference in standard deviations. Beyond 2 it is hardly chance.")
        table = differences(posterior, believed.space.edges.reference, roads).head(MOST_ROADS)
        table = table.drop(columns="edge")
        st.dataframe(table.style.format(precision=1), hide_index=True)
    if plan := st.session_state.get("last_plan"):
        st.header("The last plan", anchor=False)
        st.download_button(
            "Routes (GeoJSON)",
            lambda: json.dumps(route_geojson(*plan)),
            f"{plan[0].name}-route.geojson",
            on_click="ignore",
        )


def layers_of(roads: RoadNetwork, believed: Planner) -> dict[str, FloatArray]:
    """Return the quantities of the edges to show, (n,) each, by title with unit."""
    prior, per_km = believed.space.edges.prior(), 1000 / roads.length_m
    layers = {
        "incline (%)": 100 * np.tan(roads.incline_rad),
        "speed limit (km/h)": 3.6 * roads.speed_mps,
        "height of the end (m)": roads.elevation_m[roads.head],
        "energy by physics (Wh per km)": prior.mean_wh * per_km,
        "prior uncertainty (Wh per km)": prior.std_wh * per_km,
    }
    if (belief := believed.edge_posterior) is not None:
        layers |= {
            "energy as learned (Wh per km)": belief.mean_wh * per_km,
            "learned minus physics (Wh per km)": (belief.mean_wh - prior.mean_wh) * per_km,
            "remaining uncertainty (Wh per km)": belief.std_wh * per_km,
        }
    return layers


def show_source(roads: RoadNetwork) -> None:
    """Show the origin of the roads, and notes on missing, imputed or repaired values."""
    about = summary(roads)
    st.write(
        f"**{literal(about['name'])}**: {about['edges']:,} edges, {about['junctions']:,} "
        "junctions, "
        f"{about['turns']:,} turns, {about['length_m'] / 1000:,.0f} km, from "
        f"{literal(about['source'])}."
    )
    smoothing = (
        f"smoothed by {about['smoothing_m']:g} m" if about["smoothing_m"] else "not smoothed"
    )
    st.write(f"Heights: {literal(about['elevation'])}, {literal(smoothing)}.")
    for note in about["notes"]:
        st.write(f"- {literal(note)}")
    st.caption(literal(about["attribution"]))


with visit():
    main()
