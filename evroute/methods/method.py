"""Methods: a model of edge energy and an index, with their options and their construction."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from numpy.random import Generator
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from evroute.errors import EvrouteError
from evroute.methods.parts import MODELS, index_options, label_of, made_by, model_options, pair
from evroute.methods.setting import Prior, Setting
from evroute.model.base import EnergyModel, ModelOptions
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace
from evroute.policy.agent import lacking
from evroute.policy.base import Index, IndexOptions
from evroute.validation.invalid import first_problem

SPARSE = "svgp"
"""Model in place of the exact one where contexts never repeat."""
NEAR = 2.0
"""Factor of the corridor that goes with it on turns."""


class Method(BaseModel):
    """A model and an index, or the name of a pair, with options. Others keep their defaults.

    Every other option is a field of the options of the model or the index
    (`parts.model_options`, `parts.index_options`). An option of both is passed to both.

    Parameters
    ----------
    model, index
        Names of `parts.MODELS` and `parts.INDICES`.
    arms
        Arms of the model: ``"turns"``, ``"turns-braked"`` if braking for a turn is measured on the
        edge left (`TurnSpace`), ``"edges"`` by default.
    learn_speeds
        Whether turns use the measured speeds of trips.
    controls
        Whether lights, stop signs and priority are contexts of turns. The network needs them.
    guard
        Share of the energy of the eq. 8 route that learning may lose (`Guard`), or true for the
        default.
    guard_wh
        Energy that learning may lose before the first trip's share, Wh. By default the energy
        that eq. 8 dissipates on four trips, by the greatest mean so far. It needs a guard.
    change_test
        Whether roads, speeds and the guard's licence are learned anew after a detected change
        (`learning.change`). It needs a model with a kernel.
    corridor
        Search only edges on ways that cost at most this factor times the least by eq. 8, and
        predict no others (`Corridor`).
    exact_contexts
        Whether every context is kept where the temperature is one. By default temperatures merge
        on a grid of 1 K and known speeds on one of 5 km/h, so that arms return (`EdgeSpace`), and
        an exact model becomes a sparse one (`is_sparse`).
    lengthscale_factor
        Lengthscale of the model's kernel as a multiple of the world's. It needs a kernel.
    """

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    model: str
    index: str
    arms: Annotated[
        Literal["turns", "turns-braked"] | None,
        BeforeValidator(lambda arms: None if arms == "edges" else arms),
    ] = None
    learn_speeds: Literal[True] | None = None
    controls: Literal[True] | None = None
    guard: Annotated[float, Field(gt=0, lt=1, strict=True)] | Literal[True] | None = None
    guard_wh: Annotated[float, Field(gt=0)] | None = None
    change_test: Literal[True] | None = None
    corridor: float | None = Field(default=None, ge=1)
    exact_contexts: Literal[True] | None = None
    lengthscale_factor: float | None = Field(default=None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"method": data}
        if not isinstance(data, dict) or "method" not in data:
            return data
        rest = {name: value for name, value in data.items() if name != "method"}
        if clash := sorted(rest.keys() & {"model", "index"}):
            raise EvrouteError(
                f"method '{data['method']}' names its {clash[0]}. Leave one of them out"
            )
        return pair(data["method"]) | rest

    @model_validator(mode="after")
    def _check(self) -> "Method":
        model, index = model_options(self.model), index_options(self.index)
        self._check_kernel(model)
        self._check_guard()
        self._check_arms(model)
        self._check_pair(model, index)
        self._check_options(model, index)
        return self

    def _check_kernel(self, model: type[ModelOptions]) -> None:
        """Refuse options of a kernel where the model has none."""
        if model.has_kernel:
            return
        if self.lengthscale_factor is not None:
            raise EvrouteError(
                f"model '{self.model}' takes no lengthscale_factor: it has no kernel"
            )
        if self.change_test:
            raise EvrouteError(
                f"model '{self.model}' takes no change_test: its coefficients belong to the "
                "vehicle, not to roads that change. Leave it out"
            )

    def _check_guard(self) -> None:
        """Refuse a budget without a guard."""
        if self.guard_wh and not self.guard:
            raise EvrouteError("guard_wh is the budget of a guard. Give guard = true too")

    def _check_arms(self, model: type[ModelOptions]) -> None:
        """Refuse options of turns without arms on turns, and options of edges with them."""
        if not self.arms:
            for name in ("learn_speeds", "controls"):
                if getattr(self, name):
                    raise EvrouteError(f"{name} is for arms on turns. Give arms = 'turns' too")
        elif model.only_edges:
            raise EvrouteError(f"model '{self.model}' has no arms on turns: {model.only_edges}")

    def _check_pair(self, model: type[ModelOptions], index: type[IndexOptions]) -> None:
        """Refuse a model without the protocol that the index needs."""
        needs = made_by(index).needs
        if lacking(made_by(model), needs):
            able = [name for name in MODELS if not lacking(made_by(model_options(name)), needs)]
            raise EvrouteError(
                f"index '{self.index}' cannot work on model '{self.model}', which is not "
                f"{needs.__name__}. Use one of: {', '.join(able)}"
            )

    def _check_options(self, model: type[ModelOptions], index: type[IndexOptions]) -> None:
        """Refuse unknown options and values out of range. Keep the values as checked."""
        known = model.model_fields.keys() | index.model_fields.keys()
        given = self.__pydantic_extra__ or {}
        if unknown := sorted(given.keys() - known):
            taker = model.taken_by.get(unknown[0])
            raise EvrouteError(
                f"neither model '{self.model}' nor index '{self.index}' takes {unknown[0]}. "
                f"Their options are {', '.join(sorted(known)) or 'none'}"
                + (f". {taker} takes it" if taker else "")
            )
        given |= model.checked(given).model_dump(exclude_unset=True)
        given |= index.checked(given).model_dump(exclude_unset=True)

    @property
    def options(self) -> dict[str, Any]:
        """The given options of model and index."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def name(self) -> str:
        """Model and index with their options, for file names: ``svgp-m200-ts-v0.25``."""
        of_model, of_index = self._by_part()
        short = {
            "lengthscale_factor": "l",
            **model_options(self.model).short,
            **index_options(self.index).short,
        }
        options = [
            [short.get(name, name.replace("_", "")) + _short(value) for name, value in of.items()]
            for of in (of_model, of_index)
        ]
        parts = [
            self.model,
            self.arms,
            "speeds" if self.learn_speeds else "",
            "controls" if self.controls else "",
            *options[0],
            self.index,
            *options[1],
            f"corridor{self.corridor:g}" if self.corridor else "",
            f"guarded{_short(self.guard)}" if self.guard else "",
            f"{self.guard_wh:g}wh" if self.guard_wh else "",
            "change-test" if self.change_test else "",
            "exact-contexts" if self.exact_contexts else "",
        ]
        return "-".join(filter(None, parts)).replace(":", ".")

    @property
    def label(self) -> str:
        """Name in reports: ``GP-TS``, ``BI-BayesUCB (xi 0.5)``."""
        of_model, of_index = self._by_part()
        options = ", ".join(
            f"{name.replace('_', ' ')} {_short(value)}".rstrip()
            for name, value in (of_index | of_model).items()
        )
        with_turns = [
            name
            for name, used in (("speeds", self.learn_speeds), ("controls", self.controls))
            if used
        ]
        words = [
            label_of(self.model, self.index),
            self.arms,
            f"with {' and '.join(with_turns)}" if with_turns else "",
            f"corridor {self.corridor:g}" if self.corridor else "",
            f"guarded {_short(self.guard)}".rstrip() if self.guard else "",
            f"from {self.guard_wh:g} Wh" if self.guard_wh else "",
        ]
        name = " ".join(filter(None, words))
        if self.change_test:
            name += ", change test"
        if self.exact_contexts:
            name += ", exact contexts"
        return f"{name} ({options})" if options else name

    def _by_part(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the given options of the model, then the index's own, in their order."""
        given = self.options
        of_model, of_index = (
            {name: given[name] for name in part.model_fields if name in given}
            for part in (model_options(self.model), index_options(self.index))
        )
        of_index = {name: value for name, value in of_index.items() if name not in of_model}
        if self.lengthscale_factor is not None:
            of_model["lengthscale_factor"] = self.lengthscale_factor
        return of_model, of_index


def checked_method(table: Mapping[str, Any]) -> Method:
    """Return the validated method of a table.

    Raises
    ------
    EvrouteError
        If a name or an option is unknown, or a value of the wrong type or out of its range.
    """
    try:
        return Method.model_validate(table)
    except ValidationError as error:
        raise EvrouteError(f"method: {first_problem(error)}") from None


def is_sparse(method: Method, assumed: Prior) -> bool:
    """Return whether the sparse model takes the place of the exact one.

    The rule: where the temperature of each trip is a context, no arm returns, and the state of an
    exact process grows without end. `SPARSE` takes its place. The exact process stays where
    ``exact_contexts`` asks for it, and for an index that needs more than the sparse model has.

    Parameters
    ----------
    method
        The method.
    assumed
        The prior, which states whether the temperature is a context.
    """
    if method.model != "exact" or not assumed.temperature or method.exact_contexts:
        return False
    return not lacking(made_by(model_options(SPARSE)), made_by(index_options(method.index)).needs)


def corridor_of(method: Method, assumed: Prior) -> float | None:
    """Return the factor of the corridor in which a method searches, or None to search everywhere.

    Arms on turns are three times as many as edges, so that with a sparse model only those near the
    least energy by eq. 8 are predicted.

    Parameters
    ----------
    method, assumed
        As in `is_sparse`.
    """
    if method.corridor is None and method.arms and is_sparse(method, assumed):
        return NEAR
    return method.corridor


def make_model(
    method: Method,
    setting: Setting,
    rng: Generator,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> EnergyModel:
    """Return the model of a method before any trip.

    Parameters
    ----------
    method
        The model and its options.
    setting
        Network, vehicle and prior, over the edges.
    rng
        Source of the model's draws.
    options
        Values of options that override the method's.
    """
    made = model_options(method.model).checked({**method.options, **options})
    if is_sparse(method, setting.assumed):
        made = model_options(SPARSE).checked({})
    return made.build(setting_of(method, setting), rng)


def make_space(method: Method, setting: Setting) -> SearchSpace:
    """Return a new space of the arms of a method, for one learner."""
    if not method.arms:
        return EdgeSpace(
            setting.network,
            setting.vehicle,
            temperature=setting.assumed.temperature,
            exact_contexts=bool(method.exact_contexts),
        )
    edges = setting.edges
    if method.exact_contexts:
        edges = edges.with_exact_contexts()
    return TurnSpace(
        edges,
        setting.turn_table,
        braked=method.arms == "turns-braked",
        learn_speeds=bool(method.learn_speeds),
        controls=bool(method.controls),
    )


def setting_of(method: Method, setting: Setting) -> Setting:
    """Return the setting over the arms of a method."""
    return setting.on_turns(controls=bool(method.controls)) if method.arms else setting


def make_index(method: Method, setting: Setting) -> Index:
    """Return the index of a method."""
    return index_options(method.index).checked(method.options).build(setting_of(method, setting))


def _short(value: Any) -> str:
    """Return the value of an option as text, or empty if it is True."""
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is True else str(value)
