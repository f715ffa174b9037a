"""Names of the cars of a fleet: which a belief knows, and which a table may have."""

from collections.abc import Sequence
from difflib import get_close_matches

from evroute.errors import UnknownNameError, require
from evroute.text import STEERING, check_printable

LONGEST = 200
SHOWN = 5


def check_car(source: str, known: Sequence[str], car: str) -> None:
    """Check that a belief knows a car.

    Parameters
    ----------
    source
        File of the belief.
    known
        Names of its cars.
    car
        Name of the car.

    Raises
    ------
    UnknownNameError
        If it does not know it.
    """
    require(
        known,
        f"{source} is a belief of one car without a name. Leave the car '{car}' out",
        UnknownNameError,
    )
    near = get_close_matches(car, known, SHOWN) or list(known[:SHOWN])
    require(
        car in known,
        f"{source} is the belief of a fleet without car '{car}'. It knows {', '.join(near)}. "
        "Leave the car out for the forecast of one that it does not know",
        UnknownNameError,
    )


def check_name(car: str) -> None:
    """Check that a name of a car can be shown, reorders no line and is not too long.

    Raises
    ------
    EvrouteError
        If it cannot.
    """
    check_printable("car", [car], STEERING)
    require(len(car) <= LONGEST, f"car '{car[:20]}...': its name has over {LONGEST} signs")
