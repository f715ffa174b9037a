"""Repair of a damaged folder of ``evroute learn``: its intact trips are learned again.

The settings come from the manifest, or else from the belief, or else from the files of measured
trips. Damaged files, the old manifest and the belief are moved to ``repair-DATE`` in the folder.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from evroute.energy.vehicle import Vehicle, charging_of, load_vehicle
from evroute.errors import DamagedFileError, EvrouteError
from evroute.folder import Folder
from evroute.learning import stored
from evroute.learning.learn import learn
from evroute.learning.learned import Learned
from evroute.learning.measured import Measured, MeasuredTrip
from evroute.learning.one_call import WAIT_S, Call, learn_locked
from evroute.learning.records.manifest import (
    Choice,
    Start,
    checked_manifest,
    start_of,
    stored_manifest,
)
from evroute.learning.records.parts import (
    check_on_network,
    derived,
    is_without_line,
    manifest_of,
    move,
    new_aside,
    part_paths,
    read_part,
)
from evroute.learning.records.split import split
from evroute.network.road_network import RoadNetwork


def repair(
    folder: str | Path,
    *,
    network: RoadNetwork | str | None = None,
    vehicle: Vehicle | str | None = None,
    choice: Choice | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Learned:
    """Learn the intact trips of a folder again, and set its damaged files aside.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    network
        Network on which they are learned, or its name or file. None for the name in its settings.
    vehicle
        The vehicle of the folder with other numbers, or its name or file. Another one is used only
        if no settings are left in the folder.
    choice
        Model, used if no settings are left in the folder.
    on_progress
        Called with the number of trips learned and of trips to learn.

    Returns
    -------
    Learned
        The trips. ``aside`` has the damaged files and the earlier belief.

    Raises
    ------
    EvrouteError
        If no measured trip is intact, its network is unknown, or another process writes the folder
        for longer than `learn.WAIT_S`. The folder then is as it was.
    """
    place = Folder(Path(folder))
    if not part_paths(place.path):
        raise EvrouteError(
            f"{place.path} holds no measured trips. Learn their tables: evroute learn TABLE "
            f"--out {place.path}"
        )
    with place.locked(WAIT_S), threadpool_limits(1):
        made = next(_manifests(place), {})
        if not made.get("types"):
            start = _start(place, network, vehicle, choice or Choice())
            return _learned_again(place, start, on_progress)
        damaged = split(place.path, made)
    learned = learn(None, place.path, network=network, on_progress=on_progress)
    notes = [f"set aside: {reason}" for reason in damaged.values()]
    return replace(learned, notes=[*learned.notes, *notes])


def _learned_again(place: Folder, start: Start, on_progress: Callable[[int, int], None]) -> Learned:
    """Set the damaged files aside, and learn the intact trips again."""
    fresh = start.before_trips()
    damaged = _damaged(place.path, start.setting.network, travels=fresh.travels)
    manifest = start.manifest_of(fresh)
    aside = new_aside(place.path, "repair")
    place.write_manifest(manifest)
    move([*damaged, *derived(place.path)], place.path, aside)
    notes = [f"set aside: {reason}" for reason in damaged.values()]
    call = Call(place, start, manifest, Measured(notes=notes), aside, on_progress)
    return learn_locked(call, fresh)


def _damaged(folder: Path, network: RoadNetwork, *, travels: bool) -> dict[Path, str]:
    """Return the damaged files of measured trips, and the reasons. At least one is intact.

    The trips of the others must be on the network, or a belief that ``travels`` must know their
    terms.
    """
    found: dict[Path, str] = {}
    trips: list[MeasuredTrip] = []
    paths = part_paths(folder)
    for path in paths:
        try:
            trips += read_part(path, network)
        except DamagedFileError as error:
            found[path] = str(error).partition(". Set it aside")[0]
    if not travels or all(is_without_line(trip) for trip in trips):
        check_on_network(trips, network)
    if len(found) == len(paths):
        raise EvrouteError(
            f"{folder} has no intact file of measured trips. Learn their tables again into "
            "another folder"
        )
    return found


def _start(
    place: Folder,
    network: RoadNetwork | str | None,
    vehicle: Vehicle | str | None,
    choice: Choice,
) -> Start:
    """Return the settings of a folder, from the first source that has them."""
    problem: EvrouteError | None = None
    for made in _manifests(place):
        ((name, digest),) = made["networks"].items()
        try:
            start = start_of(made, network or name, _same_car(made, vehicle), Choice())
            if not start.before_trips().travels:
                stored.check_roads(str(place.path), name, digest, start.setting.network)
        except EvrouteError as error:
            problem = problem or error
        else:
            return start
    if problem:
        raise problem
    if network is None:
        raise EvrouteError(
            f"{place.path} has no settings left. Name the network of its trips with --network, "
            "and --vehicle and --model if they were not the usual ones"
        )
    return start_of({}, network, vehicle, choice)


def _same_car(made: Mapping[str, Any], vehicle: Vehicle | str | None) -> Vehicle | None:
    """Return a vehicle that a caller named if the folder has the same vehicle, else None."""
    if vehicle is None:
        return None
    car = vehicle if isinstance(vehicle, Vehicle) else load_vehicle(vehicle)
    return car if car.name == made["vehicle"].get("name") else None


def _manifests(place: Folder) -> Iterator[dict[str, Any]]:
    """Yield the settings that are left in a folder: manifest, belief, files of measured trips."""
    with suppress(EvrouteError):
        yield stored_manifest(place)
    for path in sorted((place.path / "beliefs").glob("[!.]*-learned.npz")):
        try:
            about = stored.read(path).about
        except EvrouteError:
            continue
        yield about.manifest(charging_of(about.vehicle))
    for path in reversed(part_paths(place.path)):
        try:
            yield checked_manifest(manifest_of(path), str(path), "")
        except DamagedFileError:
            continue
