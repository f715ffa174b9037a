"""Time zones of networks, and local clocks.

The zone of a network is the zone of the tz database that contains the middle of the network.
"""

from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import tzfpy

from evroute.errors import EvrouteError
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
    """Return the time zone of a network.

    Raises
    ------
    EvrouteError
        If its middle lies in no zone.
    """
    lon, lat = (float(each.mean()) for each in network.junction_lon_lat)
    if not (name := tzfpy.get_tz(lon, lat)):
        raise EvrouteError(
            f"the middle of network '{network.name}' ({lat:.4f},{lon:.4f}) lies in no time zone. "
            "Give times as seconds since a local midnight"
        )
    return ZoneInfo(name)
