"""Methods by name: a model of edge energy and an index over it, with the options that the index takes.

The tables hold ``"module:name"`` strings, imported when named. What is named is a class or a function; it is called
with the values that its parameters name: a model with those of a `Setting`, an index with the options of its method
and, again, those of a setting. A new sibling is one new file and one new line.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError, UnknownNameError
from evroute.model.base import EnergyModel
from evroute.model.kernels import EdgeContextKernel
from evroute.model.refitting import Refitting
from evroute.model.slots import Slots
from evroute.policy.agent import lacking
from evroute.simulation.setting import Setting

MODELS = {
    "independent": "evroute.model.independent:IndependentNormal",
    "exact": "evroute.model.exact:ExactGP",
    "svgp": "evroute.model.svgp:SparseVariationalGP",
}
INDICES = {
    "ucb": "evroute.policy.confidence:ucb",
    "bayes-ucb": "evroute.policy.confidence:bayes_ucb",
    "bayes-ucb-quantile": "evroute.policy.confidence:bayes_ucb_quantile",
    "ts": "evroute.policy.thompson:IndependentThompson",
    "ts-joint": "evroute.policy.thompson:JointThompson",
    "greedy": "evroute.policy.baselines:Greedy",
    "random": "evroute.policy.baselines:Random",
}
WORLDS = {
    "sampled-gp": "evroute.simulation.sampled_gp:SampledGP",
}

LABELS = {
    "independent": "BI",
    "exact": "GP",
    "svgp": "SVGP",
    "ucb": "UCB",
    "bayes-ucb": "BayesUCB",
    "bayes-ucb-quantile": "BayesUCB 1/t",
    "ts": "TS",
    "ts-joint": "TS joint",
}
OPTIONS = {"variance_scale": "v", "beta_scale": "b", "omega": "w", "xi": "x"}
MODEL_OPTIONS = {"inducing_points": "m", "batch_size": "n", "slots": "", "device": ""}
KERNEL_OPTIONS = {"lengthscale_factor": "l", "fit_hyperparameters": "fitted"}
"""Options by the letters that stand for them in file names: of indices, of models, of every model with a kernel."""


class Method(BaseModel):
    """A model and an index; options left out keep the defaults of these.

    variance_scale: of Thompson samples.  beta_scale: factor of beta.  omega, xi: of BayesUCB (Theorem 3.1).
    inducing_points, batch_size, slots, device: of ``svgp``.  lengthscale_factor: the model's kernel has the world's
    lengthscale times this.  fit_hyperparameters: to what is driven.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    model: str
    index: str
    variance_scale: float | None = Field(default=None, gt=0)
    beta_scale: float | None = Field(default=None, ge=0)
    omega: float | None = Field(default=None, gt=0)
    xi: float | None = Field(default=None, gt=0)
    inducing_points: int | None = Field(default=None, gt=0)
    batch_size: int | None = Field(default=None, gt=0)
    slots: Slots | None = None
    device: str | None = None
    lengthscale_factor: float | None = Field(default=None, gt=0)
    fit_hyperparameters: Literal[True] | None = None

    @model_validator(mode="after")
    def _check(self) -> "Method":
        model, needs = named(MODELS, "model", self.model), needs_of(self.index)
        if unknown := self.options.keys() - options_of(self.index):
            raise EvrouteError(f"index '{self.index}' takes no {', '.join(sorted(unknown))}")
        asked = self.model_options.keys() | self._given(KERNEL_OPTIONS).keys()
        if unknown := asked - model_options_of(self.model):
            raise EvrouteError(f"model '{self.model}' takes no {', '.join(sorted(unknown))}")
        if lacking(model, needs):
            able = [name for name in MODELS if not lacking(named(MODELS, "model", name), needs)]
            raise EvrouteError(
                f"index '{self.index}' cannot work on model '{self.model}', which is not {needs.__name__}; "
                f"use one of: {', '.join(able)}"
            )
        return self

    @property
    def options(self) -> dict[str, Any]:
        """The options given that the index takes."""
        return self._given(OPTIONS)

    @property
    def model_options(self) -> dict[str, Any]:
        """The options given that the model takes."""
        return self._given(MODEL_OPTIONS)

    @property
    def name(self) -> str:
        """Model and index with their options, as they stand in file names: ``svgp-m200-ts-v0.25``."""
        named = [(self.model, MODEL_OPTIONS | KERNEL_OPTIONS), (self.index, OPTIONS)]
        return "-".join(
            part
            for first, letters in named
            for part in [first, *(letters[name] + _short(value) for name, value in self._given(letters).items())]
        )

    @property
    def label(self) -> str:
        """What reports call it: ``GP-TS``, ``BI-BayesUCB (xi 0.5)``."""
        given = self._given(OPTIONS | MODEL_OPTIONS | KERNEL_OPTIONS)
        options = ", ".join(f"{name.replace('_', ' ')} {_short(value)}".rstrip() for name, value in given.items())
        name = f"{LABELS.get(self.model, self.model)}-{LABELS.get(self.index, self.index)}"
        return f"{name} ({options})" if options else name

    def _given(self, options: Iterable[str]) -> dict[str, Any]:
        return {name: value for name in options if (value := getattr(self, name)) is not None}


def make_model(method: Method, setting: Setting, options: Mapping[str, Any]) -> EnergyModel:
    """Return the model of a method before any trip; ``options`` go before those of the method and the setting."""
    target = named(MODELS, "model", method.model)
    options = {**method.model_options, **options}
    if not method.fit_hyperparameters:
        model: EnergyModel = call(target, options, setting)
        return model

    def make(kernel: EdgeContextKernel, noise_std_wh: FloatArray) -> EnergyModel:
        fitted = {"kernel": kernel, "noise_std_wh": noise_std_wh, "prior_factor": None}
        model: EnergyModel = call(target, {**options, **fitted}, setting)
        return model

    return Refitting(make, setting.kernel, setting.noise_std_wh)


def named(table: Mapping[str, str], what: str, name: str) -> Any:
    """Import the entry of a table.

    Raises
    ------
    UnknownNameError
        If the table does not have it; the message lists what it has.
    """
    if name not in table:
        raise UnknownNameError(f"unknown {what} '{name}'; there are {', '.join(table)}")
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)


def options_of(index: str) -> set[str]:
    """Return the options that an index takes.

    Raises
    ------
    UnknownNameError
        If there is no such index.
    """
    return OPTIONS.keys() & signature(named(INDICES, "index", index)).parameters


def model_options_of(model: str) -> set[str]:
    """Return the options that a model takes, those of every model with a kernel among them.

    Raises
    ------
    UnknownNameError
        If there is no such model.
    """
    parameters = signature(named(MODELS, "model", model)).parameters
    return (MODEL_OPTIONS.keys() & parameters) | (set(KERNEL_OPTIONS) if "kernel" in parameters else set())


def needs_of(index: str) -> type:
    """Return the protocol that an index asks of its model: a class says it, what a function returns says it."""
    target = named(INDICES, "index", index)
    index_or_class: Any = target if isinstance(target, type) else target()
    needs: type = index_or_class.needs
    return needs


def call(target: Callable[..., Any], options: Mapping[str, Any], setting: object) -> Any:
    """Call with the arguments that its parameters name: an option if it was given, else a value of the setting."""
    parameters = signature(target).parameters
    given = {name: value for name, value in options.items() if name in parameters}
    shared = {name for name in parameters if hasattr(type(setting), name)} - given.keys()
    return target(**{name: getattr(setting, name) for name in shared}, **given)


def _short(value: float | str) -> str:
    """Write the value of an option; nothing for one that is just on."""
    if isinstance(value, str):
        return value
    return "" if value is True else f"{value:g}"
