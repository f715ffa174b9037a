"""Figures over the rounds of simulations (altair): regret, savings and beta, each by one call.

Every function takes the rounds of a run folder as a data frame (``results.read_rounds``; one row
per run and round) and returns a chart; nothing is drawn to a screen. Curves are means over the
seeds with a band of one standard error, one panel for each trip and search. A method looks the same
in every figure: colour shows the index, dash the model. With more models than dashes, colour shows
the model and dash the index. Okabe & Ito's colours are safe for colour-blind people.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TypeVar

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import UnknownNameError, require
from evroute.methods.parts import index_options, model_options
from evroute.report.extras import alt, pd

_Name = TypeVar("_Name")
_Style = TypeVar("_Style")
AXES = {"world": "{}", "prior": "{} prior", "lengthscale": "lengthscale {:g}", "search": "{}"}
"""Columns that separate the panels of one trip, with the format of their label."""
LABEL_LIMIT = 640
"""Longest panel label, pixels; longer ones are cut."""
N_POINTS = 100
N_BLOCKS = 50
N_BARS = 40

_COLOURS = {
    "ts": "#0072b2",
    "ts-joint": "#56b4e9",
    "greedy": "#009e73",
    "bayes-ucb": "#e69f00",
    "bayes-ucb-quantile": "#cc79a7",
    "ucb": "#d55e00",
    "random": "#666666",
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
_PANEL_WIDTH = {1: 800, 2: 400, 3: 280, 4: 215}  # by the number of columns, pixels


def cumulative_regret(rounds: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the cumulative regret over the rounds, kWh."""
    frame = _thinned(rounds)
    return _panels(
        frame.assign(value=frame["cumulative_regret_wh"] / 1000), "Cumulative regret (kWh)"
    )


def saving(rounds: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the true expected energy of the route driven minus that of the eq. 8 route, Wh per trip.

    Below zero the learner saves energy. Trips are averaged over blocks of about a fiftieth of the
    horizon.
    """
    frame = rounds.assign(value=rounds["true_wh"] - rounds["eq8_wh"], t=_blocks(rounds))
    return _panels(frame, "Energy against the eq. 8 route (Wh per trip)", rule_at=0.0)


def duration(rounds: "pd.DataFrame", timings: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the time of a trip, ms: medians over the blocks of `saving`.

    Parameters
    ----------
    rounds, timings
        From `results.read_rounds` and `results.read_timings`.
    """
    frame = rounds.merge(timings[["run", "t", "ms"]], on=["run", "t"])
    frame = frame.assign(t=_blocks(frame))
    median = frame.groupby(["run", "t"])["ms"].median().rename("value").reset_index()
    return _panels(
        frame.drop_duplicates(["run", "t"]).merge(median), "Time of a trip (ms)", log_scale=True
    )


def diagnostic(
    rounds: "pd.DataFrame", diagnostics: "pd.DataFrame", name: str, title: str
) -> "alt.FacetChart":
    """Draw a diagnostic number of the models over the rounds.

    Parameters
    ----------
    rounds, diagnostics
        From `results.read_rounds` and `results.read_diagnostics`.
    name
        Column of ``diagnostics``.
    title
        Title of the figure, with the unit.
    """
    frame = _thinned(rounds.merge(diagnostics[["run", "t", name]].dropna(), on=["run", "t"]))
    return _panels(frame.assign(value=frame[name]), title)


def has_beta(rounds: "pd.DataFrame") -> bool:
    """Return True if any method of these rounds has a beta."""
    return bool(np.isfinite(rounds["beta"].astype(float)).any())


def beta(rounds: "pd.DataFrame") -> "alt.FacetChart":
    """Draw beta over the rounds, for the methods that have one.

    Raises
    ------
    EvrouteError
        If none of them has one.
    """
    require(has_beta(rounds), "none of these runs has a beta: only confidence bounds do")
    frame = _thinned(rounds)
    return _panels(frame[np.isfinite(frame["beta"])].assign(value=frame["beta"]), "Beta")


def regret_by_lengthscale(rounds: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the final cumulative regret against the lengthscale, kWh: mean and standard error."""
    names = {"network", "trip", *AXES, "method", "model", "index", "seed"} & set(rounds)
    final = rounds.groupby(sorted(names))["regret_wh"].sum().reset_index(name="value")
    final = final.assign(value=final["value"] / 1000, t=final["lengthscale"], lengthscale=1.0)
    return _panels(final, "Cumulative regret at the end (kWh)", by_trip=False)


def distribution(values: FloatArray, title: str, weights: FloatArray) -> "alt.Chart":
    """Draw a histogram of a road quantity, weighted by length in km.

    The lowest and the highest 1 % of the values are counted in the outermost bars.

    Parameters
    ----------
    values
        (n,) values of the edges; those that are not finite are left out.
    title
        The quantity with its unit.
    weights
        (n,) lengths of the edges, km.
    """
    shown = np.isfinite(values)
    low, high = np.quantile(values[shown], [0.01, 0.99]) if shown.any() else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, N_BARS + 1)
    km, _ = np.histogram(np.clip(values[shown], low, high), edges, weights=weights[shown])
    bars = [
        {"from": round(float(a), 6), "to": round(float(b), 6), "km": round(float(k), 4)}
        for a, b, k in zip(edges[:-1], edges[1:], km, strict=True)
    ]
    return (
        alt.Chart(alt.Data(values=bars))
        .mark_bar(color=_COLOURS["ts"])
        .encode(
            x=alt.X("from:Q", title=title, bin="binned"),
            x2="to:Q",
            y=alt.Y("km:Q", title="length of road (km)"),
            tooltip=[
                alt.Tooltip("from:Q", format=".3~g"),
                alt.Tooltip("to:Q", format=".3~g"),
                alt.Tooltip("km:Q", format=".1f"),
            ],
        )
    )


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
    indices, models = list(_COLOURS), list(_DASHES)
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
        colours = _styles(model_of.values(), {}, (*_COLOURS.values(), *_SPARE_COLOURS))
        dashes = _styles(variant_of.values(), {}, (*_DASHES.values(), *_SPARE_DASHES))
        return {m: (colours[model_of[m]], dashes[variant_of[m]]) for m in model_of}
    own: dict[tuple[str, ...], str] = {(index,): colour for index, colour in _COLOURS.items()}
    of_variant = _styles(variant_of.values(), own, _SPARE_COLOURS)
    of_model = _styles(model_of.values(), _DASHES, _SPARE_DASHES)
    return {m: (of_variant[variant_of[m]], of_model[model_of[m]]) for m in model_of}


def _styles(
    names: Iterable[_Name], own: Mapping[_Name, _Style], spare: Sequence[_Style]
) -> dict[_Name, _Style]:
    """Return the style of each name: its own, or the next spare one."""
    left = cycle(spare)
    return {name: own[name] if name in own else next(left) for name in dict.fromkeys(names)}


def _label(model: str, index: str) -> str:
    """Return the label of a pair; names stand for models and indices that are not installed."""
    labels = []
    for options_of, name in ((model_options, model), (index_options, index)):
        try:
            labels.append(options_of(name).label)
        except UnknownNameError:
            labels.append(name)
    return "-".join(dict.fromkeys(labels))


def _place(order: list[str], name: str) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order), name)


def _thinned(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Keep at most `N_POINTS` rounds, the first and the last among them."""
    horizon = int(rounds["t"].max())
    kept = np.unique(np.linspace(1, horizon, min(N_POINTS, horizon)).round())
    return rounds[rounds["t"].isin(kept)]


def _blocks(rounds: "pd.DataFrame") -> "pd.Series[float]":
    """Return the middle of the block of trips of each round; a block is 1/50 of the trips."""
    block = max(1, int(rounds["t"].max()) // N_BLOCKS)
    return (rounds["t"] - 1) // block * block + (block + 1) / 2


def _panels(
    rounds: "pd.DataFrame",
    title: str,
    *,
    rule_at: float | None = None,
    log_scale: bool = False,
    by_trip: bool = True,
) -> "alt.FacetChart":
    """Draw mean and standard error over the seeds of ``value`` against ``t``, by panel label.

    ``t`` is the trip number if ``by_trip``, else the lengthscale, on a log scale.
    """
    keys = ["panel", "method", "t"]
    of_seed = rounds.assign(panel=panel_labels(rounds)).groupby([*keys, "seed"])["value"].mean()
    curve = of_seed.groupby(level=keys).agg(["mean", "sem"]).fillna({"sem": 0.0}).reset_index()
    low = curve["mean"] - curve["sem"]
    curve = curve.assign(
        low=low.clip(lower=0.5 * curve["mean"].min()) if log_scale else low,
        high=curve["mean"] + curve["sem"],
    ).drop(columns="sem")

    styles = method_styles(rounds)
    panels = sorted(curve["panel"].unique())
    columns = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3}.get(len(panels), 4)
    width = _PANEL_WIDTH[columns]
    base = alt.Chart().encode(
        x=alt.X(
            "t:Q",
            title=None,
            axis=alt.Axis(
                tickMinStep=int(by_trip),
                tickCount=5,
                grid=False,
                values=alt.Undefined if by_trip else sorted(curve["t"].unique()),
            ),
            scale=alt.Scale(type="linear" if by_trip else "log", nice=False),
        ),
        color=alt.Color(
            "method:N",
            scale=alt.Scale(domain=list(styles), range=[c for c, _ in styles.values()]),
            legend=alt.Legend(
                title=None,
                orient="top",
                columns=6,
                symbolType="stroke",
                symbolSize=500,
                symbolOpacity=1,
                labelLimit=240,
            ),
        ),
    )
    scale = alt.Scale(type="log" if log_scale else "linear")
    band = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=1.8).encode(
        y=alt.Y("mean:Q", title=None, scale=scale),
        strokeDash=alt.StrokeDash(
            "method:N",
            scale=alt.Scale(domain=list(styles), range=[list(d) for _, d in styles.values()]),
        ),
        tooltip=[
            "method:N",
            alt.Tooltip("t:Q", title="trip"),
            alt.Tooltip("mean:Q", title=title, format=".4~g"),
        ],
    )
    layers = [band, line]
    if rule_at is not None:
        once = alt.Chart().transform_aggregate(rows="count()", groupby=["panel"])
        layers.insert(
            0,
            once.mark_rule(aria=False, color="#555", strokeDash=[2, 2]).encode(
                y=alt.datum(rule_at)
            ),
        )
    header = alt.Header(labelFontSize=12, labelPadding=4, labelLimit=LABEL_LIMIT)
    return (
        alt.layer(*layers, data=alt.Data(values=curve.round(6).to_dict("records")))
        .properties(width=width, height=min(round(0.62 * width), 320))
        .facet(facet=alt.Facet("panel:N", title=None, sort=panels, header=header), columns=columns)
        .resolve_scale(y="independent")
        .properties(
            title=alt.Title(
                f"{title}, by {'trip number' if by_trip else 'lengthscale'}; "
                "band: ± 1 standard error",
                anchor="start",
                fontSize=14,
            )
        )
    )
