"""Split of a folder whose belief was of several types of cars, into a folder for each type.

Measured trips are copied into the folders of the types first, then the folder's own files are moved
to ``repair-DATE`` in it, its manifest before all others. So an interruption loses nothing, and the
next call goes on.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evroute.energy.vehicle import Vehicle, charging_of, numbers_of
from evroute.errors import DamagedFileError
from evroute.folder import Folder
from evroute.learning.fleet.type_folders import type_folder, write_types
from evroute.learning.records.parts import copy_part, derived, move, new_aside, part_paths


def split(folder: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Split a folder of several types. Return the damaged files of trips, and the reasons.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``, locked.
    manifest
        Its manifest, with the numbers of each type (``types``) and the type of each car (``cars``).
    """
    types: Mapping[str, Mapping[str, Any]] = manifest["types"]
    type_of: Mapping[str, str] = manifest["cars"]
    shared = {key: value for key, value in manifest.items() if key not in ("types", "cars")}
    damaged: dict[str, str] = {}
    for name, numbers in types.items():
        vehicle, out = Vehicle(**numbers), type_folder(folder, name)
        own = shared | {"vehicle": numbers_of(vehicle), "charging": charging_of(vehicle)}
        cars = {car for car, of in type_of.items() if of == name}
        for path in part_paths(folder):
            try:
                copy_part(path, out / "measured" / path.name, cars, own)
            except DamagedFileError as error:
                damaged[path.name] = str(error).partition(". Set it aside")[0]
        if (out / "measured").exists():
            Folder(out).write_manifest(own)
    write_types(folder, type_of)
    aside = new_aside(folder, "repair")
    (folder / "manifest.json").unlink(missing_ok=True)  # a copy of it is aside
    move([folder / "measured", *derived(folder)], folder, aside)
    return damaged
