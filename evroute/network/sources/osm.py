"""Read the passenger-car roads of OpenStreetMap, from an extract or by the name of a place.

Extracts (``.osm``, ``.osm.gz``, ``.osm.bz2``, ``.osm.pbf``) are read with pyosmium, in two passes,
so that the order of objects does not matter. Places are found with Nominatim through OSMnx, and
read from the Overpass API (`overpass`). ``osm_roads`` turns the objects into a network.
"""

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar
from xml.parsers import expat

from evroute import limits
from evroute.errors import EvrouteError, NetworkFormatError
from evroute.network.geo import osmium, osmnx, requests
from evroute.network.memory import check_memory
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources import osm_roads, osm_tags, overpass
from evroute.network.sources.osm_roads import Extract, Way
from evroute.network.sources.osm_tags import ATTRIBUTION
from evroute.network.sources.pbf import unpacked_bytes
from evroute.network.sources.restrictions import Relation

T = TypeVar("T")
_DAMAGE = (EOFError, OSError, OverflowError, expat.ExpatError, zlib.error)
"""Raised on XML and compressed bytes that are cut off or changed."""
_MEMBER_TYPES = {"n": "node", "w": "way", "r": "relation"}


def read(path: Path, name: str) -> RoadNetwork:
    """Read an OpenStreetMap extract as network ``name``, all junctions at height 0.

    Raises
    ------
    MissingPackageError
        If pyosmium or OSMnx is not installed.
    NetworkFormatError
        If the file is missing, no regular file, empty, cut off, not an OpenStreetMap file, or
        without a drivable road.
    """
    if path.exists() and not path.is_file():
        raise NetworkFormatError(f"{path} is not a regular file. Give an OpenStreetMap extract")
    try:
        with path.open("rb") as handle:
            sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise NetworkFormatError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        return osm_roads.build(_extract(path), name, _source((path.name,), sha256))
    except NetworkFormatError as error:
        raise NetworkFormatError(f"{path.name}: {error}") from error


def read_place(place: str, name: str, cache: Path) -> RoadNetwork:
    """Read the roads that touch a named place ("Monaco") as network ``name``, at height 0.

    Parameters
    ----------
    place
        Place to look up in OpenStreetMap.
    name
        Name of the network.
    cache
        Folder that keeps the answers of the two services.

    Raises
    ------
    MissingPackageError
        If OSMnx is not installed.
    EvrouteError
        If the place is not known, has no area, or a service cannot be reached.
    NetworkFormatError
        If it has no drivable road.
    """
    return read_area(find_area(place, cache), name, cache)


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """A place of OpenStreetMap with an area.

    Parameters
    ----------
    place
        As it was asked for.
    title
        Its whole name, such as "Monaco, 98000, Monaco".
    shape
        Polygon or multipolygon of shapely, WGS 84.
    """

    place: str
    title: str
    shape: Any


def find_area(place: str, cache: Path) -> Area:
    """Return the area of a place, which OSMnx looks up with Nominatim.

    Parameters
    ----------
    place, cache
        As in `read_place`.

    Raises
    ------
    EvrouteError
        If the place is not known, has no area, or the service cannot be reached.
    """
    osmnx.settings.use_cache, osmnx.settings.cache_folder = True, cache
    try:
        found = _answered(place, lambda: osmnx.geocode_to_gdf(place))
    except TypeError as error:  # the place has no area
        raise EvrouteError(
            f"'{place}' has no boundary in OpenStreetMap. Name a city, district or region"
        ) from error
    except ValueError as error:  # no such place, or an answer that OSMnx cannot read
        raise EvrouteError(
            f"OpenStreetMap's services have no answer for '{place}': {error}"
        ) from error
    return Area(place, str(found["display_name"].iloc[0]), found.union_all())


def count_ways(area: Area, cache: Path) -> int:
    """Return the number of ways that `read_area` would read.

    Parameters
    ----------
    area, cache
        As in `read_area`.

    Raises
    ------
    EvrouteError
        If the service cannot be reached or has no answer.
    """
    return _answered(area.place, lambda: overpass.count_of(area.shape, cache))


def read_area(area: Area, name: str, cache: Path) -> RoadNetwork:
    """Read the roads that touch an area as network ``name``, at height 0.

    Parameters
    ----------
    area
        From `find_area`.
    name, cache
        As in `read_place`.

    Raises
    ------
    EvrouteError
        If the service cannot be reached or has no answer.
    NetworkFormatError
        If the area has no drivable road.
    """
    answer = _answered(area.place, lambda: overpass.roads_of(area.shape, cache))
    return osm_roads.build(_from_overpass(answer), name, _source((area.place,), ""))


def _answered(place: str, ask: Callable[[], T]) -> T:
    """Return the answer of a service on a place, in time."""
    try:
        return limits.within_time(
            lambda _: ask(), f"OpenStreetMap's services are too slow for '{place}'"
        )
    except requests.exceptions.RequestException as error:
        raise EvrouteError(
            f"OpenStreetMap's services cannot be reached for '{place}' ({type(error).__name__}). "
            "Check the internet connection, or give a file with --osm"
        ) from error


def _source(files: tuple[str, ...], sha256: str) -> Source:
    return Source(kind="osm", files=files, sha256=sha256, attribution=ATTRIBUTION)


def _extract(path: Path) -> Extract:
    extract = Extract()
    try:
        if path.name.endswith(".pbf"):
            limits.check_unpacked(path, path.stat().st_size, unpacked_bytes(path))
        else:
            limits.check_xml(path)
        _read_ways_and_relations(path, extract)
        _read_nodes(path, extract)
        _read_places(path, extract)
    except (RuntimeError, ValueError, osmium.InvalidLocationError, *_DAMAGE) as error:
        reason = " ".join(str(error).split())  # it can quote the file, line ends included
        raise NetworkFormatError(f"not a whole OpenStreetMap file: {reason}") from error
    return extract


def _read_ways_and_relations(path: Path, extract: Extract) -> None:
    """Add the ways with a ``highway`` tag and the turn restrictions of a file."""
    roads = osmium.filter.KeyFilter("highway")
    roads.enable_for(osmium.osm.WAY)
    turn_rules = osmium.filter.TagFilter(("type", "restriction"))
    turn_rules.enable_for(osmium.osm.RELATION)
    items: Any = (
        osmium.FileProcessor(str(path), osmium.osm.WAY | osmium.osm.RELATION)
        .with_filter(roads)
        .with_filter(turn_rules)
    )
    for item in items:
        if item.is_way():
            extract.ways[item.id] = Way(tuple(node.ref for node in item.nodes), dict(item.tags))
            check_memory(len(extract.ways), 0, str(path))
        else:
            members = tuple((_MEMBER_TYPES[m.type], m.ref, m.role) for m in item.members)
            extract.relations.append(Relation(dict(item.tags), members))


def _read_nodes(path: Path, extract: Extract) -> None:
    """Add positions and tags of the nodes of drivable ways."""
    needed = extract.nodes_needed()
    nodes: Any = osmium.FileProcessor(str(path), osmium.osm.NODE)
    # the filter knows no negative ids, which unpublished objects have
    if min(needed, default=0) >= 0:
        nodes = nodes.with_filter(osmium.filter.IdFilter(needed))
    for item in nodes:
        if item.id in needed and item.location.valid():
            extract.lon_lat[item.id] = item.location.lon, item.location.lat
            if item.tags:
                extract.node_tags[item.id] = dict(item.tags)


def _read_places(path: Path, extract: Extract) -> None:
    """Add the named places to drive to, at the mean of their nodes. Stops are nodes."""
    places: Any = (
        osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY)
        .with_locations()
        .with_filter(osmium.filter.KeyFilter("railway", *osm_tags.PLACE_KEYS))
    )
    stops: Any = (
        osmium.FileProcessor(str(path), osmium.osm.NODE)
        .with_filter(osmium.filter.TagFilter(("highway", "bus_stop")))
        .with_filter(osmium.filter.KeyFilter("name"))
    )
    for item in chain(places, stops):
        if name := osm_tags.place(dict(item.tags)):
            points = [item.location] if item.is_node() else [node.location for node in item.nodes]
            if valid := [(at.lon, at.lat) for at in points if at.valid()]:
                lon, lat = (sum(each) / len(valid) for each in zip(*valid, strict=True))
                extract.places.append((name, lon, lat))


def _from_overpass(answer: dict[str, Any]) -> Extract:
    extract = Extract()
    relations: dict[int, Relation] = {}
    for item in answer["elements"]:
        tags = item.get("tags", {})
        if item["type"] == "node":
            extract.lon_lat[item["id"]] = item["lon"], item["lat"]
            if tags:
                extract.node_tags[item["id"]] = tags
                if place := osm_tags.place(tags):
                    extract.places.append((place, item["lon"], item["lat"]))
        elif item["type"] == "way":
            extract.ways[item["id"]] = Way(tuple(item["nodes"]), tags)
        else:
            members = tuple((m["type"], m["ref"], m["role"]) for m in item["members"])
            relations[item["id"]] = Relation(tags, members)
    extract.relations.extend(relations.values())
    return extract
