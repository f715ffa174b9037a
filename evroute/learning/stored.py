"""Files of beliefs: learned arrays beside the method, prior, network and vehicle of a belief."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from evroute import limits
from evroute.checked import read_arrays, write_arrays
from evroute.energy.vehicle import Vehicle, charging_of, numbers_of
from evroute.errors import DamagedFileError, require
from evroute.methods.setting import Prior, Setting
from evroute.model.base import State
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.validation.invalid import first_problem

_ABOUT = "about"
LINES = "known/digest"
"""Ending of the name of the array that states with lines of roads have."""


@dataclass(frozen=True, slots=True)
class Description:
    """The subject of a belief as its file describes it. The names are the same as in the file."""

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
    types: dict[str, Any] = Field(default_factory=dict)  # of a folder of several, to be split
    cars: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def of(
        cls, method: Mapping[str, Any], setting: Setting, trips: int | None = None
    ) -> "Description":
        """Return the description of a belief.

        Parameters
        ----------
        method, setting, trips
            As in `write`.
        """
        network, assumed = setting.network, setting.assumed
        return cls(
            method=dict(method),
            prior=assumed.spread,
            kernel=assumed.kernel,
            temperature=assumed.temperature,
            network=network.name,
            digest=network.digest,
            vehicle=setting.vehicle,
            trips=trips,
            lengthscale=assumed.lengthscale,
            profile=network.pieces.digest if network.pieces else "",
        )

    def manifest(self, charging: Mapping[str, Any]) -> dict[str, Any]:
        """Return the manifest of the folder of the belief.

        Parameters
        ----------
        charging
            Fields of charging of the folder's vehicle, which it keeps beside the numbers.
        """
        own = self.method, self.prior, self.kernel, self.profile, self.types, self.cars
        names = ("method", "prior", "kernel", "profile", "types", "cars")
        return {
            "kind": "learned",
            **{name: value for name, value in zip(names, own, strict=True) if value},
            "networks": {self.network: self.digest},
            "vehicle": numbers_of(self.vehicle),
            **({"charging": dict(charging)} if charging else {}),
        }


_DESCRIPTION = TypeAdapter(Description)


class Stored(NamedTuple):
    """A belief as its file holds it: the file, its description and the learned arrays."""

    path: Path
    about: Description
    state: State

    def setting(self, network: RoadNetwork | None = None) -> Setting:
        """Return network, vehicle and prior. The network is loaded by its name if None.

        A belief of a car, which knows the lines of its roads, may be taken to another network. It
        then has the profile of this network where there is one.

        Raises
        ------
        EvrouteError
            If the belief is about the roads of another network or profile alone.
        """
        path, about = self.path, self.about
        roads = load_network(about.network) if network is None else network
        terrain: str | None = "profile" if about.profile else "edge"
        if self.travels:
            other_map = roads.digest != about.digest and roads.name != about.network
            terrain = None if about.profile or other_map else "edge"
        else:
            check_roads(str(path), about.network, about.digest, roads)
        roads = on_terrain(roads, terrain)
        require(
            self.travels
            or not about.profile
            or (roads.pieces and roads.pieces.digest == about.profile),
            f"{path} is a belief about another profile of network '{about.network}'. Build the "
            "network as it was, or learn again",
        )
        assumed = Prior(about.prior, about.kernel, about.lengthscale, about.temperature)
        return Setting(roads, about.vehicle, assumed)

    @property
    def travels(self) -> bool:
        """Whether it knows the lines of its roads. Beliefs of edges do not."""
        return any(name.endswith(LINES) for name in self.state)


def write(
    path: Path, *, method: Mapping[str, Any], setting: Setting, trips: int | None, state: State
) -> None:
    """Write a belief, no pickle.

    Parameters
    ----------
    path
        File, an ``.npz``.
    method
        Model and options.
    setting
        Network, vehicle and prior.
    trips
        Number of trips learned, None if unknown.
    state
        Learned arrays by name.
    """
    description = Description.of(method, setting, trips)
    about = _DESCRIPTION.dump_python(description, exclude_defaults=True)
    about["vehicle"] = setting.vehicle_numbers | charging_of(setting.vehicle)
    write_arrays(path, {_ABOUT: np.array(json.dumps(about)), **state})


def read(path: Path) -> Stored:
    """Return the belief of a file.

    Raises
    ------
    DamagedFileError
        If it cannot be read. The message names the command that makes it again.
    """
    try:
        state = read_arrays(path)
        about = _DESCRIPTION.validate_python(limits.parse_json(str(state.pop(_ABOUT)), str(path)))
    except ValidationError as error:
        raise damaged(path, f"{path} describes no belief: {first_problem(error)}") from None
    except (DamagedFileError, KeyError, ValueError) as error:
        raise damaged(path, error) from None
    return Stored(path, about, state)


def damaged(path: Path, wrong: object) -> DamagedFileError:
    """Return the error of a file of a belief, with the command that makes it again."""
    return DamagedFileError(f"{wrong}. Make it again with {_maker(path)}")


@contextmanager
def restoring(stored: Stored) -> Iterator[None]:
    """Restore a state in this context. DamagedFileError if its method has another state."""
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        wrong = (
            f"{stored.path} was written by an earlier version, or does not hold the state of "
            f"its method ({error})"
        )
        raise damaged(stored.path, wrong) from error


def _maker(path: Path) -> str:
    """Return the command that makes a belief again, for messages."""
    folder = path.parents[1]
    if any((folder / "measured").glob("[!.]*.parquet")):
        return f"'evroute learn --repair {folder}'"
    if path.stem.endswith("-learned"):
        return f"'evroute learn' of the same tables with --out {folder} --reset"
    return f"'evroute simulate' of the same experiment with --out {folder}"


def subject(setting: Setting) -> str:
    """Return vehicle and network of a belief in words."""
    return f"by vehicle '{setting.vehicle.name}' on network '{setting.network.name}'"


def check_subject(source: str, setting: Setting, network: RoadNetwork, vehicle: Vehicle) -> None:
    """Check that a belief is about a network and a vehicle.

    Parameters
    ----------
    source
        The file of the belief, for the message.
    setting
        Network and vehicle that the belief is about.
    network, vehicle
        Network and vehicle at hand.

    Raises
    ------
    EvrouteError
        If it is about others. The message names both.
    """
    check_roads(source, setting.network.name, setting.network.digest, network)
    check_vehicle(source, setting, vehicle)


def check_vehicle(source: str, setting: Setting, vehicle: Vehicle) -> None:
    """Check that a belief is about a vehicle.

    Parameters
    ----------
    source
        The file of the belief, for the message.
    setting
        Network and vehicle that the belief is about.
    vehicle
        Vehicle at hand.

    Raises
    ------
    EvrouteError
        If it is about another one. The message names both.
    """
    same = setting.vehicle.name == vehicle.name
    remedy = (
        " with these numbers. Learn its trips by them: evroute learn --repair FOLDER --vehicle "
        f"{vehicle.name}, or its file"
        if same
        else f". Give --vehicle {setting.vehicle.name}"
    )
    require(
        numbers_of(setting.vehicle) == numbers_of(vehicle),
        f"{source} is a belief about vehicle '{setting.vehicle.name}', not about '{vehicle.name}'"
        + remedy,
    )


def check_roads(source: str, name: str, digest: str, network: RoadNetwork) -> None:
    """Check that a belief is about the roads of a network.

    Parameters
    ----------
    source
        The file of the belief, for the message.
    name, digest
        Name and digest of the network that the belief is about.
    network
        The network at hand.

    Raises
    ------
    EvrouteError
        If the digests differ. The message names both networks.
    """
    require(
        digest == network.digest,
        f"{source} is a belief about network '{name}' ({digest[:12]}), "
        f"not about '{network.name}' ({network.digest[:12]})",
    )
