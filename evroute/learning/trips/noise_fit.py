"""Noise of trip totals, ``v = a² + b² km + d² km² + q``, fitted by marginal likelihood.

a: ends of the trip; b: what averages out along the way; d: the trip's own factor (driver, wind,
load); q: variance known of the measurement itself. Coefficients of the trips are integrated out:
residuals ``r ~ N(0, Z Z' + diag(v))`` with Z the rows times the prior standard deviations. The
deviations of Gaussian processes that join the coefficients (`fields`) are fitted with the noise.
In a fleet diag(v) gives way to a covariance of the trips of each car (`fleet.car_noise`), whose
deviations over cars are fitted as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import qr
from scipy.optimize import minimize

from evroute.arrays import FloatArray
from evroute.learning.fleet.car_noise import DrivenCars, Independent, TripCovariance
from evroute.learning.trips.regression import inverse_factor

LOG_STD = 2.0
"""Standard deviation of the prior of log a, log b and log d about the start."""
LOG_STD_OF_CARS = 0.7
"""Standard deviation of the prior of the logs of the deviations over cars."""
REFITS = (3, 10, 20, 30, 50, 75, 100)
REFIT_EVERY = 50
LATE_REFITS = (50, 100)
LATE_EVERY = 200
STEADY = 1000


@dataclass(frozen=True, slots=True, eq=False)
class LateField:
    """A field that joins when there is evidence for it.

    features: of trips by their numbers, (n, m).  least_std: in Wh per unit of the features. The
    centre of its log-normal prior, and the least deviation that counts.
    """

    features: Callable[[Sequence[int]], FloatArray]
    least_std: float


@dataclass(frozen=True, slots=True)
class TripNoiseScale:
    """Standard deviations of a trip's noise: per trip (a), per root of a km (b), per km (d), Wh."""

    trip_wh: float = 42.0
    root_km_wh: float = 50.0
    km_wh: float = 30.0

    def times(self, factor: float) -> "TripNoiseScale":
        """Return the noise with all deviations multiplied."""
        return TripNoiseScale(self.trip_wh * factor, self.root_km_wh * factor, self.km_wh * factor)

    def variance(self, km: FloatArray, known_wh2: FloatArray | float = 0.0) -> FloatArray:
        """Return the noise variance of trips of (n,) km, known variances included, (n,) Wh²."""
        return self.trip_wh**2 + self.root_km_wh**2 * km + self.km_wh**2 * km**2 + known_wh2

    def covariance(self, km: FloatArray) -> FloatArray:
        """Return the covariance of the noise of one trip up to (k,) km, (k, k) Wh²."""
        shared: FloatArray = np.minimum.outer(km, km)
        return self.trip_wh**2 + self.root_km_wh**2 * shared + self.km_wh**2 * np.outer(km, km)


START = TripNoiseScale()


def is_refit_due(n_trips: int) -> bool:
    """Return whether the noise is fitted again after this many trips learned."""
    return n_trips in REFITS or (n_trips > REFITS[-1] and _ends_stage(n_trips, REFIT_EVERY))


def is_late_fit_due(n_trips: int) -> bool:
    """Return whether fields that need evidence are fitted after this many trips learned."""
    return n_trips in LATE_REFITS or _ends_stage(n_trips, LATE_EVERY)


def _ends_stage(n_trips: int, every: int) -> bool:
    """Return whether a stage ends. Its length doubles with the number of trips from `STEADY` on.

    A fit costs as much as the trips that it is made of. All fits together then cost a constant
    number of passes over the trips.
    """
    doublings = max(n_trips // STEADY, 1).bit_length() - 1
    return n_trips > 0 and n_trips % (every << doublings) == 0


@dataclass(frozen=True, slots=True)
class FittedScales:
    """Fitted noise, deviations of fields and over cars, and the negative log posterior density."""

    noise: TripNoiseScale
    fields: tuple[float, ...]
    cost: float
    cars: tuple[float, ...] = ()


def fit_scales(
    rows: FloatArray,
    residual_wh: FloatArray,
    km: FloatArray,
    known_wh2: FloatArray,
    *,
    start: TripNoiseScale = START,
    fields: Sequence[tuple[FloatArray, float]] = (),
    cars: DrivenCars | None = None,
) -> FittedScales:
    """Return the noise scale and the deviations of the greatest posterior density.

    By L-BFGS with exact gradients.

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
    fields
        For each Gaussian process that joins the coefficients: its whitened features (n, m) summed
        over each trip, and the centre of the log-normal prior of its standard deviation, in Wh per
        unit of the features.
    cars
        Cars of the trips, or None if all are of one.
    """
    own = [] if cars is None else cars.centre.tolist()
    stds = [std for _, std in fields]
    centre = np.array([start.trip_wh, start.root_km_wh, start.km_wh, *stds, *own])
    log_std = np.full(len(centre), LOG_STD)
    log_std[len(centre) - len(own) :] = LOG_STD_OF_CARS
    fields = [(_narrowed(features), std) for features, std in fields]
    powers = np.stack([np.ones_like(km), km, km**2])
    widths = np.cumsum([rows.shape[1], *(features.shape[1] for features, _ in fields)])
    identity = np.eye(widths[-1])

    def objective(log_ratio: FloatArray) -> tuple[float, FloatArray]:
        scale = centre * np.exp(log_ratio)
        parts = (scale[:3] ** 2)[:, np.newaxis] * powers
        variance = parts.sum(axis=0) + known_wh2
        trips: TripCovariance = Independent(variance)
        if cars is not None:
            trips = cars.covariance(scale[-2:], variance)
        of_fields = zip(scale[3:], fields, strict=False)
        z = np.hstack([rows, *(std * features for std, (features, _) in of_fields)])
        weighted = trips.solved(z)
        inverse = inverse_factor(identity + weighted @ z)
        half = inverse @ weighted
        # K = Z Z' + N: K^-1 r, and the diagonal of K^-1
        solved = trips.solved(residual_wh) - (half @ residual_wh) @ half
        diagonal = trips.diagonal - (half**2).sum(axis=0)
        log_det = trips.log_det - 2.0 * np.log(inverse.diagonal()).sum()
        value = 0.5 * (log_det + residual_wh @ solved + ((log_ratio / log_std) ** 2).sum())
        slope = (parts @ (diagonal - solved**2)).tolist()
        for first, last in pairwise(widths.tolist()):
            of_field = z[:, first:last]
            slope.append(
                (np.sum(weighted[first:last] * of_field.T) - np.sum((half @ of_field) ** 2))
                - np.sum((solved @ of_field) ** 2)
            )
        slope += trips.slopes(half, solved).tolist()
        return float(value), np.array(slope) + log_ratio / log_std**2

    found = minimize(
        objective,
        np.zeros(len(centre)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-4 * std, 4 * std) for std in log_std.tolist()],
    )
    fitted = (centre * np.exp(found.x)).tolist()
    of_cars = len(centre) - len(own)
    return FittedScales(
        TripNoiseScale(*fitted[:3]),
        tuple(fitted[3:of_cars]),
        float(found.fun),
        tuple(fitted[of_cars:]),
    )


def _narrowed(features: FloatArray) -> FloatArray:
    """Return features (n, at most n) with the same products between trips as these (n, m)."""
    n, m = features.shape
    return features if m <= n else qr(features.T, mode="economic")[1].T
