"""Savings of learning against the routes by physics alone, the fastest and the shortest.

A saving is positive.

Everything is paired: the other routes belong to the same trip in the same round of the same world,
and their energies are true expectations (``regret.DEFINITION``), so that measurement noise cancels.
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.report.abstract import abstract
from evroute.report.charts.mean_interval import half_interval
from evroute.report.charts.styles import in_legend_order
from evroute.report.extras import pd
from evroute.report.table import FIRST_TRIPS, LAST_TRIPS, SMALL_SHARE, label_columns

__all__ = ["MEANINGS", "abstract", "savings_table", "vehicles_table"]

MEANINGS = {
    "seeds": "simulated worlds",
    "Wh per trip": "energy of the driven routes",
    "saved vs physics (Wh)": "energy saved on a trip against the route by physics alone",
    "± 95 % (Wh)": "half the interval of this saving over the worlds",
    "saved vs fastest (Wh)": "energy saved on a trip against the fastest route",
    "saved vs shortest (Wh)": "energy saved on a trip against the shortest route",
    "longer than fastest (min)": "minutes more than the fastest route",
    "longer than fastest (km)": "kilometres more than the fastest route",
    "headroom (Wh)": "what a driver who knows the traffic would save against physics alone",
    "of the headroom (%)": "the part of the headroom that was saved",
    "of the headroom, median world (%)": "the same in the median world",
    "worlds above 60 % (%)": "worlds in which more than 60 % of the headroom was saved",
    "worst world loses (Wh)": "loss on a trip in the worst world, negative if it saves too",
    "worlds that lose (%)": "worlds in which learning takes at least 0.5 % more than physics alone",
    "saved in all (kWh)": "saving of all trips together, trials included",
    "pays after (trips)": "trips after which all trips together stay ahead, in the median world",
    "|error|, first trips (Wh)": "how far forecasts were off in the first 10 trips",
    "|error|, last trips (Wh)": "how far forecasts are off in the last 50 trips",
}
"""What the columns of `savings_table` mean, in words."""


def vehicles_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return `savings_table` with one row per vehicle, or empty if no run has several vehicles.

    Windows such as the last 50 trips count the trips of the vehicle.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    if "vehicle" not in rounds:  # folder of an older version without a vehicle column
        return rounds.iloc[:0]
    several = rounds[rounds.groupby("run")["vehicle"].transform("nunique") > 1]
    return _table(several, [*label_columns(rounds), "vehicle"]) if len(several) else several


def savings_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row for each method on each trip in each world, over the seeds.

    ``Wh per trip`` and the columns after it are means of the last 50 trips, and ``±`` is half their
    paired 95 % interval over the seeds by Student's t (NaN for one seed). The routes by physics
    alone follow eq. 8. ``headroom`` is the saving against them of a driver who knows the world.
    ``of the headroom`` is the saved share of its sum over the seeds, if that sum is at least 0.5 %
    of the energy. ``median world`` and ``worlds above 60 %`` are the median of the saved share and
    the share of seeds in which it exceeds 60 %, over the seeds whose own headroom is at least
    0.5 %. ``worlds that lose`` is the share of seeds whose last trips take at least 0.5 % more than
    the routes by physics alone, and ``worst world`` is the greatest loss of a seed. ``saved in
    all`` sums over all trips. ``pays after`` is the median number of trips after which that sum
    stays positive, infinite if it never does. ``|error|`` is the mean absolute error of the
    predicted energy in the first 10 and in the last 50 trips. `MEANINGS` has a sentence for each
    column.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    return _table(rounds, label_columns(rounds))


def _table(rounds: "pd.DataFrame", keys: list[str]) -> "pd.DataFrame":
    frame = in_legend_order(rounds, rounds)
    rows = [
        dict(zip(keys, names, strict=True))
        | _row([seed.sort_values("t") for _, seed in group.groupby("run")])
        for names, group in frame.groupby(keys, observed=True, sort=True)
    ]
    return pd.DataFrame(rows).astype({"method": str})


def _row(seeds: "list[pd.DataFrame]") -> dict[str, float]:
    last = [seed.tail(LAST_TRIPS) for seed in seeds]

    def less_than(rival: str, quantity: str, driven: str) -> FloatArray:
        return np.array(
            [float((seed[f"{rival}_{quantity}"] - seed[driven]).mean()) for seed in last]
        )

    eq8_wh = np.array([float(seed["eq8_wh"].mean()) for seed in last])
    late_wh = less_than("eq8", "wh", "true_wh")
    headroom_wh = eq8_wh - np.array([float(seed["best_wh"].mean()) for seed in last])
    enough = headroom_wh.sum() >= SMALL_SHARE * np.abs(eq8_wh).sum()
    some = headroom_wh >= SMALL_SHARE * np.abs(eq8_wh)
    shares = 100 * late_wh[some] / headroom_wh[some]
    saved_wh = [-(seed["true_wh"] - seed["eq8_wh"]).cumsum().to_numpy() for seed in seeds]
    return {
        "seeds": len(seeds),
        "Wh per trip": float(np.mean([seed["true_wh"].mean() for seed in last])),
        "saved vs physics (Wh)": float(late_wh.mean()),
        "± 95 % (Wh)": half_interval(late_wh, 0.95),
        "saved vs fastest (Wh)": float(less_than("fastest", "wh", "true_wh").mean()),
        "saved vs shortest (Wh)": float(less_than("shortest", "wh", "true_wh").mean()),
        "longer than fastest (min)": -float(less_than("fastest", "s", "time_s").mean()) / 60,
        "longer than fastest (km)": -float(less_than("fastest", "m", "length_m").mean()) / 1000,
        "headroom (Wh)": float(headroom_wh.mean()),
        "of the headroom (%)": 100 * float(late_wh.sum() / headroom_wh.sum()) if enough else np.nan,
        "of the headroom, median world (%)": float(np.median(shares)) if some.any() else np.nan,
        "worlds above 60 % (%)": 100 * float((shares > 60).mean()) if some.any() else np.nan,
        "worst world loses (Wh)": float(-late_wh.min()),
        "worlds that lose (%)": 100 * float((-late_wh >= SMALL_SHARE * np.abs(eq8_wh)).mean()),
        "saved in all (kWh)": float(np.mean([saved[-1] for saved in saved_wh])) / 1000,
        "pays after (trips)": float(np.median([_pays_after(saved) for saved in saved_wh])),
        "|error|, first trips (Wh)": _error_wh([seed.head(FIRST_TRIPS) for seed in seeds]),
        "|error|, last trips (Wh)": _error_wh(last),
    }


def _pays_after(saved_wh: FloatArray) -> float:
    """Return the number of trips after which a cumulative saving stays positive."""
    behind = np.flatnonzero(saved_wh <= 0)
    if not len(behind):
        return 1.0
    return float(behind[-1] + 2) if behind[-1] + 1 < len(saved_wh) else np.inf


def _error_wh(seeds: "list[pd.DataFrame]") -> float:
    return float(
        np.mean([(seed["energy_wh"] - seed["predicted_wh"]).abs().mean() for seed in seeds])
    )
