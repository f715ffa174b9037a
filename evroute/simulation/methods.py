"""Methods by name: a model of edge energy and an index over it, with the options that the index takes.

The tables hold ``"module:name"`` strings, imported when named. What is named is a class or a function; it is called
with the values that its parameters name: a model with those of a `Setting`, an index with the options of its method
and, again, those of a setting. A new sibling is one new file and one new line.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evroute.errors import EvrouteError, UnknownNameError
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import lacking

MODELS = {
    "independent": "evroute.model.independent:IndependentNormal",
    "exact": "evroute.model.exact:ExactGP",
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
    "ucb": "UCB",
    "bayes-ucb": "BayesUCB",
    "bayes-ucb-quantile": "BayesUCB 1/t",
    "ts": "TS",
    "ts-joint": "TS joint",
}
OPTIONS = {"variance_scale": "v", "beta_scale": "b", "omega": "w", "xi": "x"}


class Method(BaseModel):
    """A model and an index; options left out keep the index's own defaults.

    variance_scale: of Thompson samples.  beta_scale: factor of beta.  omega, xi: of BayesUCB (Theorem 3.1).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    model: str
    index: str
    variance_scale: float | None = Field(default=None, gt=0)
    beta_scale: float | None = Field(default=None, ge=0)
    omega: float | None = Field(default=None, gt=0)
    xi: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _check(self) -> "Method":
        model, needs = named(MODELS, "model", self.model), needs_of(self.index)
        if unknown := self.options.keys() - options_of(self.index):
            raise EvrouteError(f"index '{self.index}' takes no {', '.join(sorted(unknown))}")
        if lacking(model, needs):
            able = [name for name in MODELS if not lacking(named(MODELS, "model", name), needs)]
            raise EvrouteError(
                f"index '{self.index}' cannot work on model '{self.model}', which is not {needs.__name__}; "
                f"use one of: {', '.join(able)}"
            )
        return self

    @property
    def options(self) -> dict[str, float]:
        """The options given."""
        return {name: value for name in OPTIONS if (value := getattr(self, name)) is not None}

    @property
    def index_name(self) -> str:
        """The index with its options, as it stands in file names: ``ts-v0.25``."""
        return self.index + "".join(f"-{OPTIONS[name]}{value:g}" for name, value in self.options.items())

    @property
    def label(self) -> str:
        """What reports call it: ``GP-TS``, ``BI-BayesUCB (xi 0.5)``."""
        options = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in self.options.items())
        name = f"{LABELS.get(self.model, self.model)}-{LABELS.get(self.index, self.index)}"
        return f"{name} ({options})" if options else name


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


def check_search(name: str) -> str:
    """Return the name of a search rule if there is one of that name.

    Raises
    ------
    UnknownNameError
        If there is none; the message lists the rules.
    """
    if name not in WEIGHT_RULES:
        raise UnknownNameError(f"unknown search '{name}'; there are {', '.join(WEIGHT_RULES)}")
    return name


def options_of(index: str) -> set[str]:
    """Return the options that an index takes.

    Raises
    ------
    UnknownNameError
        If there is no such index.
    """
    return OPTIONS.keys() & signature(named(INDICES, "index", index)).parameters


def needs_of(index: str) -> type:
    """Return the protocol that an index asks of its model: a class says it, what a function returns says it."""
    target = named(INDICES, "index", index)
    index_or_class: Any = target if isinstance(target, type) else target()
    needs: type = index_or_class.needs
    return needs


def call(target: Callable[..., Any], options: Mapping[str, Any], setting: object) -> Any:
    """Call with the arguments that its parameters name: an option if it was given, else a value of the setting."""
    parameters = signature(target).parameters
    arguments = {name: getattr(setting, name) for name in parameters if hasattr(type(setting), name)}
    return target(**arguments | {name: value for name, value in options.items() if name in parameters})
