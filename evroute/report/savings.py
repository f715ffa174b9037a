"""Savings of learning: energy and time against the eq. 8, the fastest and the shortest route.

Everything is paired: the other routes are those of the same trip in the same round of the same
world, and their energies are true expectations (``regret.DEFINITION``), so that measurement noise
cancels.

Intervals of means over worlds, by Student's t.

The abstract of simulated runs: forecast errors and savings of learned routes, one sentence each.

Savings are paired: the physics route is the eq. 8 route of the same trip, round and world, and both
energies are true expectations (`regret.DEFINITION`), so that noise of the measurements cancels.
"""

from dataclasses import dataclass
from itertools import compress

import numpy as np

from evroute.arrays import FloatArray
from evroute.planning.plan import SMALL_WH
from evroute.report.charts.rounds import method_styles, panel_labels
from evroute.report.extras import pd
from evroute.report.table import LAST_TRIPS, label_columns


def half_interval(values: FloatArray, level: float) -> float:
    """Return half the width of the interval of a mean by Student's t; NaN for one value.

    Parameters
    ----------
    values
        (n,) independent values, one for each world.
    level
        Probability that the interval holds the expected value.
    """
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return float("nan")
    return float(stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / np.sqrt(n))


FIRST_TRIPS = 10
SMALL_SHARE = 0.005
"""Share of the eq. 8 route's energy: headroom below it counts as none, a loss above it as harm."""


def vehicles_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return `savings_table` with one row per vehicle; empty if no run has several vehicles.

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
    paired 95 % interval over the seeds by Student's t (NaN for one seed). ``headroom`` is the
    saving against eq. 8 of a driver who knows the world. ``captured`` is the saved share of its sum
    over the seeds, if that sum is at least 0.5 % of the energy. ``captured, median`` and ``above 60
    %`` are the median of the saved share and the share of seeds in which it exceeds 60 %, over the
    seeds whose own headroom is at least 0.5 %. ``harmed`` is the share of seeds whose last trips
    take at least 0.5 % more than eq. 8, and ``worst`` is their greatest loss. ``saved in all`` sums
    over all trips.
    ``pays after`` is the median number of trips after which that sum stays positive, infinite if it
    never does. ``|error|`` is the mean absolute error of the predicted energy in the first 10 and
    in the last 50 trips.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    return _table(rounds, label_columns(rounds))


def _table(rounds: "pd.DataFrame", keys: list[str]) -> "pd.DataFrame":

    frame = rounds.assign(
        method=pd.Categorical(rounds["method"], list(method_styles(rounds)), ordered=True)
    )
    rows = [
        dict(zip(keys, names, strict=True))
        | _row([seed.sort_values("t") for _, seed in group.groupby("run")])
        for names, group in frame.groupby(keys, observed=True, sort=True)
    ]
    return pd.DataFrame(rows).astype({"method": str})


def _row(seeds: "list[pd.DataFrame]") -> dict[str, float]:
    last = [seed.tail(LAST_TRIPS) for seed in seeds]

    def against(rival: str, quantity: str, driven: str) -> FloatArray:
        return np.array(
            [float((seed[driven] - seed[f"{rival}_{quantity}"]).mean()) for seed in last]
        )

    eq8_wh = np.array([float(seed["eq8_wh"].mean()) for seed in last])
    lost_wh = against("eq8", "wh", "true_wh")
    headroom_wh = eq8_wh - np.array([float(seed["best_wh"].mean()) for seed in last])
    enough = headroom_wh.sum() >= SMALL_SHARE * np.abs(eq8_wh).sum()
    some = headroom_wh >= SMALL_SHARE * np.abs(eq8_wh)
    captured = -100 * lost_wh[some] / headroom_wh[some]
    saved_wh = [-(seed["true_wh"] - seed["eq8_wh"]).cumsum().to_numpy() for seed in seeds]
    return {
        "seeds": len(seeds),
        "Wh per trip": float(np.mean([seed["true_wh"].mean() for seed in last])),
        "vs eq. 8 (Wh)": float(lost_wh.mean()),
        "± 95 % (Wh)": half_interval(lost_wh, 0.95),
        "vs fastest (Wh)": float(against("fastest", "wh", "true_wh").mean()),
        "vs shortest (Wh)": float(against("shortest", "wh", "true_wh").mean()),
        "vs fastest (min)": float(against("fastest", "s", "time_s").mean()) / 60,
        "vs fastest (km)": float(against("fastest", "m", "length_m").mean()) / 1000,
        "headroom (Wh)": float(headroom_wh.mean()),
        "captured (%)": -100 * float(lost_wh.sum() / headroom_wh.sum()) if enough else np.nan,
        "captured, median (%)": float(np.median(captured)) if some.any() else np.nan,
        "above 60 % (%)": 100 * float((captured > 60).mean()) if some.any() else np.nan,
        "worst (Wh)": float(lost_wh.max()),
        "harmed (%)": 100 * float((lost_wh >= SMALL_SHARE * np.abs(eq8_wh)).mean()),
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


ABSTRACT_TRIPS = 20
"""Trips at the end of a run that the abstract averages over; at most half of the run."""
SHOWN_SENTENCES = 6
"""Sentences that the terminal and the dashboard show; a page has all."""
LEVEL = 0.9
"""Level of the interval of the mean saving over the worlds, by Student's t."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of the abstract.

    saves: whether the interval of the saving, over two worlds or more, is above 0.
    """

    text: str
    saves: bool


def abstract(rounds: "pd.DataFrame") -> list[Finding]:
    """Return forecast error and saving in a sentence for each panel of `panel_labels` and method.

    The forecast error is the mean absolute deviation of the measured from the predicted route
    energy, % of the mean energy. The saving is the mean true energy of the physics routes minus
    that of the driven routes, % of the former, or Wh a trip where that is below 0.1 kWh.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    panels = panel_labels(rounds)
    several = panels.nunique() > 1, rounds["method"].nunique() > 1
    sentences = []
    for (panel, method), group in rounds.groupby([panels.rename("panel"), "method"], sort=False):
        trips = int(group["t"].max())
        last = min(ABSTRACT_TRIPS, (trips + 1) // 2)
        late = group[group["t"] > trips - last]
        early = group[group["t"] <= min(FIRST_TRIPS, trips - last)]
        named = ", ".join(compress((str(panel), str(method)), several))
        opening = f"{named}: in" if named else "In"
        period = f"{opening} the last {last} of {trips} trips"
        saving, saves = _saving(late)
        clauses = [clause for clause in (_forecasts(late, early), saving) if clause]
        sentences.append(Finding(f"{period} {' and '.join(clauses)}.", saves))
    return sentences


def _forecasts(late: "pd.DataFrame", early: "pd.DataFrame") -> str:
    """Return the clause on forecast errors; empty if the method predicts nothing."""
    if "predicted_wh" not in late or late["predicted_wh"].isna().all():
        return ""
    at_first = f" ({_error(early)} in the first {early['t'].max()})" if len(early) else ""
    return f"forecasts are {_error(late)} off{at_first}"


def _error(rounds: "pd.DataFrame") -> str:
    """Return the mean absolute forecast error, % of the mean absolute energy."""
    known = rounds[rounds["predicted_wh"].notna()]
    error_wh = (known["energy_wh"] - known["predicted_wh"]).abs()
    return f"{_number(100 * float(error_wh.sum() / known['energy_wh'].abs().sum()))} %"


def _saving(late: "pd.DataFrame") -> tuple[str, bool]:
    """Return the clause on energy against the physics route, and whether a saving is certain."""
    physics_wh = float(late["eq8_wh"].mean())
    saved_wh = (late["eq8_wh"] - late["true_wh"]).groupby(late["run"]).mean().to_numpy()
    unit, unit_wh = ("%", physics_wh / 100) if physics_wh > SMALL_WH else ("Wh", 1.0)
    worlds, mean_wh = len(saved_wh), float(saved_wh.mean())
    half_wh = half_interval(saved_wh, LEVEL) if worlds > 1 else 0.0
    doubt = ""
    if mean_wh < SMALL_SHARE * abs(physics_wh):
        doubt = "nothing is saved: "
    elif mean_wh <= half_wh:
        doubt = "there is no saving beyond noise yet: "
    sign, word = (1, "less") if mean_wh >= 0 else (-1, "more")
    low, high = ((sign * mean_wh + side * half_wh) / unit_wh for side in (-1, 1))
    spread = f"{LEVEL:.0%}: {_number(low)} to {_number(high)} {unit}, ".replace("%:", " %:")
    among = f"{spread}{worlds} worlds" if worlds > 1 else "1 world"
    clause = (
        f"{doubt}learned routes take {_number(abs(mean_wh) / unit_wh)} {unit} {word} energy "
        f"than routes by physics alone ({among})"
    )
    return clause, worlds > 1 and not doubt


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}"
