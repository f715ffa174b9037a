"""Speed limits from OpenStreetMap's ``maxspeed`` and ``highway`` tags, by OSMnx's ``add_edge_speeds``.

A road without a limit takes the mean limit of the roads of its class, and a class of which no road has a limit its
typical speed (``osm_tags.TYPICAL_KMH``).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import MissingPackageError
from evroute.network.osm_tags import TYPICAL_KMH

# A limit outside is taken for a typing error, km/h.
POSSIBLE_KMH = (1.0, 200.0)


def parse_kmh(texts: Sequence[str | None]) -> FloatArray:
    """Return the limits (n,) in km/h that n ``maxspeed`` texts give, nan where they give none.

    Read are numbers, in km/h or with their unit, one per lane ("50|30", their mean), and zones ("DE:urban").
    """
    distinct = list(dict.fromkeys([*texts, "50"]))  # OSMnx refuses a graph without any limit
    kmh = plausible(_add_edge_speeds(["road"] * len(distinct), distinct, agg=lambda _: np.nan))
    found = dict(zip(distinct, kmh.tolist(), strict=True))
    return np.array([found[text] for text in texts])


def plausible(kmh: FloatArray) -> FloatArray:
    """Return the limits (n,) with nan for those outside `POSSIBLE_KMH`."""
    low, high = POSSIBLE_KMH
    return np.where((kmh >= low) & (kmh <= high), kmh, np.nan)


def impute_kmh(classes: Sequence[str], tagged_kmh: FloatArray) -> tuple[FloatArray, set[str]]:
    """Fill in the limits (n,) that are nan, by road class; return them, and the classes of which none has a limit."""
    tagged = {name for name, kmh in zip(classes, tagged_kmh, strict=True) if not np.isnan(kmh)}
    untagged = set(classes) - tagged
    texts = [None if np.isnan(kmh) else repr(kmh) for kmh in tagged_kmh.tolist()]
    typical = {name: TYPICAL_KMH[name] for name in untagged}
    return _add_edge_speeds(classes, texts, hwy_speeds=typical), untagged


def note(imputed_share: float, untagged: set[str]) -> str:
    """Say in one sentence how many edges got a limit by `impute_kmh`, for ``Source.notes``."""
    if imputed_share == 0:
        return "every edge has a speed limit of its own"
    mean = f"speed limits imputed on {imputed_share:.1%} of the edges, from the mean of their class"
    return mean + (
        f" (typical speeds for {', '.join(sorted(untagged))}, of which no road has a limit)" if untagged else ""
    )


def _add_edge_speeds(
    classes: Sequence[str],
    texts: Sequence[str | None],
    *,
    agg: Callable[[Any], Any] = np.mean,
    hwy_speeds: dict[str, float] | None = None,
) -> FloatArray:
    """Run OSMnx's function over n parallel edges between two nodes."""
    try:
        import networkx as nx
        import osmnx
    except ImportError as error:
        raise MissingPackageError("osmnx", "geo") from error
    graph = nx.MultiDiGraph(crs="EPSG:4326")
    graph.add_nodes_from([0, 1], x=0.0, y=0.0)
    roads = enumerate(zip(classes, texts, strict=True))
    graph.add_edges_from((0, 1, key, {"highway": name, "maxspeed": text}) for key, (name, text) in roads)
    osmnx.add_edge_speeds(graph, agg=agg, hwy_speeds=hwy_speeds)
    return np.array([kmh for _, _, kmh in graph.edges(data="speed_kph")])
