"""Lanes inside the junctions of a SUMO network: length and shape of every turn.

A connection between two roads names its internal lane in ``via``. That lane's own connections lead
to the road, or first through another internal lane, where cars wait inside the junction. Of several
connections between two roads the one from the rightmost lane that cars may use counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import NetworkFormatError, require

MOST_LANES = 8
"""Internal lanes of one turn. Netconvert writes at most two."""


@dataclass(slots=True)
class InternalLanes:
    """Internal lanes and connections as the file has them.

    lanes: length, m, and shape of each internal lane by id.  onward: by internal edge and lane, the
    road that a connection leads to and its next internal lane, empty for none.  via: by the two
    roads of a turn, the lanes of its rightmost connection, and the internal lane, empty for none.
    """

    lanes: dict[str, tuple[float, str]] = field(default_factory=dict)
    onward: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)
    via: dict[tuple[str, str], tuple[int, str, str, str]] = field(default_factory=dict)

    def take_lane(self, attributes: Mapping[str, str]) -> None:
        """Add an internal lane."""
        lane, length_m = attributes["id"], float(attributes["length"])
        if not 0.0 <= length_m < np.inf:
            raise NetworkFormatError(f"internal lane '{lane}' has the length {length_m} m")
        self.lanes[lane] = (length_m, attributes.get("shape", ""))

    def take_connection(self, attributes: Mapping[str, str]) -> None:
        """Add a connection that leaves an internal lane."""
        key = attributes["from"], attributes["fromLane"]
        self.onward.setdefault(key, []).append((attributes["to"], attributes.get("via", "")))

    def take_turn(self, roads: tuple[str, str], from_lane: str, to_lane: str, via: str) -> None:
        """Add a connection between two roads. The connection of the rightmost lanes is kept.

        Parameters
        ----------
        roads
            Ids of the road left and the road entered.
        from_lane, to_lane
            Numbers of their lanes.
        via
            The internal lane, empty for none.
        """
        found = (len(from_lane), from_lane, to_lane, via)
        self.via[roads] = min(self.via.get(roads, found), found)

    def crossing(self, left: str, entered: str) -> tuple[float, FloatArray] | None:
        """Return length, m, and shape (p, 2) of a turn. None where the file has no internal lane.

        Parameters
        ----------
        left, entered
            The ids of two roads.

        Raises
        ------
        NetworkFormatError
            If a lane that a connection names is not in the file, or the lanes go round in a circle.
        """
        lane = self.via[left, entered][-1]
        if not lane:
            return None
        length_m, shapes = 0.0, []
        for _ in range(MOST_LANES):
            require(
                lane in self.lanes,
                f"a connection from '{left}' to '{entered}' leads over lane '{lane}', which is not "
                "in the file",
                NetworkFormatError,
            )
            own_m, shape = self.lanes[lane]
            length_m += own_m
            shapes.append(points_of(lane, shape))
            edge, _, number = lane.rpartition("_")
            after = [via for to, via in self.onward.get((edge, number), []) if to == entered]
            if not after or not after[0]:
                return length_m, np.vstack(shapes)
            lane = after[0]
        raise NetworkFormatError(
            f"the connection from '{left}' to '{entered}' leads over more than {MOST_LANES} "
            "internal lanes"
        )


def points_of(lane: str, shape: str) -> FloatArray:
    """Return the points of a shape in the plane, (p, 2) m.

    Parameters
    ----------
    lane
        Id of the lane, for the message.
    shape
        Positions of the file, ``x,y`` or ``x,y,z``.

    Raises
    ------
    NetworkFormatError
        If it is no list of positions.
    """
    try:
        points = np.array([[float(v) for v in point.split(",")[:2]] for point in shape.split()])
        return points.reshape(-1, 2)
    except ValueError as error:
        raise NetworkFormatError(
            f"the shape of lane '{lane}' is not a list of points: {error}"
        ) from error
