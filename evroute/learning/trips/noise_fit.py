"""Noise of trip totals, ``v = a² + b² km + d² km² + q``, fitted by marginal likelihood.

a: ends of the trip; b: what averages out along the way; d: the trip's own factor (driver, wind,
load); q: variance known of the measurement itself. Coefficients of the trips are integrated out:
residuals ``r ~ N(0, Z Z' + diag(v))`` with Z the rows times the prior standard deviations. The
deviations of Gaussian processes that join the coefficients (`fields`) are fitted with the noise.

A share of b² belongs to the roads: the same at each passage, so that it can be learned. On roads
with a column of their own (`roads.sections`) this share moves from the noise to the columns. On all
other roads the noise has the whole of b².
In a fleet diag(v) gives way to a covariance of the trips of each car (`fleet.car_noise`), whose
deviations over cars are fitted as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.linalg import qr
from scipy.optimize import minimize

from evroute.arrays import FloatArray, IntArray
from evroute.learning.fleet.car_noise import DrivenCars
from evroute.learning.trips.regression import inverse_factor

LOG_STD = 2.0
"""Standard deviation of the prior of log a, log b and log d about the start."""
LOG_STD_OF_CARS = 0.7
"""Standard deviation of the prior of the logs of the deviations over cars."""
REFITS = (3, 10, 20, 30, 50, 75, 100)
ROAD_SHARES = (0.0, 0.25, 0.5)
"""Shares of b² of single roads among which the trips decide."""


@dataclass(frozen=True, slots=True)
class TripNoiseScale:
    """Standard deviations of a trip's noise, and their part that belongs to the roads.

    Parameters
    ----------
    trip_wh, root_km_wh, km_wh
        Deviation per trip (a), per root of a km (b) and per km (d), Wh.
    road_share
        Share of b² that belongs to single roads.
    """

    trip_wh: float = 42.0
    root_km_wh: float = 35.0
    km_wh: float = 8.0
    road_share: float = 0.0

    @property
    def road_wh(self) -> float:
        """Deviation of single roads, Wh per root of a km."""
        return float(np.sqrt(self.road_share)) * self.root_km_wh

    def times(self, factor: float) -> "TripNoiseScale":
        """Return the noise with all deviations multiplied."""
        return replace(
            self,
            trip_wh=self.trip_wh * factor,
            root_km_wh=self.root_km_wh * factor,
            km_wh=self.km_wh * factor,
        )

    def variance(
        self,
        km: FloatArray,
        known_wh2: FloatArray | float = 0.0,
        learned_km: FloatArray | float = 0.0,
    ) -> FloatArray:
        """Return the noise variance of trips, known variances included, (n,) Wh².

        Parameters
        ----------
        km
            (n,) length of the trips, km.
        known_wh2
            (n,) variances that are known, Wh².
        learned_km
            (n,) length of their roads with a column of their own, km.
        """
        root_km = km - self.road_share * learned_km
        return self.trip_wh**2 + self.root_km_wh**2 * root_km + self.km_wh**2 * km**2 + known_wh2

    def covariance(self, km: FloatArray, learned_km: FloatArray) -> FloatArray:
        """Return the covariance of the noise of one trip up to k places on its way, (k, k) Wh².

        Parameters
        ----------
        km, learned_km
            (k,) length so far, and of the roads with a column of their own so far, km.
        """
        root_km = km - self.road_share * learned_km
        shared: FloatArray = np.minimum.outer(root_km, root_km)
        return self.trip_wh**2 + self.root_km_wh**2 * shared + self.km_wh**2 * np.outer(km, km)

    def covariance_with(self, km: FloatArray, learned_km: FloatArray, at: IntArray) -> FloatArray:
        """Return the covariance of the noise up to each of k places and up to another, (k,) Wh².

        Parameters
        ----------
        km, learned_km
            As in `covariance`.
        at
            (k,) the other place of each.
        """
        root_km = km - self.road_share * learned_km
        shared = np.minimum(root_km, root_km[at])
        return self.trip_wh**2 + self.root_km_wh**2 * shared + self.km_wh**2 * km * km[at]


START = TripNoiseScale(road_share=0.25)
"""Noise of a Nissan Leaf before it is fitted, 97 Wh on 5 km.

Fits on real drives, in units of the vehicle's energy per km (`terms.size`), have 19, 56 and 3 Wh (a
Twizy) and 28, 24 and 19 Wh (a bus): 127 and 113 Wh on 5 km. A Leaf has 128 Wh on some 5 km without
its meter. The weather and the traffic of these drives are unknown, and part of it. 3,331 summer
records of e-Golf drivers have 122 Wh/km with a 99th percentile of 196, a deviation of 20 % in the
logarithm for drivers, roads and days together, so the factor of a single trip is well below.
`studies/first_bands.py`: with this noise 92 % of the 90 % intervals of first trips hold.
"""


def is_refit_due(n_trips: int) -> bool:
    """Return whether the noise is fitted again after this many trips learned.

    It is after `REFITS`, then after 50 times 2, 3, 4, 6, 8, 12, ...: a fit costs as much as the trips
    that it is made of, so all fits together cost a constant number of passes over the trips.
    """
    stage = n_trips // 50
    power = 1 << max(stage.bit_length() - 1, 0)
    return n_trips in REFITS or (n_trips in (50 * power, 75 * power) and n_trips > REFITS[-1])


def is_choice_of_roads_due(n_trips: int) -> bool:
    """Return whether the roads with a column of their own are chosen after this many trips."""
    return n_trips in (1, 2) or is_refit_due(n_trips)


@dataclass(frozen=True, slots=True, eq=False)
class DrivenRoads:
    """Single roads of n trips.

    Parameters
    ----------
    features
        (n, m) features of the roads with a column, root km.
    learned_km
        (n,) length of these roads, km.
    share
        Share of b² that belongs to the roads.
    """

    features: FloatArray
    learned_km: FloatArray
    share: float


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
    roads: DrivenRoads | None = None,
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
    roads
        Single roads of the trips, or None if none has a column.
    """
    cars = cars or DrivenCars.none(len(km))
    stds = [std for _, std in fields]
    of_cars = 3 + len(stds)
    centre = np.array([start.trip_wh, start.root_km_wh, start.km_wh, *stds, *cars.centre])
    log_std = np.full(len(centre), LOG_STD)
    log_std[of_cars:] = LOG_STD_OF_CARS
    fields = [(_narrowed(features), std) for features, std in fields]
    share = 0.0 if roads is None else roads.share
    learned_km = 0.0 if roads is None else roads.learned_km
    powers = np.stack([np.ones_like(km), km - share * learned_km, km**2])
    scaled = [(place, features) for place, (features, _) in enumerate(fields, start=3)]
    if roads is not None and share:  # their deviation is a share of b
        scaled.append((1, _narrowed(np.sqrt(share) * roads.features)))
    widths = np.cumsum([rows.shape[1], *(features.shape[1] for _, features in scaled)])
    identity = np.eye(widths[-1])

    def objective(log_ratio: FloatArray) -> tuple[float, FloatArray]:
        scale = centre * np.exp(log_ratio)
        parts = (scale[:3] ** 2)[:, np.newaxis] * powers
        variance = parts.sum(axis=0) + known_wh2
        trips = cars.covariance(scale[of_cars:], variance)
        z = np.hstack([rows, *(scale[place] * features for place, features in scaled)])
        weighted = trips.solved(z)
        inverse = inverse_factor(identity + weighted @ z)
        half = inverse @ weighted
        # K = Z Z' + N: K^-1 r, and the diagonal of K^-1
        solved = trips.solved(residual_wh) - (half @ residual_wh) @ half
        diagonal = trips.diagonal - (half**2).sum(axis=0)
        log_det = trips.log_det - 2.0 * np.log(inverse.diagonal()).sum()
        value = 0.5 * (log_det + residual_wh @ solved + ((log_ratio / log_std) ** 2).sum())
        slope = np.zeros(len(centre))
        slope[:3] = parts @ (diagonal - solved**2)
        for (place, _), (first, last) in zip(scaled, pairwise(widths.tolist()), strict=True):
            of_field = z[:, first:last]
            slope[place] += (
                np.sum(weighted[first:last] * of_field.T) - np.sum((half @ of_field) ** 2)
            ) - np.sum((solved @ of_field) ** 2)
        slope[of_cars:] = trips.slopes(half, solved)
        return float(value), slope + log_ratio / log_std**2

    found = minimize(
        objective,
        np.zeros(len(centre)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-4 * std, 4 * std) for std in log_std.tolist()],
    )
    fitted: list[float] = (centre * np.exp(found.x)).tolist()
    return FittedScales(
        TripNoiseScale(fitted[0], fitted[1], fitted[2], share),
        tuple(fitted[3:of_cars]),
        float(found.fun),
        tuple(fitted[of_cars:]),
    )


def _narrowed(features: FloatArray) -> FloatArray:
    """Return features (n, at most n) with the same products between trips as these (n, m)."""
    n, m = features.shape
    return features if m <= n else qr(features.T, mode="economic")[1].T
