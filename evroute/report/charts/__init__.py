"""Charts (altair) of simulations and of plans; each function returns a chart."""

from evroute.report.charts.rounds import (
    beta,
    cumulative_regret,
    diagnostic,
    distribution,
    duration,
    regret_by_lengthscale,
    saving,
)

__all__ = [
    "beta",
    "cumulative_regret",
    "diagnostic",
    "distribution",
    "duration",
    "regret_by_lengthscale",
    "saving",
]
