"""Provenance of an experiment's results: trip files, sources of worlds, and versions."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from evroute import __version__
from evroute.methods.setting import Setting
from evroute.worlds.demand.demand import provenance
from evroute.worlds.world import World

PACKAGES = ("numpy", "scipy")
"""Packages whose versions every manifest has."""
PACKAGES_OF = {"svgp-gpytorch": ("torch", "gpytorch")}
"""Further packages by model."""


def trip_files(
    trips: Mapping[str, Sequence[str]], settings: Mapping[str, Setting]
) -> dict[str, dict[str, Any]]:
    """Return the provenance of each file of trips, by network and file.

    Parameters
    ----------
    trips
        Names or files of trips, by network.
    settings
        Setting of each network.
    """
    found: dict[str, dict[str, Any]] = {}
    for network, setting in settings.items():
        for trip in trips[network]:
            if source := provenance(trip, setting):
                found.setdefault(network, {})[trip] = source
    return found


def world_sources(
    worlds: Sequence[World], settings: Mapping[str, Setting]
) -> dict[str, dict[str, Any]]:
    """Return the provenance of each world that has one, by network and label.

    Parameters
    ----------
    worlds
        Options of the worlds.
    settings
        Setting of each network.
    """
    found: dict[str, dict[str, Any]] = {}
    for network, setting in settings.items():
        for world in worlds:
            if source := world.provenance(setting):
                found.setdefault(network, {})[world.label] = source
    return found


def versions(models: Iterable[str]) -> dict[str, str]:
    """Return the versions of evroute, Python, the platform and the packages of models."""
    further = [name for model in set(models) for name in PACKAGES_OF.get(model, ())]
    return {
        "evroute": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in (*PACKAGES, *further)},
        "platform": f"{platform.system()} {platform.machine()}",
    }
