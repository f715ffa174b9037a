"""Speed limits from OpenStreetMap's ``maxspeed`` and ``highway`` tags, as in OSMnx.

OSMnx reads the texts. A road without a limit takes the mean limit of the roads of its class, as in
OSMnx's ``add_edge_speeds``. A class without any limit takes its typical speed
(``osm_tags.TYPICAL_KMH``).
"""

from collections.abc import Sequence

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import MissingPackageError
from evroute.network.osm_tags import TYPICAL_KMH

# A limit outside is taken for a typing error, km/h.
POSSIBLE_KMH = (1.0, 200.0)


def parse_kmh(texts: Sequence[str | None]) -> FloatArray:
    """Return the speed limits of n ``maxspeed`` texts, (n,) km/h, nan where they hold none.

    Accepted: numbers, in km/h or with their unit, one per lane ("50|30", their mean), and zones
    ("DE:urban").
    """
    try:
        import networkx as nx
        import osmnx
    except ImportError as error:
        raise MissingPackageError("osmnx", "geo") from error
    distinct = list(dict.fromkeys([*texts, "50"]))  # OSMnx refuses a graph without any limit
    graph = nx.MultiDiGraph(crs="EPSG:4326")
    graph.add_nodes_from([0, 1], x=0.0, y=0.0)
    graph.add_edges_from(
        (0, 1, k, {"highway": "road", "maxspeed": text}) for k, text in enumerate(distinct)
    )
    osmnx.add_edge_speeds(graph, agg=lambda _: np.nan)
    kmh = plausible(np.array([graph.edges[0, 1, k]["speed_kph"] for k in range(len(distinct))]))
    found = dict(zip(distinct, kmh.tolist(), strict=True))
    return np.array([found[text] for text in texts])


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
