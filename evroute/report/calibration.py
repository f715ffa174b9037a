"""Calibration of energy forecasts: coverage, CRPS and reliability diagram.

Chosen routes are no fair sample of the belief, so random routes are reported too where a run has
a random-route probe (`experiments.log.RandomRouteProbe`). The first 50 trips are left out.

Calibration of charge forecasts: announced and observed falls below the reserve.

For runs with a battery (``soc`` and ``reserve`` of an experiment), after the first 50 trips, on the
chosen routes and on random ones where the run has a random-route probe.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from evroute.arrays import FloatArray
from evroute.experiments.log import COLUMNS
from evroute.learning.intervals import LEVELS
from evroute.report.charts.rounds import LABEL_LIMIT
from evroute.report.extras import alt, pd
from evroute.report.table import label_columns, means

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
    return sd * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))


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
    title = "Intervals that held; lines Gaussian, points conformal"
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


TITLE = "Trips that never fell below the reserve, against the predicted probability"


def charges(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row per trip: the columns of `label_columns`, routes and `battery_log.COLUMNS`.

    ``routes`` is chosen or random. The table is empty if no run has a battery.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    if COLUMNS[0] not in rounds:
        return rounds.iloc[:0]
    late = rounds[rounds["t"] > BURN_IN]
    names = label_columns(rounds)
    frames = []
    for routes, prefix in (("chosen", ""), ("random", "audit_")):
        if prefix + COLUMNS[0] in rounds:
            frame = late[names].assign(
                routes=routes, **{name: late[prefix + name] for name in COLUMNS}
            )
            frames.append(frame[frame[COLUMNS[0]].notna()])
    frame = pd.concat(frames, ignore_index=True)
    below = (frame["below_reserve_midway"] > 0) | (frame["below_reserve_on_arrival"] > 0)
    return frame.assign(kept=~below)


def reserve_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row per method, trip and kind of routes, over the seeds; empty without a battery.

    % of trips below the reserve midway, on arrival, and never; the mean announced probability of
    never, by the belief and with deviations widened by the error of past trips; their Brier scores
    (mean squared difference to 1 if the reserve was kept and 0 if not, smaller is better); the mean
    absolute error of the arrival charge, percentage points.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    frame = charges(rounds)
    if frame.empty:
        return frame
    error = frame["soc_arrival_expected_percent"] - frame["soc_arrival_percent"]
    columns = {
        "below midway (%)": 100.0 * frame["below_reserve_midway"],
        "below on arrival (%)": 100.0 * frame["below_reserve_on_arrival"],
        "never below (%)": 100.0 * frame["kept"],
        "predicted (%)": 100.0 * frame["p_reserve"],
        "widened (%)": 100.0 * frame["p_reserve_widened"],
        "Brier": (frame["p_reserve"] - frame["kept"]) ** 2,
        "Brier, widened": (frame["p_reserve_widened"] - frame["kept"]) ** 2,
        "arrival charge, |error| (points)": error.abs(),
    }
    return means(frame.assign(**columns), rounds, [*label_columns(rounds), "routes"], columns)


def reserve_bins(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return announced and observed frequency of keeping the reserve, by tenths of the probability.

    Columns: method, routes, announced (its mean in the tenth), kept (share of trips), trips.

    Parameters
    ----------
    frame
        From `charges`.
    """
    frame = frame[frame["p_reserve_widened"].notna()]
    tenth = np.minimum((frame["p_reserve_widened"] * N_BINS).astype(int), N_BINS - 1)
    grouped = frame.assign(tenth=tenth).groupby(["method", "routes", "tenth"], observed=True)
    return grouped.agg(
        announced=("p_reserve_widened", "mean"), kept=("kept", "mean"), trips=("kept", "size")
    ).reset_index()


def reserve_reliability(frame: "pd.DataFrame") -> "alt.ConcatChart":
    """Draw the share of trips that kept the reserve against its announced probability.

    One point per tenth of the probability, its area by the number of trips. Calibrated
    announcements lie on the diagonal.

    Parameters
    ----------
    frame
        From `charges`.
    """
    rows = reserve_bins(frame).round(6).to_dict("records")
    scale = alt.Scale(domain=[0, 1])
    points = (
        alt.Chart()
        .mark_point(filled=True, opacity=0.8)
        .encode(
            x=alt.X("announced:Q", title="predicted", axis=alt.Axis(format="%"), scale=scale),
            y=alt.Y("kept:Q", title=None, axis=alt.Axis(format="%"), scale=scale),
            size=alt.Size(
                "trips:Q",
                scale=alt.Scale(range=[20, 300]),
                legend=alt.Legend(title="trips", orient="top"),
            ),
            color=routes_colour(),
        )
    )
    diagonal = (
        alt.Chart(alt.Data(values=[{"announced": 0, "kept": 0}, {"announced": 1, "kept": 1}]))
        .mark_line(color="#555", strokeDash=[2, 2], strokeWidth=1)
        .encode(x="announced:Q", y="kept:Q")
    )
    of_method = {
        method: alt.Data(values=[row for row in rows if str(row["method"]) == method])
        for method in dict.fromkeys(str(row["method"]) for row in rows)
    }
    panels = (
        alt.layer(diagonal, points.properties(data=data)).properties(
            width=260, height=180, title=method
        )
        for method, data in of_method.items()
    )
    return alt.concat(*panels, columns=3).properties(
        title=alt.Title(TITLE, anchor="start", fontSize=14)
    )
