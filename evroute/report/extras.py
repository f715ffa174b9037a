"""Optional packages of reports: checked when they are used."""

from importlib.util import find_spec

from evroute.errors import MissingPackageError


def require(package: str) -> None:
    """Check that a package of the extra ``report`` is installed, before it is imported.

    Raises
    ------
    MissingPackageError
        If it is not installed; the message says how to install it.
    """
    if find_spec(package) is None:
        raise MissingPackageError(package, "report")
