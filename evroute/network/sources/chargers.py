"""Charging stations of a network: the optional table ``chargers``.

The table has a row for each kind of socket and power of a station: ``name``, ``lon``, ``lat``,
``socket`` (one of `charger_files.SOCKETS`), ``kw`` and ``assumed`` (``socket``, ``power``, both or
empty: values that the source does not state), ``price_kwh`` (NaN if unknown), ``price_minute``, and
``id`` and ``network``, the id in the source and the charging network or operator (several with
commas between). The last five are absent in earlier files. Rows of one position are one station.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evroute.errors import EvrouteError, NetworkFormatError
from evroute.network.optional_tables import Table
from evroute.network.places.locate import is_fast, nearest
from evroute.network.places.names import clean
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import ASSUMED, SOCKETS, Socket, Station, read_stations

USED = "stations used"
FARTHEST_M = 200.0
"""Stations farther from the nearest road are left out."""
SAME_PLACE_M = 50.0
"""Stations as near to each other are one."""


class _Place(NamedTuple):
    """Fields of a station beside its sockets."""

    name: str
    lon: float
    lat: float
    id: str
    network: str


def add_chargers(network: RoadNetwork, path: Path) -> tuple[RoadNetwork, Counter[str]]:
    """Return a network with the stations of a file, and how many were used and left out.

    Raises
    ------
    EvrouteError
        If the file cannot be read, has a bad value, or no station that can be used.
    """
    listed, credit = read_stations(path)
    added, counts = with_stations(network, listed, credit)
    if not counts[USED]:
        reasons = "; ".join(f"{what} {count}" for what, count in counts.items())
        raise EvrouteError(
            f"{path.name} has no station for network '{network.name}' "
            f"({reasons or 'the file lists none'})"
        )
    return added, counts


def with_stations(
    network: RoadNetwork, listed: Sequence[Station], credit: str
) -> tuple[RoadNetwork, Counter[str]]:
    """Return a network with listed stations, and how many were used and left out.

    Parameters
    ----------
    network
        The roads. It is returned as it is where no station can be used.
    listed
        The stations of a source.
    credit
        Credit line of the source.
    """
    counts, kept = Counter[str](), list[Station]()
    for station in map(_cleaned, listed):
        if reason := _left_out(network, station):
            counts[f"left out: {reason}"] += 1
            continue
        twin = _twin(station, kept)
        if twin is None:
            kept.append(station)
        else:
            counts["same place twice: merged"] += station.name != kept[twin].name
            kept[twin] = _merged(kept[twin], station)
        counts.update(_assumptions(station))
    if not kept:
        return network, +counts
    counts[USED] = len(kept)
    credits = dict.fromkeys(filter(None, (network.source.attribution, credit)))
    credited = network.changed(source=replace(network.source, attribution="; ".join(credits)))
    return credited.with_tables({"chargers": _table(kept)}), +counts


def _cleaned(station: Station) -> Station:
    """Return a station with printable names, a name of its own, and each socket once."""
    return replace(
        station,
        name=clean(station.name) or "charging station",
        sockets=tuple(dict.fromkeys(station.sockets)),
        id=clean(station.id),
        network=clean(station.network),
    )


def _left_out(network: RoadNetwork, station: Station) -> str:
    """Return why a station is not used, "" if it is."""
    if station.unused:
        return station.unused
    if not station.sockets:
        return "without a socket that cars have"
    if not edges_at(network, station):
        return f"more than {FARTHEST_M:.0f} m from a road to stop on"
    return ""


def _twin(station: Station, kept: Sequence[Station]) -> int | None:
    """Return the position of the first station at the same place, None if there is none."""
    near = (k for k, other in enumerate(kept) if _apart_m(station, other) < SAME_PLACE_M)
    return next(near, None)


def _merged(station: Station, other: Station) -> Station:
    """Return a station with the sockets, the ids and the networks of another one as well."""
    return replace(
        station,
        sockets=tuple(dict.fromkeys(station.sockets + other.sockets)),
        id=_joined(station.id, other.id),
        network=_joined(station.network, other.network),
    )


def _joined(*texts: str) -> str:
    """Return texts with commas between, each once."""
    parts = (part.strip() for text in texts for part in text.split(","))
    return ", ".join(dict.fromkeys(filter(None, parts)))


def _assumptions(station: Station) -> Iterator[str]:
    """Yield a sentence for each socket of a station with a value that its source does not state."""
    for socket in station.sockets:
        if socket.assumed:
            yield f"{socket.assumed} assumed: {socket.kw:g} kW for {socket.kind}"


def _table(stations: Sequence[Station]) -> Table:
    """Return the table ``chargers``, a row for each socket."""
    owners = [station for station in stations for _ in station.sockets]
    sockets = [socket for station in stations for socket in station.sockets]
    return {
        "name": tuple(station.name for station in owners),
        "lon": np.array([station.lon for station in owners]),
        "lat": np.array([station.lat for station in owners]),
        "socket": tuple(socket.kind for socket in sockets),
        "kw": np.array([socket.kw for socket in sockets]),
        "assumed": tuple(socket.assumed for socket in sockets),
        "price_kwh": np.array([_or_nan(socket.price_kwh) for socket in sockets]),
        "price_minute": np.array([socket.price_minute for socket in sockets]),
        "id": tuple(station.id for station in owners),
        "network": tuple(station.network for station in owners),
    }


def _or_nan(price: float | None) -> float:
    return math.nan if price is None else price


@lru_cache(maxsize=4)
def stations(network: RoadNetwork) -> tuple[Station, ...]:
    """Return the charging stations of a network, or none without the table.

    Raises
    ------
    NetworkFormatError
        If the table is damaged.
    """
    table = network.tables.get("chargers", {})
    columns = [table.get(column, ()) for column in ("name", "lon", "lat", "socket", "kw")]
    n = len(columns[0])
    columns.append(table.get("assumed", ("",) * n))
    columns.append(table.get("price_kwh", np.full(n, np.nan)))
    columns.append(table.get("price_minute", np.zeros(n)))
    texts = [map(clean, table.get(column, ("",) * n)) for column in ("id", "network")]
    found: defaultdict[_Place, list[Socket]] = defaultdict(list)
    try:
        for name, lon, lat, kind, kw, assumed, per_kwh, per_minute, *own in zip(
            *columns, *texts, strict=True
        ):
            if kind not in SOCKETS or not 0 < kw < np.inf or assumed not in ASSUMED:
                raise ValueError(f"socket '{kind}' of {kw} kW, assumed '{assumed}'")
            if not (math.isnan(per_kwh) or 0 <= per_kwh < np.inf) or not 0 <= per_minute < np.inf:
                raise ValueError(f"price {per_kwh} per kWh or {per_minute} per minute")
            price = None if math.isnan(per_kwh) else float(per_kwh)
            socket = Socket(str(kind), float(kw), str(assumed), price, float(per_minute))
            found[_Place(clean(str(name)), float(lon), float(lat), *own)].append(socket)
    except (TypeError, ValueError) as error:
        raise NetworkFormatError(
            f"the charging stations of network '{network.name}' are damaged ({error}). Add them "
            "again with 'evroute network chargers'"
        ) from error
    return tuple(
        Station(at.name, at.lon, at.lat, tuple(sockets), at.id, at.network)
        for at, sockets in found.items()
    )


def edges_at(network: RoadNetwork, station: Station) -> tuple[int, ...]:
    """Return the edges on which a car can stop at a station: the directions of one street.

    None where the nearest road is farther than `FARTHEST_M`, or one on which no car may stop.
    """
    try:
        edges = nearest(network, station.lat, station.lon, FARTHEST_M)
    except EvrouteError:
        return ()
    return () if any(is_fast(network, edge) for edge in edges) else edges


def _apart_m(first: Station, second: Station) -> float:
    north, east = first.lat - second.lat, first.lon - second.lon
    return 111_195.0 * math.hypot(north, east * math.cos(math.radians(first.lat)))
