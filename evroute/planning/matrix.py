"""Matrix of least energies or times between places, by one tree of routes for each origin.

Sums along the routes of a tree are added level by level, from the root on. A pair of places is
driven in the directions of least energy or time, as by the route of that name of a plan.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.network.places.positions import JUNCTION_M, Position, point, positions
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner
from evroute.planning.requests import read_requests
from evroute.planning.searches.between import OwnArms
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.search_problem import TIE_PER_WH
from evroute.planning.spaces.arm_space import SearchSpace

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("id", "place")
ENDS = ("from", "to")
VALUES = ("energy_wh", "time_s", "length_m")
REDUCED = "reduced_dwh"
"""Column of reduced energies, tenths of a Wh."""
AIMS = ("energy", "time")
"""Aims of the routes of a matrix. The sum of `VALUES` at the same position is least."""


@dataclass(frozen=True, slots=True)
class Stop:
    """An origin or a destination: its id, its place as text, and the positions there."""

    id: str
    place: str
    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Numbers of the pairs of a matrix that was written, and of those without a route."""

    pairs: int
    missing: int


def read_stops(path: Path, network: RoadNetwork, *, leaving: bool) -> list[Stop]:
    """Return the stops of a table, in its order. Without ids the places are the ids.

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
        If the table has no row, a row has no place on the network, or places share an id. The
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
                found = positions(network, place, leaving=leaving)
            except EvrouteError as error:
                raise EvrouteError(f"{where}: {error}") from None
            stop = Stop(row.get("id") or place, place, found)
            require(
                known.setdefault(stop.id, place) == place,
                f"{where}: id '{stop.id}' names another place above; give each place an id of "
                "its own",
            )
            stops.append(stop)
    require(stops, f"{path} has no row; give the columns id,place and a row for each place")
    return stops


def energy_matrix(
    planner: Planner, origins: Sequence[Stop], destinations: Sequence[Stop], by: str = AIMS[0]
) -> FloatArray:
    """Return energy (Wh), time (s) and length (m) of the best route of each pair, (3, o, d).

    They are 0 from a place to itself, and NaN where there is no route.

    Parameters
    ----------
    planner
        Planner of all pairs.
    origins, destinations
        The o origins and the d destinations.
    by
        One of `AIMS`: routes of least energy, or the fastest ones.

    Raises
    ------
    LimitError
        If there are more pairs than a table may have rows.
    EvrouteError
        If there is no such aim.
    """
    return Exits(planner, destinations, by).matrix(origins)


def matrix_rows(
    planner: Planner, origins: Sequence[Stop], destinations: Sequence[Stop], by: str = AIMS[0]
) -> Iterator[FloatArray]:
    """Yield the rows of `energy_matrix` as energy, time and length, (d, 3), one for each origin.

    Parameters
    ----------
    planner, origins, destinations, by
        As in `energy_matrix`.
    """
    return Exits(planner, destinations, by).rows(origins)


def _points_m(planner: Planner, stops: Sequence[Stop]) -> FloatArray:
    """Return the points of stops on the map, (s, 2) m. NaN for edge ids, which are whole edges."""
    network, at_m = planner.network, np.full((len(stops), 2), np.nan)
    for number, stop in enumerate(stops):
        if stop.place not in network.row_of:
            place = point(network, stop.positions[0])
            at_m[number] = place.x, place.y
    return at_m


class Exits:
    """The ways into the d destinations of a matrix, for any origins.

    Parameters
    ----------
    planner
        Planner of all pairs.
    destinations
        The d destinations.
    by
        One of `AIMS`.

    Raises
    ------
    EvrouteError
        If there is no such aim.
    """

    def __init__(self, planner: Planner, destinations: Sequence[Stop], by: str = AIMS[0]) -> None:
        require(by in AIMS, f"a matrix is by {' or '.join(AIMS)}, not by '{by}'")
        column = AIMS.index(by)
        self.planner = planner
        self.column = column
        self.destinations = destinations
        problem = planner.problem(())
        by_time = AIMS[column] == "time"
        self.weights = problem.with_ties(problem.time_s) if by_time else problem.weights()
        self.values = np.column_stack([problem.energy_wh, problem.time_s, problem.length_m])
        self._places = np.array([stop.place for stop in destinations])
        self._at_m = _points_m(planner, destinations)
        own, of_stop = OwnArms(planner.numbers, planner.search), []
        for number, stop in enumerate(destinations):
            known = len(own.exits)
            own.add_ends((), stop.positions)
            of_stop += [number] * (len(own.exits) - known)
        self.before = np.array([each.before for each in own.exits], dtype=np.int64)
        self.of_stop = np.array(of_stop, dtype=np.int64)
        place = np.array([own.place(each.arm) for each in own.exits], dtype=np.int64)
        self.own_values = _values(own)[place]
        self.on_edge: dict[int, list[tuple[int, Position]]] = {}
        for number, stop in enumerate(destinations):
            for each in stop.positions:
                self.on_edge.setdefault(each.edge, []).append((number, each))

    def matrix(self, origins: Sequence[Stop]) -> FloatArray:
        """Return energy (Wh), time (s) and length (m) from o origins, (3, o, d).

        Raises
        ------
        LimitError
            If there are more pairs than a table may have rows.
        """
        pairs = len(origins) * len(self.destinations)
        limits.check("rows", pairs, "the matrix has {} pairs")
        matrix = np.empty((len(origins), len(self.destinations), len(VALUES)))
        for o, row in enumerate(self.rows(origins)):
            matrix[o] = row
        return np.moveaxis(matrix, 2, 0)

    def rows(self, origins: Sequence[Stop]) -> Iterator[FloatArray]:
        """Yield energy, time and length from each of o origins, (d, 3)."""
        for origin in origins:
            row = self._from_origin(origin)
            row[:, 0] += self.planner.heating.at(row[:, 1] / 60.0).warm_up_wh
            apart_m = np.hypot(*(self._at_m - _points_m(self.planner, [origin])).T)
            row[(self._places == origin.place) | (apart_m < 2 * JUNCTION_M)] = 0.0
            yield row

    def _from_origin(self, origin: Stop) -> FloatArray:
        """Return energy, time and length of the best routes from an origin, (d, 3).

        Parameters
        ----------
        origin
            The origin.
        """
        planner, own = self.planner, OwnArms(self.planner.numbers, self.planner.search)
        own.add_starts(origin.positions)
        begun = _values(own)
        roots = np.array([each.edge for each in origin.positions])
        tree = planner.search.tree(self.weights, Ends(roots, self._begun(roots, begun)))
        sums = _summed(planner.space, self.values, tree, roots, begun)
        pieces, of_pieces = self._pieces(origin)
        values = np.concatenate([sums[self.before] + self.own_values, pieces])
        stop = np.concatenate([self.of_stop, of_pieces])
        cost = values[:, self.column] + TIE_PER_WH * values[:, 0]
        order = np.lexsort((cost, stop))
        order = order[np.isfinite(values[order, 0])]
        reached, first_of = np.unique(stop[order], return_index=True)
        best = np.full((len(self.destinations), len(VALUES)), np.nan)
        best[reached] = values[order[first_of]]
        return best

    def _begun(self, roots: IntArray, begun: FloatArray) -> FloatArray:
        """Return the costs of driving the first edges, (r,), not negative.

        Parameters
        ----------
        roots
            (r,) first edges.
        begun
            (r, 3) values of the parts of them that are driven.
        """
        planner = self.planner
        start = planner.search.starts.start + roots
        above_wh = begun[:, 0] - planner.numbers.states.head_wh[start]
        above_wh -= above_wh.min()
        if AIMS[self.column] == "energy":
            return above_wh
        return begun[:, 1] + TIE_PER_WH * above_wh

    def _pieces(self, origin: Stop) -> tuple[FloatArray, IntArray]:
        """Return the values of trips along one edge, (p, 3), and their destinations, (p,)."""
        own, stops = OwnArms(self.planner.numbers, self.planner.search), []
        for start in origin.positions:
            for number, end in self.on_edge.get(start.edge, ()):
                known = len(own.pieces)
                own.add_pieces([start], [end])
                stops += [number] * (len(own.pieces) - known)
        return _values(own), np.array(stops, dtype=np.int64)


def _values(own: OwnArms) -> FloatArray:
    """Return energy, time and length of the arms of requests, (c, 3)."""
    if not own.arms:
        return np.empty((0, len(VALUES)))
    driven = own.driven()
    return np.column_stack([driven.energy_wh, driven.time_s, driven.length_m])


def matrix_table(
    matrix: FloatArray,
    origins: Sequence[Stop],
    destinations: Sequence[Stop],
    reduced: IntArray | None = None,
) -> "pa.Table":
    """Return a table with a row for each pair: from, to and `VALUES`, empty without a route.

    Parameters
    ----------
    matrix
        From `energy_matrix`, (3, o, d).
    origins, destinations
        The o origins and the d destinations.
    reduced
        (o, d) reduced energies (`dispatch.reduced`) for a column `REDUCED`, or None for none.
    """
    import pyarrow as pa

    o, d = matrix.shape[1:]
    names = (np.repeat(np.arange(o), d), origins), (np.tile(np.arange(d), o), destinations)
    columns = {
        column: pa.DictionaryArray.from_arrays(index, [stop.id for stop in stops])
        for column, (index, stops) in zip(ENDS, names, strict=True)
    }
    for column, numbers in zip(VALUES, matrix, strict=True):
        columns[column] = pa.array(numbers.ravel(), from_pandas=True)
    if reduced is not None:
        columns[REDUCED] = pa.array(reduced.ravel(), mask=np.isnan(matrix[0]).ravel())
    return pa.table(columns)


def write_matrix(
    path: Path,
    matrix: FloatArray,
    origins: Sequence[Stop],
    destinations: Sequence[Stop],
    reduced: IntArray | None = None,
) -> None:
    """Write the table of `matrix_table` as CSV or Parquet.

    Parameters
    ----------
    path
        Path that ends in ``.csv`` or ``.parquet``.
    matrix, origins, destinations, reduced
        As in `matrix_table`.
    """
    from evroute.tables import write_table

    write_table(path, matrix_table(matrix, origins, destinations, reduced))


def _summed(
    space: SearchSpace,
    values: FloatArray,
    before: IntArray,
    roots: IntArray,
    first_values: FloatArray,
) -> FloatArray:
    """Return sums from the roots of a tree to every edge, (n, v), NaN outside.

    Parameters
    ----------
    space
        The arms.
    values
        (a, v) values of the arms.
    before
        (n,) edge before each edge, negative at the roots and outside.
    roots
        (r,) first edges. One that the tree enters is none.
    first_values
        (r, v) values of the part of each that is driven.
    """
    reached = np.flatnonzero(before >= 0)
    reached = reached[np.argsort(before[reached], kind="stable")]  # turns are looked up in order
    pairs = np.column_stack([before[reached], reached]).ravel()
    sums = np.full((len(before), values.shape[1]), np.nan)
    sums[reached] = values[space.arms_of_routes(pairs, np.arange(0, len(pairs), 2))[1::2]]
    begins = before[roots] < 0
    sums[roots[begins]] = first_values[begins]
    # in driving order, as the plan of one request adds
    depth = _depths(before)
    order = np.argsort(depth, kind="stable")
    first = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 2))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    by_level, above = sums[order], place[before[order]]
    for low, high in pairwise(first.tolist()):
        by_level[low:high] += by_level[above[low:high]]
    sums[order] = by_level
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
