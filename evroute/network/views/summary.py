"""Summary of a network in a few numbers: ``evroute network info``."""

from typing import Any

import numpy as np

from evroute.errors import NetworkFormatError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations


def summary(network: RoadNetwork) -> dict[str, Any]:
    """Return sizes, inclines and origin of a network, ready for JSON.

    ``incline_percent`` holds percentiles over the edges of |climb| / length, in percent.
    """
    source, notes = network.source, list(network.source.notes)
    try:
        n_stations: int | None = len(stations(network))
    except NetworkFormatError as error:
        n_stations, notes = None, [*notes, str(error)]
    percentiles = np.percentile(100 * np.abs(network.climb_m) / network.length_m, [50, 95, 99, 100])
    return {
        "name": network.name,
        "edges": network.n_edges,
        "junctions": network.n_junctions,
        "turns": len(network.turns),
        "charging_stations": n_stations,
        "length_m": float(network.length_m.sum()),
        "incline_percent": dict(
            zip(("p50", "p95", "p99", "max"), percentiles.tolist(), strict=True)
        ),
        "ascent_m_per_km": 1000 * float(network.ascent_m.sum() / network.length_m.sum()),
        "source": f"{source.kind}: {', '.join(source.files)}",
        "source_sha256": source.sha256,
        "attribution": source.attribution,
        "crs": network.crs,
        "elevation": source.elevation,
        "smoothing_m": source.smoothing_m,
        "notes": notes,
        "digest": network.digest,
    }
