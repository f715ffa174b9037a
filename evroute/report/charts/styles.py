"""Looks of methods and labels of panels, the same in every figure and table.

Colour shows the index, dash the model. With more models than dashes, colour shows the model and
dash the index. Okabe & Ito's colours are safe for colour-blind people.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evroute.errors import UnknownNameError
from evroute.methods.parts import index_options, model_options

if TYPE_CHECKING:
    import pandas as pd

_Name = TypeVar("_Name")
_Style = TypeVar("_Style")
AXES = {"world": "{}", "prior": "{} prior", "lengthscale": "lengthscale {:g}", "search": "{}"}
"""Columns that separate the panels of one trip, with the format of their label."""
LABEL_LIMIT = 640
"""Longest panel label, pixels. Longer ones are cut."""

COLOURS = {
    "ts": "#0072b2",
    "ts-joint": "#56b4e9",
    "greedy": "#009e73",
    "bayes-ucb": "#e69f00",
    "bayes-ucb-quantile": "#cc79a7",
    "ucb": "#d55e00",
    "random": "#2b2b2b",
    "physics alone": "#5c5c5c",
}
_SPARE_COLOURS = (
    "#332288",
    "#882255",
    "#999933",
    "#44aa99",
    "#661100",
    "#aa4499",
    "#117733",
    "#88ccee",
    "#ddcc77",
)
_DASHES = {"exact": (1, 0), "independent": (5, 3)}
_SPARE_DASHES = ((2, 2), (8, 3, 2, 3), (10, 4), (1, 3))
_MOST_DASHED = 3


def panel_labels(rounds: "pd.DataFrame") -> "pd.Series[str]":
    """Return the panel label of every row: network, trip and each of `axes`."""
    names = {name: Path(name).stem.capitalize() for name in rounds["network"].unique()}
    panel = rounds["network"].map(names) + " " + rounds["trip"]
    for axis in axes(rounds):
        panel += ", " + rounds[axis].map(AXES[axis].format)
    return panel


def axes(rounds: "pd.DataFrame") -> list[str]:
    """Return the columns of `AXES` that have several values in these rounds."""
    return [axis for axis in AXES if axis in rounds and rounds[axis].nunique() > 1]


def method_styles(rounds: "pd.DataFrame") -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return colour and dash of each method by its label, in the order of legends and tables."""
    methods = rounds[["index", "model", "method"]].drop_duplicates().itertuples(index=False)
    indices, models = list(COLOURS), list(_DASHES)
    ordered = sorted(methods, key=lambda m: (_place(indices, m[0]), _place(models, m[1]), m[2]))
    model_of = {method: model for _, model, method in ordered}
    # variants of an index are options that follow the label of the pair; the first has its colour
    variant_of: dict[str, tuple[str, ...]] = {
        method: (index, method.removeprefix(_label(model, index)))
        for index, model, method in ordered
    }
    first = {variant[0]: variant for variant in reversed(variant_of.values())}
    variant_of = {m: v[:1] if first[v[0]] == v else v for m, v in variant_of.items()}
    if len(set(model_of.values())) > _MOST_DASHED:
        colours = _styles(model_of.values(), {}, (*COLOURS.values(), *_SPARE_COLOURS))
        dashes = _styles(variant_of.values(), {}, (*_DASHES.values(), *_SPARE_DASHES))
        return {m: (colours[model_of[m]], dashes[variant_of[m]]) for m in model_of}
    own: dict[tuple[str, ...], str] = {(index,): colour for index, colour in COLOURS.items()}
    of_variant = _styles(variant_of.values(), own, _SPARE_COLOURS)
    of_model = _styles(model_of.values(), _DASHES, _SPARE_DASHES)
    return {m: (of_variant[variant_of[m]], of_model[model_of[m]]) for m in model_of}


def in_legend_order(frame: "pd.DataFrame", rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table whose groups by ``method`` come in the order of the legends of rounds."""
    import pandas as pd

    order = pd.Categorical(frame["method"], list(method_styles(rounds)), ordered=True)
    return frame.assign(method=order)


def _styles(
    names: Iterable[_Name], own: Mapping[_Name, _Style], spare: Sequence[_Style]
) -> dict[_Name, _Style]:
    """Return the style of each name: its own, or the next spare one."""
    left = cycle(spare)
    return {name: own[name] if name in own else next(left) for name in dict.fromkeys(names)}


def _label(model: str, index: str) -> str:
    """Return the label of a pair. Names stand for models and indices that are not installed."""
    labels = []
    for options_of, name in ((model_options, model), (index_options, index)):
        try:
            labels.append(options_of(name).label)
        except UnknownNameError:
            labels.append(name)
    return "-".join(dict.fromkeys(labels))


def _place(order: list[str], name: str) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order), name)
