"""Curves of methods: means over the worlds with a band of one standard error.

`in_panels` has a panel for each trip, search and so on, and a legend. `in_one` is small: one trip,
with a legend where there are several methods. Both are the same layers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from evroute.arrays import FloatArray
from evroute.report.charts.styles import LABEL_LIMIT, method_styles, panel_labels
from evroute.report.extras import alt, inline, pd

N_POINTS = 100
N_BLOCKS = 50
_PANEL_WIDTH = {1: 800, 2: 400, 3: 280, 4: 215}  # by the number of columns, pixels
_SMALL_WIDTH = 420
_SMALL_HEIGHT = 240
_SMALL_FONT = 12
LEAST_EXTENT = 0.02
"""Least extent of the vertical axis of a small chart, in the unit of its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A figure of the rounds of runs, as their page and the dashboard show it.

    Called with rounds (`results.read_rounds`), it returns the figure with a panel for each trip.

    Parameters
    ----------
    caption
        One or two sentences below the figure.
    title
        Title of the figure, with the unit.
    values
        Returns the numbers from rounds: a column ``value``, and ``t`` where the trips are not
        counted one by one.
    wanted
        Returns whether rounds have the numbers of the figure.
    short, unit
        Title of the small figure of one trip, and of its vertical axis. Empty for none.
    rule_at, by_trip
        As in `in_panels`.
    """

    caption: str
    title: str
    values: "Callable[[pd.DataFrame], pd.DataFrame]"
    wanted: "Callable[[pd.DataFrame], bool]" = lambda rounds: True
    short: str = ""
    unit: str = ""
    rule_at: float | None = None
    by_trip: bool = True

    def draw(self, rounds: "pd.DataFrame") -> "alt.FacetChart":
        """Draw the figure, a panel for each trip."""
        return in_panels(
            self.values(rounds), self.title, rule_at=self.rule_at, by_trip=self.by_trip
        )

    __call__ = draw

    def small(self, rounds: "pd.DataFrame") -> "alt.LayerChart":
        """Draw the figure of one trip as one chart, whose width may change."""
        return in_one(self.values(rounds), self.short, unit=self.unit, rule_at=self.rule_at)


def means(frame: "pd.DataFrame", keys: list[str]) -> "pd.DataFrame":
    """Return mean, low and high of ``value`` over the seeds, ± one standard error, by ``keys``."""
    of_seed = frame.groupby([*keys, "seed"])["value"].mean()
    curve = of_seed.groupby(level=keys).agg(["mean", "sem"]).fillna({"sem": 0.0}).reset_index()
    low, high = curve["mean"] - curve["sem"], curve["mean"] + curve["sem"]
    return curve.assign(low=low, high=high).drop(columns="sem")


def thinned(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Keep at most `N_POINTS` rounds, the first and the last among them."""
    horizon = int(rounds["t"].max())
    kept = np.unique(np.linspace(1, horizon, min(N_POINTS, horizon)).round())
    return rounds[rounds["t"].isin(kept)]


def blocks(rounds: "pd.DataFrame") -> "pd.Series[float]":
    """Return the middle of the block of trips of each round. A block is 1/50 of the trips."""
    block = max(1, int(rounds["t"].max()) // N_BLOCKS)
    return (rounds["t"] - 1) // block * block + (block + 1) / 2


def in_panels(
    frame: "pd.DataFrame",
    title: str,
    *,
    rule_at: float | None = None,
    log_scale: bool = False,
    by_trip: bool = True,
) -> "alt.FacetChart":
    """Draw the mean of ``value`` against ``t``, a panel for each label of `panel_labels`.

    Parameters
    ----------
    frame
        Rounds with a column ``value``. ``t`` is the trip number, or the lengthscale.
    title
        Title of the figure, with the unit.
    rule_at
        Value of a horizontal rule, or None for none.
    log_scale
        Whether the values have a log scale.
    by_trip
        False if ``t`` is the lengthscale, which has a log scale.
    """
    curve = means(frame.assign(panel=panel_labels(frame)), ["panel", "method", "t"])
    if log_scale:
        curve["low"] = curve["low"].clip(lower=0.5 * curve["mean"].min())
    panels = sorted(curve["panel"].unique())
    columns = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3}.get(len(panels), 4)
    width = _PANEL_WIDTH[columns]
    axis = alt.Axis(
        tickMinStep=int(by_trip),
        tickCount=5,
        grid=False,
        values=alt.Undefined if by_trip else sorted(curve["t"].unique()),
    )
    layers = _layers(
        curve,
        method_styles(frame),
        title,
        x=alt.X(
            "t:Q",
            title=None,
            axis=axis,
            scale=alt.Scale(type="linear" if by_trip else "log", nice=False),
        ),
        y={"title": None, "scale": alt.Scale(type="log" if log_scale else "linear")},
        rule_at=rule_at,
    )
    header = alt.Header(labelFontSize=12, labelPadding=4, labelLimit=LABEL_LIMIT)
    return (
        layers.properties(width=width, height=min(round(0.62 * width), 320))
        .facet(facet=alt.Facet("panel:N", title=None, sort=panels, header=header), columns=columns)
        .resolve_scale(y="independent")
        .properties(
            title=alt.Title(
                f"{title}, by {'trip number' if by_trip else 'lengthscale'}, "
                "band: ± 1 standard error",
                anchor="start",
                fontSize=14,
            )
        )
    )


def in_one(
    frame: "pd.DataFrame", title: str, *, unit: str, rule_at: float | None = None
) -> "alt.LayerChart":
    """Draw the mean of ``value`` against the trip number in one small chart.

    Parameters
    ----------
    frame
        Rounds of one trip with a column ``value``.
    title
        Title of the figure, with the unit.
    unit
        Title of the vertical axis.
    rule_at
        Value of a horizontal rule, or None for none.
    """
    curve = means(frame.assign(panel=""), ["panel", "method", "t"])
    axis: dict[str, Any] = {
        "labelFontSize": _SMALL_FONT,
        "titleFontSize": _SMALL_FONT,
        "tickCount": 5,
    }
    known = [] if rule_at is None else [rule_at]
    scale = _wide(np.array([*curve["low"], *curve["high"], *curve["mean"], *known]))
    layers = _layers(
        curve,
        method_styles(frame),
        title,
        x=alt.X(
            "t:Q",
            title="trip number",
            axis=alt.Axis(grid=False, tickMinStep=1, **axis),
            scale=alt.Scale(domain=[0, float(curve["t"].max())], nice=True),
        ),
        y={"title": unit, "scale": scale, "axis": alt.Axis(**axis)},
        rule_at=rule_at,
        with_legend=curve["method"].nunique() > 1,
    )
    titled = alt.Title(title, anchor="start", fontSize=_SMALL_FONT + 1, frame="group")
    return layers.properties(width=_SMALL_WIDTH, height=_SMALL_HEIGHT, title=titled)


def _layers(
    curve: "pd.DataFrame",
    styles: dict[str, tuple[str, tuple[int, ...]]],
    title: str,
    *,
    x: "alt.X",
    y: dict[str, Any],
    rule_at: float | None,
    with_legend: bool = True,
) -> "alt.LayerChart":
    """Draw means (`means`) as lines with their bands, above a rule.

    Parameters
    ----------
    curve
        Means by panel, method and ``t``.
    styles
        Colour and dashes of each method.
    title
        Name of the mean where the pointer is.
    x, y
        The horizontal axis, and the options of the vertical one.
    rule_at
        Value of a horizontal rule, or None for none.
    with_legend
        Whether the methods have a legend.
    """
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=6,
        symbolType="stroke",
        symbolSize=500,
        symbolOpacity=1,
        labelLimit=240,
    )
    colours, dashes = zip(*styles.values(), strict=True)
    base = alt.Chart().encode(
        x=x,
        color=alt.Color(
            "method:N",
            scale=alt.Scale(domain=list(styles), range=list(colours)),
            legend=legend if with_legend else None,
        ),
    )
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    line = base.mark_line(strokeWidth=1.8).encode(
        y=alt.Y("mean:Q", **y),
        strokeDash=alt.StrokeDash(
            "method:N",
            scale=alt.Scale(domain=list(styles), range=list(map(list, dashes))),
            legend=alt.Undefined if with_legend else None,
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
        rule = once.mark_rule(aria=False, color="#555", strokeDash=[2, 2])
        layers.insert(0, rule.encode(y=alt.datum(rule_at)))
    return cast("alt.LayerChart", alt.layer(*layers, data=inline(curve)))


def _wide(values: FloatArray) -> "alt.Scale":
    """Return the scale of an axis, with zero, or values that hardly differ in its middle.

    An axis of less than `LEAST_EXTENT` would have labels that are all the same. The domain is
    given, as a page that adds the values later has none until then.
    """
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    if most - least >= LEAST_EXTENT:
        return alt.Scale(domain=[min(least, 0.0), max(most, 0.0)], nice=True)
    middle = (least + most) / 2
    return alt.Scale(domain=[middle - LEAST_EXTENT / 2, middle + LEAST_EXTENT / 2], nice=False)
