"""Recorded trips on a network that has their roads, some of them in pieces."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.trip_record import TripRecord
from evroute.network.places.positions import JUNCTION_M
from evroute.network.road_network import RoadNetwork

BY_LENGTH = ("energy_wh", "travel_s")
"""Values by edge that the pieces of a road share by length."""


def recorded_m(lines: TripRecord | None, rows: Sequence[int]) -> FloatArray | None:
    """Return the lengths of the roads of a trip when it was recorded, (k,) m, or None if unknown.

    Parameters
    ----------
    lines
        All roads of a file.
    rows
        Rows of the trip.
    """
    return None if lines is None else lines.lines.length_m[np.array(rows, dtype=np.int64)]


def on_pieces(
    values: Mapping[str, Any],
    edges: Sequence[IntArray],
    network: RoadNetwork,
    before_m: FloatArray | None,
) -> dict[str, Any]:
    """Return the values of a trip by edge, and its ends, on the pieces of its roads.

    Pieces that were not driven are left out. The others share by length.

    Parameters
    ----------
    values
        Values of the trip by name, (k,) where they are by edge.
    edges
        The rows of each of the k roads.
    network
        The network.
    before_m
        (k,) lengths of the roads when the trip was recorded, m, or None for today's.
    """
    counts = np.array([len(edge) for edge in edges])
    edge, road = np.concatenate(edges), np.repeat(np.arange(len(edges)), counts)
    length_m = network.length_m[edge]
    begins_m = np.cumsum(length_m) - length_m
    begins_m -= begins_m[np.cumsum(counts) - counts][road]
    grown = np.ones(len(edges)) if before_m is None else np.bincount(road, length_m) / before_m
    start_m = np.zeros(len(edges))
    end_m = np.full(len(edges), np.inf)
    start_m[0] = values.get("start_m", 0.0) * grown[0]
    if np.isfinite(values.get("end_m", np.nan)):
        end_m[-1] = values["end_m"] * grown[-1]
    low_m = np.maximum(start_m[road] - begins_m, 0.0)
    high_m = np.minimum(length_m, end_m[road] - begins_m)
    kept = high_m - low_m > (JUNCTION_M if len(edge) > len(edges) else 0.0)
    edge, road = edge[kept], road[kept]
    low_m, high_m = low_m[kept], high_m[kept]
    share = (high_m - low_m) / np.bincount(road, high_m - low_m)[road]
    ends = {"start_m": float(low_m[0])}
    ends["end_m"] = float(high_m[-1]) if np.isfinite(end_m[-1]) else np.nan
    return {"edge": edge, **ends, **{name: values[name][road] * share for name in BY_LENGTH}}
