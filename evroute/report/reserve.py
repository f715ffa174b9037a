"""Calibration of charge forecasts: announced and observed falls below the reserve.

For runs with a battery (``soc`` and ``reserve`` of an experiment), after the first 50 trips, on the
chosen routes and on random ones where the run has a random-route probe.
"""

import numpy as np

from evroute.experiments.log import COLUMNS
from evroute.report.calibration import BURN_IN, routes_colour
from evroute.report.extras import alt, pd
from evroute.report.table import label_columns, means

N_BINS = 10
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
    """Return one row per method, trip and kind of routes, over the seeds. Empty without a battery.

    % of trips below the reserve midway, on arrival, and never. The mean announced probability of
    never, by the belief and with deviations widened by the error of past trips. Their Brier scores
    (mean squared difference to 1 if the reserve was kept and 0 if not, smaller is better). The mean
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
