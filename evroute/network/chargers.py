"""Charging stations of a network: the optional table ``chargers``, read from three formats.

Open Charge Map exports (``.json``), OpenStreetMap (``.osm``, ``.osm.pbf``: ``amenity`` =
``charging_station``) and tables (``.csv``: name, lat, lon, socket, kw, status; the last two may be
empty). The table has a row for each kind of socket and power of a station: ``name``, ``lon``,
``lat``, ``socket`` (one of `SOCKETS`) and ``kw``. Rows of one position are one station.
"""

import csv
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray
from evroute.errors import EvrouteError, MissingPackageError, NetworkFormatError
from evroute.network.coordinates import WGS84, transformer
from evroute.network.names import clean
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork

SOCKETS = {"ac": 11.0, "household": 2.3, "ccs": 50.0, "chademo": 50.0, "tesla": 120.0}
"""Kinds of sockets, and the power where none is stated, kW. ``ac``: types 1 and 2."""
FARTHEST_M = 200.0
"""Stations farther from every road on which a car may stop are left out."""
SAME_PLACE_M = 50.0
"""Stations on one road that are as near to each other are one."""
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
    edges
        Rows of the edges at whose end a car can stop there: the directions of one street.
    """

    name: str
    lon: float
    lat: float
    sockets: tuple[tuple[str, float], ...]
    edges: tuple[int, ...] = ()


def add_chargers(network: RoadNetwork, path: Path) -> tuple[RoadNetwork, Counter[str]]:
    """Return a network with the stations of a file, and how many were used and left out.

    Raises
    ------
    EvrouteError
        If the file cannot be read, has a bad value, or no station that can be used.
    """
    readers = {".json": _ocm, ".csv": _table, ".osm": _osm, ".pbf": _osm, ".gz": _osm, ".bz2": _osm}
    if path.suffix not in readers:
        raise EvrouteError(f"{path.name} is no .json, .csv, .osm or .osm.pbf file of stations")
    counts: Counter[str] = Counter()
    try:
        found = list(readers[path.suffix](path, counts))
    except (OSError, EOFError, RuntimeError, *_DAMAGE) as error:
        reason = " ".join(f"{type(error).__name__} {error}".split())
        raise NetworkFormatError(f"cannot read stations from {path.name}: {reason}") from error
    read = []
    for name, lon, lat, rows in found:
        counts["stations read"] += 1
        known = [(kind, kw) for kind, kw in rows if kind]
        if not known:
            counts["left out: without a socket that cars have"] += 1
        elif not (-180 <= lon <= 180 and -90 <= lat <= 90):
            raise EvrouteError(f"{path.name}: station '{name}' lies at {lat},{lon}, not on earth")
        else:
            for kind, kw in known:
                counts[f"power assumed: {SOCKETS[kind]:g} kW for {kind}"] += kw is None
            sockets = dict.fromkeys((kind, kw or SOCKETS[kind]) for kind, kw in known)
            read.append(Station(clean(name) or "charging station", lon, lat, tuple(sockets)))
    kept = _merged(network, read, counts)
    if not kept:
        listed = "; ".join(f"{what} {count}" for what, count in counts.items())
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
    return network.with_tables({"chargers": table}), +counts


@lru_cache(maxsize=4)
def stations(network: RoadNetwork) -> tuple[Station, ...]:
    """Return the charging stations of a network, with their edges; none without the table.

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
            if socket not in SOCKETS or not 0 < kw < np.inf:
                raise ValueError(f"socket '{socket}' of {kw} kW")
            found[clean(str(name)), float(lon), float(lat)].append((str(socket), float(kw)))
    except (TypeError, ValueError) as error:
        raise NetworkFormatError(
            f"the charging stations of network '{network.name}' are damaged ({error}); add them "
            "again with 'evroute network chargers'"
        ) from error
    near = _nearest(network, np.array([at[1:] for at in found]).reshape(-1, 2))
    return tuple(
        Station(*at, tuple(sockets), edges)
        for (at, sockets), edges in zip(found.items(), near, strict=True)
        if edges
    )


def _merged(network: RoadNetwork, read: list[Station], counts: Counter[str]) -> list[Station]:
    """Return the stations near roads, those of one place as one."""
    lon_lat = np.array([(each.lon, each.lat) for each in read]).reshape(-1, 2)
    xy = np.column_stack(transformer(WGS84, network.crs).transform(*lon_lat.T))
    kept: dict[int, Station] = {}
    for row, (each, edges) in enumerate(zip(read, _nearest(network, lon_lat), strict=True)):
        if not edges:
            counts[f"left out: more than {FARTHEST_M:.0f} m from a road to stop on"] += 1
            continue
        for other, first in kept.items():
            if first.edges == edges and np.hypot(*(xy[row] - xy[other])) <= SAME_PLACE_M:
                sockets = dict.fromkeys(first.sockets + each.sockets)
                kept[other] = Station(first.name, first.lon, first.lat, tuple(sockets), edges)
                counts["same place twice: merged"] += 1
                break
        else:
            kept[row] = Station(each.name, each.lon, each.lat, each.sockets, edges)
    return list(kept.values())


def _nearest(network: RoadNetwork, lon_lat: FloatArray) -> list[tuple[int, ...]]:
    """Return the edges of the nearest road of positions (k, 2), degrees, on which a car may stop.

    None where every such road is farther than `FARTHEST_M`.
    """
    import shapely

    fast = ("motorway", "trunk")
    rows = np.array([k for k, c in enumerate(network.road_class) if not any(f in c for f in fast)])
    lines = network.lines(network.shape_x_m, network.shape_y_m)[rows.astype(int)]
    tree = shapely.STRtree(lines)
    points = shapely.points(np.column_stack(transformer(WGS84, network.crs).transform(*lon_lat.T)))
    edges: list[tuple[int, ...]] = [()] * len(points)
    found, distance_m = tree.query_nearest(
        points, max_distance=FARTHEST_M, return_distance=True, all_matches=False
    )
    for point, near_m in zip(found[0].tolist(), distance_m.tolist(), strict=True):
        both = tree.query(points[point], predicate="dwithin", distance=near_m + 0.01)
        edges[point] = tuple(sorted(rows[both].tolist()))
    return edges


_Read = Iterator[tuple[str, float, float, list[tuple[str | None, float | None]]]]
"""Name, longitude, latitude, and kinds and powers of sockets, None where unknown."""


def _ocm(path: Path, counts: Counter[str]) -> _Read:
    """Yield the stations of an Open Charge Map export that are open to the public."""
    for each in limits.parse_json(limits.read_text(path, "json_mb"), path.name):
        about, given = each["AddressInfo"], each.get("Connections", [])
        rows = [row for row in given if row.get("StatusTypeID") in _OCM_OPEN]
        if each.get("StatusTypeID") not in _OCM_OPEN or (given and not rows):
            counts["left out: planned or closed"] += 1
        elif each.get("UsageTypeID") in _OCM_PRIVATE:
            counts["left out: private"] += 1
        else:
            at = float(about["Longitude"]), float(about["Latitude"])
            kinds = [_OCM_KINDS.get(row.get("ConnectionTypeID")) for row in rows]
            powers = [_kw(row.get("PowerKW"), path.name) for row in rows]
            yield str(about.get("Title", "")), *at, list(zip(kinds, powers, strict=True))


def _table(path: Path, counts: Counter[str]) -> _Read:
    """Yield the stations of a table, one for each row."""
    reader = csv.DictReader(limits.read_text(path, "json_mb").splitlines())
    if missing := {"name", "lat", "lon", "socket"} - set(reader.fieldnames or ()):
        raise EvrouteError(f"{path.name} lacks the column '{min(missing)}' of stations")
    for number, row in enumerate(reader, start=2):
        where, kind = f"{path.name}, line {number}", (row["socket"] or "").strip().lower()
        if kind not in _KINDS:
            raise EvrouteError(f"{where}: unknown socket '{kind}'; there are {', '.join(_KINDS)}")
        try:
            at = float(row["lon"]), float(row["lat"])
        except (TypeError, ValueError):
            raise EvrouteError(f"{where}: lat and lon must be degrees") from None
        if (row.get("status") or "").strip().lower() in _OPEN:
            yield row["name"] or "", *at, [(_KINDS[kind], _kw(row.get("kw") or None, where))]
        else:
            counts["left out: planned or closed"] += 1


def _osm(path: Path, counts: Counter[str]) -> _Read:
    """Yield the stations of an OpenStreetMap file that are open to the public."""
    try:
        from osmium import FileProcessor
        from osmium.filter import TagFilter
        from osmium.osm import NODE, WAY
    except ImportError as error:
        raise MissingPackageError("osmium", "geo") from error
    if path.suffix != ".pbf":
        limits.check_xml(path)
    chargers = TagFilter(("amenity", "charging_station"))
    found: Any = FileProcessor(str(path), NODE | WAY).with_locations().with_filter(chargers)
    for item in found:
        tags = dict(item.tags)
        points = [item.location] if item.is_node() else [node.location for node in item.nodes]
        at = np.array([(point.lon, point.lat) for point in points if point.valid()])
        closed = tags.get("operational_status", "operational") not in _OPEN
        if closed or "yes" in (tags.get("disused"), tags.get("abandoned")):
            counts["left out: planned or closed"] += 1
        elif tags.get("access") in _PRIVATE:
            counts["left out: private"] += 1
        elif len(at):
            name = tags.get("name") or tags.get("operator") or tags.get("brand") or ""
            yield name, *at.mean(axis=0).tolist(), _osm_sockets(tags, path.name)


def _osm_sockets(tags: Mapping[str, str], where: str) -> list[tuple[str | None, float | None]]:
    """Return the sockets of tags such as ``socket:type2=2``, ``socket:type2:output=22 kW``."""
    given = [key.split(":")[1] for key in tags if re.fullmatch(r"socket:\w+", key)]
    rows: list[tuple[str | None, float | None]] = []
    for name in given:
        if tags[f"socket:{name}"] not in ("no", "0"):
            text = tags.get(f"socket:{name}:output", "").lower().replace(",", ".")
            power = re.match(r"\s*(\d+(?:\.\d+)?)\s*(kw|kva|w)?\s*(?:$|;)", text)
            scale = 1000.0 if power and power[2] == "w" else 1.0
            kw = _kw(float(power[1]) / scale, where) if power else None
            rows.append((_KINDS.get(name), kw))
    return rows


def _kw(value: object, where: object) -> float | None:
    """Return a power, kW; None where it is missing."""
    if value is None:
        return None
    try:
        kw = float(str(value))
    except ValueError:
        kw = np.nan
    if not 0 < kw <= 5000:
        raise EvrouteError(f"{where}: the power of a socket is {value} kW; it must be above 0")
    return kw
