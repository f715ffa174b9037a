"""What a target of exports is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evroute.arrays import FloatArray
from evroute.export.routes import Routes


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Numbers for another planner.

    Parameters
    ----------
    parameters
        The numbers by the names that the planner has for them.
    energy_wh
        Function that returns the energies of routes as the planner counts them with these numbers,
        (r,) Wh.
    """

    parameters: Mapping[str, str | float]
    energy_wh: Callable[[Routes], FloatArray]


@dataclass(frozen=True, slots=True)
class Target:
    """Another planner.

    Parameters
    ----------
    about
        What its numbers are, and where they are entered.
    fit
        Function that fits them to what a belief expects of routes.
    """

    about: str
    fit: Callable[[Routes], Fitted]
