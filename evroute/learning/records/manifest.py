"""The start of a folder of ``evroute learn``: its settings, and the belief before any trip.

The settings are network, vehicle, prior and model. They come from the caller and, where the caller
names none, from the manifest of the folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from evroute.energy import defaults
from evroute.energy.prior import DEFAULT_SPREAD
from evroute.energy.vehicle import Vehicle, charging_of, load_vehicle
from evroute.errors import DamagedFileError, EvrouteError, UnknownNameError
from evroute.folder import Folder
from evroute.learning.base import Belief
from evroute.learning.belief import KINDS, MIXED
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.stored import Description
from evroute.learning.trips.energies import MODEL
from evroute.methods.method import checked_method
from evroute.methods.parts import MODELS, model_options
from evroute.methods.setting import Prior, Setting, load_setting
from evroute.model.context_kernels import DEFAULT_KERNEL
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.plugins import is_part
from evroute.validation.invalid import first_problem

DEFAULT_MODEL = MODEL
DEFAULT_NETWORK = "denver"


@dataclass(frozen=True, slots=True)
class Choice:
    """The model of a belief as the caller names it, or None for the folder's, or for the default.

    model, options: as `learn.learn` takes them.  prior, kernel: of a model of edges.  terrain:
    ``"edge"`` or ``"profile"``.
    """

    model: str | None = None
    options: Mapping[str, Any] | None = None
    prior: str | None = None
    kernel: str | None = None
    terrain: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Setting and model of a folder, before any trip.

    model, options: of the belief.  charging: fields of charging of the folder's vehicle, which a
    manifest keeps beside its numbers.
    """

    setting: Setting
    model: str
    options: Mapping[str, Any]
    charging: Mapping[str, Any]

    @property
    def run(self) -> str:
        """Name of the only run of the folder."""
        return f"{self.setting.network.name}-learned"

    def before_trips(self) -> Belief:
        """Return a new belief before any trip.

        Raises
        ------
        EvrouteError
            If the model or one of its options is unknown.
        """
        if self.model in KINDS:
            return KINDS[self.model].of_method(self.options, self.setting)
        return LearnedBelief.before_trips(
            checked_method({"model": self.model, "index": "greedy", **self.options}), self.setting
        )

    def manifest_of(self, learner: Belief) -> dict[str, Any]:
        """Return the manifest of the folder of a belief."""
        return Description.of(learner.method_table, self.setting).manifest(self.charging)


@checked_dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Manifest:
    """Fields of a manifest. The names are the same as in the file."""

    kind: Literal["learned"]
    method: dict[str, Any]
    prior: str
    networks: Annotated[dict[str, str], Field(min_length=1, max_length=1)]
    vehicle: dict[str, Any]
    kernel: str = DEFAULT_KERNEL
    profile: str = ""  # digest of the pieces of its network; empty for one slope per edge
    charging: dict[str, Any] = Field(default_factory=dict)
    types: dict[str, dict[str, Any]] = Field(default_factory=dict)  # of several, to be split
    cars: dict[str, str] = Field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check model and vehicle."""
        if not isinstance(self.method.get("model"), str):
            raise ValueError("its method names no model")
        Vehicle(**self.vehicle, **self.charging)


_MANIFEST = TypeAdapter(Manifest)


def checked_manifest(manifest: Any, origin: str, remedy: str) -> dict[str, Any]:
    """Return a manifest of ``evroute learn``.

    Parameters
    ----------
    manifest
        Content of a JSON file.
    origin, remedy
        The file, and the remedy of a damaged one, for messages.

    Raises
    ------
    DamagedFileError
        If a field is missing, unknown or of another type, or it is of another kind.
    """
    try:
        _MANIFEST.validate_python(manifest)
    except (TypeError, ValueError) as error:
        problem = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise DamagedFileError(
            f"{origin} was not made by 'evroute learn', or was changed ({problem}). {remedy}"
        ) from None
    return dict(manifest)


def stored_manifest(folder: Folder) -> dict[str, Any]:
    """Return the manifest of a folder of ``evroute learn``.

    Raises
    ------
    DamagedFileError
        If it is unreadable, incomplete or of another kind. The message names the remedy.
    """
    return checked_manifest(folder.manifest(), str(folder.path / "manifest.json"), folder.remedy)


def start_of(
    made: Mapping[str, Any],
    network: RoadNetwork | str | None,
    vehicle: Vehicle | str | None,
    choice: Choice,
) -> Start:
    """Return the start of a folder: the caller's choices, on top of its manifest.

    Parameters
    ----------
    made
        Manifest of the folder, or empty for a new one.
    network
        A network, or its name or file, or None for the manifest's, or `DEFAULT_NETWORK`.
    vehicle
        A vehicle, or its name or file, or None for the manifest's, or `defaults.VEHICLE`.
    choice
        Model, prior and terrain.

    Raises
    ------
    EvrouteError
        If a name is unknown, or the model does not take an option.
    """
    assumed = Prior(
        choice.prior or str(made.get("prior", DEFAULT_SPREAD)),
        choice.kernel or str(made.get("kernel", DEFAULT_KERNEL)),
    )
    if network is None:
        network = next(iter(made.get("networks", {})), DEFAULT_NETWORK)
    given = vehicle or defaults.VEHICLE
    setting = _setting(network, given, assumed, choice.terrain)
    of_edges = not made.get("profile") and setting.network.name in made.get("networks", {})
    if choice.terrain is None and of_edges and setting.network.pieces:
        setting = _setting(network, given, assumed, "edge")
    if vehicle is None and "vehicle" in made:
        car = Vehicle(**made["vehicle"], **made.get("charging", {}))
        setting = Setting(setting.network, car, assumed)
    model, options = _method_of(made, choice, setting.network)
    _check_model(model, options, choice)
    charging = made.get("charging") if made else charging_of(setting.vehicle)
    return Start(setting, model, options, charging or {})


def as_continued(stored: Mapping[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest by which a call opens a folder, with the folder's values that may differ.

    A belief of trips goes on with its car to another network, and to other numbers of the car.

    Parameters
    ----------
    stored
        Manifest of the folder, or empty for a new one.
    manifest
        Manifest of the call.
    """
    same_car = stored.get("vehicle", {}).get("name") == manifest["vehicle"]["name"]
    if not same_car or manifest["method"]["model"] not in KINDS:
        return manifest
    networks = stored["networks"] != manifest["networks"]
    rebuilt = bool(stored.get("profile")) == bool(manifest.get("profile"))
    own = {"networks", "vehicle", "charging"}
    if networks or rebuilt:
        own.add("profile")
    if stored["method"].get("physics") == MIXED:
        own.add("method")
    kept = {key: value for key, value in manifest.items() if key not in own}
    return kept | {key: value for key, value in stored.items() if key in own}


def _setting(
    network: RoadNetwork | str, car: Vehicle | str, assumed: Prior, terrain: str | None
) -> Setting:
    if isinstance(network, str) and isinstance(car, str):
        return load_setting(network, car, assumed, terrain)
    roads = load_network(network) if isinstance(network, str) else network
    car = load_vehicle(car) if isinstance(car, str) else car
    return Setting(on_terrain(roads, terrain), car, assumed)


def _method_of(
    made: Mapping[str, Any], choice: Choice, network: RoadNetwork
) -> tuple[str, dict[str, Any]]:
    """Return a model and its options: those chosen, on top of the manifest's or the default's."""
    method = dict(made.get("method", {"model": DEFAULT_MODEL, "physics": MIXED}))
    if method.get("physics") == MIXED:
        method["physics"] = defaults.physics_of(network)
    own, given = str(method.pop("model")), dict(choice.options or {})
    if choice.model not in (None, own if own == DEFAULT_MODEL else None):
        return str(choice.model), given
    return own, {name: value for name, value in method.items() if name != "index"} | given


def _check_model(model: str, options: Mapping[str, Any], choice: Choice) -> None:
    """Check that a model exists and takes the options and the prior that are chosen."""
    if model in KINDS:
        strange = [name for name in options if name not in KINDS[model].options]
        strange += [name for name in ("prior", "kernel") if getattr(choice, name)]
        if strange:
            raise EvrouteError(
                f"model '{model}' learns whole trips and takes no {strange[0]}. Name "
                "another model of 'evroute method list', such as physics+gp"
            )
    elif is_part(model):
        model_options(model)
    elif model not in MODELS:
        known = ", ".join([*KINDS, *MODELS])
        raise UnknownNameError(f"unknown model '{model}'. There are {known}")


def vehicle_names(setting: Setting, vehicle: Vehicle | str | None) -> set[str]:
    """Return the names that a setting's vehicle may have in tables."""
    given = {vehicle, Path(vehicle).stem} if isinstance(vehicle, str) else set()
    return given | {setting.vehicle.name}
