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
from evroute.learning.pace import Pace
from evroute.methods.method import Method
from evroute.methods.prior import Prior
from evroute.methods.setting import Setting
from evroute.model.context_kernels import DEFAULT_KERNEL
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.policy.conformal import AdaptiveConformal

_ABOUT = "about"
_CONFORMAL, _PACE = "conformal/", "pace/"
SHOWN_RUNS = 10


def save(path: Path, belief: LearnedBelief) -> None:
    """Write a belief with its method, prior, network and vehicle; no pickle."""
    setting = belief.setting
    about = {
        "method": belief.method.model_dump(exclude_none=True),
        "prior": setting.assumed.spread,
        "kernel": setting.assumed.kernel,
        "lengthscale": setting.assumed.lengthscale,
        "temperature": setting.assumed.temperature,
        "network": setting.network.name,
        "digest": setting.network.digest,
        "vehicle": setting.vehicle_numbers,
        "trips": belief.trips,
    }
    arrays: dict[str, Any] = {_ABOUT: np.array(json.dumps(about)), **belief.state()}
    arrays |= {_CONFORMAL + name: array for name, array in belief.conformal.state().items()}
    if belief.pace is not None:
        arrays |= {_PACE + name: array for name, array in belief.pace.state().items()}
    write_arrays(path, arrays)


def is_whole(path: Path) -> bool:
    """Return True if a belief exists and its digest is correct."""
    try:
        read_arrays(path)
    except DamagedFileError:
        return False
    return True


def load_belief(
    folder: str | Path, run: str | None = None, *, network: RoadNetwork | None = None
) -> LearnedBelief:
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
        If the file is unreadable, or the belief is about another network.
    """
    path = Folder(Path(folder)).belief_path(_choose(Path(folder), run))
    state, about = _read(path)
    roads = load_network(about["network"]) if network is None else network
    check_roads(str(path), about["network"], about["digest"], roads)
    setting = Setting(
        roads,
        Vehicle(**about["vehicle"]),
        Prior(
            about["prior"],
            about.get("kernel", DEFAULT_KERNEL),
            about["lengthscale"],
            temperature=bool(about.get("temperature")),
        ),
    )
    return _restored(path, setting, state, about)


def continued(path: Path, setting: Setting) -> LearnedBelief:
    """Return the belief of a file, to continue learning in the same setting.

    Raises
    ------
    EvrouteError
        If it is unreadable.
    """
    return _restored(path, setting, *_read(path))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays of a file by name, and what the belief is about."""
    try:
        state = read_arrays(path)
        return state, json.loads(str(state.pop(_ABOUT)))
    except (DamagedFileError, KeyError, ValueError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> DamagedFileError:
    return DamagedFileError(f"{error}; make it again with {_maker(path)}")


def _maker(path: Path) -> str:
    """Return the command that makes a belief again, for messages."""
    folder = path.parents[1]
    if parts := sorted((folder / "measured").glob("[!.]*.parquet")):
        return f"'evroute learn {parts[0]} --out {folder}' and the options that it was learned with"
    return f"'evroute simulate' of the same experiment with --out {folder}"


def _restored(
    path: Path, setting: Setting, state: dict[str, Any], about: dict[str, Any]
) -> LearnedBelief:
    method = Method.model_validate(about["method"])
    belief = LearnedBelief.before_trips(method, setting, {"device": "cpu"})
    widths, paces = _take(state, _CONFORMAL), _take(state, _PACE)
    conformal, pace = AdaptiveConformal(), Pace.of_network(setting.network)
    try:
        if widths:
            conformal.restore(widths)
        if paces:  # beliefs of earlier versions have none
            pace.restore(paces)
    except (KeyError, ValueError) as error:
        raise _damaged(path, error) from None
    belief.restore(state)
    return replace(belief, conformal=conformal, trips=about["trips"], pace=pace, source=str(path))


def _take(state: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Remove the arrays of a prefix and return them by their names without it."""
    names = [name for name in state if name.startswith(prefix)]
    return {name.removeprefix(prefix): state.pop(name) for name in names}


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
