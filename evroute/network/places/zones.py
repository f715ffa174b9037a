"""Time zones of networks, and local clocks.

The zone of a network is the zone of the tz database whose city is nearest to the middle of the
network. Near a border it can be the neighbour's.
"""

from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from math import cos, radians, sin
from zoneinfo import ZoneInfo

import numpy as np

from evroute.arrays import FloatArray
from evroute.network.road_network import RoadNetwork

DATED_S = 1e8
"""Seconds from here on are since 1970-01-01 UTC and have a date. Smaller ones are a clock alone."""


def local_s(departed_s: float | None, network: RoadNetwork) -> float | None:
    """Return the time since the local midnight of a departure, s, or None if it is unknown.

    Parameters
    ----------
    departed_s
        Departure since 1970-01-01 UTC, s. Below `DATED_S` it is a local clock, which is returned.
    network
        Network on which the trip begins.
    """
    if departed_s is None or departed_s < DATED_S:
        return departed_s
    clock = datetime.fromtimestamp(departed_s, zone_of(network))
    return 3600.0 * clock.hour + 60.0 * clock.minute + clock.second + departed_s % 1.0


def day_of(departed_s: float | None, network: RoadNetwork) -> float:
    """Return the number of the local day of a departure, or NaN if its date is unknown.

    Parameters
    ----------
    departed_s, network
        As in `local_s`.
    """
    if departed_s is None or departed_s < DATED_S:
        return float("nan")
    return float(datetime.fromtimestamp(departed_s, zone_of(network)).toordinal())


@lru_cache(maxsize=4)
def zone_of(network: RoadNetwork) -> ZoneInfo:
    """Return the time zone of a network."""
    lon, lat = (float(each.mean()) for each in network.junction_lon_lat)
    return ZoneInfo(nearest_zone(lat, lon))


def nearest_zone(lat: float, lon: float) -> str:
    """Return the name of the zone whose city is nearest to a place, in degrees."""
    names, places = _cities()
    return names[int(np.argmax(places @ _on_sphere(lat, lon)))]


@cache
def _cities() -> tuple[list[str], FloatArray]:
    """Return the names of all zones, n, and their cities as unit vectors, (n, 3)."""
    text = (files("tzdata") / "zoneinfo" / "zone.tab").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    places = [_on_sphere(*_degrees(row[1])) for row in rows]
    return [row[2] for row in rows], np.array(places)


def _degrees(iso6709: str) -> tuple[float, float]:
    """Return latitude and longitude of a place such as ``+394421-1045903``, degrees."""
    split = max(iso6709.rfind("+"), iso6709.rfind("-"))
    lat, lon = iso6709[:split], iso6709[split:]
    return _angle(lat, 2), _angle(lon, 3)


def _angle(text: str, digits: int) -> float:
    """Return an angle with this number of digits for its degrees, then minutes and seconds."""
    sign, rest = (-1.0 if text[0] == "-" else 1.0), text[1:]
    minutes, seconds = rest[digits : digits + 2], rest[digits + 2 :] or "0"
    return sign * (int(rest[:digits]) + int(minutes) / 60.0 + int(seconds) / 3600.0)


def _on_sphere(lat: float, lon: float) -> FloatArray:
    """Return the unit vector to a place, in degrees, (3,)."""
    flat = cos(radians(lat))
    return np.array([flat * cos(radians(lon)), flat * sin(radians(lon)), sin(radians(lat))])
