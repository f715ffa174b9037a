"""Noise of trip totals, ``v = a² + b² km + d² km² + q``, fitted by marginal likelihood.

a: ends of the trip; b: what averages out along the way; d: the trip's own factor (driver, wind,
load); q: variance known of the measurement itself. Coefficients of the trips are integrated out:
residuals ``r ~ N(0, Z Z' + diag(v))`` with Z the rows times the prior standard deviations.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from evroute.arrays import FloatArray
from evroute.learning.trip_regression import inverse_factor

LOG_STD = 2.0
"""Standard deviation of the prior of log a, log b and log d about the start."""
REFITS = (3, 10, 20, 30, 50, 75, 100)
REFIT_EVERY = 50


@dataclass(frozen=True, slots=True)
class TripNoiseScale:
    """Standard deviations of a trip's noise: per trip (a), per root of a km (b), per km (d), Wh."""

    trip_wh: float = 42.0
    root_km_wh: float = 50.0
    km_wh: float = 30.0

    def variance(self, km: FloatArray, known_wh2: FloatArray | float = 0.0) -> FloatArray:
        """Return the noise variance of trips of (n,) km, known variances included, (n,) Wh²."""
        own: FloatArray = self.trip_wh**2 + self.root_km_wh**2 * km + self.km_wh**2 * km**2
        return own + known_wh2


START = TripNoiseScale()


def is_refit_due(n_trips: int) -> bool:
    """Return whether the noise is fitted again after this many trips learned."""
    return n_trips in REFITS or (n_trips > REFITS[-1] and n_trips % REFIT_EVERY == 0)


def fit_noise(
    rows: FloatArray,
    residual_wh: FloatArray,
    km: FloatArray,
    known_wh2: FloatArray,
    start: TripNoiseScale = START,
) -> TripNoiseScale:
    """Return the noise scale of the greatest posterior density, by L-BFGS with exact gradients.

    Parameters
    ----------
    rows
        (n, p) terms of the trips times the prior standard deviations of their coefficients.
    residual_wh
        (n,) measured energy minus its prior mean, Wh.
    km
        (n,) length of the trips, km.
    known_wh2
        (n,) q, Wh².
    start
        Centre of the log-normal prior, and start of the search.
    """
    start_wh = np.array([start.trip_wh, start.root_km_wh, start.km_wh])
    powers = np.stack([np.ones_like(km), km, km**2])
    identity = np.eye(rows.shape[1])

    def objective(log_ratio: FloatArray) -> tuple[float, FloatArray]:
        parts = ((start_wh * np.exp(log_ratio)) ** 2)[:, np.newaxis] * powers
        variance = parts.sum(axis=0) + known_wh2
        weighted = rows.T / variance
        inverse = inverse_factor(identity + weighted @ rows)
        half = inverse @ weighted
        # K = Z Z' + diag(v): K^-1 r, and the diagonal of K^-1
        solved = residual_wh / variance - (half @ residual_wh) @ half
        diagonal = 1.0 / variance - (half**2).sum(axis=0)
        log_det = np.log(variance).sum() - 2.0 * np.log(inverse.diagonal()).sum()
        value = 0.5 * (log_det + residual_wh @ solved + (log_ratio**2).sum() / LOG_STD**2)
        return float(value), parts @ (diagonal - solved**2) + log_ratio / LOG_STD**2

    bounds = [(-4 * LOG_STD, 4 * LOG_STD)] * 3
    found = minimize(objective, np.zeros(3), jac=True, method="L-BFGS-B", bounds=bounds)
    return TripNoiseScale(*(start_wh * np.exp(found.x)).tolist())
