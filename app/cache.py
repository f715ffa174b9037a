"""What all sessions share: networks, planners, methods. The only place with Streamlit's caches."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import streamlit as st

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner
from evroute.report.leaflet import Leaflet
from evroute.simulation.experiment import Experiment, simulate
from evroute.simulation.methods import INDICES, MODELS, Method

LEAFLET = Leaflet(js="/app/static/leaflet/leaflet.js", css="/app/static/leaflet/leaflet.css")
PROBE_TRIPS = 20


@st.cache_resource(max_entries=4, show_spinner="Loading the roads; a city is built on first use …")
def network(name: str) -> RoadNetwork:
    return load_network(name)


@st.cache_resource(max_entries=8, show_spinner=False)
def planner(network_name: str, vehicle_name: str) -> Planner:
    return Planner(network(network_name), load_vehicle(vehicle_name))


@st.cache_data
def methods() -> dict[str, Method]:
    """Return every model and index that can work together, by label."""
    found = {}
    for model in MODELS:
        for index in INDICES:
            try:
                method = Method(model=model, index=index)
            except EvrouteError:
                continue
            found[method.label] = method
    return found


@st.cache_data(show_spinner="Timing a few trips; a city's covariance is prepared on first use …")
def seconds(network_name: str, trip: str, vehicle_name: str, search: str, label: str) -> tuple[float, float]:
    """Measure what a run of one method takes to start, and what each of its first trips takes."""
    probe = Experiment(
        trips={network_name: (trip,)},
        methods=(methods()[label],),
        search=(search,),
        horizon=1,
        seeds=1,
        vehicle=vehicle_name,
    )
    with TemporaryDirectory() as folder:
        simulate(probe, Path(folder, "prepare"))
        started = perf_counter()
        simulate(probe, Path(folder, "one"))
        one = perf_counter()
        simulate(probe.model_copy(update={"horizon": 1 + PROBE_TRIPS}), Path(folder, "more"))
        more = perf_counter()
    start_s = one - started
    return start_s, max(0.0, more - one - start_s) / PROBE_TRIPS
