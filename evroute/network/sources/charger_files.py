"""Files of charging stations in three formats.

Open Charge Map exports (``.json``), OpenStreetMap (``.osm``, ``.osm.pbf``: ``amenity`` =
``charging_station``) and tables (``.csv``: name, lat, lon, socket, kw, status, price_kwh,
price_minute, id and network; the last six may be empty). A socket of an unknown kind with a known
power or current has the usual kind of that power: type 2 up to `MOST_AC_KW`, CCS above.
"""

import csv
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from evroute import limits
from evroute.errors import EvrouteError, NetworkFormatError
from evroute.network.geo import osmium
from evroute.network.sources.osm_tags import ATTRIBUTION
from evroute.text import text_of_cell

OCM_ATTRIBUTION = "Charging data (c) Open Charge Map contributors, CC BY 4.0"
PLANNED, PRIVATE = "planned or closed", "private"
_KINDS = {
    "ac": "ac",
    "household": "household",
    "ccs": "ccs",
    "chademo": "chademo",
    "tesla": "tesla",
    "type1": "ac",
    "type2": "ac",
    "type2_cable": "ac",
    "tesla_destination": "ac",
    "type1_combo": "ccs",
    "type2_combo": "ccs",
    "tesla_supercharger_ccs": "ccs",
    "schuko": "household",
    "typee": "household",
    "typef": "household",
    "tesla_supercharger": "tesla",
}
"""Kind of the sockets of OpenStreetMap, and of tables."""
_OCM_KINDS = {
    1: "ac",
    25: "ac",
    30: "ac",
    1036: "ac",
    13: "household",
    23: "household",
    28: "household",
    32: "ccs",
    33: "ccs",
    2: "chademo",
    27: "tesla",
}
_OCM_UNKNOWN = (None, 0)
_OCM_DC, _OCM_THREE_PHASES = 30, 20
_PHASE_KV = 0.23
_OCM_OPEN = (None, 0, 10, 20, 50, 75)
_OCM_PRIVATE = (2, 3, 6)
_COLUMNS = ("name", "lat", "lon", "socket")
_NAMES = ("name", "id", "network")
_OPEN = ("", "open", "operational", "yes")
_PRIVATE_ACCESS = ("private", "no", "employees", "residents")
_DAMAGE = (csv.Error, expat.ExpatError, zlib.error, AttributeError, KeyError, TypeError, ValueError)
_MOST_KW = 5000.0
MOST_AC_KW = 43.0
"""Greatest AC power of a station in Europe, kW: type 2 at 63 A and three phases."""


@dataclass(frozen=True, slots=True)
class ListedSocket:
    """A socket as a file lists it.

    Parameters
    ----------
    kind
        Kind of the socket. None if cars have no such plug, or if neither kind nor power is known.
    kw
        Power, kW, or None if unknown.
    assumed
        Numbers that the file does not state: ``"socket"``, ``"power"``, both, or none.
    price_kwh, price_minute
        Price of a kWh from the wall, or None if unknown, and price of a minute, money.
    """

    kind: str | None
    kw: float | None
    assumed: tuple[str, ...] = ()
    price_kwh: float | None = None
    price_minute: float = 0.0


@dataclass(frozen=True, slots=True)
class ListedStation:
    """A charging station as a file lists it.

    Parameters
    ----------
    unused
        Why nobody should drive there: `PLANNED`, `PRIVATE`, or "" if it can be used.
    name
        Its name, maybe empty.
    lon, lat
        WGS 84 position, degrees.
    sockets
        Its sockets.
    id, network
        Its id in the source, and its charging network or operator; maybe empty.
    """

    unused: str
    name: str
    lon: float
    lat: float
    sockets: tuple[ListedSocket, ...]
    id: str = ""
    network: str = ""


@dataclass(frozen=True, slots=True)
class _Format:
    """A reader of files, the credit of its source, and the files it expects, for messages."""

    read: Callable[[Path], Iterator[ListedStation]]
    credit: str
    expected: str


def read_stations(path: Path) -> tuple[list[ListedStation], str]:
    """Return the stations of a file, and the credit line of their source.

    Raises
    ------
    EvrouteError
        If the file cannot be read, or has a bad value.
    OSError
        If it does not exist.
    """
    form = _FORMATS.get(path.suffix)
    if form is None:
        raise EvrouteError(f"{path} is no .json, .csv, .osm or .osm.pbf file of stations")
    try:
        return list(form.read(path)), form.credit
    except (OSError, EOFError, RuntimeError, *_DAMAGE) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        reason = " ".join(f"{type(error).__name__} {error}".split())
        raise NetworkFormatError(
            f"cannot read stations from {path.name}: {reason}, expected {form.expected}"
        ) from error


def _open_charge_map(path: Path) -> Iterator[ListedStation]:
    """Yield the stations of an Open Charge Map export."""
    for entry in limits.parse_json(limits.read_text(path, "json_mb"), path.name):
        about, given = entry["AddressInfo"], entry.get("Connections") or []
        rows = [row for row in given if row.get("StatusTypeID") in _OCM_OPEN]
        closed = entry.get("StatusTypeID") not in _OCM_OPEN or (given and not rows)
        yield ListedStation(
            _unused(closed=bool(closed), private=entry.get("UsageTypeID") in _OCM_PRIVATE),
            str(about.get("Title", "")),
            float(about["Longitude"]),
            float(about["Latitude"]),
            tuple(_of_connection(row, path.name) for row in rows),
            str(entry.get("ID") or ""),
            str((entry.get("OperatorInfo") or {}).get("Title") or ""),
        )


def _of_connection(row: Mapping[str, Any], where: str) -> ListedSocket:
    """Return the socket of a connection of Open Charge Map."""
    number, current = row.get("ConnectionTypeID"), row.get("CurrentTypeID")
    kw = _kw(row.get("PowerKW"), where)
    if number not in _OCM_UNKNOWN:
        return ListedSocket(_OCM_KINDS.get(number), kw)
    if kw is not None:
        return _of_power(kw, direct=current == _OCM_DC)
    amps = row.get("Amps")
    if not amps or current == _OCM_DC:
        return ListedSocket(None, None)
    phases = 3 if current == _OCM_THREE_PHASES else 1
    return _of_power(phases * _PHASE_KV * float(amps), "power")


def _of_power(kw: float, *assumed: str, direct: bool = False) -> ListedSocket:
    """Return a socket of the usual kind of its power, kW. ``direct`` if its current is DC."""
    kind = "ccs" if direct or kw > MOST_AC_KW else "ac"
    return ListedSocket(kind, kw, ("socket", *assumed))


def _table(path: Path) -> Iterator[ListedStation]:
    """Yield the stations of a table, one for each row."""
    lines = limits.read_text(path, "json_mb").removeprefix("\ufeff").splitlines() or [""]
    reader = csv.DictReader(lines, delimiter=max(",;\t", key=lines[0].count))
    if missing := set(_COLUMNS) - set(reader.fieldnames or ()):
        raise EvrouteError(
            f"{path.name} lacks the column '{min(missing)}' of stations. Its first line must have "
            f"{', '.join(_COLUMNS)}"
        )
    for number, row in enumerate(reader, start=2):
        yield _of_row(row, f"{path.name}, line {number}")


def _of_row(row: Mapping[str, str], where: str) -> ListedStation:
    """Return the station of a row of a table. ``where`` stands for the row in messages."""
    kind = (row["socket"] or "").strip().lower()
    if kind not in _KINDS and kind != "unknown":
        raise EvrouteError(
            f"{where}: unknown socket '{kind}'. There are {', '.join(_KINDS)}, and 'unknown'"
        )
    try:
        lon, lat = _number(row["lon"]), _number(row["lat"])
    except ValueError:
        raise EvrouteError(f"{where}: lat and lon must be degrees") from None
    closed = (row.get("status") or "").strip().lower() not in _OPEN
    kw = _kw(row.get("kw") or None, where)
    known = ListedSocket(_KINDS.get(kind), kw)
    socket = replace(
        known if kind in _KINDS or kw is None else _of_power(kw),
        price_kwh=_price(row, "price_kwh", where),
        price_minute=_price(row, "price_minute", where) or 0.0,
    )
    name, own, network = (text_of_cell(row.get(column) or "") for column in _NAMES)
    unused = _unused(closed=closed, private=False)
    return ListedStation(unused, name, lon, lat, (socket,), own, network)


def _price(row: Mapping[str, str], column: str, where: str) -> float | None:
    """Return a price of a row, money, or None if it is empty."""
    text = (row.get(column) or "").strip()
    try:
        price = _number(text) if text else None
    except ValueError:
        price = -1.0
    if price is not None and not 0 <= price < np.inf:
        raise EvrouteError(f"{where}: {column} is '{text}'. It must be a number of 0 or more")
    return price


def _openstreetmap(path: Path) -> Iterator[ListedStation]:
    """Yield the stations of an OpenStreetMap file that have a position."""
    if path.suffix != ".pbf":
        limits.check_xml(path)
    chargers = osmium.filter.TagFilter(("amenity", "charging_station"))
    kinds = osmium.osm.NODE | osmium.osm.WAY
    items: Any = osmium.FileProcessor(str(path), kinds).with_locations().with_filter(chargers)
    for item in items:
        points = [item.location] if item.is_node() else [node.location for node in item.nodes]
        if at := [(point.lon, point.lat) for point in points if point.valid()]:
            lon, lat = np.mean(at, axis=0).tolist()
            station = of_tags(dict(item.tags), lon, lat, path.name)
            yield replace(station, id=f"{'node' if item.is_node() else 'way'}/{item.id}")


def of_tags(tags: Mapping[str, str], lon: float, lat: float, where: str) -> ListedStation:
    """Return the station with these tags of OpenStreetMap.

    Parameters
    ----------
    tags
        Values by key.
    lon, lat
        WGS 84 position, degrees.
    where
        The source, for messages.

    Raises
    ------
    EvrouteError
        If a power is impossible.
    """
    closed = tags.get("operational_status", "operational") not in _OPEN
    closed |= "yes" in (tags.get("disused"), tags.get("abandoned"))
    return ListedStation(
        _unused(closed=closed, private=tags.get("access") in _PRIVATE_ACCESS),
        tags.get("name") or tags.get("operator") or tags.get("brand") or "",
        lon,
        lat,
        tuple(_sockets_of_tags(tags, where)),
        network=tags.get("network") or tags.get("operator") or tags.get("brand") or "",
    )


def _sockets_of_tags(tags: Mapping[str, str], where: str) -> Iterator[ListedSocket]:
    """Yield the sockets of tags such as ``socket:type2=2``, ``socket:type2:output=22 kW``.

    Without such a tag, or of the kind ``unknown``, the power of the station chooses the kind.
    """
    listed = [key for key in tags if re.fullmatch(r"socket:\w+", key)]
    for key in listed or ["socket:unknown"]:
        if tags.get(key) in ("no", "0"):
            continue
        kind, kw = key.removeprefix("socket:"), _kw_of_tag(tags.get(f"{key}:output", ""), where)
        if kind != "unknown":
            yield ListedSocket(_KINDS.get(kind), kw)
        elif kw := kw or _kw_of_tag(tags.get("charging_station:output", ""), where):
            yield _of_power(kw)


def _kw_of_tag(text: str, where: str) -> float | None:
    """Return the power of a tag such as ``22 kW`` or ``22000``, kW, or None if it has no number."""
    power = re.match(r"\d+(?:\.\d+)?", text.replace(",", "."))
    value = float(power[0]) if power else None
    return _kw(value / 1000 if value and value > 1000 else value, where)  # some write W


def _unused(*, closed: bool, private: bool) -> str:
    if closed:
        return PLANNED
    return PRIVATE if private else ""


def _number(value: object) -> float:
    """Return a number, which may have a decimal comma."""
    return float(str(value).replace(",", "."))


def _kw(value: object, where: str) -> float | None:
    """Return a power, kW, or None where it is missing."""
    if value is None:
        return None
    try:
        kw = _number(value)
    except ValueError:
        kw = -1.0
    if not 0 < kw <= _MOST_KW:
        raise EvrouteError(f"{where}: the power of a socket is {value} kW. It must be above 0")
    return kw


_OSM_FORMAT = _Format(_openstreetmap, ATTRIBUTION, "OpenStreetMap data")
_FORMATS = {
    ".json": _Format(
        _open_charge_map,
        OCM_ATTRIBUTION,
        "a list of stations, as Open Charge Map exports it",
    ),
    ".csv": _Format(_table, "", f"a table in UTF-8 with the columns {', '.join(_COLUMNS)}"),
    ".osm": _OSM_FORMAT,
    ".pbf": _OSM_FORMAT,
    ".gz": _OSM_FORMAT,
    ".bz2": _OSM_FORMAT,
}
