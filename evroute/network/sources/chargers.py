"""Charging stations of a network: the optional table ``chargers``, read from three formats.

Open Charge Map exports (``.json``), OpenStreetMap (``.osm``, ``.osm.pbf``: ``amenity`` =
``charging_station``) and tables (``.csv``: name, lat, lon, socket, kw, status; the last two may be
empty). The table has a row for each kind of socket and power of a station: ``name``, ``lon``,
``lat``, ``socket`` (one of `SOCKETS`) and ``kw``. Rows of one position are one station.
"""

import csv
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from evroute import limits
from evroute.errors import EvrouteError, NetworkFormatError, require
from evroute.network.geo import osmium
from evroute.network.optional_tables import Table
from evroute.network.places.locate import nearest
from evroute.network.places.names import clean
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.osm_roads import ATTRIBUTION
from evroute.text import text_of_cell

SOCKETS = {"ac": 11.0, "household": 2.3, "ccs": 50.0, "chademo": 50.0, "tesla": 120.0}
"""Kinds of sockets, and the power where none is stated, kW. ``ac``: types 1 and 2."""
FARTHEST_M = 200.0
"""Stations farther from the nearest road are left out."""
SAME_PLACE_M = 50.0
"""Stations as near to each other are one."""
OCM_ATTRIBUTION = "Charging data (c) Open Charge Map contributors, CC BY 4.0"
_KINDS = {kind: kind for kind in SOCKETS} | {
    **dict.fromkeys(("type1", "type2", "type2_cable", "tesla_destination"), "ac"),
    **dict.fromkeys(("type1_combo", "type2_combo", "tesla_supercharger_ccs"), "ccs"),
    **dict.fromkeys(("schuko", "typee", "typef"), "household"),
    "tesla_supercharger": "tesla",
}
"""Kind of the sockets of OpenStreetMap, and of tables."""
_OCM_KINDS = {
    **dict.fromkeys((1, 25, 30, 1036), "ac"),
    **dict.fromkeys((13, 23, 28), "household"),
    **dict.fromkeys((32, 33), "ccs"),
    **{2: "chademo", 27: "tesla"},
}
_OCM_OPEN = (None, 0, 10, 20, 50, 75)
_OCM_PRIVATE = (2, 3, 6)
_COLUMNS = ("name", "lat", "lon", "socket")
_OPEN = ("", "open", "operational", "yes")
_DAMAGE = (csv.Error, expat.ExpatError, zlib.error, AttributeError, KeyError, TypeError, ValueError)
_PRIVATE = ("private", "no", "employees", "residents")


@dataclass(frozen=True, slots=True)
class Station:
    """A charging station.

    Parameters
    ----------
    name
        Its name.
    lon, lat
        WGS 84 position, degrees.
    sockets
        Kinds and powers, kW, of its sockets.
    """

    name: str
    lon: float
    lat: float
    sockets: tuple[tuple[str, float], ...]


def add_chargers(network: RoadNetwork, path: Path) -> tuple[RoadNetwork, Counter[str]]:
    """Return a network with the stations of a file, and how many were used and left out.

    Raises
    ------
    EvrouteError
        If the file cannot be read, has a bad value, or no station that can be used.
    """
    readers = {
        ".json": (_ocm, OCM_ATTRIBUTION, "a list of stations, as Open Charge Map exports it"),
        ".csv": (_table, "", f"a table in UTF-8 with the columns {', '.join(_COLUMNS)}"),
        **dict.fromkeys((".osm", ".pbf", ".gz", ".bz2"), (_osm, ATTRIBUTION, "OpenStreetMap data")),
    }
    require(path.suffix in readers, f"{path} is no .json, .csv, .osm or .osm.pbf file of stations")
    (read, credit, expected), counts, kept = readers[path.suffix], Counter[str](), list[Station]()
    try:
        found = list(read(path))
    except (OSError, EOFError, RuntimeError, *_DAMAGE) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        reason = " ".join(f"{type(error).__name__} {error}".split())
        raise NetworkFormatError(
            f"cannot read stations from {path.name}: {reason}; expected {expected}"
        ) from error
    for state, name, lon, lat, rows in found:
        known = [(kind, kw or SOCKETS[kind]) for kind, kw in rows if kind]
        each = Station(clean(name) or "charging station", lon, lat, tuple(dict.fromkeys(known)))
        edges = edges_at(network, each)
        twin = next((k for k, one in enumerate(kept) if _apart_m(each, one) < SAME_PLACE_M), None)
        if state:
            counts[f"left out: {state}"] += 1
        elif not known:
            counts["left out: without a socket that cars have"] += 1
        elif not edges:
            counts[f"left out: more than {FARTHEST_M:.0f} m from a road to stop on"] += 1
        elif twin is not None:
            counts["same place twice: merged"] += each.name != kept[twin].name
            both = dict.fromkeys(kept[twin].sockets + each.sockets)
            kept[twin] = replace(kept[twin], sockets=tuple(both))
        else:
            kept.append(each)
        assumed = [kind for kind, kw in rows if kind and kw is None and edges and not state]
        counts.update(f"power assumed: {SOCKETS[kind]:g} kW for {kind}" for kind in assumed)
    if not kept:
        listed = (
            "; ".join(f"{what} {count}" for what, count in counts.items()) or "the file lists none"
        )
        raise EvrouteError(f"{path.name} has no station for network '{network.name}' ({listed})")
    counts["stations used"] = len(kept)
    of_sockets = [(each, kind, kw) for each in kept for kind, kw in each.sockets]
    table: Table = {
        "name": tuple(each.name for each, *_ in of_sockets),
        "lon": np.array([each.lon for each, *_ in of_sockets]),
        "lat": np.array([each.lat for each, *_ in of_sockets]),
        "socket": tuple(kind for _, kind, _ in of_sockets),
        "kw": np.array([kw for *_, kw in of_sockets]),
    }
    credits = dict.fromkeys(filter(None, (network.source.attribution, credit)))
    credited = replace(network, source=replace(network.source, attribution="; ".join(credits)))
    return credited.with_tables({**network.tables, "chargers": table}), +counts


@lru_cache(maxsize=4)
def stations(network: RoadNetwork) -> tuple[Station, ...]:
    """Return the charging stations of a network; none without the table.

    Raises
    ------
    NetworkFormatError
        If the table is damaged.
    """
    table = network.tables.get("chargers", {})
    columns = (table.get(column, ()) for column in ("name", "lon", "lat", "socket", "kw"))
    found: defaultdict[tuple[str, float, float], list[tuple[str, float]]] = defaultdict(list)
    try:
        for name, lon, lat, socket, kw in zip(*columns, strict=True):
            require(
                socket in SOCKETS and 0 < kw < np.inf, f"socket '{socket}' of {kw} kW", ValueError
            )
            found[clean(str(name)), float(lon), float(lat)].append((str(socket), float(kw)))
    except (TypeError, ValueError) as error:
        raise NetworkFormatError(
            f"the charging stations of network '{network.name}' are damaged ({error}); add them "
            "again with 'evroute network chargers'"
        ) from error
    return tuple(Station(*at, tuple(sockets)) for at, sockets in found.items())


def edges_at(network: RoadNetwork, station: Station) -> tuple[int, ...]:
    """Return the edges at whose end a car can stop at a station: the directions of one street.

    None where the nearest road is farther than `FARTHEST_M`, or one on which no car may stop.
    """
    try:
        edges = nearest(network, station.lat, station.lon, FARTHEST_M)
    except EvrouteError:
        return ()
    fast = any("motorway" in (kind := network.road_class[e]) or "trunk" in kind for e in edges)
    return () if fast else edges


def _apart_m(first: Station, second: Station) -> float:
    north, east = first.lat - second.lat, first.lon - second.lon
    return 111_195.0 * math.hypot(north, east * math.cos(math.radians(first.lat)))


_Read = Iterator[tuple[str, str, float, float, list[tuple[str | None, float | None]]]]
"""Why not to use it, name, longitude, latitude, kinds and powers of sockets, None if unknown."""


def _ocm(path: Path) -> _Read:
    """Yield the stations of an Open Charge Map export."""
    for each in limits.parse_json(limits.read_text(path, "json_mb"), path.name):
        about, given = each["AddressInfo"], each.get("Connections") or []
        rows = [row for row in given if row.get("StatusTypeID") in _OCM_OPEN]
        closed = each.get("StatusTypeID") not in _OCM_OPEN or (given and not rows)
        kinds = [_OCM_KINDS.get(row.get("ConnectionTypeID")) for row in rows]
        powers = [_kw(row.get("PowerKW"), path.name) for row in rows]
        at = float(about["Longitude"]), float(about["Latitude"])
        sockets = list(zip(kinds, powers, strict=True))
        private = each.get("UsageTypeID") in _OCM_PRIVATE
        yield _unused(closed, private), str(about.get("Title", "")), *at, sockets


def _table(path: Path) -> _Read:
    """Yield the stations of a table, one for each row."""
    lines = limits.read_text(path, "json_mb").removeprefix("\ufeff").splitlines() or [""]
    reader = csv.DictReader(lines, delimiter=max(",;\t", key=lines[0].count))
    if missing := set(_COLUMNS) - set(reader.fieldnames or ()):
        raise EvrouteError(
            f"{path.name} lacks the column '{min(missing)}' of stations; its first line must have "
            f"{', '.join(_COLUMNS)}"
        )
    for number, row in enumerate(reader, start=2):
        where, kind = f"{path.name}, line {number}", (row["socket"] or "").strip().lower()
        require(kind in _KINDS, f"{where}: unknown socket '{kind}'; there are {', '.join(_KINDS)}")
        try:
            at = _number(row["lon"]), _number(row["lat"])
        except ValueError:
            raise EvrouteError(f"{where}: lat and lon must be degrees") from None
        closed = (row.get("status") or "").strip().lower() not in _OPEN
        power = _kw(row.get("kw") or None, where)
        yield _unused(closed, False), text_of_cell(row["name"] or ""), *at, [(_KINDS[kind], power)]


def _osm(path: Path) -> _Read:
    """Yield the stations of an OpenStreetMap file."""
    if path.suffix != ".pbf":
        limits.check_xml(path)
    chargers = osmium.filter.TagFilter(("amenity", "charging_station"))
    kinds = osmium.osm.NODE | osmium.osm.WAY
    found: Any = osmium.FileProcessor(str(path), kinds).with_locations().with_filter(chargers)
    for item in found:
        tags = dict(item.tags)
        points = [item.location] if item.is_node() else [node.location for node in item.nodes]
        if at := [(point.lon, point.lat) for point in points if point.valid()]:
            closed = tags.get("operational_status", "operational") not in _OPEN
            closed |= "yes" in (tags.get("disused"), tags.get("abandoned"))
            state = _unused(closed, tags.get("access") in _PRIVATE)
            name = tags.get("name") or tags.get("operator") or tags.get("brand") or ""
            yield state, name, *np.mean(at, axis=0).tolist(), [*_osm_sockets(tags, path.name)]


def _unused(closed: object, private: bool) -> str:
    return "planned or closed" if closed else "private" if private else ""


def _osm_sockets(tags: Mapping[str, str], where: str) -> Iterator[tuple[str | None, float | None]]:
    """Yield the sockets of tags such as ``socket:type2=2``, ``socket:type2:output=22 kW``."""
    for key, count in tags.items():
        socket = re.fullmatch(r"socket:(\w+)", key)
        if socket and count not in ("no", "0"):
            power = re.match(r"\d+(?:\.\d+)?", tags.get(f"{key}:output", "").replace(",", "."))
            value = float(power[0]) if power else None
            kw = value / 1000 if value and value > 1000 else value  # some write W
            yield _KINDS.get(socket[1]), _kw(kw, where)


def _number(value: object) -> float:
    """Return a number, which may have a decimal comma."""
    return float(str(value).replace(",", "."))


def _kw(value: object, where: object) -> float | None:
    """Return a power, kW; None where it is missing."""
    try:
        kw = None if value is None else _number(value)
    except ValueError:
        kw = -1.0
    require(
        kw is None or 0 < kw <= 5000,
        f"{where}: the power of a socket is {value} kW; it must be above 0",
    )
    return kw
