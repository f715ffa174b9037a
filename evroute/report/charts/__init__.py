"""Charts (altair) of simulations, of plans and of own trips."""

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
