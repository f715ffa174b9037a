"""Beliefs on disk: the state of a model, with its method, prior, network and vehicle."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evroute.checked import read_arrays, write_arrays
from evroute.energy.vehicle import Vehicle
from evroute.errors import DamagedFileError, EvrouteError, UnknownNameError
from evroute.folder import Folder
from evroute.learning.learned_belief import LearnedBelief, check_roads
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.policy.conformal import AdaptiveConformal

_ABOUT = "about"
_CONFORMAL = "conformal/"
SHOWN_RUNS = 10


def save(path: Path, belief: LearnedBelief) -> None:
    """Write a belief with its method, prior, network and vehicle; no pickle."""
    setting = belief.setting
    about = {
        "method": belief.method.model_dump(exclude_none=True),
        "prior": setting.spread,
        "lengthscale": setting.lengthscale,
        "temperature": setting.temperature,
        "network": setting.network.name,
        "digest": setting.network.digest,
        "vehicle": setting.vehicle_numbers,
        "trips": belief.trips,
    }
    widths = {_CONFORMAL + name: array for name, array in belief.conformal.state().items()}
    write_arrays(path, {_ABOUT: np.array(json.dumps(about)), **belief.state(), **widths})


def is_whole(path: Path) -> bool:
    """Return whether a belief exists and has its digest."""
    try:
        read_arrays(path)
    except DamagedFileError:
        return False
    return True


def load_belief(
    folder: str | Path, run: str | None = None, *, network: RoadNetwork | None = None
) -> LearnedBelief:
    """Load the belief that a run, or ``evroute learn``, has left in a folder.

    Parameters
    ----------
    folder
        Folder of ``evroute learn`` or ``evroute simulate``.
    run
        Name of a run; None if the folder holds one alone.
    network
        The network that it is about; loaded by its name if None.

    Raises
    ------
    UnknownNameError
        If there is no such run, or several and none is named; the message lists them.
    EvrouteError
        If the file is unreadable, or the belief is about another network.
    """
    path = Folder(Path(folder)).belief_path(_choose(Path(folder), run))
    state, about, conformal = _read(path)
    if about.get("temperature"):
        raise EvrouteError(
            f"{path} is a belief that goes by the temperature of each trip; "
            "plans do not tell one yet"
        )
    roads = load_network(about["network"]) if network is None else network
    check_roads(str(path), about["network"], about["digest"], roads)
    setting = Setting(
        roads,
        Vehicle(**about["vehicle"]),
        spread=about["prior"],
        lengthscale=about["lengthscale"],
    )
    return _restored(path, setting, state, about, conformal)


def continued(path: Path, setting: Setting) -> LearnedBelief:
    """Return the belief of a file, to go on learning in the same setting.

    Raises
    ------
    EvrouteError
        If it is unreadable.
    """
    return _restored(path, setting, *_read(path))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any], AdaptiveConformal]:
    try:
        state = read_arrays(path)
        widths = {name: state.pop(name) for name in list(state) if name.startswith(_CONFORMAL)}
        about = json.loads(str(state.pop(_ABOUT)))
        conformal = AdaptiveConformal()
        if widths:
            conformal.restore(
                {name.removeprefix(_CONFORMAL): array for name, array in widths.items()}
            )
    except (DamagedFileError, KeyError, ValueError) as error:
        raise DamagedFileError(f"{error}; make it again with {_maker(path)}") from None
    return state, about, conformal


def _maker(path: Path) -> str:
    """Return the command that makes a belief again, in words."""
    folder = path.parents[1]
    if parts := sorted((folder / "measured").glob("[!.]*.parquet")):
        return f"'evroute learn {parts[0]} --out {folder}' and the options that it was learned with"
    return f"'evroute simulate' of the same experiment with --out {folder}"


def _restored(
    path: Path,
    setting: Setting,
    state: dict[str, Any],
    about: dict[str, Any],
    conformal: AdaptiveConformal,
) -> LearnedBelief:
    method = Method.model_validate(about["method"])
    belief = LearnedBelief.before_trips(method, setting, {"device": "cpu"})
    belief.restore(state)
    return replace(belief, conformal=conformal, trips=about["trips"], source=str(path))


def _choose(folder: Path, run: str | None) -> str:
    if not folder.is_dir():
        raise EvrouteError(
            f"there is no folder {folder}; "
            "'evroute simulate' and 'evroute learn' write such folders"
        )
    there = Folder(folder).beliefs()
    if not there:
        raise EvrouteError(f"{folder} holds no finished run")
    if run is None and len(there) == 1:
        return there[0]
    if run not in there:
        wrong = "holds several runs" if run is None else f"has no run '{run}'"
        more = f" and {len(there) - SHOWN_RUNS} more" if len(there) > SHOWN_RUNS else ""
        raise UnknownNameError(
            f"{folder} {wrong}; name one with --run: {', '.join(there[:SHOWN_RUNS])}{more}"
        )
    return run
