"""Stretches: parts of edges, from one metre along them to another."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from evroute.arms import Route
from evroute.arrays import BoolArray, FloatArray, IntArray, expanded, freeze
from evroute.network.heights.pieces import summed
from evroute.network.road_network import RoadNetwork


@dataclass(frozen=True, eq=False)
class Stretches:
    """Parts of k edges of a network. An edge may occur several times.

    Parameters
    ----------
    edge
        (k,) network rows.
    from_m, to_m
        (k,) metres along the edge, ``0 <= from_m <= to_m <= length_m[edge]``.
    halts
        (k,) whether the car comes to a standstill at the end of each part, nowhere by default.
    """

    edge: IntArray
    from_m: FloatArray
    to_m: FloatArray
    halts: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))

    def __post_init__(self) -> None:
        shape = (len(self.edge),)
        halts = self.halts if len(self.halts) else np.zeros(shape, dtype=np.bool_)
        freeze(
            self,
            edge=(self.edge, np.int64, shape),
            from_m=(self.from_m, np.float64, shape),
            to_m=(self.to_m, np.float64, shape),
            halts=(halts, np.bool_, shape),
        )
        if not ((self.from_m >= 0.0) & (self.from_m <= self.to_m)).all():
            raise ValueError("a stretch ends before it begins, or begins before its edge")

    @classmethod
    def of_route(cls, network: RoadNetwork, route: Route, *, halts: bool = False) -> "Stretches":
        """Return the parts of the edges of a route that are driven, in driving order.

        Parameters
        ----------
        network
            The roads.
        route
            A route of k edges.
        halts
            Whether the car comes to a standstill at the end of the route.
        """
        return cls.of_routes(network, [route], halts=halts)

    @classmethod
    def of_routes(
        cls, network: RoadNetwork, routes: Sequence[Route], *, halts: bool = False
    ) -> "Stretches":
        """Return the parts of the edges of routes that are driven, one route after the other.

        Parameters
        ----------
        network
            The roads.
        routes
            Routes of k edges together.
        halts
            Whether the car comes to a standstill at the end of each route.
        """
        edge = np.concatenate([route.rows for route in routes])
        from_m, to_m = np.zeros(len(edge)), network.length_m[edge]
        last, end = np.zeros(len(edge), dtype=np.bool_), 0
        for route in routes:
            first, end = end, end + len(route)
            from_m[first:end][:1] = route.start_m
            if route.end_m is not None:
                to_m[first:end][-1:] = route.end_m
            last[first:end][-1:] = halts
            for pause in route.pauses:
                at = first + pause.after
                to_m[at - 1], from_m[at] = pause.to_m, pause.from_m
                last[at - 1] = halts
        return cls(edge, from_m, to_m, last & (to_m > from_m))

    @classmethod
    def whole(cls, network: RoadNetwork, edge: IntArray) -> "Stretches":
        """Return whole edges.

        Parameters
        ----------
        network
            The roads.
        edge
            (k,) network rows.
        """
        return cls(edge, np.zeros(len(edge)), network.length_m[edge])

    @classmethod
    def joined(cls, parts: Sequence["Stretches"]) -> "Stretches":
        """Return stretches one after the other.

        Parameters
        ----------
        parts
            The stretches in their order, one or more.
        """
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __len__(self) -> int:
        return len(self.edge)

    def __getitem__(self, place: slice | IntArray) -> "Stretches":
        """Return some of the stretches.

        Parameters
        ----------
        place
            Positions among the k stretches.
        """
        return Stretches(self.edge[place], self.from_m[place], self.to_m[place], self.halts[place])

    def onward(self) -> "Stretches":
        """Return the same stretches without a standstill at their ends."""
        return Stretches(self.edge, self.from_m, self.to_m)

    @property
    def length_m(self) -> FloatArray:
        """(k,) metres that are driven."""
        return self.to_m - self.from_m

    def share(self, network: RoadNetwork) -> FloatArray:
        """Return the share of each edge that is driven, (k,)."""
        return self.length_m / network.length_m[self.edge]

    def heights(self, network: RoadNetwork) -> tuple[FloatArray, FloatArray]:
        """Return the height gained and the height lost over each, (k,) m, >= 0.

        Parameters
        ----------
        network
            The roads.
        """
        _, climb_m, place = self.pieces(network)
        gained_m = summed(np.maximum(climb_m, 0.0), place, len(self))
        return gained_m, gained_m - summed(climb_m, place, len(self))

    def at_ends(self, network: RoadNetwork, covariance: FloatArray) -> FloatArray:
        """Return a covariance at the points between the stretches of a route, (k + 1, k + 1).

        On the first and the last edge a field is the mean of that at both junctions, by distance.

        Parameters
        ----------
        network
            The roads.
        covariance
            (k + 1, k + 1) that at the junctions along the k edges.
        """
        length_m = network.length_m[self.edge]
        of_junctions = np.eye(len(self) + 1)
        first, last = self.from_m[0] / length_m[0], self.to_m[-1] / length_m[-1]
        of_junctions[0, :2] = 1.0 - first, first
        of_junctions[-1, -2:] = 1.0 - last, last
        return of_junctions @ covariance @ of_junctions.T

    def pieces(self, network: RoadNetwork) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return length and climb of the parts of pieces, (q,) m, and each part's stretch, (q,).

        A piece of the profile has one slope. Without a profile an edge is one piece. Pieces that
        are not driven have no length. Every stretch has a piece.

        Parameters
        ----------
        network
            The roads.
        """
        pieces, place = network.pieces, np.arange(len(self))
        if pieces is None:
            share = self.share(network)
            return self.length_m, share * network.climb_m[self.edge], place
        row, place = expanded(pieces.start, self.edge)
        length_m = pieces.length_m[row]
        begins_m = (row - pieces.start[self.edge][place]) * length_m  # they are equally long
        low_m = np.maximum(begins_m, self.from_m[place])
        high_m = np.minimum(begins_m + length_m, self.to_m[place])
        driven_m = np.clip(high_m - low_m, 0.0, length_m)
        return driven_m, pieces.climb_m[row] * (driven_m / length_m), place


def part_shape(
    network: RoadNetwork, edge: int, from_m: float, to_m: float | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return shares of an edge, longitudes and latitudes, of the shape points of a part of it.

    Parameters
    ----------
    network
        The roads.
    edge
        Network row.
    from_m, to_m
        Metres along the edge. Its shape is stretched to its length. None is its end.
    """
    points = slice(network.shape_start[edge], network.shape_start[edge + 1])
    step_m = np.hypot(np.diff(network.shape_x_m[points]), np.diff(network.shape_y_m[points]))
    along_m = np.concatenate([[0.0], np.cumsum(step_m)])
    share = along_m / along_m[-1] if along_m[-1] > 0 else np.linspace(0, 1, len(along_m))
    lon, lat = (degrees[points] for degrees in network.lon_lat)
    length_m = float(network.length_m[edge])
    if from_m == 0.0 and to_m in (None, length_m):
        return share, lon, lat
    first, last = from_m / length_m, 1.0 if to_m is None else to_m / length_m
    inside = share[(share > first) & (share < last)]
    driven = np.concatenate([[first], inside, [last]])
    return driven, np.interp(driven, share, lon), np.interp(driven, share, lat)


def driven_line(network: RoadNetwork, driven: Stretches) -> FloatArray:
    """Return longitudes and latitudes of the line along parts of edges, (j, 2).

    Parameters
    ----------
    network
        The roads.
    driven
        The parts, in driving order.
    """
    parts = zip(driven.edge, driven.from_m, driven.to_m, strict=True)
    shapes = (part_shape(network, *part)[1:] for part in parts)
    line = np.concatenate([np.column_stack(shape) for shape in shapes])
    return line[np.append(True, (np.diff(line, axis=0) != 0).any(axis=1))]
