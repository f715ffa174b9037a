"""Vehicle and physics of everybody who names none, and the paper's.

Python, the command line, the service and the dashboard all begin with `VEHICLE` and `PHYSICS`.
`simulate` and its experiments begin with `PAPER_VEHICLE`.
"""

from typing import TYPE_CHECKING

from evroute.errors import UnknownNameError

if TYPE_CHECKING:
    from evroute.network.road_network import RoadNetwork

VEHICLE = "nissan-leaf-40"
PHYSICS = "driving"
"""Kinetic energy, turns, stops and real speeds (`energy.free_flow`)."""
PAPER_VEHICLE = "reference"
PAPER_PHYSICS = "eq8"
"""Steady speeds at the limits: eq. 8 of Sandberg et al."""
KINDS_OF_PHYSICS = (PAPER_PHYSICS, PHYSICS)
SOURCES_WITH_LIMITS = ("osm", "osmnx", "sumo")
"""Kinds of sources whose speeds are speed limits. Those of other sources are driven speeds."""


def physics_of(network: "RoadNetwork") -> str:
    """Return the physics that fits the speeds of a network.

    Where they are limits, cars stop, turn and slow down below them: the driver's physics. Driven
    speeds contain that already: eq. 8.

    Parameters
    ----------
    network
        The roads.
    """
    return PHYSICS if network.source.kind in SOURCES_WITH_LIMITS else PAPER_PHYSICS


def check_physics(physics: str, kinds: tuple[str, ...] = KINDS_OF_PHYSICS) -> str:
    """Return a name of a physics.

    Parameters
    ----------
    physics
        The name.
    kinds
        The names that there are.

    Raises
    ------
    UnknownNameError
        If it is none of them.
    """
    if physics not in kinds:
        raise UnknownNameError(f"unknown physics '{physics}'. There are {', '.join(kinds)}")
    return physics
