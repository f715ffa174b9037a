"""Width and interval score of 90 % intervals of three kinds, beside each other.

The kinds: Gaussian; conformal, as the run recorded it (`learning.intervals`); and quantiles of the
energy per km of earlier trips, which use no model at all.
"""

from typing import Any

import numpy as np
from scipy.special import ndtri

from evroute.arrays import FloatArray
from evroute.report.calibration import BURN_IN, KINDS
from evroute.report.extras import pd
from evroute.report.table import label_columns, means

LEVEL = 0.9


def interval_score(low: FloatArray, high: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the interval score of central 90 % intervals, (n,). Smaller is better.

    The width, and 20 times the distance of a measurement outside (Gneiting & Raftery, *Strictly
    Proper Scoring Rules, Prediction, and Estimation* (2007), eq. 43).

    Parameters
    ----------
    low, high
        (n,) ends of the intervals.
    measured
        (n,) measured values, in the same unit.
    """
    outside = np.maximum(low - measured, 0.0) + np.maximum(measured - high, 0.0)
    return high - low + 2.0 / (1.0 - LEVEL) * outside


def interval_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return share held, mean width and mean score of 90 % intervals after the first 50 trips.

    One row per method, trip, kind of routes and kind of interval, over the runs. Random routes
    use the multipliers of the chosen ones. Intervals without a model exist for chosen routes.

    Parameters
    ----------
    rounds
        From `results.read_rounds`, with intervals.
    """
    frame = _ends(rounds).dropna(subset=["low", "high", "measured"])
    ends = (frame[name].to_numpy() for name in ("low", "high", "measured"))
    columns: dict[str, Any] = {
        "held (%)": 100.0 * frame["measured"].between(frame["low"], frame["high"]),
        "width (Wh)": frame["high"] - frame["low"],
        "interval score (Wh)": interval_score(*ends),
    }
    keys = [*label_columns(rounds), "routes", "interval"]
    return means(frame.assign(**columns), rounds, keys, columns)


def _ends(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return the ends of all intervals, a row per late trip and kind, run by run."""
    number = rounds["run"].factorize()[0]
    sd = rounds["predicted_sd_wh"].where(rounds["predicted_sd_wh"] > 0)
    rounds = rounds.assign(number=number, predicted_sd_wh=sd).sort_values(["number", "t"])
    multipliers: dict[str, Any] = {
        "Gaussian": float(ndtri(0.5 + LEVEL / 2)),
        "conformal": rounds["half90_wh"] / rounds["predicted_sd_wh"],
    }
    ends = [
        (routes, interval, measured, *(rounds[mean] + k * times * rounds[of] for k in (-1, 1)))
        for routes, (mean, of, measured) in KINDS.items()
        if measured in rounds
        for interval, times in multipliers.items()
    ]
    past = (rounds["energy_wh"] / rounds["length_m"]).groupby(rounds["number"])
    tails = (
        past.transform(lambda of_run, share=share: of_run.shift().expanding().quantile(share))
        for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    )
    by_length = (per_m * rounds["length_m"] for per_m in tails)
    ends.append(("chosen", "energy per km of past trips", "energy_wh", *by_length))
    late, kept = rounds["t"] > BURN_IN, label_columns(rounds)
    found = [
        rounds.loc[late, kept].assign(
            routes=routes, interval=interval, measured=rounds[measured], low=low, high=high
        )
        for routes, interval, measured, low, high in ends
    ]
    return pd.concat(found, ignore_index=True)
