"""Curves of methods: means over the worlds with a band of one standard error.

`in_panels` has a panel for each trip, search and so on, and a legend. `in_one` is small: one trip,
with a legend where there are several methods.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from evroute.arrays import FloatArray
from evroute.report.charts.styles import LABEL_LIMIT, method_styles, panel_labels
from evroute.report.extras import alt, pd

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

    Parameters
    ----------
    caption
        One or two sentences below the figure.
    draw
        Returns the figure from rounds (`results.read_rounds`).
    wanted
        Returns whether rounds have the numbers of the figure.
    small
        Returns the figure of one trip as one chart, whose width may change, or None if it has none.
    """

    caption: str
    draw: "Callable[[pd.DataFrame], alt.TopLevelMixin]"
    wanted: "Callable[[pd.DataFrame], bool]" = lambda rounds: True
    small: "Callable[[pd.DataFrame], alt.LayerChart] | None" = None


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
    styles = method_styles(frame)
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
    curve, styles = means(frame, ["method", "t"]).round(6), method_styles(frame)
    axis: dict[str, Any] = {
        "labelFontSize": _SMALL_FONT,
        "titleFontSize": _SMALL_FONT,
        "tickCount": 5,
    }
    colours = alt.Scale(domain=list(styles), range=[colour for colour, _ in styles.values()])
    dashes = alt.Scale(domain=list(styles), range=[list(dash) for _, dash in styles.values()])
    legend = None
    if len(styles) > 1:
        legend = alt.Legend(
            title=None, orient="top", symbolType="stroke", symbolOpacity=1, labelLimit=240
        )
    base = alt.Chart(alt.Data(values=curve.to_dict("records"))).encode(
        x=alt.X("t:Q", title="trip number", axis=alt.Axis(grid=False, tickMinStep=1, **axis)),
        color=alt.Color("method:N", scale=colours, legend=legend),
    )
    known = [] if rule_at is None else [rule_at]
    scale = _wide(np.array([*curve["low"], *curve["high"], *curve["mean"], *known]))
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("mean:Q", title=unit, axis=alt.Axis(**axis), scale=scale),
        strokeDash=alt.StrokeDash("method:N", scale=dashes, legend=None),
        tooltip=[
            "method:N",
            alt.Tooltip("t:Q", title="trip"),
            alt.Tooltip("mean:Q", title=title, format=".3~g"),
        ],
    )
    layers: list[alt.Chart] = [band, line]
    if rule_at is not None:
        once = alt.Chart(alt.Data(values=[{}]))
        rule = once.mark_rule(aria=False, color="#888888", strokeDash=[3, 3])
        layers.insert(0, rule.encode(y=alt.datum(rule_at)))
    chart = alt.layer(*layers).properties(
        width=_SMALL_WIDTH,
        height=_SMALL_HEIGHT,
        title=alt.Title(title, anchor="start", fontSize=_SMALL_FONT + 1, frame="group"),
    )
    return cast("alt.LayerChart", chart)


def _wide(values: FloatArray) -> "alt.Scale":
    """Return the scale of an axis. Values that hardly differ lie in the middle of `LEAST_EXTENT`.

    An axis around a constant would have labels that are all the same.
    """
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    if most - least >= LEAST_EXTENT:
        return alt.Scale()
    middle = (least + most) / 2
    return alt.Scale(domain=[middle - LEAST_EXTENT / 2, middle + LEAST_EXTENT / 2], nice=False)
