"""Warm: what a process loads before it says that it is ready.

Compiled code takes some 0.3 s of processor to load, spread over the first requests that need it. A
process that answers many makes a few of each kind before, on few roads.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from evroute.door.planners import Planner
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import Socket, Station
from evroute.network.sources.chargers import with_stations
from evroute.planning.battery import Battery
from evroute.planning.fields import MEAN
from evroute.planning.places import places_of
from evroute.planning.reach import charge_needed, reach, start_needed

ROADS = 300
"""Number of edges on which requests are made, around the middle of a network."""
CAPACITY_KWH = 0.4
"""Battery of which a trip there takes a fifth."""
RESERVE, RISK = 10.0, 0.05
TOO_LITTLE, SOME = 0.5, 1.1
"""Charges at the start over what a trip needs by expected energies."""
AMPLE = 4.0
"""Such a charge that keeps the limit of risk."""


def warm(network: RoadNetwork) -> None:
    """Make requests of each kind on a part of a network, so that later ones load nothing.

    Parameters
    ----------
    network
        Roads, of which `ROADS` serve.
    """
    roads = _part(network)
    car = replace(load_vehicle("reference"), battery_kwh=CAPACITY_KWH)
    planners = [Planner(each, car) for each in _both(roads)]
    for request in _requests(*planners):
        with suppress(NoRouteError):
            request()


def _requests(planner: Planner, charging: Planner) -> Iterator[Callable[[], object]]:
    """Yield requests for plans, ranges and needs, with and without risk and charging stops."""
    ids = planner.network.edge_id
    ends = ids[0], ids[-1]
    yield lambda: planner.plan(*ends, alternatives=2)
    yield lambda: planner.energies(np.array([0]), np.array([len(ids) - 1]))
    yield lambda: planner.search.distances(np.ones(planner.space.size), 0)
    least = Battery.of_percent(CAPACITY_KWH, RESERVE, RESERVE)
    places = places_of(planner.network, None, ends)
    problem = planner.between(places)
    yield lambda: problem.label_search.cheapest(least, problem.time_s, worth=(1.0, 1.0))
    needed = start_needed(planner, places, least) - RESERVE

    def plan(planner: Planner, share: float, **wishes: Any) -> Callable[[], object]:
        soc = RESERVE + share * needed
        return lambda: planner.plan(*ends, soc=soc, reserve=RESERVE, **wishes)

    for share in (TOO_LITTLE, SOME):
        yield plan(planner, share, risk=MEAN)
        yield plan(charging, share, charge=True, risk=MEAN)
    for share in (SOME, AMPLE):
        yield plan(planner, share, risk=RISK)
    yield plan(charging, AMPLE, charge=True, risk=RISK)
    battery = Battery.of_percent(CAPACITY_KWH, RESERVE + needed, RESERVE)
    yield lambda: reach(planner, ends[0], battery)
    yield lambda: reach(planner, ends[0], battery, risk=RISK)
    yield lambda: charge_needed(planner, ends[1], battery)


def _part(network: RoadNetwork) -> RoadNetwork:
    """Return connected roads around the middle of a network."""
    middle_m = network.middle_m
    apart_m = np.hypot(*(middle_m - np.median(middle_m, axis=0)).T)
    nearest = np.argsort(apart_m, kind="stable")[:ROADS]
    return network.subset(np.isin(np.arange(network.n_edges), nearest)).strongest_component()


def _both(network: RoadNetwork) -> tuple[RoadNetwork, RoadNetwork]:
    """Return a network, and the same with a charging station at its first junction."""
    lon, lat = (float(degrees[0]) for degrees in network.junction_lon_lat)
    station = Station("station", lon, lat, (Socket("ac", 11.0),))
    return network, with_stations(network, [station], "")[0]
