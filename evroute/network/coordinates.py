"""Coordinate systems of networks, which are in metres, and transformations between systems."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import NetworkFormatError, require
from evroute.network.geo import pyproj
from evroute.network.texts import shown

# zones of UTM as OSMnx and netconvert write them; others are looked up by pyproj
_UTM = re.compile(
    r"EPSG:32[67](0[1-9]|[1-5]\d|60)"
    r"|\+proj=utm \+zone=([1-9]|[1-5]\d|60) \+ellps=WGS84 \+datum=WGS84 \+units=m \+no_defs"
)
_NUMBER = r"\s*([+-]?\d+(?:\.\d*)?)\s*"
_LAT_LON = re.compile(f"{_NUMBER},{_NUMBER}")
WGS84 = "EPSG:4326"
LONGEST_STEP_M = 100_000.0
"""No road goes straight on for so long without a node."""


def lat_lon(text: str) -> tuple[float, float] | None:
    """Return latitude and longitude, degrees, of a text ``lat,lon``, or None for other texts."""
    if (found := _LAT_LON.fullmatch(text)) is None:
        return None
    lat, lon = map(float, found.groups())
    return lat, lon


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


def check_places(
    names: Sequence[str], lon: FloatArray, lat: FloatArray, step_m: FloatArray
) -> None:
    """Refuse nodes that cannot lie where they are.

    Parameters
    ----------
    names
        The k nodes, for the message.
    lon, lat
        (k,) places, degrees.
    step_m
        (k,) distance from each to the next one of its road, m. 0 at the last.

    Raises
    ------
    NetworkFormatError
        If a node lies at 0,0, where there is no land, or far from the next one of its road.
    """
    if (stray := np.flatnonzero((lon == 0) & (lat == 0))).size:
        raise NetworkFormatError(
            f"node {names[stray[0]]} lies at 0,0, which is no place of a road. Mend or remove it"
        )
    if (far := np.flatnonzero(step_m > LONGEST_STEP_M)).size:
        k = far[0]
        raise NetworkFormatError(
            f"node {names[k]} lies at {lat[k]:.4f},{lon[k]:.4f}, {step_m[k] / 1000:,.0f} km from "
            f"the next one of its road, node {names[k + 1]}. Mend or remove one of them"
        )


def utm_zone(lon: FloatArray, lat: FloatArray) -> str:
    """Return the coordinate system of the UTM zone around the mean of some places, degrees."""
    zone = min(int((lon.mean() + 180) // 6) + 1, 60)
    return f"EPSG:{32600 + zone if lat.mean() >= 0 else 32700 + zone}"
