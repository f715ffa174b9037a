"""Figures of one's own trips (altair).

Charts are drawn 360 pixels wide, for a telephone. Wider pages scale them up.
"""

from textwrap import wrap

import numpy as np

from evroute.learning.findings import LAST
from evroute.report.extras import alt, inline, pd
from evroute.text import counted

SHOWN_WIDTHS = 0.8
"""Share of the intervals that is shown in full."""
_HELD = "#0072b2"
_MISSED = "#d55e00"
_GREY = "#888888"
_CROSS = "M-1,-1L1,1M1,-1L-1,1"
"""A path, as Vega takes it."""
_KINDS = {_HELD: ("within its 90 % interval", "circle"), _MISSED: ("outside", "square")}
_WIDTH, _SMALL_WIDTH = 290, 125


def energies_chart(trips: "pd.DataFrame") -> "alt.LayerChart":
    """Draw measured against expected energy of the trips, kWh."""
    frame = _judged(trips)
    frame[["expected", "measured"]] /= 1000
    low, *_, high = np.sort(frame[["expected", "measured"]].to_numpy().ravel()).tolist()
    ends = alt.Data(values=[{"x": low}, {"x": high}])
    line = alt.Chart(ends).mark_line(color=_GREY, strokeDash=[4, 3]).encode(x="x:Q", y="x:Q")
    points = _points(frame).encode(
        x=alt.X("expected:Q", title="expected energy (kWh)"),
        y=alt.Y("measured:Q", title="measured energy (kWh)"),
    )
    return (line + points).properties(width=_WIDTH, height=_WIDTH)


def intervals_chart(trips: "pd.DataFrame") -> "alt.VConcatChart":
    """Draw errors and 90 % intervals over the trips, Wh, and the share that held, %.

    Crosses are the errors of physics alone.
    """
    frame = _judged(trips)
    low, high = (trips[name] - trips["predicted_wh"] for name in ("low90_wh", "high90_wh"))
    share = 100 * frame["held"].rolling(LAST, min_periods=1).mean()
    error = frame["measured"] - frame["expected"]
    physics = frame["measured"] - trips["eq8_wh"]
    frame = frame.assign(t=trips["t"], low=low, high=high, error=error, share=share)
    frame = frame.assign(physics=physics)
    widths = (high - low).quantile(SHOWN_WIDTHS) / 2, physics.abs().quantile(SHOWN_WIDTHS)
    most_wh = 1.1 * max(error.abs().max(), *widths)
    numbers = alt.Scale(domain=[0, int(trips["t"].max())], nice=False)
    x = alt.X("t:Q", title=None, scale=numbers, axis=alt.Axis(tickMinStep=1, grid=False))
    y = alt.Scale(domain=[-most_wh, most_wh])
    bars = alt.Chart(inline(frame)).mark_rule(
        aria=False, clip=True, color=_GREY, opacity=0.5, strokeWidth=2
    )
    off = "measured - expected (Wh)"
    bars = bars.encode(x=x, y=alt.Y("low:Q", title=off, scale=y), y2="high:Q")
    errors = _points(frame).encode(x=x, y=alt.Y("error:Q", title=off, scale=y))
    crosses = alt.Chart(inline(frame)).mark_point(
        clip=True, color=_GREY, filled=False, shape=_CROSS, size=40, strokeWidth=1.5
    )
    crosses = crosses.encode(x=x, y=alt.Y("physics:Q", title=off, scale=y))
    shares = (
        alt.Chart(inline(frame))
        .mark_line(color=_HELD, point=len(frame) == 1)
        .encode(
            x=x.title("trip, in the order learned"),
            y=alt.Y("share:Q", title="held (%)", scale=alt.Scale(domain=[0, 100])),
        )
    )
    level = (
        alt.Chart().mark_rule(aria=False, color=_GREY, strokeDash=[4, 3]).encode(y=alt.datum(90))
    )
    return alt.vconcat(
        alt.layer(bars, crosses, errors).properties(width=_WIDTH, height=200),
        alt.layer(level, shares).properties(width=_WIDTH, height=70),
        autosize="pad",
    )


def coefficients_finding(history: "dict[str, pd.DataFrame]") -> str:
    """Return the coefficients known twice as well as before the first trip, as a sentence."""
    known = [label for label, of in history.items() if 2 * of["sd"].iloc[-1] <= of["sd"].iloc[0]]
    trips = next(iter(history.values()))["trips"].iloc[-1]
    named = f": {', '.join(label.partition(',')[0] for label in known)}" if known else ""
    return (
        f"After {counted(trips, 'trip')}, the standard deviation of {len(known)} of {len(history)} "
        f"coefficients is at most half of that before the first trip{named}."
    )


def coefficients_chart(history: "dict[str, pd.DataFrame]") -> "alt.ConcatChart":
    """Draw mean and deviation of each coefficient over the trips learned."""
    charts = []
    for label, of in history.items():
        frame = of.assign(low=of["mean"] - of["sd"], high=of["mean"] + of["sd"])
        base = alt.Chart(inline(frame)).encode(
            x=alt.X(
                "trips:Q",
                title="trips learned",
                axis=alt.Axis(tickCount=4, tickMinStep=1, grid=False, titleFontWeight="normal"),
            )
        )
        scale = alt.Scale(zero=False)
        prior = base.mark_rule(aria=False, color=_GREY, strokeDash=[2, 3])
        charts.append(
            alt.layer(
                base.mark_area(color=_HELD, opacity=0.2).encode(
                    y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"
                ),
                base.mark_line(color=_HELD, point=alt.OverlayMarkDef(size=18)).encode(y="mean:Q"),
                prior.encode(x=alt.X(), y=alt.datum(float(of["mean"].iloc[0]))),
            ).properties(
                width=_SMALL_WIDTH, height=90, title=alt.Title(wrap(label, 22), fontSize=11)
            )
        )
    return alt.concat(*charts, columns=2)


def _judged(trips: "pd.DataFrame") -> "pd.DataFrame":
    """Return expected and measured energies, Wh, and whether the 90 % interval held."""
    return trips[["trip"]].assign(
        expected=trips["predicted_wh"],
        measured=trips["energy_wh"],
        held=trips["energy_wh"].between(trips["low90_wh"], trips["high90_wh"]),
    )


def _points(frame: "pd.DataFrame") -> "alt.Chart":
    """Return points of trips, coloured by whether their intervals held."""
    labels, shapes = zip(*_KINDS.values(), strict=True)
    frame = frame.assign(held=frame["held"].map({True: labels[0], False: labels[1]}))
    legend = alt.Legend(title=None, orient="top", labelLimit=200)
    colour = alt.Scale(domain=list(labels), range=list(_KINDS))
    return (
        alt.Chart(inline(frame))
        .mark_point(filled=True, opacity=0.8, size=40)
        .encode(
            color=alt.Color("held:N", scale=colour, legend=legend),
            shape=alt.Shape("held:N", scale=alt.Scale(domain=list(labels), range=list(shapes))),
        )
    )
