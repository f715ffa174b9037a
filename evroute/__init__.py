"""evroute: energy-efficient routes for electric cars, learned from the trips that were driven.

Modules at the top serve every package: errors, arrays, arms, validation, files, tables and texts.
Importing this package costs nothing: each name below loads its module when it is first used.

>>> import evroute
>>> network = evroute.load_network("denver")
>>> plan = evroute.plan(
...     network, origin="Blake Street & 17th Street", destination="Broadway & 20th Street"
... )
>>> evroute.route_map(network, plan).save("route.html")  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0rc2"

_LAZY = {
    "Belief": "evroute.learning.base",
    "DrivingConditions": "evroute.energy.driving",
    "Experiment": "evroute.experiments.experiment",
    "Plan": "evroute.planning.plan",
    "PlanRequest": "evroute.planning.request",
    "Planner": "evroute.door.planners",
    "RoadNetwork": "evroute.network.road_network",
    "Track": "evroute.planning.track",
    "Vehicle": "evroute.energy.vehicle",
    "check_model": "evroute.door.check_model",
    "learn": "evroute.learning.learn",
    "load_belief": "evroute.learning.belief",
    "load_network": "evroute.network.catalog",
    "load_vehicle": "evroute.energy.vehicle",
    "physics_belief": "evroute.learning.physics_belief",
    "plan": "evroute.door.plan",
    "reachable": "evroute.door.reachable",
    "route_map": "evroute.report.maps.network_maps",
    "simulate": "evroute.experiments.experiment",
    "tour": "evroute.door.tour",
}

if TYPE_CHECKING:
    from evroute.door.check_model import check_model
    from evroute.door.plan import plan
    from evroute.door.planners import Planner
    from evroute.door.reachable import reachable
    from evroute.door.tour import tour
    from evroute.energy.driving import DrivingConditions
    from evroute.energy.vehicle import Vehicle, load_vehicle
    from evroute.experiments.experiment import Experiment, simulate
    from evroute.learning.base import Belief
    from evroute.learning.belief import load_belief
    from evroute.learning.learn import learn
    from evroute.learning.physics_belief import physics_belief
    from evroute.network.catalog import load_network
    from evroute.network.road_network import RoadNetwork
    from evroute.planning.plan import Plan
    from evroute.planning.request import PlanRequest
    from evroute.planning.track import Track
    from evroute.report.maps.network_maps import route_map

__all__ = [
    "Belief",
    "DrivingConditions",
    "Experiment",
    "Plan",
    "PlanRequest",
    "Planner",
    "RoadNetwork",
    "Track",
    "Vehicle",
    "__version__",
    "check_model",
    "learn",
    "load_belief",
    "load_network",
    "load_vehicle",
    "physics_belief",
    "plan",
    "reachable",
    "route_map",
    "simulate",
    "tour",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'evroute' has no attribute '{name}'")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
