"""Parts of methods by name: models of edge energy, indices, and the named pairs of papers.

The tables hold ``"module:name"`` strings, imported on use. Each names a class of options
(`ModelOptions`, `IndexOptions`), which builds its model or index. A new sibling is one new file and
one new line.
"""

from collections.abc import Mapping
from typing import Any, get_type_hints

from evroute.errors import UnknownNameError, require
from evroute.model.base import ModelOptions
from evroute.plugins import named
from evroute.policy.base import IndexOptions

MODELS = {
    "independent": "evroute.model.independent:IndependentOptions",
    "exact": "evroute.model.exact:ExactOptions",
    "regional": "evroute.model.regional:RegionalOptions",
    "svgp": "evroute.model.sparse.svgp:SVGPOptions",
    "svgp-gpytorch": "evroute.model.svgp_gpytorch:SVGPStepsOptions",
    "factor": "evroute.model.coefficients:FactorOptions",
    "physics": "evroute.model.coefficients:PhysicsOptions",
    "physics+gp": "evroute.model.physics_gp:PhysicsGPOptions",
    "bkb": "evroute.model.sparse.bkb:BKBOptions",
    "cbkb": "evroute.model.sparse.bkb:CBKBOptions",
    "cbbkb": "evroute.model.sparse.bkb:CBBKBOptions",
    "bbkb": "evroute.model.sparse.bkb:BBKBOptions",
    "batch-ucb": "evroute.model.sparse.bkb:BatchUCBOptions",
    "delayed": "evroute.model.sparse.bkb:DelayedOptions",
    "ek-ucb": "evroute.model.sparse.ek:EKOptions",
    "k-ucb": "evroute.model.sparse.ek:KUCBOptions",
}
INDICES = {
    "ucb": "evroute.policy.confidence:UCBOptions",
    "bayes-ucb": "evroute.policy.confidence:BayesUCBOptions",
    "bayes-ucb-quantile": "evroute.policy.confidence:BayesUCBQuantileOptions",
    "ts": "evroute.policy.thompson:ThompsonOptions",
    "ts-joint": "evroute.policy.thompson:JointThompsonOptions",
    "ts-shared": "evroute.policy.thompson_shared:SharedThompsonOptions",
    "cmm-ucb": "evroute.policy.bounds:CMMOptions",
    "dmm-ucb": "evroute.policy.bounds:DMMOptions",
    "amm-ucb": "evroute.policy.bounds:AMMOptions",
    "ay-gp-ucb": "evroute.policy.bounds:AYOptions",
    "igp-ucb": "evroute.policy.bounds:IGPOptions",
    "greedy": "evroute.policy.baselines:GreedyOptions",
    "random": "evroute.policy.baselines:RandomOptions",
    "radius": "evroute.policy.confidence:RadiusOptions",
    "epsilon-greedy": "evroute.policy.baselines:EpsilonGreedyOptions",
}

METHODS: dict[str, dict[str, Any]] = {
    "recommended": {
        "model": "exact",
        "index": "ts",
        "arms": "turns",
        "learn_speeds": True,
        "guard": True,
        "change_test": True,
    },
    "gp-ucb": {"model": "exact", "index": "ucb"},
    "gp-bayes-ucb": {"model": "exact", "index": "bayes-ucb"},
    "gp-ts": {"model": "exact", "index": "ts"},
    "bi-ucb": {"model": "independent", "index": "ucb"},
    "bi-bayes-ucb": {"model": "independent", "index": "bayes-ucb"},
    "bi-ts": {"model": "independent", "index": "ts"},
    "svgp": {"model": "svgp", "index": "ts"},
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
    "algorithm-3": {
        "model": "svgp-gpytorch",
        "index": "ts",
        "natural_rate": 0.1,
        "adam_rate": 0.01,
        "batch_size": 2500,
    },
    "cmm-ucb": {"model": "exact", "index": "cmm-ucb"},
    "dmm-ucb": {"model": "exact", "index": "dmm-ucb"},
    "amm-ucb": {"model": "exact", "index": "amm-ucb"},
    "ay-gp-ucb": {"model": "exact", "index": "ay-gp-ucb"},
    "igp-ucb": {"model": "exact", "index": "igp-ucb"},
}
"""Pairs by their names in papers. An experiment may name one instead of its model and index."""


def pair(name: str) -> dict[str, Any]:
    """Return model, index and options of a named method.

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message lists the names.
    """
    require(
        name in METHODS,
        f"unknown method '{name}'. There are {', '.join(METHODS)}",
        UnknownNameError,
    )
    return dict(METHODS[name])


def model_options(name: str) -> type[ModelOptions]:
    """Return the options of a model by its name.

    Raises
    ------
    UnknownNameError
        If there is no such model. The message lists the names.
    """
    found: type[ModelOptions] = named(MODELS, "model", name)
    _check_class("model", name, found, ModelOptions)
    return found


def index_options(name: str) -> type[IndexOptions]:
    """Return the options of an index by its name.

    Raises
    ------
    UnknownNameError
        If there is no such index. The message lists the names.
    """
    found: type[IndexOptions] = named(INDICES, "index", name)
    _check_class("index", name, found, IndexOptions)
    return found


def _check_class(kind: str, name: str, found: object, wanted: type) -> None:
    """Refuse a part from outside that is not what its kind needs."""
    if not (isinstance(found, type) and issubclass(found, wanted)):
        raise UnknownNameError(f"{kind} '{name}' is no class of {wanted.__name__}")


def summary_of(table: Mapping[str, str], name: str) -> str:
    """Return the first docstring line of an entry of a table as plain text."""
    return (named(table, "part", name).__doc__ or "").partition("\n")[0].replace("`", "")


def made_by(options: type[ModelOptions] | type[IndexOptions]) -> Any:
    """Return the class of the models or indices that options build."""
    return get_type_hints(options.build)["return"]


def label_of(model: str, index: str) -> str:
    """Return the name of a model with an index in reports."""
    return "-".join(dict.fromkeys((model_options(model).label, index_options(index).label)))
