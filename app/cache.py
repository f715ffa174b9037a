"""Objects shared by all sessions: networks, planners, beliefs, methods.

Only this module uses Streamlit's caches.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st
from cities import ask_city
from early import has_read
from lan import check_write, reads_only
from literal import literal
from memory import DEFAULT_NETWORK
from naming import title_of
from state import UPLOADED, ask, key, put, starting

from evroute.door.planners import Planner, Planners
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError
from evroute.experiments.estimate import estimate
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.learning.belief import load_belief
from evroute.methods.method import Method
from evroute.methods.parts import METHODS
from evroute.network.catalog import keep, load_network, network_names, network_version, read_any
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import read_stations
from evroute.network.sources.chargers import add_chargers, stations, with_stations
from evroute.planning.places import load_trips, stops

RUNS = Path("runs")
ENDINGS = ["osm", "gz", "bz2", "pbf", "xml", "graphml", "npz"]
HEIGHTS = ["tif", "tiff", "hgt"]
STATIONS = ["json", "csv", "osm", "pbf"]
BY_DIGEST = {RoadNetwork: lambda roads: f"{roads.content_digest}{stations(roads)}"}
"""Hash functions for caches: a network is identified by all its contents and its chargers."""
RECOMMENDED = "recommended"
LIKELY_EXTRA = 0.2
TIMED_TRIPS = (10, 500)


def choose_network() -> RoadNetwork:
    """Ask for a network: a named one, or an upload of this session.

    Raises
    ------
    EvrouteError
        If it cannot be read.
    """
    known_network()
    name = ask(st.selectbox, "Network", "network", options=_choices(), format_func=title_of)
    ask_city()
    with st.expander("Bring your own roads"):
        file = st.file_uploader("OpenStreetMap, SUMO, OSMnx or stored network", ENDINGS)
        heights = st.file_uploader("Heights, if the roads have none", HEIGHTS, key="up:heights")
        chargers = st.file_uploader("Charging stations", STATIONS, key="up:chargers")
    files = [each for each in (file, heights, chargers) if each is not None]
    ids = [each.file_id for each in files]
    if file is not None and st.session_state.get("upload_id") != ids:
        st.session_state["upload_id"] = ids
        roads = read_upload(file.name, file.getvalue(), _content(heights), _content(chargers))
        if roads.name in network_names():
            raise EvrouteError(
                f"the file holds a network '{roads.name}', and one of that name exists. "
                "Build it under another name"
            )
        st.session_state[UPLOADED] = roads
        put("network", roads.name)
        st.rerun()
    uploaded = st.session_state.get(UPLOADED)
    if uploaded is None or uploaded.name != name:
        return network(name)
    st.caption(literal(f"'{name}' is in this tab only, until a reload."))
    if st.button(
        "Keep this network", key="keep_network", help="For later visits.", disabled=reads_only()
    ):
        check_write()
        keep(uploaded)
        del st.session_state[UPLOADED]
        st.rerun()
    return uploaded


def known_network() -> str:
    """Return the name of the chosen network. An unknown one is replaced, below a warning."""
    names, requested = _choices(), st.session_state.get(key("network"))
    default = DEFAULT_NETWORK if DEFAULT_NETWORK in names else names[0]
    name = str(starting("network", default, names))
    if requested not in (None, *names):
        st.warning(literal(f"There is no network '{requested}'. This is {name}."))
    return name


def _choices() -> list[str]:
    uploaded = st.session_state.get(UPLOADED)
    names = list(network_names())
    return [*names, uploaded.name] if uploaded else names


def choose_known_network() -> str:
    """Ask for a network by name. Uploads have no name that a run folder could store."""
    names = list(network_names())
    planned_on = st.session_state.get(key("network"))
    likely = next((name for name in (planned_on, DEFAULT_NETWORK) if name in names), names[0])
    starting("known_network", likely, names)
    return str(ask(st.selectbox, "Network", "known_network", options=names, format_func=title_of))


Named = tuple[str, bytes]


def _content(file: Any) -> Named | None:
    return None if file is None else (file.name, file.getvalue())


def read_upload(
    file_name: str,
    content: bytes,
    heights: Named | None = None,
    chargers: Named | None = None,
) -> RoadNetwork:
    """Read uploaded roads in a temporary folder. Only the endings of the user's names are used.

    Parameters
    ----------
    file_name, content
        The roads. Charging stations in a file of OpenStreetMap are taken along.
    heights, chargers
        Name and content of a raster, and of a file of charging stations, or None for none.

    Raises
    ------
    EvrouteError
        If they cannot be read.
    """
    stem = "".join(
        sign for sign in Path(file_name).name.partition(".")[0] if sign.isascii() and sign.isalnum()
    )
    with TemporaryDirectory() as folder, st.spinner("Reading the roads …"):
        path = _written(Path(folder), "roads", (file_name, content))
        rasters = []
        if heights:  # the name of a tile of SRTM is its place
            tile = re.match(r"[NS]\d\d[EW]\d{3}", heights[0], re.ASCII | re.IGNORECASE)
            rasters.append(_written(Path(folder), tile[0] if tile else "heights", heights))
        roads = read_any(path, f"my-{stem or 'roads'}", rasters)
        if chargers:
            return add_chargers(roads, _written(Path(folder), "chargers", chargers))[0]
        if path.name.startswith("roads.osm"):
            roads, _ = with_stations(roads, *read_stations(path))
        return roads


def _written(folder: Path, stem: str, file: Named) -> Path:
    """Write the content of a file and return its path, which has the ending of its name."""
    path = folder / f"{stem}{''.join(Path(file[0]).suffixes[-2:])}"
    path.write_bytes(file[1])
    return path


def network(name: str) -> RoadNetwork:
    """Return a network by name, reloaded if its files have changed."""
    return _network(name, network_version(name))


@st.cache_resource(max_entries=4, show_spinner="Loading, a city is built on first use …")
def _network(name: str, version: tuple[object, ...]) -> RoadNetwork:
    roads = load_network(name)
    has_read(roads)
    return roads


def planner(
    roads: RoadNetwork,
    vehicle: Vehicle,
    conditions: DrivingConditions,
    folder: str,
    run: str,
) -> Planner:
    """Return the planner on a belief, reloaded if its file has changed.

    Parameters
    ----------
    roads, vehicle, conditions
        As in `Planner`.
    folder, run
        Run folder and run of the belief, or empty for physics alone.

    Raises
    ------
    EvrouteError
        If the belief cannot be read, or is about another network or vehicle.
    """
    version: tuple[int, ...] = ()
    if folder and (path := RunFolder(RUNS / folder).belief_path(run)).exists():
        found = path.stat()
        version = found.st_mtime_ns, found.st_size, found.st_ino

    def make() -> Planner:
        belief = load_belief(RUNS / folder, run, network=roads) if folder else None
        return Planner(roads, vehicle, belief, conditions=conditions)

    digest = BY_DIGEST[RoadNetwork](roads)
    return _planners().of((digest, vehicle, conditions, folder, run), make, version)


@st.cache_resource(show_spinner=False)
def _planners() -> Planners:
    return Planners(8)


@st.cache_data(show_spinner=False, hash_funcs=BY_DIGEST)
def first_trip(roads: RoadNetwork) -> str:
    """Return the first named trip whose fastest and least-energy routes differ, else the first."""
    trips = list(load_trips(roads.name))
    known = planner(roads, load_vehicle(), DrivingConditions(), "", "")
    for name in trips:
        origin, destination = stops(roads, name, ())
        routes = known.plan(origin, destination, max_extra_time=LIKELY_EXTRA).routes
        if routes["energy"].route != routes["time"].route:
            return name
    return trips[0]


def run_folders() -> list[str]:
    """Return the names of the folders with finished runs, the newest first."""
    found = [each.path for each in RunFolder.below(RUNS, "*/manifest.json") if each.finished_runs()]
    return [
        path.name for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    ]


@st.cache_data
def methods() -> dict[str, Method]:
    """Return the named methods by their labels, or by their names where they have options.

    Those are left out whose extra is not installed.
    """
    found = {}
    for name in METHODS:
        try:
            method = Method.model_validate(name)
        except EvrouteError:
            continue
        plain = name != RECOMMENDED and not method.options
        found[method.label if plain else name] = method
    return found


def price_s(experiment: Experiment) -> float:
    """Return the time of an experiment, s, extrapolated from a few timed trips.

    The trips are timed once for all horizons and seeds.

    Raises
    ------
    EvrouteError
        If one of its methods cannot run there.
    """
    timed = experiment.model_copy(update={"seeds": 1})
    few, many = (
        _timed_s(timed.model_copy(update={"horizon": horizon}).model_dump_json(exclude_none=True))
        for horizon in TIMED_TRIPS
    )
    per_trip = max(many - few, 0.0) / (TIMED_TRIPS[1] - TIMED_TRIPS[0])
    return experiment.seeds * (few + (experiment.horizon - TIMED_TRIPS[0]) * per_trip)


@st.cache_data(show_spinner="Timing a few trips, a city's covariance is prepared on first use …")
def _timed_s(experiment_json: str) -> float:
    experiment = Experiment.model_validate_json(experiment_json)
    with TemporaryDirectory() as folder:
        result = estimate(experiment, Path(folder, "none"))
    if result.failures:
        raise EvrouteError(next(iter(result.failures.values())).splitlines()[-1])
    return result.cpu_s
