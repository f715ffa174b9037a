"""A drive across Denver, made up: points along a route with a meter of known energy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evroute.methods.setting import Setting, load_setting

FACTOR = 1.3


@pytest.fixture(scope="module")
def setting() -> Setting:
    return load_setting("denver", "reference")


@pytest.fixture(scope="session")
def drive() -> Callable[..., Any]:
    """Return a function: columns of a drive with a point every 20 m, its edges and their energies.

    It dissipates 1.3 times eq. 8 at 10 m/s.
    """
    return _drive


def _drive(setting, origin, destination, every_m=20.0):
    import shapely

    network = setting.network
    edges = setting.search.route(network.length_m, origin, destination).rows
    ends_m = np.cumsum(network.length_m[edges])
    starts_m = ends_m - network.length_m[edges]
    edge_wh = FACTOR * setting.prior.dissipated_wh[edges] + setting.potential_wh[edges]
    at_m = np.append(np.arange(0, ends_m[-1], every_m), ends_m[-1])
    place = np.minimum(np.searchsorted(ends_m, at_m), len(edges) - 1)
    share = (at_m - starts_m[place]) / network.length_m[edges][place]
    lon, lat = network.lon_lat
    points = []
    for edge, along in zip(edges[place], share, strict=True):
        own = slice(*network.shape_start[edge : edge + 2])
        line = shapely.LineString(np.column_stack([network.shape_x_m[own], network.shape_y_m[own]]))
        points.append(line.interpolate(along, normalized=True).coords[0])
    from pyproj import Transformer

    lon, lat = Transformer.from_crs(network.crs, "EPSG:4326", always_xy=True).transform(
        *np.array(points).T
    )
    columns = {
        "trip": ["a"] * len(at_m),
        "time": at_m / 10,
        "lat": lat,
        "lon": lon,
        "energy_wh": 5000 + (np.cumsum(edge_wh) - edge_wh)[place] + share * edge_wh[place],
    }
    return columns, edges, edge_wh
