"""Packages that are slow to import or optional, imported when an attribute is first used."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from evroute.errors import MissingPackageError

EXTRAS = {
    "report": ("altair", "branca", "folium", "pandas", "vl_convert"),
    "geo": ("geopandas", "osmium", "osmnx", "pyogrio", "rasterio"),
    "gp": ("gpytorch", "torch"),
    "app": ("segno", "streamlit"),
    "fast": ("numba",),
    "serve": ("fastapi", "uvicorn", "prometheus_client"),
    "sumo": ("libsumo",),
    "dask": ("distributed",),
}
"""Optional packages by the extra of evroute that installs them."""


def check_extra(extra: str) -> None:
    """Refuse work that needs an extra, before it begins.

    Raises
    ------
    MissingPackageError
        If a package of the extra is not installed. The message says how to install it.
    """
    for package in EXTRAS[extra]:
        if find_spec(package) is None:
            raise MissingPackageError(package, extra)


def missing(error: ModuleNotFoundError) -> MissingPackageError | None:
    """Return the error for users if an optional package was not found. None for other modules."""
    package = (error.name or "").partition(".")[0]
    extras = (extra for extra, packages in EXTRAS.items() if package in packages)
    return next((MissingPackageError(package, extra) for extra in extras), None)


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
            If the package is not installed. The message says how to install it.
        """
        if find_spec(self._name) is None:
            raise MissingPackageError(self._name, self._extra)
        return getattr(import_module(self._name), attribute)
