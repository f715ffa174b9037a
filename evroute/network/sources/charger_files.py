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
SOCKETS = {"ac": 11.0, "household": 2.3, "ccs": 50.0, "chademo": 50.0, "tesla": 120.0}
"""Kinds of sockets, and the power where none is stated, kW. ``ac``: types 1 and 2."""
ASSUMED = ("", "socket", "power", "socket and power")
"""Values of a socket that its source does not state."""
_COLUMNS = ("name", "lat", "lon", "socket")
_NAMES = ("name", "id", "network")
_OPEN = ("", "open", "operational", "yes")
_PRIVATE_ACCESS = ("private", "no", "employees", "residents")
_DAMAGE = (csv.Error, expat.ExpatError, zlib.error, AttributeError, KeyError, TypeError, ValueError)
_MOST_KW = 5000.0
MOST_AC_KW = 43.0
"""Greatest AC power of a station in Europe, kW: type 2 at 63 A and three phases."""


@dataclass(frozen=True, slots=True)
class Socket:
    """A socket of a charging station.

    Parameters
    ----------
    kind
        One of `SOCKETS`.
    kw
        Power, kW.
    assumed
        Values that the source does not state: ``"socket"``, ``"power"``, ``"socket and power"`` or
        "".
    price_kwh, price_minute
        Prices of a kWh from the wall and of a minute, money, or None where the first is unknown, 0
        where there is no price of a minute.
    """

    kind: str
    kw: float
    assumed: str = ""
    price_kwh: float | None = None
    price_minute: float = 0.0

    @property
    def words(self) -> str:
        """The socket in words: kind, power and price, and the values that are assumed."""
        words = f"{self.kind} {self.kw:g} kW"
        if self.price_kwh is not None:
            words += f", {self.price_kwh:g} a kWh"
        if self.price_minute:
            words += f", {self.price_minute:g} a minute"
        return words + (f" ({self.assumed} assumed)" if self.assumed else "")


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
        Its sockets.
    id, network
        Its id in the source, and its charging network or operator; maybe empty, or several with
        commas between.
    unused
        Why nobody should drive there: `PLANNED`, `PRIVATE`, or "" if it can be used.
    """

    name: str
    lon: float
    lat: float
    sockets: tuple[Socket, ...]
    id: str = ""
    network: str = ""
    unused: str = ""

    @property
    def words(self) -> str:
        """The station in words: its name, its charging network, and its sockets."""
        network = f" ({self.network})" if self.network not in ("", self.name) else ""
        return f"{self.name}{network}: {', '.join(socket.words for socket in self.sockets)}"


def _sockets(
    kind: str | None,
    kw: float | None,
    *assumed: str,
    price_kwh: float | None = None,
    price_minute: float = 0.0,
) -> tuple[Socket, ...]:
    """Return a socket, of the usual power where none is stated. Empty if cars have no such plug.

    Parameters
    ----------
    kind
        Kind of the socket, or None if cars have no such plug, or neither kind nor power is known.
    kw
        Power, kW, or None if unknown.
    *assumed
        Values that the source does not state.
    price_kwh, price_minute
        As in `Socket`.
    """
    if kind is None:
        return ()
    words = " and ".join(assumed if kw else (*assumed, "power"))
    return (Socket(kind, kw or SOCKETS[kind], words, price_kwh, price_minute),)


@dataclass(frozen=True, slots=True)
class _Format:
    """A reader of files, the credit of its source, and the files it expects, for messages."""

    read: Callable[[Path], Iterator[Station]]
    credit: str
    expected: str


def read_stations(path: Path) -> tuple[list[Station], str]:
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


def _open_charge_map(path: Path) -> Iterator[Station]:
    """Yield the stations of an Open Charge Map export."""
    for entry in limits.parse_json(limits.read_text(path, "json_mb"), path.name):
        about, given = entry["AddressInfo"], entry.get("Connections") or []
        rows = [row for row in given if row.get("StatusTypeID") in _OCM_OPEN]
        closed = entry.get("StatusTypeID") not in _OCM_OPEN or (given and not rows)
        yield Station(
            str(about.get("Title", "")),
            float(about["Longitude"]),
            float(about["Latitude"]),
            tuple(each for row in rows for each in _of_connection(row, path.name)),
            str(entry.get("ID") or ""),
            str((entry.get("OperatorInfo") or {}).get("Title") or ""),
            _unused(closed=bool(closed), private=entry.get("UsageTypeID") in _OCM_PRIVATE),
        )


def _of_connection(row: Mapping[str, Any], where: str) -> tuple[Socket, ...]:
    """Return the socket of a connection of Open Charge Map, if cars have such a plug."""
    number, current = row.get("ConnectionTypeID"), row.get("CurrentTypeID")
    kw = _kw(row.get("PowerKW"), where)
    if number not in _OCM_UNKNOWN:
        return _sockets(_OCM_KINDS.get(number), kw)
    if kw is not None:
        return _of_power(kw, direct=current == _OCM_DC)
    amps = row.get("Amps")
    if not amps or current == _OCM_DC:
        return ()
    phases = 3 if current == _OCM_THREE_PHASES else 1
    return _of_power(phases * _PHASE_KV * float(amps), "power")


def _of_power(kw: float, *assumed: str, direct: bool = False, **prices: Any) -> tuple[Socket, ...]:
    """Return a socket of the usual kind of its power, kW. ``direct`` if its current is DC."""
    kind = "ccs" if direct or kw > MOST_AC_KW else "ac"
    return _sockets(kind, kw, "socket", *assumed, **prices)


def _table(path: Path) -> Iterator[Station]:
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


def _of_row(row: Mapping[str, str], where: str) -> Station:
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
    prices: Any = {
        "price_kwh": _price(row, "price_kwh", where),
        "price_minute": _price(row, "price_minute", where) or 0.0,
    }
    if kind in _KINDS or kw is None:
        sockets = _sockets(_KINDS.get(kind), kw, **prices)
    else:
        sockets = _of_power(kw, **prices)
    name, own, network = (text_of_cell(row.get(column) or "") for column in _NAMES)
    return Station(name, lon, lat, sockets, own, network, _unused(closed=closed, private=False))


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


def _openstreetmap(path: Path) -> Iterator[Station]:
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


def of_tags(tags: Mapping[str, str], lon: float, lat: float, where: str) -> Station:
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
    return Station(
        tags.get("name") or tags.get("operator") or tags.get("brand") or "",
        lon,
        lat,
        tuple(_sockets_of_tags(tags, where)),
        network=tags.get("network") or tags.get("operator") or tags.get("brand") or "",
        unused=_unused(closed=closed, private=tags.get("access") in _PRIVATE_ACCESS),
    )


def _sockets_of_tags(tags: Mapping[str, str], where: str) -> Iterator[Socket]:
    """Yield the sockets of tags such as ``socket:type2=2``, ``socket:type2:output=22 kW``.

    Without such a tag, or of the kind ``unknown``, the power of the station chooses the kind.
    """
    listed = [key for key in tags if re.fullmatch(r"socket:\w+", key)]
    for key in listed or ["socket:unknown"]:
        if tags.get(key) in ("no", "0"):
            continue
        kind, kw = key.removeprefix("socket:"), _kw_of_tag(tags.get(f"{key}:output", ""), where)
        if kind != "unknown":
            yield from _sockets(_KINDS.get(kind), kw)
        elif kw := kw or _kw_of_tag(tags.get("charging_station:output", ""), where):
            yield from _of_power(kw)


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
