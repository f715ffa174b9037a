"""Calibration of energy forecasts: coverage, CRPS, PIT histogram and reliability diagram.

Chosen routes are no fair sample of the belief, so random routes are reported too where a run has
a random-route probe (`experiments.random_route_probe`). The first 50 trips are left out.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from evroute.arrays import FloatArray
from evroute.learning.intervals import LEVELS
from evroute.report.charts import LABEL_LIMIT
from evroute.report.extras import require
from evroute.report.table import label_columns, means

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

BURN_IN = 50
N_BINS = 10
NOMINAL = np.arange(1, 20) / 20
KINDS = {
    "chosen": ("predicted_wh", "predicted_sd_wh", "energy_wh"),
    "random": ("audit_predicted_wh", "audit_predicted_sd_wh", "audit_wh"),
}
"""Columns of mean, standard deviation and measured energy, by kind of routes."""
_SHADES = {"chosen": "#0072b2", "random": "#d55e00"}


def crps_gaussian(mean: FloatArray, sd: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the continuous ranked probability score of Gaussian forecasts, (n,).

    The unit is that of the arguments; smaller is better.

    Gneiting & Raftery, *Strictly Proper Scoring Rules, Prediction, and Estimation* (2007), eq. 21,
    negated.

    Parameters
    ----------
    mean, sd
        (n,) mean and standard deviation of each forecast; sd > 0.
    measured
        (n,) measured values, in the same unit.
    """
    z = (measured - mean) / sd
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    score: FloatArray = sd * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))
    return score


def forecasts(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row per forecast with a deviation after the first 50 trips.

    Columns: those of `label_columns`, index, model, routes (chosen or random), mean_wh, sd_wh,
    measured_wh, and half50_wh to half95_wh of conformal intervals. The intervals of random routes
    use the multipliers of the chosen ones.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    import pandas as pd

    late = rounds[rounds["t"] > BURN_IN]
    names = list(dict.fromkeys([*label_columns(rounds), "index", "model"]))
    halves = [f"half{100 * level:.0f}_wh" for level in LEVELS]
    frames = []
    for routes, (mean, sd, measured) in KINDS.items():
        if measured in rounds:
            columns = {"mean_wh": late[mean], "sd_wh": late[sd], "measured_wh": late[measured]}
            wider = late[sd] / late["predicted_sd_wh"]
            scaled = {half: late[half] * wider for half in halves}
            frame = late[names].assign(routes=routes, **columns, **scaled)
            frames.append(frame[frame["sd_wh"] > 0])
    return pd.concat(frames, ignore_index=True)


def calibration_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return coverage and CRPS, one row per method, trip and kind of routes, over the seeds.

    Coverage of Gaussian and of conformal intervals in % of trips; CRPS in Wh, smaller is better.
    The table is empty if no trip is after the first 50.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    frame = forecasts(rounds)
    mean_wh, sd_wh, measured_wh = (
        frame[name].to_numpy() for name in ("mean_wh", "sd_wh", "measured_wh")
    )
    off_wh = np.abs(measured_wh - mean_wh)
    columns = {
        f"{level:.0%} Gaussian": 100.0 * (off_wh <= ndtri(0.5 + level / 2) * sd_wh)
        for level in LEVELS
    }
    columns |= {
        f"{level:.0%} conformal": 100.0 * (off_wh <= frame[f"half{100 * level:.0f}_wh"])
        for level in LEVELS
    }
    columns["CRPS (Wh)"] = crps_gaussian(mean_wh, sd_wh, measured_wh)
    return means(frame.assign(**columns), rounds, [*label_columns(rounds), "routes"], columns)


def pit_histogram(frame: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the share of trips in each tenth of the forecast distribution; level if calibrated.

    Parameters
    ----------
    frame
        From `forecasts`.
    """
    require("altair")
    import altair as alt

    pit = ndtr((frame["measured_wh"] - frame["mean_wh"]) / frame["sd_wh"])
    rows = []
    for (method, routes), group in frame.assign(pit=pit).groupby(
        ["method", "routes"], observed=True
    ):
        counts, _ = np.histogram(group["pit"], N_BINS, (0.0, 1.0))
        rows += [
            {
                "method": str(method),
                "routes": routes,
                "from": i / N_BINS,
                "to": (i + 1) / N_BINS,
                "share": float(share),
            }
            for i, share in enumerate((counts / len(group)).round(6))
        ]
    base = alt.Chart().encode(
        x=alt.X(
            "from:Q",
            title="forecast probability of less energy",
            bin="binned",
            scale=alt.Scale(domain=[0, 1]),
        ),
        x2="to:Q",
        color=routes_colour(),
    )
    bars = base.mark_bar(opacity=0.45).encode(y=alt.Y("share:Q", title=None, stack=None))
    level = (
        alt.Chart()
        .mark_rule(aria=False, color="#555", strokeDash=[2, 2])
        .encode(y=alt.datum(1 / N_BINS))
    )
    return _faceted(rows, [bars, level], "Share of trips in each tenth of the forecast")


def reliability(frame: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the coverage of intervals against their level: Gaussian as lines, conformal as points.

    Parameters
    ----------
    frame
        From `forecasts`.
    """
    require("altair")
    import altair as alt

    rows = []
    off_wh = (frame["measured_wh"] - frame["mean_wh"]).abs()
    for (method, routes), group in frame.assign(off_wh=off_wh).groupby(
        ["method", "routes"], observed=True
    ):
        same = {"method": str(method), "routes": routes}
        scores = group["off_wh"] / group["sd_wh"]
        for level in NOMINAL:
            held = float((scores <= ndtri(0.5 + level / 2)).mean())
            rows.append(
                same | {"level": float(level), "held": round(held, 6), "intervals": "Gaussian"}
            )
        for level in LEVELS:
            held = float((group["off_wh"] <= group[f"half{100 * level:.0f}_wh"]).mean())
            rows.append(same | {"level": level, "held": round(held, 6), "intervals": "conformal"})
    base = alt.Chart().encode(
        x=alt.X(
            "level:Q", title="nominal", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
        ),
        y=alt.Y("held:Q", title=None, axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        color=routes_colour(),
    )
    line = base.transform_filter("datum.intervals == 'Gaussian'").mark_line()
    points = base.transform_filter("datum.intervals == 'conformal'").mark_point(
        filled=True, size=50
    )
    diagonal = (
        alt.Chart()
        .transform_filter("datum.intervals == 'Gaussian'")
        .mark_line(color="#555", strokeDash=[2, 2], strokeWidth=1)
        .encode(x="level:Q", y="level:Q")
    )
    return _faceted(
        rows, [diagonal, line, points], "Intervals that held; lines Gaussian, points conformal"
    )


def routes_colour() -> "alt.Color":
    """Return the colour encoding of chosen and random routes."""
    import altair as alt

    scale = alt.Scale(domain=list(_SHADES), range=list(_SHADES.values()))
    return alt.Color("routes:N", scale=scale, legend=alt.Legend(title="routes", orient="top"))


def _faceted(
    rows: list[dict[str, object]], layers: list["alt.Chart"], title: str
) -> "alt.FacetChart":
    import altair as alt

    return (
        alt.layer(*layers, data=alt.Data(values=rows))
        .properties(width=260, height=180)
        .facet(
            facet=alt.Facet("method:N", title=None, header=alt.Header(labelLimit=LABEL_LIMIT)),
            columns=3,
        )
        .properties(title=alt.Title(title, anchor="start", fontSize=14))
    )
