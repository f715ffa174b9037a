"""A network whose edges are cut in two, by a junction without an angle or a control each."""

from dataclasses import replace

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.controls import RIGHT_OF_WAY
from evroute.network.road_network import RoadNetwork


def halved(network: RoadNetwork) -> RoadNetwork:
    """Return a network whose edges, and the pieces of their profile, are cut into halves.

    Edge e becomes the edges 2 e and 2 e + 1. They meet in the middle of its longest straight step.
    """
    middle_m, inner = _heights(network)
    x_m, y_m, shapes = _shapes(network)
    points = np.vstack(shapes)
    turns, control = _turns(network)
    new = network.n_junctions + np.arange(network.n_edges)
    made = replace(
        network,
        edge_id=tuple(f"{edge}/{half}" for edge in network.edge_id for half in "ab"),
        tail=np.column_stack([network.tail, new]).ravel(),
        head=np.column_stack([new, network.head]).ravel(),
        length_m=np.repeat(network.length_m / 2, 2),
        speed_mps=np.repeat(network.speed_mps, 2),
        structure=np.repeat(network.structure, 2),
        street=tuple(np.repeat(network.street, 2).tolist()),
        road_class=tuple(np.repeat(network.road_class, 2).tolist()),
        turns=turns,
        control=control,
        junction_id=network.junction_id + tuple(f"between {edge}" for edge in network.edge_id),
        x_m=np.append(network.x_m, x_m),
        y_m=np.append(network.y_m, y_m),
        elevation_m=np.append(network.elevation_m, middle_m),
        shape_start=np.append(0, np.cumsum([len(shape) for shape in shapes])),
        shape_x_m=points[:, 0],
        shape_y_m=points[:, 1],
    )
    if "profile" not in network.tables:
        return made
    start = np.append(0, np.cumsum([len(heights) for heights in inner]))
    return made.with_tables({"profile": {"start": start, "height_m": np.concatenate(inner)}})


def _heights(network: RoadNetwork) -> tuple[FloatArray, list[FloatArray]]:
    """Return the heights of the n new junctions, and the inner heights of the 2 n halves, m."""
    table = network.tables.get("profile", {})
    start = table.get("start", np.zeros(network.n_edges + 1, dtype=np.int64))
    height_m = np.asarray(table.get("height_m", []), dtype=np.float64)
    middle_m, inner = np.empty(network.n_edges), []
    for edge in range(network.n_edges):
        tail_m, head_m = network.elevation_m[[network.tail[edge], network.head[edge]]]
        z_m = np.concatenate([[tail_m], height_m[start[edge] : start[edge + 1]], [head_m]])
        pieces = len(z_m) - 1
        fine_m = np.interp(np.arange(2 * pieces + 1) / 2, np.arange(pieces + 1), z_m)
        middle_m[edge] = fine_m[pieces]
        inner += [fine_m[1:pieces], fine_m[pieces + 1 : -1]]
    return middle_m, inner


def _shapes(network: RoadNetwork) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Return the positions of the new junctions, (n,) m each, and the shapes of the halves."""
    middle, shapes = np.empty((network.n_edges, 2)), []
    for edge in range(network.n_edges):
        own = slice(network.shape_start[edge], network.shape_start[edge + 1])
        points = np.column_stack([network.shape_x_m[own], network.shape_y_m[own]])
        step = int(np.hypot(*np.diff(points, axis=0).T).argmax())
        middle[edge] = points[step : step + 2].mean(axis=0)
        shapes.append(np.vstack([points[: step + 1], middle[edge]]))
        shapes.append(np.vstack([middle[edge], points[step + 1 :]]))
    return middle[:, 0], middle[:, 1], shapes


def _turns(network: RoadNetwork) -> tuple[IntArray, IntArray | None]:
    """Return the turns between the halves, sorted, and their controls."""
    first = 2 * np.arange(network.n_edges)
    turns = np.vstack([network.turns * 2 + [1, 0], np.column_stack([first, first + 1])])
    order = np.lexsort((turns[:, 1], turns[:, 0]))
    if network.control is None:
        return turns[order], None
    return turns[order], np.append(network.control, np.full(len(first), RIGHT_OF_WAY))[order]
