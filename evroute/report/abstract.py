"""The abstract of simulated runs: forecast errors, savings and times, in sentences.

Savings are paired: the physics route is the eq. 8 route of the same trip, round and world, and both
energies are true expectations (`regret.DEFINITION`), so that noise of the measurements cancels.
"""

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

from evroute.arrays import FloatArray
from evroute.planning.plan import SMALL_WH
from evroute.report.charts.mean_interval import half_interval
from evroute.report.charts.styles import panel_labels
from evroute.report.table import FIRST_TRIPS, SMALL_SHARE

if TYPE_CHECKING:
    import pandas as pd

ABSTRACT_TRIPS = 20
"""Trips at the end of a run that the abstract averages over, at most half of the run."""
SHOWN_SENTENCES = 6
"""Sentences that the terminal and the dashboard show. A page has all."""
LEVEL = 0.9
"""Level of the interval of the mean saving over the worlds, by Student's t."""
LEVEL_FASTER = 0.95
MOST_SLOWER = 0.1
"""Learned routes are called faster if the interval of the time saved, at this level, lies above 0,
and if at most this share of the worlds is slower."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of the abstract.

    saves: whether the interval of the saving, over two worlds or more, is above 0.
    """

    text: str
    saves: bool


def abstract(rounds: "pd.DataFrame") -> list[Finding]:
    """Return forecast error, saving and time for each panel of `panel_labels` and method.

    The forecast error is the mean absolute deviation of the measured from the predicted route
    energy, % of the mean energy. The saving is the mean true energy of the physics routes minus the
    driven routes' mean, % of the first, or Wh a trip where the first is below 0.1 kWh. Times of the
    same routes are compared over two worlds or more (`faster`).

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
        late, early = late_and_early(group)
        last = trips - int(late["t"].min()) + 1
        named = ", ".join(compress((str(panel), str(method)), several))
        opening = f"{named}: in" if named else "In"
        period = f"{opening} the last {last} of {trips} trips"
        saving, saves = saving_of(late)
        clauses = [clause for clause in (forecast_clause(late, early), saving) if clause]
        text = f"{period} {' and '.join(clauses)}.{time_sentence(late)}"
        sentences.append(Finding(text, saves))
    return sentences


def late_and_early(rounds: "pd.DataFrame") -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the rounds at the end of the runs of one method and trip, and those at the start.

    Parameters
    ----------
    rounds
        From `results.read_rounds`, of one method and trip.
    """
    trips = int(rounds["t"].max())
    last = min(ABSTRACT_TRIPS, (trips + 1) // 2)
    return rounds[rounds["t"] > trips - last], rounds[rounds["t"] <= min(FIRST_TRIPS, trips - last)]


def forecast_clause(late: "pd.DataFrame", early: "pd.DataFrame") -> str:
    """Return the clause on forecast errors, or empty if the method predicts nothing.

    Parameters
    ----------
    late, early
        From `late_and_early`.
    """
    if "predicted_wh" not in late or late["predicted_wh"].isna().all():
        return ""
    at_first = f" ({_error(early)} in the first {early['t'].max()})" if len(early) else ""
    return f"forecasts are {_error(late)} off{at_first}"


def _error(rounds: "pd.DataFrame") -> str:
    """Return the mean absolute forecast error, % of the mean absolute energy."""
    known = rounds[rounds["predicted_wh"].notna()]
    error_wh = (known["energy_wh"] - known["predicted_wh"]).abs()
    return f"{_number(100 * float(error_wh.sum() / known['energy_wh'].abs().sum()))} %"


def saving_of(late: "pd.DataFrame") -> tuple[str, bool]:
    """Return the clause on energy against the physics route, and whether a saving is certain.

    Parameters
    ----------
    late
        From `late_and_early`.
    """
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


def time_sentence(late: "pd.DataFrame") -> str:
    """Return a sentence on the time of learned routes, or empty with one world or equal times.

    Parameters
    ----------
    late
        From `late_and_early`.
    """
    if not {"eq8_s", "time_s"} <= set(late) or late["run"].nunique() < 2:
        return ""
    sums = late.groupby("run")[["eq8_s", "time_s"]].sum()
    saved = (100 * (1 - sums["time_s"] / sums["eq8_s"])).to_numpy()
    mean, slower = float(saved.mean()), int((saved < 0).sum())
    if abs(mean) < 100 * SMALL_SHARE:
        return ""
    among = f"they are slower in {slower or 'none'} of {len(saved)} worlds"
    if faster(saved):
        return f" They are also faster: {_number(mean)} % less time, and {among}."
    if mean > 0:
        return f" They take {_number(mean)} % less time on average, which is uncertain: {among}."
    return f" They take {_number(-mean)} % more time."


def faster(saved: FloatArray) -> bool:
    """Return whether routes that save these shares of time may be called faster.

    Parameters
    ----------
    saved
        (n,) time saved in each world.
    """
    certain = float(saved.mean()) > half_interval(saved, LEVEL_FASTER)
    return certain and float((saved < 0).mean()) <= MOST_SLOWER


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}"
