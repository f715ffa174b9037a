"""Packages that are slow to import or optional, imported when an attribute is first used."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from evroute.errors import MissingPackageError


class Package:
    """A package that is imported on its first use.

    Parameters
    ----------
    name
        Name by which it is imported.
    extra
        Extra of evroute that installs it.
    """

    def __init__(self, name: str, extra: str) -> None:
        self._name = name
        self._extra = extra

    def __getattr__(self, attribute: str) -> Any:
        """Return an attribute of the package.

        Raises
        ------
        MissingPackageError
            If the package is not installed; the message says how to install it.
        """
        if find_spec(self._name) is None:
            raise MissingPackageError(self._name, self._extra)
        return getattr(import_module(self._name), attribute)
