"""Findings: a sentence for a figure of the runs of one trip, on the dashboard and in reports."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from evroute.report.abstract import forecast_clause, late_and_early, saving_of
from evroute.report.charts.rounds import physics_alone

if TYPE_CHECKING:
    from pandas import DataFrame


def finding(figure: str, rounds: "DataFrame") -> str:
    """Return the finding of a figure of the runs of one trip, or empty where no sentence is known.

    Parameters
    ----------
    figure
        Key of `CURVES`.
    rounds
        From `results.read_rounds`, of one trip.
    """
    words = FINDINGS.get(figure)
    return words(rounds) if words else ""


def regret_words(rounds: "DataFrame") -> str:
    """Return the energy lost at the end, by each method and by physics alone in its worlds.

    Parameters
    ----------
    rounds
        From `results.read_rounds`, of one trip.
    """
    ends: dict[tuple[int, float], list[tuple[object, float]]] = {}
    for method, group in rounds.groupby("method", sort=False):
        last = int(group["t"].max())
        alone = physics_alone(group)
        lost_wh, physics_wh = (
            float(each.loc[each["t"] == last, "cumulative_regret_wh"].mean())
            for each in (group, alone)
        )
        ends.setdefault((last, round(physics_wh, 6)), []).append((method, lost_wh))
    several = rounds["method"].nunique() > 1
    sentences = []
    for (last, physics_wh), methods in ends.items():
        learned = ", ".join(
            f"{wh / 1000:.2f} kWh{f' by {name}' if several else ''}" for name, wh in methods
        )
        sentences.append(
            f"{last} trips lost {learned} against the best routes, by physics alone they would "
            f"lose {physics_wh / 1000:.2f} kWh."
        )
    return " ".join(sentences)


def saving_words(rounds: "DataFrame") -> str:
    """Return the energy that the last trips of each method saved against physics.

    Parameters
    ----------
    rounds
        From `results.read_rounds`, of one trip.
    """
    return _of_methods(rounds, lambda late, _: saving_of(late)[0])


def forecast_words(rounds: "DataFrame") -> str:
    """Return the error of the forecasts of the first and the last trips of each method.

    Parameters
    ----------
    rounds
        From `results.read_rounds`, of one trip.
    """
    return _of_methods(rounds, forecast_clause)


def _of_methods(rounds: "DataFrame", clause: "Callable[[DataFrame, DataFrame], str]") -> str:
    """Return a sentence of the clauses of all methods on their last trips."""
    clauses = []
    for method, group in rounds.groupby("method", sort=False):
        named = f" of {method}" if rounds["method"].nunique() > 1 else ""
        late, early = late_and_early(group)
        if words := clause(late, early):
            clauses.append(f"the last {late['t'].nunique()} trips{named}: {words}")
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}." if text else ""


FINDINGS: "Mapping[str, Callable[[DataFrame], str]]" = {
    "cumulative-regret": regret_words,
    "saving": saving_words,
    "forecast-error": forecast_words,
}
"""Words of a figure, by its key in `CURVES`."""
