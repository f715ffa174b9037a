"""What can go wrong for a user: one clear line each; the command line turns them into exit status 2."""


class EvrouteError(Exception):
    """A request that cannot be met. The message says what was wrong and what to do."""


class NetworkFormatError(EvrouteError):
    """A network, raster or stored file that cannot be read."""


class DamagedFileError(EvrouteError):
    """A file of evroute's own that is cut off, was changed or is of another kind."""


class UnknownNameError(EvrouteError):
    """A network, vehicle, trip, edge or method that is not there; the message lists what is."""


class NoRouteError(EvrouteError):
    """No legal way, or none that the battery allows, from origin to destination."""


class MissingPackageError(EvrouteError):
    """A feature whose extra is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'evroute[{extra}]'")
