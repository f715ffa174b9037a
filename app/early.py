"""Work on a network as soon as the server has read it, beside the page that asked for it.

The files of its map and the index of its positions are made while the page makes the first planner.
"""

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

from naming import place_label
from own_routes import prepare

from evroute.network.road_network import RoadNetwork

helpers: list[ThreadPoolExecutor] = []


def begin() -> None:
    """Work on every network that is read from now on."""
    if not helpers:
        helpers.append(ThreadPoolExecutor(max_workers=1, thread_name_prefix="network"))


def has_read(roads: RoadNetwork) -> None:
    """Begin the work on a network, if a server asked for it by `begin`.

    An error is left to the page, which meets it again and says it.
    """
    for helper in helpers:
        helper.submit(_prepare, roads)


def _prepare(roads: RoadNetwork) -> None:
    """Write the files of a network and index its positions, as the first click needs them."""
    prepare(roads)
    lon, lat = (float(degrees[0]) for degrees in roads.junction_lon_lat)
    place_label(roads, f"{lat:.6f},{lon:.6f}")
    give_back()


def give_back() -> None:
    """Return free memory to the system. The GNU C library keeps what large arrays left behind."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
