"""Beliefs on disk: the state of a model, with its method, prior, network and vehicle."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from evroute import limits
from evroute.checked import read_arrays, write_arrays
from evroute.energy.vehicle import Vehicle, charging_of
from evroute.errors import DamagedFileError, UnknownNameError, require
from evroute.folder import Folder
from evroute.invalid import first_problem
from evroute.learning.learned_belief import LearnedBelief, check_roads
from evroute.learning.trips.energies import MODEL, TripEnergies
from evroute.methods.method import checked_method
from evroute.methods.setting import Prior, Setting
from evroute.model.exact import ExactGP
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork

_ABOUT = "about"
SHOWN_RUNS = 10


@dataclass(frozen=True, slots=True)
class Description:
    """The subject of a belief as its file describes it; the names are those of the file."""

    method: dict[str, Any]
    prior: str
    kernel: str
    temperature: bool
    network: str
    digest: str
    vehicle: Vehicle
    trips: int | None = Field(ge=0)
    lengthscale: float = Field(gt=0, allow_inf_nan=False)
    profile: str = ""  # digest of the pieces of its network; empty for one slope per edge


_DESCRIPTION = TypeAdapter(Description)


def save(path: Path, belief: LearnedBelief | TripEnergies, *, trips: int | None = None) -> None:
    """Write a belief with its method, prior, network and vehicle; no pickle.

    Parameters
    ----------
    path
        File, an ``.npz``.
    belief
        Belief to write.
    trips
        Number of trips learned by ``evroute learn``; None for the belief of a simulation.
    """
    setting = belief.setting
    about = {
        "method": method_of(belief),
        "prior": setting.assumed.spread,
        "kernel": setting.assumed.kernel,
        "lengthscale": setting.assumed.lengthscale,
        "temperature": setting.assumed.temperature,
        "network": setting.network.name,
        "digest": setting.network.digest,
        "vehicle": setting.vehicle_numbers | charging_of(setting.vehicle),
        "trips": trips,
    }
    if pieces := setting.network.pieces:
        about["profile"] = pieces.digest
    write_arrays(path, {_ABOUT: np.array(json.dumps(about)), **belief.state()})


def method_of(belief: LearnedBelief | TripEnergies) -> dict[str, Any]:
    """Return model and options of a belief as a table."""
    if isinstance(belief, TripEnergies):
        physics = {} if belief.physics == "eq8" else {"physics": belief.physics}
        return {"model": MODEL, **physics}
    return belief.method.model_dump(exclude_none=True)


def is_whole(path: Path) -> bool:
    """Return True if a belief exists and its digest is correct."""
    try:
        read_arrays(path)
    except DamagedFileError:
        return False
    return True


def load_belief(
    folder: str | Path, run: str | None = None, *, network: RoadNetwork | None = None
) -> LearnedBelief | TripEnergies:
    """Return the belief of a run, or of ``evroute learn``, from a folder.

    Parameters
    ----------
    folder
        Folder of ``evroute learn`` or ``evroute simulate``.
    run
        Name of a run; None if the folder holds only one.
    network
        The network of the belief; loaded by its name if None.

    Raises
    ------
    UnknownNameError
        If the run is unknown, or no run is named among several; the message lists them.
    EvrouteError
        If the file is unreadable, or the belief is about another network or profile.
    """
    path = Folder(Path(folder)).belief_path(_choose(Path(folder), run))
    state, about = _read(path)
    roads = load_network(about.network) if network is None else network
    check_roads(str(path), about.network, about.digest, roads)
    roads = on_terrain(roads, "profile" if about.profile else "edge")
    require(
        not about.profile or (roads.pieces and roads.pieces.digest == about.profile),
        f"{path} is a belief about another profile of network '{about.network}'; build the "
        "network as it was, or learn again",
    )
    assumed = Prior(about.prior, about.kernel, about.lengthscale, about.temperature)
    return _restored(path, Setting(roads, about.vehicle, assumed), state, about)


def continued(path: Path, setting: Setting) -> LearnedBelief | TripEnergies:
    """Return the belief of a file, to continue learning in the same setting.

    Raises
    ------
    EvrouteError
        If it is unreadable.
    """
    belief = _restored(path, setting, *_read(path))
    if isinstance(belief, LearnedBelief) and isinstance(belief.model, ExactGP):
        belief.model.unpack()
    return belief


def _read(path: Path) -> tuple[dict[str, Any], Description]:
    """Return the arrays of a file by name, and the description of the belief."""
    try:
        state = read_arrays(path)
        return state, _DESCRIPTION.validate_python(
            limits.parse_json(str(state.pop(_ABOUT)), str(path))
        )
    except ValidationError as error:
        raise _damaged(path, f"{path} describes no belief: {first_problem(error)}") from None
    except (DamagedFileError, KeyError, ValueError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, wrong: object) -> DamagedFileError:
    return DamagedFileError(f"{wrong}; make it again with {_maker(path)}")


def _maker(path: Path) -> str:
    """Return the command that makes a belief again, for messages."""
    folder = path.parents[1]
    if parts := sorted((folder / "measured").glob("[!.]*.parquet")):
        return f"'evroute learn {parts[0]} --out {folder}' and the options that it was learned with"
    if path.stem.endswith("-learned"):
        return f"'evroute learn' of the same tables with --out {folder} --reset"
    return f"'evroute simulate' of the same experiment with --out {folder}"


def _restored(
    path: Path, setting: Setting, state: dict[str, Any], about: Description
) -> LearnedBelief | TripEnergies:
    try:
        if about.method.get("model") == MODEL:
            trips = TripEnergies(setting, str(path), physics=about.method.get("physics", "eq8"))
            trips.restore(state)
            return trips
        belief = LearnedBelief.before_trips(
            checked_method(about.method), setting, {"device": "cpu"}
        )
        belief.restore(state)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        wrong = (
            f"{path} was written by an earlier version, or does not hold the state of its method "
            f"({error})"
        )
        raise _damaged(path, wrong) from error
    return replace(belief, trips=about.trips, source=str(path))


def _choose(folder: Path, run: str | None) -> str:
    require(
        folder.is_dir(),
        f"there is no folder {folder}; 'evroute simulate' and 'evroute learn' write such folders",
    )
    there = Folder(folder).beliefs()
    require(there, f"{folder} holds no finished run")
    if run is None and len(there) == 1:
        return there[0]
    if run not in there:
        wrong = "holds several runs" if run is None else f"has no run '{run}'"
        more = f" and {len(there) - SHOWN_RUNS} more" if len(there) > SHOWN_RUNS else ""
        raise UnknownNameError(
            f"{folder} {wrong}; name one with --run: {', '.join(there[:SHOWN_RUNS])}{more}"
        )
    return run
