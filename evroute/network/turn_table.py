"""TurnTable: the entries into edges, by a turn from another edge or from standstill.

Rows 0..m-1 are the turns, the arcs of the line graph in their order. Row m + e is the start of a
trip on edge e. A route of k edges uses k rows, the first of them a start.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze
from evroute.network import context
from evroute.network.controls import RIGHT_OF_WAY
from evroute.network.road_network import RoadNetwork

NAMES = (*context.NAMES, "entry speed", "turn angle")
"""Contexts: the entered edge's, the speed on the edge left, m/s, and the angle, rad."""
SPEED = NAMES.index("speed limit")
ENTRY_SPEED = NAMES.index("entry speed")
"""Column of the entry speed. Both speeds are divided by the scale of the edges' speed limits."""


@dataclass(frozen=True, eq=False)
class TurnTable:
    """The m turns and n starts of a network of n edges.

    network: the roads, which know the row of a turn.
    left, entered: (m + n,) edge rows. At a start both are the first edge.
    angle_rad: (m + n,) absolute change of direction, 0 to pi. 0 at starts.
    control: (m + n,) traffic control (`network.controls`), right of way at starts, or None if the
    network has none.
    """

    network: RoadNetwork
    left: IntArray
    entered: IntArray
    angle_rad: FloatArray
    control: IntArray | None

    def __post_init__(self) -> None:
        a = len(self.left)
        freeze(
            self,
            left=(self.left, np.int64, (a,)),
            entered=(self.entered, np.int64, (a,)),
            angle_rad=(self.angle_rad, np.float64, (a,)),
        )
        if self.control is not None:
            freeze(self, control=(self.control, np.int64, (a,)))

    @classmethod
    @lru_cache(maxsize=4)
    def from_network(cls, network: RoadNetwork) -> "TurnTable":
        """List the turns and starts of a network. The same table for each call."""
        source, target = network.turns.T
        edges = np.arange(network.n_edges)
        control = network.control
        if control is not None:
            control = np.concatenate([control, np.full(network.n_edges, RIGHT_OF_WAY)])
        return cls(
            network=network,
            left=np.concatenate([source, edges]),
            entered=np.concatenate([target, edges]),
            angle_rad=np.concatenate([turn_angles(network), np.zeros(network.n_edges)]),
            control=control,
        )

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.network.n_edges

    def __len__(self) -> int:
        return len(self.left)

    @property
    def n_turns(self) -> int:
        """Number of turns, without the starts."""
        return len(self) - self.n_edges

    @cached_property
    def state_before(self) -> IntArray:
        """(m + n,) state before each row: the edge left, and for the start on edge e, n + e."""
        before = np.concatenate([self.left[: self.n_turns], self.n_edges + np.arange(self.n_edges)])
        before.setflags(write=False)
        return before

    def turns_from(self, edges: IntArray) -> tuple[IntArray, IntArray]:
        """Return the first turn out of each of edges (k,), and their numbers of turns, (k,)."""
        first = self.network.turn_start[edges]
        return first, self.network.turn_start[edges + 1] - first

    def rows_along(self, edges: IntArray, starts: IntArray | None = None) -> IntArray:
        """Return the rows of routes over edges (k,), one after the other, (k,).

        ``starts`` are the positions of the first edges of the routes, or None for one route.

        Raises
        ------
        ValueError
            If there is no legal turn between successive edges.
        """
        starts = np.arange(len(edges) > 0) if starts is None else starts
        rows: IntArray = self.n_turns + edges
        goes_on = np.ones(len(edges), dtype=np.bool_)
        goes_on[starts] = False
        entered = np.flatnonzero(goes_on)
        rows[entered] = self.network.turn_rows(edges[entered - 1], edges[entered])
        illegal = entered[rows[entered] < 0]
        if len(illegal):
            i = int(illegal[0])
            raise ValueError(
                f"no legal turn leads from edge row {edges[i - 1]} to edge row {edges[i]}"
            )
        return rows

    @cached_property
    def angle_scale(self) -> float:
        """Standard deviation of the angles of all turns and starts, rad, or 1 where all are 0."""
        return float(self.angle_rad.std()) or 1.0


def turn_angles(network: RoadNetwork) -> FloatArray:
    """Return the absolute angles between the end of the edge left and the edge entered, (m,) rad.

    Directions are taken from the first and last stretch of the edges' shapes that has a length. An
    edge without any counts as straight on.
    """
    begins, ends = _directions(network)
    leaving, entering = ends[network.turns[:, 0]], begins[network.turns[:, 1]]
    across = leaving[:, 0] * entering[:, 1] - leaving[:, 1] * entering[:, 0]
    return np.abs(np.arctan2(across, np.einsum("ij,ij->i", leaving, entering)))


def _directions(network: RoadNetwork) -> tuple[FloatArray, FloatArray]:
    """Return the directions of each edge's beginning and end, (n, 2) each. 0 without a length."""
    steps = np.diff(np.column_stack([network.shape_x_m, network.shape_y_m]), axis=0)
    edge_of_step = np.repeat(np.arange(network.n_edges), np.diff(network.shape_start))[:-1]
    long = np.hypot(*steps.T) > 0
    long[network.shape_start[1:-1] - 1] = False  # the steps from one edge's shape to the next's
    step_rows = np.flatnonzero(long)
    begins, ends = np.zeros((2, network.n_edges, 2))
    begins[edge_of_step[step_rows[::-1]]] = steps[step_rows[::-1]]
    ends[edge_of_step[step_rows]] = steps[step_rows]
    return begins, ends
