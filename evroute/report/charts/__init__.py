"""Charts (altair) of simulations, of plans and of own trips."""

from evroute.report.charts.rounds import (
    beta,
    cumulative_regret,
    diagnostic,
    distribution,
    duration,
    forecast_error,
    regret_by_lengthscale,
    saving,
)

CURVES = {
    "forecast-error": "evroute.report.charts.rounds:forecast_error",
    "saving": "evroute.report.charts.rounds:saving",
    "cumulative-regret": "evroute.report.charts.rounds:cumulative_regret",
    "beta": "evroute.report.charts.rounds:beta",
    "lengthscales": "evroute.report.charts.rounds:regret_by_lengthscale",
}
"""Figures of rounds by file name, in the order of the page on runs."""

__all__ = [
    "CURVES",
    "beta",
    "cumulative_regret",
    "diagnostic",
    "distribution",
    "duration",
    "forecast_error",
    "regret_by_lengthscale",
    "saving",
]
