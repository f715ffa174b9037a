"""Matrix of least energies between places, by one tree of cheapest routes for each origin edge.

Sums along the routes of a tree are added level by level, from the root on. A pair of places is
driven in the directions of the fastest trip, as a single plan is (`places.stops`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.network.line_graph import LineGraph
from evroute.network.places.locate import locate
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner
from evroute.planning.requests import read_requests
from evroute.planning.searches.search import Search
from evroute.planning.spaces.arm_space import SearchSpace

COLUMNS = ("id", "place")
VALUES = ("energy_wh", "time_s", "length_m")


@dataclass(frozen=True, slots=True)
class Stop:
    """An origin or a destination: its id, its place as text, and the rows of the edges there."""

    id: str
    place: str
    edges: tuple[int, ...]


def read_stops(path: Path, network: RoadNetwork, *, leaving: bool) -> list[Stop]:
    """Return the stops of a table, in its order; without ids the places are the ids.

    Parameters
    ----------
    path
        CSV file with the column ``place`` and, if wanted, ``id``.
    network
        The roads.
    leaving
        Whether the stops are origins.

    Raises
    ------
    EvrouteError
        If the table has no row, a row has no place on the network, or places share an id; the
        message has the number of the row, 1 for the first one after the header.
    """
    stops, known = [], dict[str, str]()
    with read_requests(path, COLUMNS) as table:
        for number, row in enumerate(table.rows, start=1):
            where = f"{path}, row {number}"
            require(
                None not in row, f"{where}: more cells than columns; quote a place with a comma"
            )
            place = row.get("place") or ""
            require(place, f"{where}: no place; give the columns id,place")
            try:
                edges = locate(network, place, leaving=leaving)
            except EvrouteError as error:
                raise EvrouteError(f"{where}: {error}") from None
            stop = Stop(row.get("id") or place, place, edges)
            require(
                known.setdefault(stop.id, place) == place,
                f"{where}: id '{stop.id}' is that of another place above; give each place an id of "
                "its own",
            )
            stops.append(stop)
    require(stops, f"{path} has no row; give the columns id,place and a row for each place")
    return stops


def energy_matrix(
    planner: Planner, origins: Sequence[Stop], destinations: Sequence[Stop]
) -> FloatArray:
    """Return energy (Wh), time (s) and length (m) of the least-energy routes, (3, o, d).

    They are 0 from a place to itself, and NaN where there is no route.

    Parameters
    ----------
    planner
        Planner of all pairs.
    origins, destinations
        The o origins and the d destinations.

    Raises
    ------
    LimitError
        If there are more pairs than a table may have rows.
    """
    limits.check("rows", len(origins) * len(destinations), "the matrix has {} pairs")
    network, problem = planner.network, planner.problem(())
    weights = problem.weights()
    values = np.column_stack([problem.energy_wh, problem.time_s, problem.length_m])
    quickest = Search(LineGraph.from_network(network))
    width = max(len(stop.edges) for stop in destinations)
    ends = np.array([(stop.edges * width)[:width] for stop in destinations])
    every = np.arange(len(ends))
    matrix = np.empty((len(origins), len(ends), len(VALUES)))
    for o, origin in enumerate(origins):
        roots = np.array(origin.edges)
        trees = planner.search.trees(weights, roots, forwards=True)
        sums = np.stack(
            [
                _summed(planner.space, values, tree, root)[ends]
                for tree, root in zip(trees, origin.edges, strict=True)
            ],
            axis=1,
        )
        choice = np.zeros(len(ends), dtype=np.int64)
        if len(roots) * width > 1:
            time_s = np.stack([quickest.distances(network.time_s, r)[ends] for r in roots], axis=1)
            time_s[ends[:, np.newaxis] == roots[:, np.newaxis]] = np.inf
            choice = time_s.reshape(len(ends), -1).argmin(axis=1)
        matrix[o] = sums.reshape(len(ends), -1, len(VALUES))[every, choice]
        itself = roots[choice // width] == ends[every, choice % width]
        matrix[o, :, 0] += planner.heating.at(matrix[o, :, 1] / 60.0).warm_up_wh
        itself |= [stop.place == origin.place for stop in destinations]
        matrix[o, itself] = 0.0
    return np.moveaxis(matrix, 2, 0)


def write_matrix(
    path: Path, matrix: FloatArray, origins: Sequence[Stop], destinations: Sequence[Stop]
) -> None:
    """Write a row for each pair as CSV or Parquet: from, to and `VALUES`, empty without a route.

    Parameters
    ----------
    path
        Path that ends in ``.csv`` or ``.parquet``.
    matrix
        From `energy_matrix`, (3, o, d).
    origins, destinations
        The o origins and the d destinations.
    """
    import pyarrow as pa

    from evroute.tables import write_table

    o, d = matrix.shape[1:]
    names = (np.repeat(np.arange(o), d), origins), (np.tile(np.arange(d), o), destinations)
    columns = {
        column: pa.DictionaryArray.from_arrays(index, [stop.id for stop in stops])
        for column, (index, stops) in zip(("from", "to"), names, strict=True)
    }
    for column, numbers in zip(VALUES, matrix, strict=True):
        columns[column] = pa.array(numbers.ravel(), from_pandas=True)
    write_table(path, pa.table(columns))


def _summed(space: SearchSpace, values: FloatArray, before: IntArray, root: int) -> FloatArray:
    """Return sums of values (a, v) from the root of a tree to every edge, (n, v), NaN outside."""
    reached = np.flatnonzero(before >= 0)
    pairs = np.column_stack([before[reached], reached]).ravel()
    sums = np.full((len(before), values.shape[1]), np.nan)
    sums[reached] = values[space.arms_of_routes(pairs, np.arange(0, len(pairs), 2))[1::2]]
    sums[root] = values[space.arms_of_routes(np.array([root]), np.zeros(1, np.int64))[0]]
    # in driving order, as the plan of one request adds
    depth = _depths(before)
    order = np.argsort(depth, kind="stable")
    first = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 2))
    for low, high in pairwise(first.tolist()):
        level = order[low:high]
        sums[level] += sums[before[level]]
    return sums


def _depths(before: IntArray) -> IntArray:
    """Return the number of edges between each edge of a tree and its root, (n,)."""
    n = len(before)
    above = np.append(np.where(before < 0, n, before), n)
    depth = (above < n).astype(np.int64)
    while (above < n).any():
        depth += depth[above]
        above = above[above]
    return depth[:n]
