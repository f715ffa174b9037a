"""TripRecord: parts of a recorded trip that do not depend on a map: its line and its terms.

A trip whose whole line is found on a map is learned on the roads there. Any other trip is learned
by the terms that were recorded with it. Of a total the way is unknown, so it has terms alone.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.pieces import in_pieces
from evroute.learning.roads.road_lines import LOST, UNPLACED_M, RoadIndex, RoadLines
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork

Terms = Mapping[str, Mapping[str, float]]
"""Terms of a trip by physics and name."""
POINTS = ("tail", "middle", "head")
PREFIX = "road_"
"""Beginning of the names of the columns of roads in files of measured trips."""
NUMBERS = ("length_m", "time_s", "share", "ascent_m", "descent_m", "eq8_wh")
HEIGHTS = ("ascent_m", "descent_m", "eq8_wh")
"""Numbers that a record has beside its lines."""


@dataclass(frozen=True, slots=True, eq=False)
class TripRecord:
    """Line and terms of a trip over k roads.

    Parameters
    ----------
    lines
        The roads.
    ascent_m, descent_m, eq8_wh
        (k,) heights gained and lost, m, and energy by eq. 8, Wh, on the map of the recording.
    terms
        Terms of the trip by physics and name, or empty if none were recorded.
    vehicle
        Numbers of the vehicle by which the terms were computed.
    """

    lines: RoadLines
    ascent_m: FloatArray
    descent_m: FloatArray
    eq8_wh: FloatArray
    terms: Terms = field(default_factory=dict)
    vehicle: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_total(self) -> bool:
        """Whether the way of the trip is unknown."""
        return bool((self.lines.points_m[..., 2] < 0.0).any())

    def take(self, rows: IntArray, terms: Terms) -> "TripRecord":
        """Return the record of some of the roads, rows (k,), with the terms of their trip."""
        return TripRecord(
            self.lines.take(rows),
            self.ascent_m[rows],
            self.descent_m[rows],
            self.eq8_wh[rows],
            terms,
            self.vehicle,
        )

    def rows_in(self, network: RoadNetwork) -> list[IntArray]:
        """Return the rows of each of k roads in a network.

        There is one, more where the network has the road in pieces, and `road_lines.LOST` where it
        does not have it.
        """
        index = RoadIndex(RoadLines.of_network(network, np.arange(network.n_edges)))
        lines = self.lines.on((network.crs,), network)
        first: dict[str, int] = {}
        for k, edge_id in enumerate(lines.edge_id):
            first.setdefault(edge_id, k)
        distinct = lines.take(np.array([*first.values()], dtype=np.int64))
        rows = index.rows_of(distinct)
        lost = np.flatnonzero(rows == LOST)
        rows_of = dict(zip(first, rows[:, np.newaxis], strict=True))
        for k, pieces in in_pieces(distinct.take(lost), network).items():
            rows_of[distinct.edge_id[lost[k]]] = pieces
        return [rows_of[edge_id] for edge_id in lines.edge_id]


NO_LINES = TripRecord(
    RoadLines((), np.empty((0, 3, 3)), np.empty(0), np.empty(0), np.empty(0), ()),
    np.empty(0),
    np.empty(0),
    np.empty(0),
)
"""Record of a trip of an earlier version, which kept the ids of its edges alone."""


def record_on(setting: Setting, edge: IntArray) -> TripRecord:
    """Return the record of edges (k,) of a network, without terms.

    Parameters
    ----------
    setting
        Network and vehicle.
    edge
        (k,) rows of the network.
    """
    network = setting.network
    return TripRecord(
        RoadLines.of_network(network, edge),
        network.ascent_m[edge],
        network.descent_m[edge],
        setting.edges.reference.prior_mean_wh[edge],
    )


def line_columns(records: Sequence[TripRecord]) -> dict[str, list[Any]]:
    """Return the columns of the roads of records in a file of measured trips, with their ids.

    Parameters
    ----------
    records
        Records in one coordinate system.
    """
    points_m = np.concatenate([each.lines.points_m for each in records])
    points_m = np.where(points_m[..., 2:] < 0.0, np.nan, points_m)  # of a total
    columns = {
        f"{PREFIX}{point}_{axis}_m": points_m[:, k, j]
        for k, point in enumerate(POINTS)
        for j, axis in enumerate("xy")
    }
    for name in NUMBERS:
        of_roads = [getattr(each if name in HEIGHTS else each.lines, name) for each in records]
        columns[f"{PREFIX}{name}"] = np.concatenate(of_roads)
    ids = [edge_id for each in records for edge_id in each.lines.edge_id]
    return {"edge": ids} | {name: values.tolist() for name, values in columns.items()}


def has_lines(columns: Container[str]) -> bool:
    """Return whether the columns of a file have the lines of its roads."""
    return f"{PREFIX}length_m" in columns


def read_lines(
    columns: Mapping[str, list[Any]], edge_id: list[str], crs: str, vehicle: Mapping[str, Any]
) -> TripRecord:
    """Return all roads of a file of measured trips, one after another.

    Parameters
    ----------
    columns
        Columns of the file by name.
    edge_id
        (k,) ids of its edges.
    crs
        Coordinate system of the file.
    vehicle
        Numbers of the vehicle of the file.
    """
    k = len(edge_id)
    points_m = np.zeros((k, len(POINTS), 3))
    for i, point in enumerate(POINTS):
        for j, axis in enumerate("xy"):
            points_m[:, i, j] = columns[f"{PREFIX}{point}_{axis}_m"]
    points_m[np.isnan(points_m[..., 0])] = UNPLACED_M
    of_roads = {name: np.array(columns[f"{PREFIX}{name}"], dtype=np.float64) for name in NUMBERS}
    lines = RoadLines(
        tuple(edge_id),
        points_m,
        of_roads["length_m"],
        of_roads["time_s"],
        of_roads["share"],
        (crs,),
    )
    return TripRecord(
        lines, of_roads["ascent_m"], of_roads["descent_m"], of_roads["eq8_wh"], {}, vehicle
    )
