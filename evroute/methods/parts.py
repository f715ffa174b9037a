"""Parts of methods by name: models of edge energy, indices, and the named pairs of papers.

The tables hold ``"module:name"`` strings, imported on use. Each names a class or a function. It is
called with the values named by its parameters: the options of a method, and attributes of a
`Setting`. So every parameter with a default is an option, and a new sibling is one new file and one
new line.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, get_type_hints

from evroute.errors import UnknownNameError
from evroute.methods.setting import Setting

MODELS = {
    "independent": "evroute.model.independent:IndependentNormal",
    "exact": "evroute.model.exact:ExactGP",
    "regional": "evroute.model.regional:regional",
    "fixed-features": "evroute.model.fixed_features:FixedFeatures",
    "svgp": "evroute.model.svgp:SparseVariationalGP",
    "factor": "evroute.model.factor:ConsumptionFactor",
    "edge-speeds": "evroute.model.edge_speeds:EdgeSpeeds",
    "physics": "evroute.model.physics:PhysicsRegression",
    "physics+gp": "evroute.model.physics_gp:PhysicsGP",
    "bkb": "evroute.model.nystrom.bkb:bkb",
    "cbkb": "evroute.model.nystrom.bkb:cbkb",
    "cbbkb": "evroute.model.nystrom.bkb:cbbkb",
    "bbkb": "evroute.model.nystrom.bbkb:bbkb",
    "batch-ucb": "evroute.model.nystrom.bbkb:batch_ucb",
    "delayed": "evroute.model.nystrom.bbkb:delayed",
    "ek-ucb": "evroute.model.nystrom.ek:ek_ucb",
    "k-ucb": "evroute.model.nystrom.ek:k_ucb",
}
INDICES = {
    "ucb": "evroute.policy.confidence:ucb",
    "bayes-ucb": "evroute.policy.confidence:bayes_ucb",
    "bayes-ucb-quantile": "evroute.policy.confidence:bayes_ucb_quantile",
    "ts": "evroute.policy.thompson:IndependentThompson",
    "ts-joint": "evroute.policy.thompson:JointThompson",
    "cmm-ucb": "evroute.policy.bounds:cmm_ucb",
    "dmm-ucb": "evroute.policy.bounds:dmm_ucb",
    "amm-ucb": "evroute.policy.bounds:amm_ucb",
    "ay-gp-ucb": "evroute.policy.bounds:ay_gp_ucb",
    "igp-ucb": "evroute.policy.bounds:igp_ucb",
    "greedy": "evroute.policy.baselines:Greedy",
    "random": "evroute.policy.baselines:Random",
    "radius": "evroute.policy.radius:RadiusBound",
    "epsilon-greedy": "evroute.policy.epsilon_greedy:EpsilonGreedy",
}

METHODS: dict[str, dict[str, Any]] = {
    "recommended": {
        "model": "exact",
        "index": "ts",
        "arms": "turns",
        "learn_speeds": True,
        "guard": True,
    },
    "gp-ucb": {"model": "exact", "index": "ucb"},
    "gp-bayes-ucb": {"model": "exact", "index": "bayes-ucb"},
    "gp-ts": {"model": "exact", "index": "ts"},
    "bi-ucb": {"model": "independent", "index": "ucb"},
    "bi-bayes-ucb": {"model": "independent", "index": "bayes-ucb"},
    "bi-ts": {"model": "independent", "index": "ts"},
    "bkb": {"model": "bkb", "index": "radius"},
    "bbkb": {"model": "bbkb", "index": "radius"},
    "batch-ucb": {"model": "batch-ucb", "index": "radius"},
    "batch-ts": {"model": "delayed", "index": "ts-joint"},
    "ek-ucb": {"model": "ek-ucb", "index": "radius", "form": "constant"},
    "k-ucb": {"model": "k-ucb", "index": "radius", "form": "constant"},
    "cbkb": {"model": "cbkb", "index": "radius"},
    "cbbkb": {"model": "cbbkb", "index": "radius"},
    "epsilon-greedy": {"model": "exact", "index": "epsilon-greedy"},
    "region": {"model": "regional", "index": "ts-joint", "corridor": 1.2},
    "cmm-ucb": {"model": "exact", "index": "cmm-ucb"},
    "dmm-ucb": {"model": "exact", "index": "dmm-ucb"},
    "amm-ucb": {"model": "exact", "index": "amm-ucb"},
    "ay-gp-ucb": {"model": "exact", "index": "ay-gp-ucb"},
    "igp-ucb": {"model": "exact", "index": "igp-ucb"},
}
"""Pairs by their names in papers; an experiment may name one instead of its model and index."""

ONLY_EDGES = {
    "regional": "its graph kernel is made for edges alone",
    "edge-speeds": "the speed of an edge is the same however it is entered",
}
"""Models that cannot work on turns, with the reason."""


def pair(name: str) -> dict[str, Any]:
    """Return model, index and options of a named method.

    Raises
    ------
    UnknownNameError
        If the name is unknown; the message lists the names.
    """
    if name not in METHODS:
        raise UnknownNameError(f"unknown method '{name}'; there are {', '.join(METHODS)}")
    return dict(METHODS[name])


def named(table: Mapping[str, str], kind: str, name: str) -> Any:
    """Import the entry of a table.

    Parameters
    ----------
    table
        ``"module:name"`` by name.
    kind
        Kind of the entries in messages, such as ``model``.
    name
        Name of the entry.

    Raises
    ------
    UnknownNameError
        If the table does not have it; the message lists the names.
    """
    if name not in table:
        raise UnknownNameError(f"unknown {kind} '{name}'; there are {', '.join(table)}")
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)


def options_of(table: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return the options of a model or an index and their types: its parameters with a default.

    Parameters with the name of a `Setting` attribute are not options.

    Raises
    ------
    UnknownNameError
        If the table does not have the name.
    """
    return {each.name: each.annotation for each in _parameters_with_default(table, name)}


def defaults_of(table: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return the options of a model or an index and their defaults.

    Raises
    ------
    UnknownNameError
        If the table does not have the name.
    """
    return {each.name: each.default for each in _parameters_with_default(table, name)}


def summary_of(table: Mapping[str, str], name: str) -> str:
    """Return the first docstring line of a model or an index."""
    return (named(table, _kind(table), name).__doc__ or "").strip().partition("\n")[0]


def _parameters_with_default(table: Mapping[str, str], name: str) -> list[Parameter]:
    parameters = signature(named(table, _kind(table), name), eval_str=True).parameters.values()
    return [
        each
        for each in parameters
        if each.default is not Parameter.empty and not hasattr(Setting, each.name)
    ]


def _kind(table: Mapping[str, str]) -> str:
    return "model" if table is MODELS else "index"


def made_by(target: Any) -> type:
    """Return the class of the models of an entry: the class, or the return type of a function."""
    model: type = target if isinstance(target, type) else get_type_hints(target)["return"]
    return model


def needs_of(index: str) -> type:
    """Return the protocol that an index requires of its model, as it declares it."""
    target = named(INDICES, "index", index)
    index_or_class: Any = target if isinstance(target, type) else target()
    needs: type = index_or_class.needs
    return needs


def call(target: Callable[..., Any], options: Mapping[str, Any], setting: object) -> Any:
    """Call a class or function with the values named by its parameters.

    Parameters
    ----------
    target
        The class or function.
    options
        Values by parameter name; they have precedence.
    setting
        Object whose attributes fill the remaining parameters.
    """
    parameters = signature(target).parameters
    given = {name: value for name, value in options.items() if name in parameters}
    shared = {name for name in parameters if hasattr(type(setting), name)} - given.keys()
    return target(**{name: getattr(setting, name) for name in shared}, **given)
