"""Calibration of energy forecasts: coverage, CRPS and reliability diagram.

Chosen routes are no fair sample of the belief, so random routes are reported too where a run has
a random-route probe (`experiments.log.RandomRouteProbe`). The first 50 trips are left out.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from evroute.arrays import FloatArray
from evroute.learning.intervals import LEVELS
from evroute.report.charts.styles import LABEL_LIMIT
from evroute.report.extras import alt, pd
from evroute.report.table import label_columns, means

BURN_IN = 50
NOMINAL = np.arange(1, 20) / 20
KINDS = {
    "chosen": ("predicted_wh", "predicted_sd_wh", "energy_wh"),
    "random": ("audit_predicted_wh", "audit_predicted_sd_wh", "audit_wh"),
}
"""Columns of mean, standard deviation and measured energy, by kind of routes."""
_SHADES = {"chosen": "#0072b2", "random": "#d55e00"}


def crps_gaussian(mean: FloatArray, sd: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the continuous ranked probability score of Gaussian forecasts, (n,).

    The unit is the arguments' unit. Smaller is better.

    Gneiting & Raftery, *Strictly Proper Scoring Rules, Prediction, and Estimation* (2007), eq. 21,
    negated.

    Parameters
    ----------
    mean, sd
        (n,) mean and standard deviation of each forecast. Sd > 0.
    measured
        (n,) measured values, in the same unit.
    """
    z = (measured - mean) / sd
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return sd * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))


def forecasts(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row per forecast with a deviation after the first 50 trips.

    Columns: `label_columns`, index, model, routes (chosen or random), mean_wh, sd_wh,
    measured_wh, and half50_wh to half95_wh of conformal intervals. The intervals of random routes
    use the multipliers of the chosen ones.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    late = rounds[rounds["t"] > BURN_IN]
    names = list(dict.fromkeys([*label_columns(rounds), "index", "model"]))
    halves = [f"half{100 * level:.0f}_wh" for level in LEVELS]
    frames = []
    for routes, (mean, sd, measured) in KINDS.items():
        if measured in rounds:
            columns = {"mean_wh": late[mean], "sd_wh": late[sd], "measured_wh": late[measured]}
            wider = late[sd] / late["predicted_sd_wh"]
            frame = late[names].assign(
                routes=routes, **columns, **{half: late[half] * wider for half in halves}
            )
            frames.append(frame[frame["sd_wh"] > 0])
    return pd.concat(frames, ignore_index=True)


def calibration_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return coverage and CRPS, one row per method, trip and kind of routes, over the seeds.

    Coverage of Gaussian and of conformal intervals in % of trips. CRPS in Wh, smaller is better.
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


def reliability(frame: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the coverage of intervals against their level: Gaussian as lines, conformal as points.

    Parameters
    ----------
    frame
        From `forecasts`.
    """
    rows = []
    for (method, routes), group in frame.assign(
        off_wh=(frame["measured_wh"] - frame["mean_wh"]).abs()
    ).groupby(["method", "routes"], observed=True):
        same = {"method": str(method), "routes": routes}
        scores = group["off_wh"] / group["sd_wh"]
        held = [("Gaussian", level, scores <= ndtri(0.5 + level / 2)) for level in NOMINAL.tolist()]
        held += [
            ("conformal", level, group["off_wh"] <= group[f"half{100 * level:.0f}_wh"])
            for level in LEVELS
        ]
        rows += [
            same | {"level": level, "held": round(float(each.mean()), 6), "intervals": kind}
            for kind, level, each in held
        ]
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
    title = "Intervals that held, lines Gaussian, points conformal"
    header = alt.Header(labelLimit=LABEL_LIMIT)
    return (
        alt.layer(diagonal, line, points, data=alt.Data(values=rows))
        .properties(width=260, height=180)
        .facet(facet=alt.Facet("method:N", title=None, header=header), columns=3)
        .properties(title=alt.Title(title, anchor="start", fontSize=14))
    )


def routes_colour() -> "alt.Color":
    """Return the colour encoding of chosen and random routes."""
    scale = alt.Scale(domain=list(_SHADES), range=list(_SHADES.values()))
    return alt.Color("routes:N", scale=scale, legend=alt.Legend(title="routes", orient="top"))
