"""Speed limits from OpenStreetMap's ``maxspeed`` and ``highway`` tags, as in OSMnx.

OSMnx reads the texts. Limits of zones such as ``DE:rural`` come from ``data/speed_zones.toml``,
which names the law of each country, else from OSMnx. A road without a limit takes the mean
limit of the roads of its class, as in OSMnx's ``add_edge_speeds``. A class without any limit takes
its typical speed (`osm_tags.TYPICAL_KMH`).
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache

import numpy as np

from evroute.arrays import FloatArray
from evroute.network.geo import nx, osmnx
from evroute.network.sources.osm_tags import TYPICAL_KMH, Tags
from evroute.resources import data_path

# A limit outside is taken for a typing error, km/h.
POSSIBLE_KMH = (1.0, 200.0)
# "walk" is walking speed; German courts take it for 4 to 7 km/h.
WALKING_KMH = 7.0
KMH_PER_KNOT = 1.852
_COUNTRY = r"[A-Z]{2}(?:-[A-Z]{2,3})?"
_ZONE = re.compile(rf"(?:({_COUNTRY}):)?(?:zone:?)?(\d+)", re.IGNORECASE)
_KIND = re.compile(rf"({_COUNTRY}):([a-z_]+(?::[a-z_]+)?)", re.IGNORECASE)
_ZONE_KEYS = ("maxspeed:type", "source:maxspeed")
_KNOTS = re.compile(r"(\d+(?:\.\d+)?) ?knots?", re.IGNORECASE)
_WALK = re.compile(r"(?:[A-Z]{2}:)?walk", re.IGNORECASE)
_IN_MILES = {"GB", "UK", "US"}


def tagged_kmh(roads: Sequence[tuple[Tags, str]]) -> FloatArray:
    """Return the speed limits of n roads, (n,) km/h, nan where no tag holds one.

    The first tag of a road counts that holds a limit: ``maxspeed`` in the direction, ``maxspeed``,
    ``zone:maxspeed``, and the zone that ``maxspeed:type`` or ``source:maxspeed`` names.

    Parameters
    ----------
    roads
        Tags and direction ("forward" or "backward") of each road.
    """
    texts = [_texts(tags, direction) for tags, direction in roads]
    distinct = list(dict.fromkeys(text for each in texts for text in each))
    kmh = dict(zip(distinct, parse_kmh(distinct).tolist(), strict=True))
    held = ([kmh[text] for text in each if not np.isnan(kmh[text])] for each in texts)
    return np.array([found[0] if found else np.nan for found in held])


def _texts(tags: Tags, direction: str) -> list[str]:
    """Return the texts of a road that may hold its limit, the most specific first."""
    limits = [tags.get(key, "") for key in (f"maxspeed:{direction}", "maxspeed", "zone:maxspeed")]
    zones = [tags.get(key, "") for key in _ZONE_KEYS]
    # they also say how a limit is known: "sign", "survey 2012"
    return [text for text in limits if text] + [text for text in zones if ":" in text]


@cache
def zone_limits() -> dict[str, str]:
    """Return the limits of zones such as ``DE:rural``, as texts, from ``data/speed_zones.toml``."""
    listed = tomllib.loads(data_path("speed_zones.toml").read_text(encoding="utf-8"))
    return {
        f"{country}:{zone}": str(limit)
        for country, entries in listed.items()
        for zone, limit in entries.items()
        if zone != "source"
    }


def parse_kmh(texts: Sequence[str | None]) -> FloatArray:
    """Return the speed limits of n ``maxspeed`` texts, (n,) km/h, nan where they hold none.

    Accepted: numbers, in km/h or with their unit, one per lane ("50|30", their mean), kinds of
    roads ("DE:urban", by `zone_limits` and OSMnx), zones ("DE:zone:30") and walking speed ("walk").
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
    if _WALK.fullmatch(text.strip()):
        return f"{WALKING_KMH:g}"
    if kind := _KIND.fullmatch(text.strip()):
        name = f"{kind[1].upper()}:{kind[2].lower()}"
        listed = zone_limits().get(name)
        return _plain(listed) if listed else name
    if knots := _KNOTS.fullmatch(text.strip()):
        return f"{float(knots[1]) * KMH_PER_KNOT:.3f}"
    return text


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
