"""Errors for users: one clear line each; the command line turns them into exit status 2."""


class EvrouteError(Exception):
    """A request that cannot be met. The message names the cause and the remedy."""


class NetworkFormatError(EvrouteError):
    """A network, raster or stored file that cannot be read."""


class DamagedFileError(EvrouteError):
    """A file of evroute that is cut off, was changed or is of another kind."""


class UnknownNameError(EvrouteError):
    """An unknown network, vehicle, trip, edge or method; the message lists the known names."""


class NoRouteError(EvrouteError):
    """No legal way, or none that the battery allows, from origin to destination."""


class MissingPackageError(EvrouteError):
    """A feature whose extra is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'evroute[{extra}]'")
