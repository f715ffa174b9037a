"""Folder of a fleet: a folder of ``evroute learn`` for each type of car.

::

    cars.csv            type of each car (car, vehicle), by which plans find its folder
    nissan-leaf-40/     measured trips and belief of the cars of one type, and so on
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import pyarrow as pa

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.files import inside
from evroute.folder import Folder
from evroute.learning.fleet.cars_table import CAR, VEHICLE, read_types
from evroute.learning.fleet.names import SHOWN
from evroute.tables import write_table

TABLE = "cars.csv"


def is_fleet(folder: Path) -> bool:
    """Return whether a folder has a folder for each type of its cars."""
    return inside(folder, TABLE).is_file() and not Folder(folder).has_manifest


def types_in(folder: Path) -> dict[str, str]:
    """Return the type of each car of a fleet by name. Empty for another folder.

    Raises
    ------
    EvrouteError
        If its table of cars is damaged.
    """
    return read_types(inside(folder, TABLE)) if is_fleet(folder) else {}


def add_types(folder: Path, types: Mapping[str, str]) -> None:
    """Write the types of cars into the table of a fleet, beside those of the table before.

    Raises
    ------
    EvrouteError
        If another call still writes the folder after a second.
    """
    with Folder(folder).locked():
        known = types_in(folder)
        if not types.items() <= known.items():
            write_types(folder, {**known, **types})


def write_types(folder: Path, types: Mapping[str, str]) -> None:
    """Write the table of the cars of a fleet, whose folder is locked."""
    cars = sorted(types)
    table = pa.table({CAR: cars, VEHICLE: [types[car] for car in cars]})
    write_table(inside(folder, TABLE), table)


def type_folder(folder: Path, vehicle: str) -> Path:
    """Return the folder of a type in the folder of a fleet.

    Raises
    ------
    EvrouteError
        If the name of the type cannot be the name of a folder, or it leads out of the folder.
    """
    require(
        vehicle == Path(vehicle).name and not vehicle.startswith("."),
        f"vehicle '{vehicle}' cannot name a folder. Give it a name without '/' and a dot in front",
    )
    return inside(folder, vehicle)


def folder_of(folder: Path, car: str | None = None, vehicle: str | None = None) -> Path:
    """Return the folder of the belief for a car, which is the folder itself unless of a fleet.

    Parameters
    ----------
    folder
        Folder of a belief, or of a fleet.
    car
        Name of a car, or None for one without trips.
    vehicle
        Type of a car without trips, or its file. None for the type of the car, or the only one.

    Raises
    ------
    UnknownNameError
        If the fleet does not have the car or the type.
    EvrouteError
        If it has several types and neither is named.
    """
    types = types_in(folder)
    if not types:
        return folder
    if car is not None:
        near = get_close_matches(car, types, SHOWN) or list(types)[:SHOWN]
        require(
            car in types,
            f"{folder} is the folder of a fleet without car '{car}'. It knows {', '.join(near)}. "
            "Leave the car out for the forecast of one that it does not know",
            UnknownNameError,
        )
        return type_folder(folder, types[car])
    there = sorted(set(types.values()))
    if vehicle is None:
        if len(there) > 1:
            raise EvrouteError(
                f"{folder} is the folder of a fleet with several types. Name the car, or one of "
                f"the vehicles {', '.join(there)}"
            )
        return type_folder(folder, there[0])
    name = vehicle if vehicle in there else load_vehicle(vehicle).name
    require(
        name in there,
        f"{folder} is the folder of a fleet without cars of type '{name}'. There are "
        f"{', '.join(there)}",
        UnknownNameError,
    )
    return type_folder(folder, name)


def several_types(folder: Path) -> EvrouteError:
    """Return the error of a folder whose belief is of several types, with the command to split it.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    """
    return EvrouteError(
        f"{folder} has several types of cars in one belief. Split it into a folder for each type: "
        f"evroute learn --repair {folder}"
    )
