"""Names for drivers: labels of networks, cars and places, and the positions of places.

A place is a text: a name of `evroute.network.places.names`, "LAT,LON", or an edge id of a link.
"""

import numpy as np

from evroute.energy.defaults import PAPER_VEHICLE
from evroute.energy.vehicle import load_vehicle, vehicle_names
from evroute.errors import EvrouteError, UnknownNameError
from evroute.network.places.locate import locate, named_place
from evroute.network.places.names import edge_label, junction_label
from evroute.network.places.suggestions import spellings
from evroute.network.road_network import RoadNetwork


def title_of(name: str) -> str:
    """Return the name of a network or of a car's file as pages show it."""
    return name.replace("-", " ").title()


def car_title(name: str) -> str:
    """Return the name of a car as people write it, or as `title_of` if it is not known."""
    known = name in vehicle_names()
    return (load_vehicle(name).title if known else "") or title_of(name)


def driven_cars() -> list[str]:
    """Return the cars of the catalogue that a driver may choose: all but that of the paper."""
    return [name for name in vehicle_names() if name != PAPER_VEHICLE]


def is_place(roads: RoadNetwork, text: str) -> bool:
    """Return True if a text is one place: its name, "LAT,LON" or an edge id."""
    try:
        named_place(roads, text)
    except EvrouteError:
        return False
    return True


def check_place(roads: RoadNetwork, text: str) -> None:
    """Check that a text is a place.

    Raises
    ------
    EvrouteError
        If it is none, or may be several. The message lists names.
    """
    try:
        named_place(roads, text)
    except UnknownNameError:
        if spellings(roads, text):
            raise
        raise EvrouteError(
            f"no place is called '{text}'. Choose one of the list or click the map"
        ) from None


def place_label(roads: RoadNetwork, place: str) -> str:
    """Return a label without edge ids. A text that is no place stays as it is."""
    try:
        named = named_place(roads, place)
        edge = locate(roads, place)[0]
    except EvrouteError:
        return place
    if named:
        return named.label
    lat, lon = place_point(roads, place)
    lons, lats = roads.junction_lon_lat
    ends = np.array([roads.tail[edge], roads.head[edge]])
    near = ends[np.argmin((lats[ends] - lat) ** 2 + (lons[ends] - lon) ** 2)]
    label = junction_label(roads, int(near))
    return label if " & " in label else edge_label(roads, edge)


def place_point(roads: RoadNetwork, place: str, share: float = 0.5) -> tuple[float, float]:
    """Return latitude and longitude of a place, or of a point of its edge.

    Parameters
    ----------
    roads
        The network.
    place
        Name, "LAT,LON" or edge id.
    share
        Point of an edge, as a share of its shape: 0 is its start, 1 its end.

    Raises
    ------
    EvrouteError
        If it is not on the network.
    """
    if named := named_place(roads, place):
        return named.lat, named.lon
    edge = locate(roads, place)[0]
    if place not in roads.row_of:
        lat, _, lon = place.partition(",")
        return float(lat), float(lon)
    lon_deg, lat_deg = roads.lon_lat
    first, end = roads.shape_start[edge : edge + 2].tolist()
    row = first + round(share * (end - 1 - first))
    return float(lat_deg[row]), float(lon_deg[row])
