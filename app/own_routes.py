"""Addresses beside the page: suggestions of places and of cars, and the roads of maps, as JSON.

The page registers the networks that its tabs show. An address names one by its contents. Only this
machine's own names are answered, as Streamlit's own addresses do for WebSockets.
"""

import json
from collections import OrderedDict
from dataclasses import asdict
from threading import Lock
from urllib.parse import urlencode

from naming import car_title, driven_cars
from road_files import RoadFiles
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from streamlit import config

from evroute.energy.vehicle import find_vehicles
from evroute.errors import EvrouteError
from evroute.network.places.suggestions import MOST, Suggestion, suggest
from evroute.network.road_network import RoadNetwork

PATH = "/evroute"
MOST_NETWORKS = 8
MOST_RECENT = 20
LONGEST = 200
"""Greatest number of characters of a text."""
CARS = f"{PATH}/cars?"
FILES = ("roads", "names")
"""Files of a network (`RoadFiles`)."""
KEPT = {"Cache-Control": "private, max-age=3600"}
"""Headers of the files of a network, whose address changes with their contents."""
networks: OrderedDict[str, RoadFiles] = OrderedDict()
_lock = Lock()


def places_address(roads: RoadNetwork) -> str:
    """Register a network and return the address of its places, without the text."""
    return f"{PATH}/places?{_registered(roads)}"


def file_addresses(roads: RoadNetwork) -> dict[str, str]:
    """Register a network and return the addresses of its ``roads`` and of its ``names``."""
    query = _registered(roads)
    return {name: f"{PATH}/{name}?{query}" for name in FILES}


def prepare(roads: RoadNetwork) -> None:
    """Register a network and write its files before they are asked for."""
    files = _files(roads)
    for name in FILES:
        files.file(name)


def files_of(network: str) -> RoadFiles | None:
    """Return the files of the newest registered network of a name, or None."""
    with _lock:
        found = (files for files in reversed(networks.values()) if files.of.name == network)
        return next(found, None)


def _registered(roads: RoadNetwork) -> str:
    """Register a network and return the query that names it."""
    _files(roads)
    return urlencode({"network": roads.content_digest})


def _files(roads: RoadNetwork) -> RoadFiles:
    """Register a network and return its files."""
    digest = roads.content_digest
    with _lock:
        files = networks.setdefault(digest, RoadFiles(roads))
        networks.move_to_end(digest)
        while len(networks) > MOST_NETWORKS:
            networks.popitem(last=False)
    return files


def road_lines(request: Request) -> Response:
    """Answer the lines of the roads of a network."""
    return _file(request, "roads")


def road_names(request: Request) -> Response:
    """Answer the names of the streets and places of a network."""
    return _file(request, "names")


def _file(request: Request, name: str) -> Response:
    files = networks.get(request.query_params.get("network", ""))
    if files is None:
        return JSONResponse(None, status_code=404)
    return Response(files.file(name), media_type="application/json", headers=KEPT)


def cars_address(own: list[str]) -> str:
    """Return the address of cars, without the text. ``own`` are the names that come first."""
    return CARS + urlencode({"own": own}, doseq=True)


def places(request: Request) -> Response:
    """Answer the places that a text may mean, each with label, kind and text."""
    files = networks.get(request.query_params.get("network", ""))
    if files is None:
        return JSONResponse([], status_code=404)
    try:
        recent = [_recent(each) for each in request.query_params.getlist("recent")[:MOST_RECENT]]
    except ValueError:
        return JSONResponse([], status_code=400)
    try:
        found = suggest(files.of, _text(request), recent=recent)
    except EvrouteError:
        return JSONResponse([], status_code=422)
    return _answer([asdict(each) for each in found])


def cars(request: Request) -> Response:
    """Answer the cars that a text may mean, each with label, kind and name."""
    own = request.query_params.getlist("own")
    offered = {*driven_cars(), *own}
    names = [name for name in find_vehicles(_text(request), own) if name in offered][:MOST]
    kinds = {True: "my car", False: ""}
    return _answer(
        [{"label": car_title(name), "kind": kinds[name in own], "text": name} for name in names]
    )


def _recent(text: str) -> Suggestion:
    """Return a place that was chosen before, from JSON of its label and text.

    Raises
    ------
    ValueError
        If it is none.
    """
    pair = json.loads(text[: 2 * LONGEST])
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(t, str) for t in pair):
        raise ValueError("a recent place is a label and a text")
    return Suggestion(pair[0][:LONGEST], "recent", pair[1][:LONGEST])


def _text(request: Request) -> str:
    return request.query_params.get("text", "")[:LONGEST]


def _answer(found: list[dict[str, str]]) -> Response:
    return JSONResponse(found, headers={"Cache-Control": "no-store"})


def routes() -> list[Mount]:
    """Return the addresses, for the server."""
    hosts = config.get_option("server.allowedHosts") or ["*"]
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    own = {"/places": places, "/cars": cars, "/roads": road_lines, "/names": road_names}
    return [Mount(PATH, routes=[Route(*each) for each in own.items()], middleware=[guard])]
