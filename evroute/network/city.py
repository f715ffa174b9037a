"""A city by its name: roads, names and charging stations of OpenStreetMap, heights of Copernicus.

The area is looked up first, with its number of roads, so that a user knows how much is loaded.
Every answer of a service is kept, so that a load that was interrupted goes on where it ended.
"""

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evroute.errors import require
from evroute.network import catalog
from evroute.network.geo import pyproj
from evroute.network.heights import copernicus
from evroute.network.memory import check_memory
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm, overpass
from evroute.network.sources.charger_files import of_tags
from evroute.network.sources.chargers import with_stations
from evroute.network.sources.osm import Area
from evroute.network.sources.osm_tags import ATTRIBUTION

STEPS = ("roads", "heights", "lengths, names and turns", "charging stations")
"""What `load` does, in order."""
WAY_BYTES = 1_600
"""Size of a road in an answer of Overpass: 1,230 in Monaco, 1,580 in Luxembourg."""
EDGES_A_WAY, TURNS_A_WAY = 4, 10
"""Edges and turns of a road, for the memory of a network: 4.3 edges in Luxembourg."""
START_S, WAY_S = 20.0, 0.005
"""Time of a load, and of each road in it, s: at half a megabyte a second."""
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, eq=False)
class City:
    """A place that can be loaded.

    Parameters
    ----------
    area
        Its area.
    area_km2
        Size of the area, km².
    ways
        Number of its roads in OpenStreetMap.
    """

    area: Area
    area_km2: float
    ways: int

    @property
    def words(self) -> str:
        """Its name, size, and the time that loading takes, in words."""
        megabytes = math.ceil(self.ways * WAY_BYTES / 1e6)
        minutes = math.ceil((START_S + self.ways * WAY_S) / 60)
        plural = "" if minutes == 1 else "s"
        size = f"{self.area_km2:,.0f}" if self.area_km2 >= 10 else f"{self.area_km2:.1f}"
        return (
            f"{self.area.title}: {size} km², {self.ways:,} roads, about {megabytes:,} MB. "
            f"Loading takes about {minutes} minute{plural}"
        )

    @property
    def name(self) -> str:
        """A name for its network: its letters and digits."""
        return name_of(self.area.place)


def name_of(place: str) -> str:
    """Return the letters and digits of a place as a network's name: "Zürich, CH" is "zurich-ch"."""
    plain = unicodedata.normalize("NFKD", place.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME].strip("-") or "city"


def look_up(place: str) -> City:
    """Return a place with its size. Nothing else is loaded.

    Raises
    ------
    MissingPackageError
        If OSMnx is not installed.
    EvrouteError
        If the place is not known, has no area or no roads, or a service cannot be reached.
    LimitError
        If it has more roads than a network may have.
    """
    require(place.strip(), "no place is given. Name a city, district or region")
    cache = _answers()
    area = osm.find_area(place, cache)
    ways = osm.count_ways(area, cache)
    require(ways, f"'{place}' has no road in OpenStreetMap. Name a city, district or region")
    check_memory(EDGES_A_WAY * ways, TURNS_A_WAY * ways, f"'{place}'")
    square_m = abs(pyproj.Geod(ellps="WGS84").geometry_area_perimeter(area.shape)[0])
    return City(area, square_m / 1e6, ways)


def load(city: City, name: str, on_step: Callable[[int], None]) -> RoadNetwork:
    """Load a city and build its network. It is not yet stored.

    Parameters
    ----------
    city
        From `look_up`.
    name
        Name of the network.
    on_step
        Called with the number of each of `STEPS` when it begins.

    Raises
    ------
    EvrouteError
        If a service cannot be reached or has no answer. Another load goes on from there.
    """
    cache = _answers()
    on_step(0)
    read = osm.read_area(city.area, name, cache)
    on_step(1)
    rasters = copernicus.rasters(read.strongest_component(), catalog.cache_dir() / "copernicus")
    on_step(2)
    credits = f"{ATTRIBUTION}; {copernicus.ATTRIBUTION}"
    network = catalog.build(read, rasters=rasters, attribution=credits)
    on_step(3)
    listed = [
        of_tags(node["tags"], node["lon"], node["lat"], city.area.place)
        for node in overpass.stations_of(city.area.shape, cache)
    ]
    return with_stations(network, listed, ATTRIBUTION)[0]


def _answers() -> Path:
    """Return the folder with the answers of OpenStreetMap's services."""
    return catalog.cache_dir() / "osmnx"
