"""One request to OpenStreetMap's Overpass API for the roads of an area, with its restrictions.

Address, time limit, user agent and further settings come from ``osmnx.settings``, which OSMnx
uses for its own requests too. An answer is kept as a file, so that no request is sent twice.
"""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from evroute.errors import EvrouteError
from evroute.files import replacing
from evroute.network.geo import osmnx, requests
from evroute.network.sources import osm_tags
from evroute.network.sources.osm_tags import STOPS, TYPICAL_KMH

SIMPLE_DEG = 1e-4
"""A border may move by as much: 11 m. A country has a hundred thousand corners."""
BUSY = (429, 504)
"""Statuses of a service that asks to come again later."""
TRIES, PAUSE_S = 3, 55.0
"""Number of requests to a busy service, and the time between them."""


def roads_of(area: Any, cache: Path) -> dict[str, Any]:
    """Return Overpass' answer on drivable roads that touch an area, and named places inside.

    Parameters
    ----------
    area
        Polygon or multipolygon of shapely, WGS 84.
    cache
        Folder of earlier answers.

    Raises
    ------
    requests.exceptions.RequestException
        If the service cannot be reached.
    EvrouteError
        If it has no answer.
    """
    return _kept(query_of(area), cache)


def count_of(area: Any, cache: Path) -> int:
    """Return the number of ways in the answer of `roads_of`.

    Parameters
    ----------
    area, cache
        As in `roads_of`.

    Raises
    ------
    requests.exceptions.RequestException, EvrouteError
        As in `roads_of`.
    """
    found = _kept(f"{_settings()};({_roads(area)});out count;", cache)
    return sum(int(each["tags"]["ways"]) for each in found["elements"])


def stations_of(area: Any, cache: Path) -> list[dict[str, Any]]:
    """Return the nodes of charging stations in the answer of `roads_of`, which is not asked again.

    Parameters
    ----------
    area, cache
        As in `roads_of`.

    Raises
    ------
    requests.exceptions.RequestException, EvrouteError
        As in `roads_of`.
    """
    nodes = (each for each in roads_of(area, cache)["elements"] if each["type"] == "node")
    return [each for each in nodes if each.get("tags", {}).get("amenity") == "charging_station"]


def _kept(query: str, cache: Path) -> dict[str, Any]:
    """Return the answer to a query, which is kept as a file."""
    address = f"{osmnx.settings.overpass_url.rstrip('/')}/interpreter"
    name = hashlib.sha256(f"{address} {query}".encode()).hexdigest()
    kept = cache / f"overpass-{name}.json"
    if kept.exists():
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    found = _answer(address, query)
    cache.mkdir(parents=True, exist_ok=True)
    with replacing(kept) as temporary:
        temporary.write_text(json.dumps(found), encoding="utf-8")
    return found


def query_of(area: Any) -> str:
    """Return the query for the roads of an area, without its holes, in Overpass' language."""
    places = "|".join(osm_tags.PLACE_KEYS)
    keys, stops = ("|".join(dict.fromkeys(each)) for each in zip(*STOPS, strict=True))
    named = "".join(
        f"node['name'][~'^({places})$'~'.'](poly:'{polygon}');"
        f"node['name'][~'^({keys})$'~'^({stops})$'](poly:'{polygon}');"
        f"node['amenity'='charging_station'](poly:'{polygon}');"
        for polygon in _polygons(area)
    )
    return (
        f"{_settings()};({_roads(area)})->.roads;"
        f"(.roads;node(w.roads);{named}rel(bw.roads)['type'='restriction'];);out;"
    )


def _roads(area: Any) -> str:
    """Return the statements for the roads of an area."""
    classes = "|".join(kind for kind in TYPICAL_KMH if kind != osm_tags.TRACK)
    cars = "|".join(osm_tags.VEHICLES)
    return "".join(
        f"way['highway'~'^({classes})$'](poly:'{polygon}');"
        f"way['highway'='{osm_tags.TRACK}'][~'^({cars})$'~'.'](poly:'{polygon}');"
        for polygon in _polygons(area)
    )


def _polygons(area: Any) -> list[str]:
    """Return the outer corners of the polygons of an area, without those that hardly count."""
    simple = area.simplify(SIMPLE_DEG)
    return [_corners(polygon) for polygon in getattr(simple, "geoms", [simple])]


def _corners(polygon: Any) -> str:
    """Return the outer corners of a polygon as Overpass reads them: latitude and longitude."""
    return " ".join(f"{lat:.6f} {lon:.6f}" for lon, lat in polygon.exterior.coords)


def _settings() -> str:
    memory = osmnx.settings.overpass_memory
    maxsize = "" if memory is None else f"[maxsize:{memory}]"
    text: str = osmnx.settings.overpass_settings
    return text.format(timeout=osmnx.settings.requests_timeout, maxsize=maxsize)


def _answer(address: str, query: str) -> dict[str, Any]:
    """Return the answer of the service to a query."""
    settings = osmnx.settings
    headers = {
        "User-Agent": settings.http_user_agent,
        "Referer": settings.http_referer,
        "Accept-Language": settings.http_accept_language,
    }
    for wait_s in (PAUSE_S,) * (TRIES - 1) + (0.0,):
        response = requests.post(
            address,
            data={"data": query},
            timeout=settings.requests_timeout,
            headers=headers,
            **settings.requests_kwargs,
        )
        if response.status_code not in BUSY:
            break
        time.sleep(wait_s)
    if not response.ok:
        raise EvrouteError(
            f"OpenStreetMap's Overpass service answered {response.status_code} {response.reason}. "
            "Try again later, or give a file with --osm"
        )
    found = response.json()
    if not isinstance(found, dict) or "elements" not in found:
        raise EvrouteError(f"OpenStreetMap's Overpass service has no answer: {str(found)[:80]!r}")
    if remark := found.get("remark"):  # it ran out of time or memory
        raise EvrouteError(
            f"OpenStreetMap's Overpass service gave up: {remark}. Try a smaller place, or later"
        )
    return found
