"""Speed limits from OpenStreetMap's ``maxspeed`` and ``highway`` tags, as in OSMnx.

OSMnx reads the texts. A road without a limit takes the mean limit of the roads of its class, as in
OSMnx's ``add_edge_speeds``. A class without any limit takes its typical speed
(`osm_tags.TYPICAL_KMH`).
"""

import re
from collections.abc import Sequence

import numpy as np

from evroute.arrays import FloatArray
from evroute.network.geo import nx, osmnx
from evroute.network.sources.osm_tags import TYPICAL_KMH, Tags

# A limit outside is taken for a typing error, km/h.
POSSIBLE_KMH = (1.0, 200.0)
# "walk" is walking speed; German courts take it for 4 to 7 km/h.
WALKING_KMH = 7.0
KMH_PER_KNOT = 1.852
_ZONE = re.compile(r"(?:([A-Z]{2}):)?(?:zone:?)?(\d+)", re.IGNORECASE)
_KNOTS = re.compile(r"(\d+(?:\.\d+)?) ?knots?", re.IGNORECASE)
_WALK = re.compile(r"(?:[A-Z]{2}:)?walk", re.IGNORECASE)
_IN_MILES = {"GB", "UK", "US"}


def limit(tags: Tags, direction: str) -> str | None:
    """Return the text of the speed limit in ``direction`` ("forward" or "backward"), with its unit.

    Roads without a limit of their own have that of their zone.
    """
    keys = f"maxspeed:{direction}", "maxspeed", "zone:maxspeed"
    return next((tags[key] for key in keys if key in tags), None)


def parse_kmh(texts: Sequence[str | None]) -> FloatArray:
    """Return the speed limits of n ``maxspeed`` texts, (n,) km/h, nan where they hold none.

    Accepted: numbers, in km/h or with their unit, one per lane ("50|30", their mean), kinds of
    roads ("DE:urban"), zones ("DE:zone:30") and walking speed ("walk").
    """
    plain = ["|".join(map(_plain, text.split("|"))) if text else text for text in texts]
    distinct = list(dict.fromkeys([*plain, "50"]))  # OSMnx refuses a graph without any limit
    graph = nx.MultiDiGraph(crs="EPSG:4326")
    graph.add_nodes_from([0, 1], x=0.0, y=0.0)
    graph.add_edges_from(
        (0, 1, k, {"highway": "road", "maxspeed": text}) for k, text in enumerate(distinct)
    )
    osmnx.add_edge_speeds(graph, agg=lambda _: np.nan)
    kmh = plausible(np.array([graph.edges[0, 1, k]["speed_kph"] for k in range(len(distinct))]))
    found = dict(zip(distinct, kmh.tolist(), strict=True))
    return np.array([found[text] for text in plain])


def _plain(text: str) -> str:
    """Return a limit that OSMnx does not read as a number with its unit."""
    if zone := _ZONE.fullmatch(text.strip()):
        return f"{zone[2]} mph" if (zone[1] or "").upper() in _IN_MILES else zone[2]
    if knots := _KNOTS.fullmatch(text.strip()):
        return f"{float(knots[1]) * KMH_PER_KNOT:.3f}"
    return f"{WALKING_KMH:g}" if _WALK.fullmatch(text.strip()) else text


def plausible(kmh: FloatArray) -> FloatArray:
    """Return the limits (n,) with nan for those outside `POSSIBLE_KMH`."""
    low, high = POSSIBLE_KMH
    return np.where((kmh >= low) & (kmh <= high), kmh, np.nan)


def impute_kmh(classes: Sequence[str], tagged_kmh: FloatArray) -> tuple[FloatArray, set[str]]:
    """Return the limits (n,) km/h with nan imputed by road class, and classes without limits."""
    names, row = np.unique(classes, return_inverse=True)
    known = ~np.isnan(tagged_kmh)
    count = np.bincount(row[known], minlength=len(names))
    total = np.bincount(row[known], weights=tagged_kmh[known], minlength=len(names))
    typical = np.array([TYPICAL_KMH[name] for name in names])
    of_class = np.where(count > 0, total / np.maximum(count, 1), typical)
    return np.where(known, tagged_kmh, of_class[row]), set(names[count == 0].tolist())


def note(imputed_share: float, untagged: set[str]) -> str:
    """Return a sentence on the share of imputed limits, for ``Source.notes``."""
    if imputed_share == 0:
        return "every edge has a speed limit of its own"
    mean = f"speed limits imputed on {imputed_share:.1%} of the edges, from the mean of their class"
    return mean + (
        f" (typical speeds for {', '.join(sorted(untagged))}, of which no road has a limit)"
        if untagged
        else ""
    )
