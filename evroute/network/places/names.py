"""Names of a network for drivers: junctions after their streets, named places, unnamed roads.

A junction where two or more named streets meet is called after them: "Blake Street & 17th Street".
Two optional tables are stored with a network: ``names`` (column ``junction``: v names, empty where
there is none) and ``places`` (columns ``name``, and ``lon`` and ``lat`` in degrees) of car parks,
chargers and others. A network without the first derives it from its streets.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from evroute.arrays import FloatArray
from evroute.errors import NetworkFormatError, require
from evroute.network.coordinates import WGS84, transformer
from evroute.network.geo import shapely
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork
from evroute.text import UNPRINTABLE

ONE_PLACE_M = 100.0
"""Junctions of one name that lie as near to the first of them are one place: dual carriageways."""
FARTHEST_M = 500.0
"""Named places farther from every road are left out of a network."""
_FAR_AWAY_M = 1e9
_LABELS_KEPT = 100_000
"""Coordinate of places outside the map projection."""
LISTED = 5
"""Greatest number of places in a message."""
_Row = tuple[str, float, float]
"""Name, longitude and latitude."""
_ACCENT, _WORD = re.compile("[\u0300-\u036f]"), re.compile(r"\w+")
_COMPASS = (
    "east",
    "north-east",
    "north",
    "north-west",
    "west",
    "south-west",
    "south",
    "south-east",
)
_KINDS = {
    "motorway": "motorway",
    "trunk": "main road",
    "primary": "main road",
    "secondary": "main road",
    "residential": "residential street",
    "living": "residential street",
    "service": "service road",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a driver can name.

    Parameters
    ----------
    label
        Its name. With latitude and longitude in brackets where places far apart share the name.
    lon, lat
        WGS 84 position, degrees.
    junctions
        Rows of its junctions, or empty for a place beside the roads, such as a car park.
    """

    label: str
    lon: float
    lat: float
    junctions: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    """Names of the v junctions; places by row, label, words, and position in m (same rows)."""

    names: tuple[str, ...]
    places: list[Place]
    by_words: dict[tuple[str, ...], list[Place]]
    stations: frozenset[str]
    tree: KDTree


def labels(network: RoadNetwork) -> list[str]:
    """Return the labels of all junctions and places that have a name, in alphabetical order."""
    return sorted(place.label for place in _index(network).places)


def places(network: RoadNetwork) -> Sequence[Place]:
    """Return the junctions, places and charging stations that have a name."""
    return tuple(_index(network).places)


def station_labels(network: RoadNetwork) -> frozenset[str]:
    """Return the labels of the places that are charging stations."""
    return _index(network).stations


@lru_cache(maxsize=1000)
def find(network: RoadNetwork, text: str) -> tuple[Place, ...]:
    """Return the places that a text names, in alphabetical order. None if it is misspelt.

    Order of words, case, accents and punctuation do not count. A label or a complete name comes
    before names that hold each word of the text or begin one of their words with it, so that
    "blake & 17th" finds "Blake Street & 17th Street". Of labels with the same words, such as
    "Saint-Michel" and "Saint Michel", the one that is written like the text is the only one.
    """
    words, names = _words(text), _index(network).by_words
    same = names.get(words, [])
    found = (
        [place for place in same if place.label == text]
        or same
        or [
            place
            for own, places in names.items()
            if words and all(any(_begins(one, word) for one in own) for word in words)
            for place in places
        ]
    )
    return tuple(sorted(found, key=lambda place: place.label))


def edges_at(network: RoadNetwork, place: Place, *, leaving: bool) -> tuple[int, ...]:
    """Return the rows of the edges that leave the junctions of a place, or that lead to them.

    Parameters
    ----------
    network
        The roads.
    place
        A place with junctions.
    leaving
        True for the edges that leave, False for those that arrive. Edges between the junctions of
        the place are left out, unless there are no others.
    """
    tail, head = (np.isin(ends, place.junctions) for ends in (network.tail, network.head))
    own, other = (tail, head) if leaving else (head, tail)
    rows = next(rows for rows in (own & ~other, own, other) if rows.any())
    return tuple(np.flatnonzero(rows).tolist())


@lru_cache(maxsize=_LABELS_KEPT)
def junction_label(network: RoadNetwork, junction: int) -> str:
    """Return the name of a junction, else its street or class and the nearest named place."""
    if name := _index(network).names[junction]:
        return name
    edge = int(np.flatnonzero((network.tail == junction) | (network.head == junction))[0])
    street = clean(network.street[edge])
    at_xy = np.array([network.x_m[junction], network.y_m[junction]])
    return _beside(network, f"{street}," if street else _kind(network, edge), at_xy)


def route_ends(network: RoadNetwork, edges: Sequence[int]) -> tuple[str, ...]:
    """Return the labels of the start of the first of several edges and of the ends of the others.

    So the first label names a trip's origin, the last one its destination.
    """
    ends = (network.tail[edges[0]], *(network.head[edge] for edge in edges[1:]))
    return tuple(junction_label(network, int(end)) for end in ends)


@lru_cache(maxsize=_LABELS_KEPT)
def edge_label(network: RoadNetwork, edge: int) -> str:
    """Return the street of an edge, else its class and the place nearest to its middle."""
    if street := clean(network.street[edge]):
        return street
    points = int(network.shape_start[edge : edge + 2].sum())
    middle = [(points - 1) // 2, points // 2]
    xy = np.array([network.shape_x_m[middle].mean(), network.shape_y_m[middle].mean()])
    return _beside(network, _kind(network, edge), xy)


def stretches(network: RoadNetwork, edges: Sequence[int]) -> list[tuple[str, slice]]:
    """Return the streets of a route in driving order: label, and the slice of its edges.

    Unnamed roads of one class in succession are one stretch, called after its middle edge.
    """
    names = [clean(network.street[edge]) or (_kind(network, edge),) for edge in edges]
    groups = [list(group) for _, group in groupby(range(len(edges)), key=names.__getitem__)]
    return [
        (edge_label(network, edges[rows[len(rows) // 2]]), slice(rows[0], rows[-1] + 1))
        for rows in groups
    ]


_PLAIN = str.maketrans(";", ",", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Semicolons as commas, without the characters that turn the direction of the text after them."""


@lru_cache(maxsize=10_000)
def clean(name: str) -> str:
    """Return a name as one line of printable text without the semicolons that separate places."""
    return " ".join(UNPRINTABLE.sub("", name.translate(_PLAIN)).split())


def place_table(places: Sequence[_Row]) -> Table:
    """Return the table ``places`` of names, longitudes and latitudes in degrees."""
    degrees = np.array([place[1:] for place in places], dtype=np.float64).reshape(-1, 2)
    return {
        "name": tuple(clean(name) for name, _, _ in places),
        "lon": degrees[:, 0],
        "lat": degrees[:, 1],
    }


def add_tables(network: RoadNetwork, *others: RoadNetwork) -> RoadNetwork:
    """Return a network with the table ``names``, and the table ``places`` of others.

    Places farther than `FARTHEST_M` from every road are left out.

    Raises
    ------
    NetworkFormatError
        If a table of the others is damaged.
    """
    places = list(dict.fromkeys(place for other in others for place in _stored(other)[1]))
    roads = shapely.STRtree(network.lines(network.shape_x_m, network.shape_y_m))
    points = shapely.points(_project(network, places))
    rows, _ = roads.query_nearest(points, max_distance=FARTHEST_M, all_matches=False)
    near = [places[row] for row in sorted(rows.tolist())]
    added: dict[str, Table] = {"names": {"junction": _derived(network)}}
    if near:
        added["places"] = place_table(near)
    return network.without_table("places").with_tables(added)


def _derived(network: RoadNetwork) -> tuple[str, ...]:
    """Return the name of each junction: its streets, those with letters first in front."""
    streets: list[set[str]] = [set() for _ in range(network.n_junctions)]
    for name, *ends in zip(
        map(clean, network.street), network.tail.tolist(), network.head.tolist(), strict=True
    ):
        for junction in ends if name else ():
            streets[junction].add(name)
    return tuple(
        " & ".join(sorted(own, key=lambda name: (name[0].isdigit(), name))) if len(own) > 1 else ""
        for own in streets
    )


def _stored(network: RoadNetwork) -> tuple[tuple[str, ...], list[_Row]]:
    """Return the names of the v junctions and the rows of the table of places."""
    table = network.tables.get("places", {})
    try:
        named = network.tables["names"]["junction"] if "names" in network.tables else None
        junctions = _derived(network) if named is None else tuple(clean(str(n)) for n in named)
        require(
            len(junctions) == network.n_junctions,
            f"{len(junctions)} names of {network.n_junctions} junctions",
            ValueError,
        )
        rows = zip(*(table.get(column, ()) for column in ("name", "lon", "lat")), strict=True)
        return junctions, [(clean(str(name)), float(lon), float(lat)) for name, lon, lat in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise NetworkFormatError(
            f"the names of network '{network.name}' are damaged ({error}). Build the network again"
        ) from error


@lru_cache(maxsize=4)
def _index(network: RoadNetwork) -> _Index:
    """Group the junctions and places of one name that lie near each other to one place."""
    names, places = _stored(network)
    first_station = len(names) + len(places)
    places += [each for each in _stations(network) if each not in set(places)]
    texts = [*names, *(name for name, _, _ in places)]
    xy = np.vstack([_xy(network), _project(network, places)])
    degrees = [*zip(*network.junction_lon_lat, strict=True), *(place[1:] for place in places)]
    # names apart by more than any distance, so that only equal ones are near each other
    apart_m = 1e9 * np.unique(texts, return_inverse=True)[1]
    pairs = KDTree(np.column_stack([xy, apart_m])).query_pairs(ONE_PLACE_M, output_type="ndarray")
    joined = csr_matrix((np.ones(len(pairs)), pairs.T), shape=(len(texts), len(texts)))
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for row, group in enumerate(connected_components(joined, directed=False)[1].tolist()):
        if texts[row]:
            groups[group].append(row)
    first = [rows[0] for rows in groups.values()]
    uses = Counter(texts[row] for row in first)
    places_found, by_words = [], defaultdict(list)
    stations = set()
    for row, *others in groups.values():
        lon, lat = map(float, degrees[row])
        label = f"{texts[row]} ({lat:.5f},{lon:.5f})" if uses[texts[row]] > 1 else texts[row]
        junctions = tuple(each for each in (row, *others) if each < network.n_junctions)
        places_found.append(Place(label, lon, lat, junctions))
        by_words[_words(label)].append(places_found[-1])
        if row >= first_station:
            stations.add(label)
    return _Index(names, places_found, dict(by_words), frozenset(stations), KDTree(xy[first]))


def _stations(network: RoadNetwork) -> list[_Row]:
    """Return the charging stations that have a name, once each. Their table has their sockets."""
    table = network.tables.get("chargers", {})
    columns = (table.get(column, ()) for column in ("name", "lon", "lat"))
    try:
        rows = zip(*columns, strict=True)
        named = dict.fromkeys((clean(str(name)), float(lon), float(lat)) for name, lon, lat in rows)
    except (TypeError, ValueError) as error:
        raise NetworkFormatError(
            f"the charging stations of network '{network.name}' are damaged ({error}). Add them "
            "again with 'evroute network chargers'"
        ) from error
    return [each for each in named if each[0]]


def _xy(network: RoadNetwork) -> FloatArray:
    return np.column_stack([network.x_m, network.y_m])


def _project(network: RoadNetwork, places: Sequence[_Row]) -> FloatArray:
    """Return the positions of places in the coordinates of the network, (k, 2) m."""
    lon, lat = np.array([place[1:] for place in places]).reshape(-1, 2).T
    xy = np.column_stack(transformer(WGS84, network.crs).transform(lon, lat))
    return np.nan_to_num(xy, posinf=_FAR_AWAY_M, neginf=-_FAR_AWAY_M)


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text in alphabetical order, without case, accents and "and"."""
    plain = _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return tuple(sorted(word for word in _WORD.findall(plain) if word != "and"))


def _begins(own: str, word: str) -> bool:
    """Return True if a word of a name begins with a word of a search. Numbers must be complete."""
    return own.startswith(word) and not (word[-1].isdigit() and own[len(word) :][:1].isdigit())


def _kind(network: RoadNetwork, edge: int) -> str:
    text = network.road_class[edge].removeprefix("highway.")
    return "slip road" if "_link" in text else _KINDS.get(text.partition("_")[0], "road")


def _beside(network: RoadNetwork, kind: str, xy: FloatArray) -> str:
    """Return kind, distance and bearing of a position (2,) in m from the nearest named place."""
    index = _index(network)
    if not index.places:
        lon, lat = transformer(network.crs, WGS84).transform(*xy)
        return f"{kind} at {lat:.4f},{lon:.4f}"
    far_m, row = index.tree.query(xy)
    east_m, north_m = xy - index.tree.data[row]
    bearing = _COMPASS[round(float(np.arctan2(north_m, east_m)) / (np.pi / 4)) % 8]
    metres = max(round(far_m, -1), 10)
    shown = f"{metres:.0f} m" if metres < 1000 else f"{far_m / 1000:.1f} km"
    return f"{kind} {shown} {bearing} of {index.places[row].label}"
