"""Suggestions of places for a text: one ranking for the command, the service and the dashboard.

Places are junctions, named places, charging stations, the middles of roads, coordinates, and those
that a driver chose before. How names are compared is in `evroute.ranking`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from evroute.arrays import FloatArray, IntArray
from evroute.network.coordinates import WGS84, lat_lon, transformer
from evroute.network.places import names
from evroute.network.places.names import LISTED, Place
from evroute.network.road_network import RoadNetwork
from evroute.ranking import LEAST_SCORE, Ranking

MOST = 8
"""Number of suggestions."""
RECENT_LEAD = 0.05
"""Added to the score of a place that was chosen before."""
PARTS_M = 1000.0
"""Parts of a road of one name in neighbouring squares of this size are one road, m."""
BY_NAME = ("crossing", "place", "station")
"""Kinds whose labels are names of `names.find`."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A place that a text may mean.

    Parameters
    ----------
    label
        Its name.
    kind
        ``crossing``, ``place``, ``station``, ``road``, ``coordinates`` or ``recent``.
    text
        Its name in requests: its label, or ``lat,lon`` in degrees.
    """

    label: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The suggestions of a network, and the ranking of their labels (same rows)."""

    rows: list[Suggestion]
    ranking: Ranking


def suggest(
    network: RoadNetwork,
    text: str,
    *,
    recent: Sequence[Suggestion] = (),
    most: int = MOST,
) -> list[Suggestion]:
    """Return the places that a text may mean, the likeliest first.

    Parameters
    ----------
    network
        The roads.
    text
        As a driver writes it, with typing errors. Without words it has the recent places alone.
    recent
        Places that were chosen before, the last one first.
    most
        Greatest number of suggestions.

    Returns
    -------
    list of Suggestion
        Without the names that do not fit.
    """
    before = [replace(each, kind="recent") for each in recent]
    if not text.strip():
        return before[:most]
    found: list[tuple[float, Suggestion]] = []
    if (at := lat_lon(text)) is not None:
        place = f"{at[0]:.6f},{at[1]:.6f}"
        found.append((2.0, Suggestion(place, "coordinates", place)))
    scores = Ranking.of([each.label for each in before]).scores(text)
    found += [
        (score + RECENT_LEAD, each)
        for score, each in zip(scores.tolist(), before, strict=True)
        if score >= LEAST_SCORE
    ]
    known = _known(network)
    rows = known.ranking.best(text, most)
    scores = known.ranking.scores(text)
    found += [(float(scores[row]), known.rows[row]) for row in rows]
    found.sort(key=lambda each: -each[0])  # equal scores keep their order
    return list({each.text: each for _, each in reversed(found)}.values())[::-1][:most]


@lru_cache(maxsize=1000)
def spellings(network: RoadNetwork, text: str) -> list[str]:
    """Return the names of places that are spelt most like a text, the nearest first.

    There are at most `LISTED`. Roads are left out: a name of `names.find` means one place.
    """
    found = (each.label for each in suggest(network, text, most=3 * LISTED) if _has_name(each))
    return list(found)[:LISTED]


def _has_name(each: Suggestion) -> bool:
    return each.kind in BY_NAME


@lru_cache(maxsize=4)
def _known(network: RoadNetwork) -> _Known:
    stations = names.station_labels(network)
    rows = [
        Suggestion(place.label, _kind(place, stations), place.label)
        for place in names.places(network)
    ]
    rows += _roads(network)
    return _Known(rows, Ranking.of([each.label for each in rows]))


def _kind(place: Place, stations: frozenset[str]) -> str:
    if place.junctions:
        return "crossing"
    return "station" if place.label in stations else "place"


def _roads(network: RoadNetwork) -> list[Suggestion]:
    """Return the roads by name. Each stands for the middle of its edge that is nearest its mean."""
    streets = np.array([names.clean(street) for street in network.street])
    rows = np.flatnonzero(streets != "")
    if not len(rows):
        return []
    xy = _middles(network, rows)
    road = _roads_of(streets[rows], xy)
    uses = np.bincount(road)
    mean = np.column_stack([np.bincount(road, axis) / uses for axis in xy.T])
    order = np.lexsort((np.hypot(*(xy - mean[road]).T), road))
    first = order[np.unique(road[order], return_index=True)[1]]
    lon, lat = transformer(network.crs, WGS84).transform(*xy[first].T)
    found = [
        (street, f"{each_lat:.6f},{each_lon:.6f}")
        for street, each_lon, each_lat in zip(streets[rows[first]].tolist(), lon, lat, strict=True)
    ]
    parts = Counter(street for street, _ in found)
    return [
        Suggestion(f"{street} ({at})" if parts[street] > 1 else street, "road", at)
        for street, at in found
    ]


def _middles(network: RoadNetwork, rows: IntArray) -> FloatArray:
    """Return the middle of the shape points of each of k edges, (k, 2) m."""
    points = network.shape_start[rows] + network.shape_start[rows + 1]
    both = np.stack([(points - 1) // 2, points // 2])
    return np.column_stack([network.shape_x_m[both].mean(0), network.shape_y_m[both].mean(0)])


def _roads_of(streets: Any, xy: FloatArray) -> IntArray:
    """Return the number of the road of each of k edges, (k,), by their names and positions."""
    name = np.unique(streets, return_inverse=True)[1]
    squares = np.column_stack([name, np.floor(xy / PARTS_M)])
    nodes, node = np.unique(squares, axis=0, return_inverse=True)
    apart = nodes * [1e6, 1, 1]  # names farther apart than any squares
    pairs = KDTree(apart).query_pairs(1.5, output_type="ndarray")
    joined = csr_matrix((np.ones(len(pairs)), pairs.T), shape=(len(nodes), len(nodes)))
    road: IntArray = connected_components(joined, directed=False)[1][node.ravel()]
    return road
