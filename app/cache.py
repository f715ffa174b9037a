"""What all sessions share: networks, planners, beliefs, methods. The only place with Streamlit's caches."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import streamlit as st
from state import key, starting

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.network.catalog import load_network, network_names, read_any
from evroute.network.road_network import RoadNetwork
from evroute.planning.guarantee import Guarantee
from evroute.planning.planner import Planner
from evroute.report.leaflet import Leaflet
from evroute.simulation.belief import inflation, load_belief
from evroute.simulation.experiment import Experiment, simulate
from evroute.simulation.methods import Method
from evroute.simulation.parts import INDICES, MODELS
from evroute.simulation.runs import RunFolder

LEAFLET = Leaflet(js="/app/static/leaflet/leaflet.js", css="/app/static/leaflet/leaflet.css")
RUNS = Path("runs")
DEFAULT_NETWORK = "denver"
UPLOADED = "uploaded"
PHYSICS = "physics alone"
ENDINGS = ["osm", "gz", "bz2", "pbf", "xml", "graphml", "npz"]
PROBE_TRIPS = 20


def choose_network() -> RoadNetwork:
    """Ask for a network: a known one, or one that this session uploads.

    Raises
    ------
    EvrouteError
        If it cannot be read.
    """
    names = list(network_names())
    if uploaded := st.session_state.get(UPLOADED):
        names.append(uploaded.name)
    starting("network", DEFAULT_NETWORK if DEFAULT_NETWORK in names else names[0], names)
    name = st.selectbox("Network", names, key=key("network"))
    with st.expander("Bring your own roads"):
        file = st.file_uploader("OpenStreetMap, SUMO, OSMnx or stored network", ENDINGS)
    if file is not None and st.session_state.get("upload_id") != file.file_id:
        st.session_state["upload_id"] = file.file_id
        st.session_state[UPLOADED] = read_upload(file.name, file.getvalue())
        st.rerun()
    return uploaded if uploaded and uploaded.name == name else network(name)


def choose_known_network() -> str:
    """Ask for a network by its name; uploads have none that a run folder could keep."""
    names = list(network_names())
    starting("known_network", DEFAULT_NETWORK if DEFAULT_NETWORK in names else names[0], names)
    return str(st.selectbox("Network", names, key=key("known_network")))


def read_upload(file_name: str, content: bytes) -> RoadNetwork:
    """Read uploaded roads in a folder of their own; only the ending of the user's name is used.

    Raises
    ------
    EvrouteError
        If they cannot be read.
    """
    ending = "".join(Path(file_name).suffixes[-2:])
    stem = "".join(sign for sign in Path(file_name).name.partition(".")[0] if sign.isascii() and sign.isalnum())
    with TemporaryDirectory() as folder, st.spinner("Reading the roads …"):
        path = Path(folder, f"roads{ending}")
        path.write_bytes(content)
        return read_any(path, f"my-{stem or 'roads'}")


@st.cache_resource(max_entries=4, show_spinner="Loading the roads; a city is built on first use …")
def network(name: str) -> RoadNetwork:
    return load_network(name)


@st.cache_resource(
    max_entries=8, show_spinner=False, hash_funcs={RoadNetwork: lambda roads: roads.digest, Vehicle: repr}
)
def planner(
    roads: RoadNetwork,
    vehicle: Vehicle,
    conditions: DrivingConditions,
    folder: str,
    run: str,
    guarantee: Guarantee | None = None,
) -> Planner:
    """Return the planner of these; it plans on what a run learned if a folder is given.

    Raises
    ------
    EvrouteError
        If the belief cannot be read, or is about another network or vehicle.
    """
    if not folder:
        return Planner(roads, vehicle, conditions=conditions)
    model = load_belief(RUNS / folder, run, roads, vehicle)
    widened = inflation(RUNS / folder, run)
    return Planner(roads, vehicle, model, conditions=conditions, guarantee=guarantee, inflation=widened)


def run_folders() -> list[str]:
    """Return the names of the folders with finished runs, the newest first."""
    found = [path.parent for path in RUNS.glob("*/manifest.json") if RunFolder(path.parent).finished_runs()]
    return [path.name for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)]


def belief_folders() -> list[str]:
    """Return the names of the folders that can be planned on, the newest first."""
    found = [path.parent for path in RUNS.glob("*/manifest.json") if RunFolder(path.parent).beliefs()]
    return [path.name for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)]


def beliefs(folder: str, network_name: str) -> list[str]:
    """Return the runs of a folder on a network that have a belief."""
    runs = RunFolder(RUNS / folder)
    return [
        name for name in runs.beliefs() if name.startswith(f"{network_name}-") and runs.belief_path(name).is_file()
    ]


def choose_belief(roads: RoadNetwork) -> tuple[str, str]:
    """Ask whose knowledge of the roads counts; folder and run are empty for physics alone."""
    folders = [PHYSICS, *belief_folders()]
    starting("folder", PHYSICS, folders)
    folder = st.selectbox("Plan on", folders, key=key("folder"), help="Physics, or what a saved run has learned.")
    if folder == PHYSICS:
        return "", ""
    runs = beliefs(folder, roads.name)
    if not runs:
        st.caption(f"No run in {folder} was driven on {roads.name}.")
        return "", ""
    starting("run", runs[0], runs)
    return folder, str(st.selectbox("Run", runs, key=key("run")))


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
def seconds(
    network_name: str, trip: str, vehicle_name: str, search: str, world: str, label: str
) -> tuple[float, float]:
    """Measure what a run of one method takes to start, and what each of its first trips takes."""
    probe = Experiment(
        trips={network_name: (trip,)},
        methods=(methods()[label],),
        search=(search,),
        horizon=1,
        seeds=1,
        vehicle=vehicle_name,
        world=(world,),
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
