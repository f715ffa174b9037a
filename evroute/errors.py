"""Errors for users, one clear line each.

The command line prints them and ends with status 2.
"""

from collections.abc import Mapping, Sequence


class EvrouteError(Exception):
    """A request that cannot be met. The message names the cause and the remedy."""


class NetworkFormatError(EvrouteError):
    """A network, raster or stored file that cannot be read."""


class DamagedFileError(EvrouteError):
    """A file of evroute that is cut off, was changed or is of another kind."""


class LimitError(EvrouteError):
    """An input beyond a limit of `evroute.limits`. The message names its variable."""


class UnknownNameError(EvrouteError):
    """An unknown network, vehicle, trip, edge or method. The message lists the known names."""


class NoRouteError(EvrouteError):
    """No legal way, or none that the battery allows, from origin to destination."""


class NotEnoughChargeError(NoRouteError):
    """No route keeps the reserve.

    Parameters
    ----------
    message
        As in `EvrouteError`.
    start_percent
        Least charge at the start with which the trip succeeds, %, or None if a full one does not.
    steps
        Changes of the request after each of which a plan was found, as values by field, such as
        ``{"soc": 26}`` or ``{"charge": True}``. None for the charge at the start alone.
    average_percent
        Least charge at the start that suffices by expected energies, where it is less, %.
    missing_wh
        Energy by which a full battery is too small, Wh, or None if that is not why.
    """

    def __init__(
        self,
        message: str,
        start_percent: int | None = None,
        steps: Sequence[Mapping[str, float | bool]] | None = None,
        average_percent: int | None = None,
        missing_wh: float | None = None,
    ) -> None:
        super().__init__(message)
        self.missing_wh = missing_wh
        self.start_percent, self.average_percent = start_percent, average_percent
        starts = () if start_percent is None else ({"soc": start_percent},)
        self.steps: Sequence[Mapping[str, float | bool]] = starts if steps is None else steps


class MissingPackageError(EvrouteError):
    """A feature whose extra is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Run: pip install 'evroute[{extra}]'")


def require(condition: object, message: str, error: type[Exception] = EvrouteError) -> None:
    """Raise an error unless a condition holds.

    The message is formatted even when the condition holds: keep it cheap, and outside of loops
    over many items.

    Parameters
    ----------
    condition
        Anything with a truth value.
    message
        One line: got, expected, what to do.
    error
        Class of the error, with the message as its only argument.

    Raises
    ------
    EvrouteError
        Or ``error``, if the condition is false.
    """
    if not condition:
        raise error(message)
