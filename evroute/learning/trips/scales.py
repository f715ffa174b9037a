"""Scales of a belief of trips, fitted together now and then to all trips learned.

The energies of n trips less their prior means are ``r ~ N(0, Z Z' + diag(v))``, with v their noise
(`noise`) and Z their rows times the prior deviations of the columns. The deviations of the terms
are given. Further columns come in groups (`Group`), each with one deviation that is fitted with the
noise: deviations of roads, heights of junctions, and in a fleet the factors of the cars and their
heating. The scales have the greatest posterior density under log-normal priors.

The level counts as constant within a month. The factor of a car counts as constant until the car is
loosened.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.linalg import qr

from evroute.arrays import FloatArray, IntArray
from evroute.learning.fleet.car_effects import STD_OF_CARS, CarEffects
from evroute.learning.trips.kept_trips import FIELD, KM, ROAD, TERM, KeptColumns
from evroute.learning.trips.level import features_by_month
from evroute.learning.trips.noise import START, TripNoiseScale
from evroute.learning.trips.regression import inverse_factor

LOG_STD = 1.0
"""Standard deviation of the prior of the log of a scale about its centre."""
LOG_STD_OF_CARS = 0.7
"""The same for the deviations over cars."""
MOST_CARS = 100
"""Cars of a fit, those with most trips. Deviations are known to 7 % from so many."""
REFITS = (3, 10, 20, 30, 50, 75, 100)


@dataclass(frozen=True, slots=True)
class Scales:
    """Scales of a belief of trips.

    Parameters
    ----------
    noise
        Noise of trips.
    heights
        Deviation of the potential of junctions, Wh.
    roads
        Deviation of the coefficients of roads, in the unit of `road_choice.RoadChoice`.
    factor, heating
        Deviations of the factor and of heating over cars.
    """

    noise: TripNoiseScale
    heights: float
    roads: float
    factor: float = float(STD_OF_CARS[0])
    heating: float = float(STD_OF_CARS[1])

    @property
    def of_cars(self) -> FloatArray:
        """(2,) deviations over cars."""
        return np.array([self.factor, self.heating])


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Columns of n trips that share one deviation.

    Parameters
    ----------
    features
        (n, m) columns.
    centre
        Centre of the log-normal prior of their deviation.
    log_std
        Standard deviation of the prior of its log.
    """

    features: FloatArray
    centre: float
    log_std: float = LOG_STD


@dataclass(frozen=True, slots=True)
class FittedScales:
    """Fitted noise, deviations of groups, and the negative log posterior density."""

    noise: TripNoiseScale
    groups: tuple[float, ...]
    cost: float


def is_refit_due(n_trips: int) -> bool:
    """Return whether the scales are fitted again after this many trips learned.

    It is after `REFITS`, then after 50 times 2, 3, 4, 6, 8, 12, ...: a fit costs as much as the
    trips that it is made of, so all fits together cost a constant number of passes over the trips.
    """
    stage = n_trips // 50
    power = 1 << max(stage.bit_length() - 1, 0)
    return n_trips in REFITS or (n_trips in (50 * power, 75 * power) and n_trips > REFITS[-1])


def is_choice_of_roads_due(n_trips: int) -> bool:
    """Return whether the roads with a column of their own are chosen after this many trips."""
    return n_trips in (1, 2) or is_refit_due(n_trips)


def refitted(
    centre: Scales,
    trips: KeptColumns,
    moments: tuple[FloatArray, FloatArray],
    column: IntArray,
    *,
    level: int | None,
    cars: CarEffects,
) -> Scales:
    """Return the scales of the greatest posterior density.

    Parameters
    ----------
    centre
        Centres of their priors.
    trips
        All trips learned.
    moments
        (p,) prior means and deviations of the columns.
    column
        (p,) kind of each column.
    level
        Column of the level, or None.
    cars
        Effects of their cars, or empty for one car without a name.
    """
    mean, std = moments
    car = numbers_of_cars(trips) if cars else np.zeros(len(trips.rows), dtype=np.int64)
    some = np.flatnonzero(np.isin(car, np.argsort(-np.bincount(car), kind="stable")[:MOST_CARS]))
    rows, groups = trips.rows[some], dict[str, Group]()
    for name, kind, of_group in (
        ("heights", FIELD, centre.heights),
        ("roads", ROAD, centre.roads),
    ):
        if (column == kind).any():
            groups[name] = Group(rows[:, column == kind], of_group)
    scaled = rows[:, column == TERM] * std[column == TERM]
    if cars:
        own = cars.features(rows)
        drove = np.unique(car[some])[:, np.newaxis] == car[some]
        for k, name in enumerate(("factor", "heating")):
            groups[name] = Group(drove.T * own[:, [k]], float(STD_OF_CARS[k]), LOG_STD_OF_CARS)
    elif level is not None and np.ptp(trips.day):
        months = features_by_month(rows[:, level], std[level], trips.day)
        scaled = np.hstack([np.delete(scaled, level, axis=1), months])
    found = fit_scales(
        scaled,
        trips.energy_wh[some] - rows @ mean,
        rows[:, KM],
        trips.known_wh2[some],
        start=centre.noise,
        groups=[*groups.values()],
    )
    return replace(centre, noise=found.noise, **dict(zip(groups, found.groups, strict=True)))


def numbers_of_cars(trips: KeptColumns) -> IntArray:
    """Return the number of the car of each trip, (n,). A car that was loosened is another one."""
    both = zip(trips.car.tolist(), trips.loosened.tolist(), strict=True)
    numbers: dict[tuple[str, int], int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in both])


def fit_scales(
    rows: FloatArray,
    residual_wh: FloatArray,
    km: FloatArray,
    known_wh2: FloatArray,
    *,
    start: TripNoiseScale = START,
    groups: Sequence[Group] = (),
) -> FittedScales:
    """Return the noise and the deviations of groups of the greatest posterior density.

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
        Centre of the log-normal prior of the noise, and start of the search.
    groups
        Further columns whose deviations are fitted.
    """
    centre = np.array([start.trip_wh, start.root_km_wh, start.km_wh, *(g.centre for g in groups)])
    log_std = np.array([LOG_STD] * 3 + [each.log_std for each in groups])
    powers = np.stack([np.ones_like(km), km, km**2])
    features = [_narrowed(each.features) for each in groups]
    widths = np.cumsum([rows.shape[1], *(each.shape[1] for each in features)])
    identity = np.eye(widths[-1])

    def objective(log_ratio: FloatArray) -> tuple[float, FloatArray]:
        scale = centre * np.exp(log_ratio)
        parts = (scale[:3] ** 2)[:, np.newaxis] * powers
        variance = parts.sum(axis=0) + known_wh2
        scaled = [s * each for s, each in zip(scale[3:], features, strict=True)]
        z = np.hstack([rows, *scaled])
        weighted = (z / variance[:, np.newaxis]).T
        inverse = inverse_factor(identity + weighted @ z)
        half = inverse @ weighted
        # K = Z Z' + diag(v): K^-1 r, and the diagonal of K^-1
        solved = residual_wh / variance - (half @ residual_wh) @ half
        diagonal = 1.0 / variance - (half**2).sum(axis=0)
        log_det = np.log(variance).sum() - 2.0 * np.log(inverse.diagonal()).sum()
        value = 0.5 * (log_det + residual_wh @ solved + ((log_ratio / log_std) ** 2).sum())
        slope = np.empty(len(centre))
        slope[:3] = parts @ (diagonal - solved**2)
        for place, (first, last) in enumerate(pairwise(widths.tolist()), start=3):
            of_group = z[:, first:last]
            slope[place] = np.sum(weighted[first:last] * of_group.T)
            slope[place] -= np.sum((half @ of_group) ** 2) + np.sum((solved @ of_group) ** 2)
        return float(value), slope + log_ratio / log_std**2

    from scipy.optimize import minimize  # a tenth of a second, for fits alone

    found = minimize(
        objective,
        np.zeros(len(centre)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-4 * std, 4 * std) for std in log_std.tolist()],
    )
    fitted: list[float] = (centre * np.exp(found.x)).tolist()
    return FittedScales(TripNoiseScale(*fitted[:3]), tuple(fitted[3:]), float(found.fun))


def _narrowed(features: FloatArray) -> FloatArray:
    """Return features (n, at most n) with the same products between trips as these (n, m)."""
    n, m = features.shape
    return features if m <= n else qr(features.T, mode="economic")[1].T
