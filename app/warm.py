"""Work of the server before its first visitor: modules, compiled code, and the likely roads.

The server answers once this is done, so that the first page finds it.
"""

import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import memory
from early import begin, give_back

from evroute.errors import EvrouteError

CONTEXT = "streamlit.runtime.scriptrunner_utils.script_run_context"
"""Logger of Streamlit that warns of caches used outside a page."""
INTERNET = (socket.AF_INET, socket.AF_INET6)
DESCRIPTORS = Path("/dev/fd")
"""Folder of the open files of this process. Windows has none."""
CHARGES = ((80, 10), (1, 1))
"""Charge at the start and to keep, %: of a plan, and of one that is probably refused."""


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[None]:
    """Load what the page Plan needs, while the server starts.

    Parameters
    ----------
    app
        The server. Its runtime exists, in which components are registered.
    """
    send_at_once()
    begin()
    with _quiet():
        load()
    yield


def send_at_once() -> None:
    """Let each part of an answer be sent at once, over all TCP sockets of this process.

    Streamlit 1.67 opens the socket on which uvicorn listens. asyncio sets this option only for
    sockets that it opens, so the body of each file would wait for the browser's confirmation of
    the head, which takes 40 ms. Connections inherit the option from the listening socket.
    """
    if not DESCRIPTORS.is_dir():
        return
    for number in [int(each.name) for each in DESCRIPTORS.iterdir()]:
        with suppress(OSError):  # most files are no sockets
            found = socket.socket(fileno=number)
            try:
                if found.type == socket.SOCK_STREAM and found.family in INTERNET:
                    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            finally:
                found.detach()  # stays open


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out warnings that no page is drawn: none is yet."""
    logger = logging.getLogger(CONTEXT)
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


def load() -> None:
    """Plan on the remembered roads with the remembered car, or else on the usual ones.

    What cannot be loaded is left to the page, which says why.
    """
    import map_layers  # noqa: F401
    import pandas  # noqa: F401  # Streamlit asks it for the kind of a component's data
    import request  # noqa: F401
    import route_tabs  # noqa: F401
    from cache import network, planner
    from cards import cards_of, distinct_rows
    from charge_way import charge_way
    from forecasts import refused_fastest
    from own_routes import prepare

    from evroute.door.warm import warm
    from evroute.energy import defaults
    from evroute.energy.driving import DrivingConditions
    from evroute.energy.vehicle import load_vehicle, vehicle_names
    from evroute.network.catalog import network_names
    from evroute.report.maps.network_maps import stretches

    inputs = memory.glance().inputs
    known = {"network": (network_names(), memory.DEFAULT_NETWORK)}
    known["vehicle"] = vehicle_names(), defaults.VEHICLE
    chosen = {
        name: str(inputs[name]) if inputs.get(name) in names else usual
        for name, (names, usual) in known.items()
    }
    with suppress(EvrouteError, OSError):
        roads = network(chosen["network"])
        prepare(roads)
        warm(roads)
        maker = planner(roads, load_vehicle(chosen["vehicle"]), DrivingConditions(), "", "")
        for soc, reserve in CHARGES:
            plan = maker.plan(0, roads.n_edges // 2, soc=soc, reserve=reserve)
            refused_fastest(maker, plan)
            cards_of(roads, plan, list(distinct_rows(plan)), plan.recommended)
            charge_way(roads, plan, plan.recommended)
            list(stretches(roads, plan.recommended_route))
        give_back()
