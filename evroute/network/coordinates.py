"""Coordinate systems of networks, which are in metres, and transformations between systems."""

import re
from functools import cache
from typing import Any

from evroute.errors import NetworkFormatError, require
from evroute.network.geo import pyproj
from evroute.network.texts import shown

# zones of UTM as OSMnx and netconvert write them; others are looked up by pyproj
_UTM = re.compile(
    r"EPSG:32[67](0[1-9]|[1-5]\d|60)"
    r"|\+proj=utm \+zone=([1-9]|[1-5]\d|60) \+ellps=WGS84 \+datum=WGS84 \+units=m \+no_defs"
)
WGS84 = "EPSG:4326"


@cache
def transformer(source: str, target: str) -> Any:
    """Return pyproj's transformer between two coordinate systems, x or longitude first."""
    return pyproj.Transformer.from_crs(source, target, always_xy=True)


@cache
def check_crs(crs: str) -> None:
    """Refuse a coordinate system that is not known or not in metres.

    Raises
    ------
    NetworkFormatError
        If the coordinate system is unknown, or its unit is not the metre.
    """
    if _UTM.fullmatch(crs):
        return
    try:
        found = pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError:
        raise NetworkFormatError(f"the coordinate system {shown(crs)} is not known") from None
    require(
        found.is_projected and found.axis_info[0].unit_name == "metre",
        f"the coordinate system {shown(crs)} is not in metres",
        NetworkFormatError,
    )
