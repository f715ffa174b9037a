"""Vehicle and physics of everybody who names none, and the paper's.

Python, the command line, the service and the dashboard all begin with `VEHICLE` and `PHYSICS`.
`simulate` and its experiments begin with `PAPER_VEHICLE`.
"""

from evroute.errors import UnknownNameError

VEHICLE = "nissan-leaf-40"
PHYSICS = "driving"
"""Kinetic energy, turns, stops and real speeds (`energy.free_flow`)."""
PAPER_VEHICLE = "reference"
PAPER_PHYSICS = "eq8"
"""Steady speeds at the limits: eq. 8 of Sandberg et al."""
KINDS_OF_PHYSICS = (PAPER_PHYSICS, PHYSICS)


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
