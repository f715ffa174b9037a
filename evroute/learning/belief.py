"""Beliefs of folders: which kind a file holds, and where the file of a run is."""

from pathlib import Path

from evroute.checked import read_arrays
from evroute.errors import DamagedFileError, UnknownNameError, require
from evroute.folder import Folder
from evroute.learning.base import Belief
from evroute.learning.fleet.type_folders import folder_of, several_types
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.records.parts import part_paths
from evroute.learning.stored import Stored, check_roads, damaged, read
from evroute.learning.trips import energies
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork

KINDS: dict[str, type[Belief]] = {energies.MODEL: TripEnergies}
"""Kinds of beliefs by the name of their model. `LearnedBelief` has the models of edges."""
MIXED = "both"
"""Physics of folders that mixed two. Their trips are learned again by one."""
SHOWN_RUNS = 10


def is_whole(path: Path) -> bool:
    """Return True if a belief exists and its digest is correct."""
    try:
        read_arrays(path)
    except DamagedFileError:
        return False
    return True


def load_belief(
    folder: str | Path,
    run: str | None = None,
    *,
    network: RoadNetwork | None = None,
    car: str | None = None,
) -> Belief:
    """Return the belief of a run, or of ``evroute learn``, from a folder.

    Parameters
    ----------
    folder
        Folder of ``evroute learn`` or ``evroute simulate``.
    run
        Name of a run, or None if the folder holds only one.
    network
        The network of the belief. Loaded by its name if None.
    car
        Car of a fleet with a folder for each type (``evroute learn --cars``), which chooses the
        type. None for the only type.

    Raises
    ------
    UnknownNameError
        If the run is unknown, or no run is named among several. The message lists them.
    EvrouteError
        If the file is unreadable, or the belief is about another network or profile.
    """
    return belief_of(stored_belief(folder_of(Path(folder), car), run), network)


def stored_belief(folder: str | Path, run: str | None = None) -> Stored:
    """Return the file of a belief as read. Parameters and errors as in `load_belief`."""
    return read(Folder(Path(folder)).belief_path(_choose(Path(folder), run)))


def belief_of(stored: Stored, network: RoadNetwork | None = None) -> Belief:
    """Return the belief of a file.

    Parameters
    ----------
    stored
        The file as read.
    network
        As in `load_belief`.

    Raises
    ------
    EvrouteError
        If the file does not hold a belief of its method, or is about another network or profile.
    """
    return _kind(stored).load(stored, stored.setting(network))


def continued(path: Path, setting: Setting) -> Belief:
    """Return the belief of a file, to continue learning. One of trips goes to another network too.

    Raises
    ------
    EvrouteError
        If it is unreadable, or a belief of edges was learned on another network.
    """
    stored = read(path)
    if not stored.travels:
        check_roads(str(path), stored.about.network, stored.about.digest, setting.network)
    belief = _kind(stored).load(stored, setting)
    belief.prepare()
    return belief


def _kind(stored: Stored) -> type[Belief]:
    method = stored.about.method
    if stored.about.types:
        raise several_types(stored.path.parents[1])
    if method.get("physics") == MIXED:
        raise damaged(stored.path, f"{stored.path} mixes two physics, as earlier versions did")
    return KINDS.get(str(method.get("model")), LearnedBelief)


def _choose(folder: Path, run: str | None) -> str:
    require(
        folder.is_dir(),
        f"there is no folder {folder}. 'evroute simulate' and 'evroute learn' write such folders",
    )
    place = Folder(folder)
    there = place.beliefs()
    require(there, f"{folder} {_unfinished(place)}")
    if run is None and len(there) == 1:
        return there[0]
    if run not in there:
        wrong = "holds several runs" if run is None else f"has no run '{run}'"
        more = f" and {len(there) - SHOWN_RUNS} more" if len(there) > SHOWN_RUNS else ""
        raise UnknownNameError(
            f"{folder} {wrong}. Name one with --run: {', '.join(there[:SHOWN_RUNS])}{more}"
        )
    return run


def _unfinished(folder: Folder) -> str:
    """Return why a folder has no beliefs, such as after a full disk, and the remedy, in words."""
    if part_paths(folder.path):
        return f"has measured trips without a belief. Make it: evroute learn --repair {folder.path}"
    if folder.has_manifest and folder.manifest().get("kind") == "learned":
        return "has no trips: its first 'evroute learn' did not end. Repeat that command"
    return "holds no finished run. If its first command did not end, repeat that command"
