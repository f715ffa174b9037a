"""Charts of the page Learn: energy lost against the best routes, and saved against physics."""

from typing import Any

import altair as alt
import pandas as pd

from evroute.report.charts.rounds import method_styles
from evroute.report.savings import LEVEL, half_interval

WIDTH, HEIGHT, FONT = 420, 240, 12
POINTS = 100
BLOCKS = 20
REGRET = "Energy lost against the best routes (kWh, all trips so far)"
SAVING = "Saved per trip against physics (Wh)"


def regret_chart(rounds: pd.DataFrame) -> alt.LayerChart:
    """Draw the cumulative regret, kWh: the mean over the worlds, with method names at line ends."""
    last = int(rounds["t"].max())
    shown = rounds[(rounds["t"] % max(1, last // POINTS) == 0) | (rounds["t"] == last)]
    mean = shown.groupby(["method", "t"])["cumulative_regret_wh"].mean() / 1000
    frame = mean.rename("value").reset_index()
    return _lines(frame, rounds, REGRET)


def saving_chart(rounds: pd.DataFrame) -> alt.LayerChart:
    """Draw the energy saved against physics, Wh per trip: block means over the worlds.

    The band is the 90 % interval of the mean by Student's t; one world has none.
    """
    size = max(1, int(rounds["t"].max()) // BLOCKS)
    middle = (rounds["t"] - 1) // size * size + (size + 1) / 2
    saved = rounds.assign(value=rounds["eq8_wh"] - rounds["true_wh"], t=middle)
    of_run = saved.groupby(["method", "t", "run"])["value"].mean()
    grouped = of_run.groupby(level=["method", "t"])
    frame = grouped.agg(
        value="mean", half=lambda values: half_interval(values.to_numpy(), LEVEL)
    ).reset_index()
    half = frame.pop("half").fillna(0.0)
    frame = frame.assign(low=frame["value"] - half, high=frame["value"] + half)
    zero = alt.Chart(alt.Data(values=[{}])).mark_rule(
        aria=False, color="#888888", strokeDash=[3, 3]
    )
    return zero.encode(y=alt.datum(0)) + _lines(frame, rounds, SAVING)


def _lines(frame: pd.DataFrame, rounds: pd.DataFrame, title: str) -> alt.LayerChart:
    """Draw a line for each method with its name at the end, and a band where there are ends."""
    styles = method_styles(rounds)
    axis = {"labelFontSize": FONT, "titleFontSize": FONT, "tickCount": 5}
    scale = alt.Scale(domain=list(styles), range=[colour for colour, _ in styles.values()])
    dash = alt.Scale(domain=list(styles), range=[list(dash) for _, dash in styles.values()])
    end: Any = frame[frame["t"] == frame["t"].max()]
    base = alt.Chart(_data(frame)).encode(
        x=alt.X("t:Q", title="trip", axis=alt.Axis(grid=False, tickMinStep=1, **axis)),
        color=alt.Color("method:N", scale=scale, legend=None),
    )
    y = alt.Y("value:Q", title=None, axis=alt.Axis(**axis))
    tips = ["method:N", alt.Tooltip("t:Q", title="trip"), alt.Tooltip("value:Q", format=".3~g")]
    layers: list[alt.Chart] = [
        base.mark_line(strokeWidth=2).encode(
            y=y, strokeDash=alt.StrokeDash("method:N", scale=dash, legend=None), tooltip=tips
        )
    ]
    if "low" in frame:
        layers.insert(0, base.mark_area(opacity=0.2).encode(y="low:Q", y2="high:Q"))
    if len(styles) > 1:
        names = alt.Chart(_data(end)).mark_text(align="right", dx=-2, dy=-8, fontSize=FONT)
        colour = alt.Color("method:N", scale=scale, legend=None)
        layers.append(names.encode(x="t:Q", y="value:Q", text="method:N", color=colour))
    chart: alt.LayerChart = alt.layer(*layers).properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.Title(title, anchor="start", fontSize=FONT + 1, frame="group"),
    )
    return chart


def _data(frame: pd.DataFrame) -> alt.Data:
    return alt.Data(values=frame.round(6).to_dict("records"))
