"""RoadLines and RoadIndex: roads by their ids and lines, found again in another network.

A road is found by its id if the road of this id lies at the same place, else by its line: ends and
middle within `LINE_M` of another road's, and a length within `LENGTH_SHARE`.

A point has x and y in metres and, as third coordinate, the number of its sheet times `SHEET_M`.
Sheet 0 is the plane of the network. Further sheets are the planes of networks far from it: their
roads keep their distances from each other, and are far from all roads of the network. Ways
whose place is unknown lie at `UNPLACED_M`, on no sheet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.energy.free_flow import speed_factors
from evroute.learning.states import state_of, values_of
from evroute.model.base import State
from evroute.network.coordinates import transformer
from evroute.network.road_network import RoadNetwork

SHEET_M = 1e9
UNPLACED_M = (0.0, 0.0, -SHEET_M)
"""Point of a way whose place is unknown."""
NEAR_M = 500_000.0
"""Distance up to which roads in another coordinate system are placed in the network's own, m."""
ID_M = 50.0
"""Distance up to which a road with the same id is the same road, m."""
LINE_M = 15.0
"""Distance up to which a road with another id is the same road, m."""
LENGTH_SHARE = 0.1
"""Share up to which the lengths of the same road may differ."""
LOST = -1
"""Row of a road that is not found."""


@dataclass(frozen=True, slots=True, eq=False)
class RoadLines:
    """Lines of k roads.

    Parameters
    ----------
    edge_id
        (k,) ids in the network on which they were driven.
    points_m
        (k, 3, 3) points at the tail, the middle of the line and the head, m.
    length_m, time_s
        (k,) length as driven, m, and time at the speed limit, s.
    share
        (k,) speed of free flow over the speed limit.
    sheets
        Coordinate systems by the number of their sheet.
    """

    edge_id: tuple[str, ...]
    points_m: FloatArray
    length_m: FloatArray
    time_s: FloatArray
    share: FloatArray
    sheets: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.edge_id)

    @classmethod
    def of_network(cls, network: RoadNetwork, rows: IntArray) -> "RoadLines":
        """Return the roads of rows (k,) of a network."""
        ends = [np.column_stack([network.x_m, network.y_m])[at[rows]] for at in _ends(network)]
        middles_m = _middles(network)[rows] if len(rows) else ends[0]
        flat_m = np.stack([ends[0], middles_m, ends[1]], axis=1)
        return cls(
            tuple(network.edge_id[row] for row in rows.tolist()),
            np.concatenate([flat_m, np.zeros((len(rows), 3, 1))], axis=2),
            network.length_m[rows],
            network.time_s[rows],
            speed_factors(network)[rows],
            (network.crs,),
        )

    @classmethod
    def unplaced(cls, name: str, length_m: float, time_s: float, crs: str) -> "RoadLines":
        """Return a way whose place is unknown.

        Parameters
        ----------
        name
            Its name, which is the id of no road.
        length_m, time_s
            Length, m, and time, s.
        crs
            Coordinate system of the file that it is kept in.
        """
        points_m = np.full((1, 3, 3), UNPLACED_M)
        return cls((name,), points_m, np.array([length_m]), np.array([time_s]), np.ones(1), (crs,))

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "RoadLines":
        """Return the roads of a state."""
        return cls(**values_of(state, {name: name for name in cls.__slots__}))

    def state(self) -> State:
        """Return the roads as arrays, for `restored`."""
        return state_of(self, {name: name for name in self.__slots__})

    def take(self, rows: IntArray) -> "RoadLines":
        """Return some of the roads, rows (k,)."""
        return RoadLines(
            tuple(self.edge_id[row] for row in rows.tolist()),
            self.points_m[rows],
            self.length_m[rows],
            self.time_s[rows],
            self.share[rows],
            self.sheets,
        )

    def joined(self, others: "RoadLines") -> "RoadLines":
        """Return these roads and others on the same sheets."""
        return RoadLines(
            self.edge_id + others.edge_id,
            np.concatenate([self.points_m, others.points_m]),
            np.append(self.length_m, others.length_m),
            np.append(self.time_s, others.time_s),
            np.append(self.share, others.share),
            others.sheets,
        )

    def on(self, sheets: Sequence[str], network: RoadNetwork) -> "RoadLines":
        """Return the roads on the sheets of a belief on a network.

        Parameters
        ----------
        sheets
            Coordinate systems of the belief, the network's first.
        network
            The network.
        """
        points_m, after = placed(self.points_m, self.sheets, sheets, network)
        return replace(self, points_m=points_m, sheets=after)


class RoadIndex:
    """Roads of a network by id and by line.

    Parameters
    ----------
    roads
        All roads of the network, in the order of its rows.
    """

    def __init__(self, roads: RoadLines) -> None:
        self.roads = roads
        self._row_of = {edge_id: row for row, edge_id in enumerate(roads.edge_id)}

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self.roads.points_m.reshape(-1, 9))

    def rows_of(self, roads: RoadLines) -> IntArray:
        """Return the row of each of k roads, (k,). `LOST` where it is not found.

        The roads must be on the sheets of the network (`RoadLines.on`). Each row belongs to at most
        one road: the one with its id, else the nearest.
        """
        rows = np.array([self._row_of.get(each, LOST) for each in roads.edge_id], dtype=np.int64)
        known = np.flatnonzero(rows != LOST)
        moved = ~_are_same(roads.take(known), self.roads.take(rows[known]), ID_M)
        rows[known[moved]] = LOST
        left = np.flatnonzero(rows == LOST)
        if not len(left):
            return rows
        apart_m, near = self._tree.query(roads.points_m[left].reshape(-1, 9))
        alike = _are_same(roads.take(left), self.roads.take(near), LINE_M)
        taken = set(rows.tolist())
        for k in np.argsort(apart_m, kind="stable").tolist():
            if alike[k] and int(near[k]) not in taken:
                rows[left[k]] = near[k]
                taken.add(int(near[k]))
        return rows


def placed(
    points_m: FloatArray, there: Sequence[str], here: Sequence[str], network: RoadNetwork
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return points of other sheets on a belief's sheets, and these sheets with new ones added.

    Parameters
    ----------
    points_m
        (..., 3) points on the sheets ``there``.
    there, here
        Coordinate systems by number of the sheet. ``here`` begins with the network's sheet.
    network
        The network of sheet 0.
    """
    after, moved = list(here), points_m.copy()
    sheet = np.round(points_m[..., 2] / SHEET_M).astype(np.int64)
    for number, crs in enumerate(there):
        own = sheet == number
        if not own.any():
            continue
        flat_m = points_m[own][:, :2]
        near_m = flat_m if crs == after[0] else _near(flat_m, crs, network)
        if near_m is not None:
            moved[own] = np.column_stack([near_m, np.zeros(len(near_m))])
            continue
        if crs not in after:
            after.append(crs)
        moved[own, 2] = after.index(crs) * SHEET_M
    return moved, tuple(after)


def _near(flat_m: FloatArray, crs: str, network: RoadNetwork) -> FloatArray | None:
    """Return points (k, 2) in the coordinate system of a network. None if they are far from it."""
    near_m = np.column_stack(transformer(crs, network.crs).transform(*flat_m.T))
    centre_m = np.array([network.x_m.mean(), network.y_m.mean()])
    with np.errstate(invalid="ignore"):
        near = np.abs(near_m - centre_m).max() < NEAR_M
    return near_m if near else None


def _are_same(roads: RoadLines, others: RoadLines, within_m: float) -> BoolArray:
    """Return whether each of k roads lies as the other one does, (k,)."""
    apart_m = np.linalg.norm(roads.points_m - others.points_m, axis=2).max(axis=1, initial=0.0)
    longer_m = np.abs(roads.length_m - others.length_m)
    same: BoolArray = (apart_m <= within_m) & (longer_m <= LENGTH_SHARE * others.length_m + LINE_M)
    return same


def _ends(network: RoadNetwork) -> tuple[IntArray, IntArray]:
    return network.tail, network.head


def _middles(network: RoadNetwork) -> FloatArray:
    """Return the point halfway along the line of each edge, (n, 2) m."""
    points_m = np.column_stack([network.shape_x_m, network.shape_y_m])
    start = network.shape_start
    step_m = np.append(0.0, np.linalg.norm(np.diff(points_m, axis=0), axis=1))
    step_m[start[:-1]] = 0.0
    along_m = np.cumsum(step_m)
    half_m = 0.5 * (along_m[start[:-1]] + along_m[start[1:] - 1])
    after = np.clip(np.searchsorted(along_m, half_m), start[:-1] + 1, start[1:] - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num((half_m - along_m[after - 1]) / step_m[after])
    middle_m: FloatArray = points_m[after - 1] + share[:, np.newaxis] * (
        points_m[after] - points_m[after - 1]
    )
    return middle_m
