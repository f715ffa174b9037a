"""What a run had learned, kept to plan with: the state of its model, and what it is a belief about."""

import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.random import default_rng

from evroute import limits
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.files import replacing
from evroute.folder import Folder
from evroute.methods.method import Method, checked_method, make_model, make_space
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel
from evroute.network.road_network import RoadNetwork
from evroute.planning.turn_belief import TurnBelief
from evroute.policy.conformal import AdaptiveConformal

_ABOUT = "about"
_CONFORMAL = "conformal/"
_KEYS = {"method", "prior", "lengthscale", "network", "digest", "vehicle"}
SHOWN_RUNS = 10


def save(
    path: Path,
    learned: EnergyModel,
    *,
    method: Method,
    setting: Setting,
    conformal: AdaptiveConformal | None = None,
    trips: int | None = None,
) -> None:
    """Write the state of a model with its method and the names of network and vehicle; no pickle.

    conformal: how wide its intervals have to be; none if nothing has heard of its trips.  trips:
    how many it has learned, where others may follow (`continued`).
    """
    about = {
        "method": method.model_dump(exclude_none=True),
        "prior": setting.spread,
        "lengthscale": setting.lengthscale,
        "temperature": setting.temperature,
        "network": setting.network.name,
        "digest": setting.network.digest,
        "vehicle": setting.vehicle_numbers,
        "trips": trips,
    }
    widths = {
        _CONFORMAL + name: array for name, array in (conformal.state() if conformal else {}).items()
    }
    arrays: dict[str, Any] = {_ABOUT: np.array(json.dumps(about)), **learned.state(), **widths}
    with replacing(path) as temporary:
        np.savez(temporary, **arrays)


def load_belief(
    folder: Path, run: str | None, network: RoadNetwork, vehicle: Vehicle
) -> EnergyModel:
    """Return the model of a run as it was at its end; ``run`` may be None where the folder holds one run alone.

    Raises
    ------
    UnknownNameError
        If there is no such run, or several and none is named; the message lists them.
    EvrouteError
        If the belief is of another network or vehicle, or unreadable.
    """
    path = Folder(folder).belief_path(_choose(folder, run))
    state, about, _ = _read(path)
    if about.get("temperature"):
        raise EvrouteError(
            f"{path} is a belief that goes by the temperature of each trip; plans do not tell one yet"
        )
    setting = Setting(network, vehicle, spread=about["prior"], lengthscale=about["lengthscale"])
    if about["digest"] != network.digest:
        raise EvrouteError(
            f"{path} is a belief about network '{about['network']}' ({about['digest'][:12]}), "
            f"not about '{network.name}' ({network.digest[:12]})"
        )
    if about["vehicle"] != setting.vehicle_numbers:
        raise EvrouteError(
            f"{path} is a belief about vehicle '{about['vehicle']['name']}', not about '{vehicle.name}'"
            + (
                " with these numbers"
                if about["vehicle"]["name"] == vehicle.name
                else "; name it with --vehicle"
            )
        )
    return _restored(state, about, setting, path)


def load_conformal(folder: Path, run: str | None) -> AdaptiveConformal:
    """Return how wide the intervals of a run had to be at its end; one that heard no trip says of a Gaussian.

    Raises
    ------
    UnknownNameError
        If there is no such run, or several and none is named; the message lists them.
    EvrouteError
        If it is unreadable.
    """
    return _read(Folder(folder).belief_path(_choose(folder, run)))[2]


def inflation(folder: Path, run: str | None) -> float:
    """Return by what the deviations of a run's belief are to be multiplied, as `load_conformal`."""
    return load_conformal(folder, run).inflation


def continued(path: Path, setting: Setting) -> tuple[EnergyModel, AdaptiveConformal, int]:
    """Return the model that was saved, to go on learning in the same setting, its intervals, and how many trips.

    Raises
    ------
    EvrouteError
        If it is unreadable.
    """
    state, about, conformal = _read(path)
    return _restored(state, about, setting, path), conformal, about["trips"]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any], AdaptiveConformal]:
    try:
        limits.check_archive(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            state = {name: stored[name] for name in stored.files}
            widths = {name: state.pop(name) for name in stored.files if name.startswith(_CONFORMAL)}
            conformal = AdaptiveConformal()
            if widths:
                conformal.restore(
                    {name.removeprefix(_CONFORMAL): array for name, array in widths.items()}
                )
            return state, _about(str(state.pop(_ABOUT)), path), conformal
    except (OSError, EOFError, BadZipFile, KeyError, ValueError):
        raise EvrouteError(f"{path} is unreadable; run again what made it") from None


def _about(text: str, path: Path) -> dict[str, Any]:
    """Return the description of a belief.

    Raises
    ------
    ValueError
        If it is not JSON, or lacks a key.
    """
    about = limits.parse_json(text, str(path))
    if not isinstance(about, dict) or not about.keys() >= _KEYS:
        raise ValueError("no description of a belief")
    return about


def _restored(
    state: dict[str, Any], about: dict[str, Any], setting: Setting, path: Path
) -> EnergyModel:
    # A plan draws few edges at once and needs no factor of all; it predicts once and needs no GPU.
    options = {"prior_factor": None, "device": "cpu", "rng": default_rng(0)}
    method = checked_method(about["method"])
    model = make_model(method, setting, options)
    if space := make_space(method, setting):
        model = TurnBelief(model, space, setting.arms)
    try:
        model.restore(state)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise EvrouteError(
            f"{path} does not hold the state of its method {method.name} ({error}); "
            "run again the command that made it"
        ) from error
    return model


def _choose(folder: Path, run: str | None) -> str:
    if not folder.is_dir():
        raise EvrouteError(
            f"there is no folder {folder}; 'evroute simulate' and 'evroute learn' write such folders"
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
