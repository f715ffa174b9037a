"""Matrix of least energies, times or recommended routes between places.

Each origin has one tree of routes, or two for recommended ones (`dispatch.exits`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evroute import limits
from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.errors import require
from evroute.network.places.positions import JUNCTION_M
from evroute.planning.dispatch.detours import Detours
from evroute.planning.dispatch.deviations import deviations_wh
from evroute.planning.dispatch.exits import FASTEST, LEAST_ENERGY, OF_ROUTE, Chosen, Exits
from evroute.planning.dispatch.stops import Stop, points_m
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest

if TYPE_CHECKING:
    import pyarrow as pa

ENDS = ("from", "to")
VALUES = ("energy_wh", "time_s", "length_m")
SD, LIMITED = "sd_wh", "limited"
REDUCED = "reduced_dwh"
"""Further columns: standard deviation of the energy, whether the pair was planned singly since a
limit of the recommendation binds, and the reduced energy, tenths of a Wh."""
RECOMMENDED = "recommended"
WORTHS = {"energy": LEAST_ENERGY, "time": FASTEST}
AIMS = (*WORTHS, RECOMMENDED)
"""Aims of the routes of a matrix: least energy, least time, or the route that a plan recommends."""


@dataclass(frozen=True, slots=True)
class Written:
    """Numbers of the pairs of a matrix that was written, and of some of them.

    Parameters
    ----------
    pairs, missing
        Number of pairs, and of those without a route.
    limited
        Number of pairs that were planned singly, or None where no route is recommended.
    """

    pairs: int
    missing: int
    limited: int | None = None

    @property
    def words(self) -> str:
        """The numbers in words."""
        found = f"{self.pairs} pairs, {self.missing} without a route"
        if self.limited is None:
            return found
        share = self.limited / max(self.pairs, 1)
        return f"{found}, {self.limited} planned singly as a limit binds ({share:.1%})"


@dataclass(frozen=True, slots=True)
class Cells:
    """What the cells of a matrix have.

    Parameters
    ----------
    by
        One of `AIMS`.
    sd
        Whether the standard deviation of the energy.
    request
        Wishes by which routes are recommended: the fields of a detour and the limit of extra time.
    warm
        Whether the car is warm, so that no cell has a warm-up, as on a tour, which has one.

    Raises
    ------
    EvrouteError
        If there is no such aim.
    """

    by: str = AIMS[0]
    sd: bool = False
    request: PlanRequest = field(default_factory=lambda: PlanRequest.without_places({}))
    warm: bool = False

    def __post_init__(self) -> None:
        require(
            self.by in AIMS,
            f"a matrix is by {', '.join(AIMS[:-1])} or {AIMS[-1]}, not by '{self.by}'",
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the numbers of a cell."""
        names = list(VALUES)
        if self.sd:
            names.append(SD)
        if self.by == RECOMMENDED:
            names.append(LIMITED)
        return tuple(names)


LEAST = Cells()


def energy_matrix(
    planner: Planner,
    origins: Sequence[Stop],
    destinations: Sequence[Stop],
    by: str = AIMS[0],
) -> FloatArray:
    """Return energy (Wh), time (s) and length (m) of the best route of each pair, (3, o, d).

    They are 0 from a place to itself, and NaN where there is no route. Recommended routes have
    `LIMITED` too, (4, o, d).

    Parameters
    ----------
    planner
        Planner of all pairs.
    origins, destinations
        The o origins and the d destinations.
    by
        One of `AIMS`.

    Raises
    ------
    LimitError
        If there are more pairs than a table may have rows.
    EvrouteError
        If there is no such aim.
    """
    return Pairs(planner, destinations, Cells(by)).matrix(origins)


class Pairs:
    """The pairs of any origins with the d destinations of a matrix.

    Parameters
    ----------
    planner
        Planner of all pairs.
    destinations
        The d destinations.
    cells
        What the cells have.
    """

    def __init__(
        self, planner: Planner, destinations: Sequence[Stop], cells: Cells = LEAST
    ) -> None:
        self.planner, self.destinations = planner, destinations
        self.cells = cells
        recommended = cells.by == RECOMMENDED
        self._exits = Exits(planner, destinations, positive=recommended, warm=cells.warm)
        self._detours = Detours(self._exits, cells.request) if recommended else None
        self._worth = WORTHS.get(cells.by, FASTEST)
        self._lines = self._exits.lines(self._worth)
        self._places = np.array([stop.place for stop in destinations])
        self._at_m = points_m(planner.network, destinations)

    def matrix(self, origins: Sequence[Stop]) -> FloatArray:
        """Return the numbers of all pairs from o origins, (c, o, d) by the columns of the cells.

        Raises
        ------
        LimitError
            If there are more pairs than a table may have rows.
        """
        pairs = len(origins) * len(self.destinations)
        limits.check("rows", pairs, "the matrix has {} pairs")
        matrix = np.empty((len(origins), len(self.destinations), len(self.cells.columns)))
        for o, row in enumerate(self.rows(origins)):
            matrix[o] = row
        return np.moveaxis(matrix, 2, 0)

    def rows(self, origins: Sequence[Stop]) -> Iterator[FloatArray]:
        """Yield the numbers of the pairs from each of o origins, (d, c)."""
        for origin in origins:
            apart_m = np.hypot(*(self._at_m - points_m(self.planner.network, [origin])).T)
            same = (self._places == origin.place) | (apart_m < 2 * JUNCTION_M)
            row = np.zeros((len(same), len(self.cells.columns)))
            if self._detours is None:
                found = self._exits.best(origin, self._worth, self._lines)
            else:
                found = self._detours.chosen(origin, ~same)
                row[:, -1] = found.tree < 0
            row[:, :OF_ROUTE] = found.values
            if self.cells.sd:
                row[:, OF_ROUTE] = self._deviations_wh(found, same | np.isnan(row[:, 0]))
            row[same] = 0.0
            yield row

    def _deviations_wh(self, found: Chosen, without: BoolArray) -> FloatArray:
        """Return the deviations of energies, (d,) Wh, NaN for destinations without a route."""
        std_wh, rows = np.full(len(without), np.nan), np.flatnonzero(~without)
        std_wh[rows] = deviations_wh(self._exits, found, rows)
        return std_wh


def matrix_table(
    matrix: FloatArray,
    origins: Sequence[Stop],
    destinations: Sequence[Stop],
    columns: Sequence[str] = VALUES,
    reduced: IntArray | None = None,
    *,
    dtype: type[np.floating] = np.float64,
) -> "pa.Table":
    """Return a table with a row for each pair: from, to and the columns, empty without a route.

    Parameters
    ----------
    matrix
        (c, o, d) numbers of the pairs.
    origins, destinations
        The o origins and the d destinations.
    columns
        Names of the c numbers.
    reduced
        (o, d) reduced energies (`dispatch.reduced`) for a column `REDUCED`, or None for none.
    dtype
        Type of the numbers.
    """
    import pyarrow as pa

    o, d = matrix.shape[1:]
    index = np.arange(o, dtype=np.int32), np.arange(d, dtype=np.int32)
    names = (np.repeat(index[0], d), origins), (np.tile(index[1], o), destinations)
    table = {
        column: pa.DictionaryArray.from_arrays(index, [stop.id for stop in stops])
        for column, (index, stops) in zip(ENDS, names, strict=True)
    }
    for column, numbers in zip(columns, matrix, strict=True):
        kind = np.bool_ if column == LIMITED else dtype
        table[column] = pa.array(numbers.ravel().astype(kind), from_pandas=True)
    if reduced is not None:
        table[REDUCED] = pa.array(reduced.ravel(), mask=np.isnan(matrix[0]).ravel())
    return pa.table(table)
