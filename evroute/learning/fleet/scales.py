"""Scales of a belief of trips: noise with the part of roads, deviations of a field and of cars.

They are fitted together, now and then, to all trips learned (`trips.noise_fit`). The level counts
as constant within a month. The factor of a car counts as constant until the car is loosened.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.fleet.car_effects import CarEffects
from evroute.learning.fleet.car_noise import DrivenCars
from evroute.learning.trips import noise_fit
from evroute.learning.trips.kept_trips import FIELD, KM, ROAD, KeptColumns
from evroute.learning.trips.level import features_by_month
from evroute.learning.trips.noise_fit import ROAD_SHARES, DrivenRoads, FittedScales, TripNoiseScale

STD_OF_CARS: FloatArray = np.array([0.08, 0.3])
"""Centres of the priors of the deviations of factor and heating over cars."""


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Fitted scales.

    Parameters
    ----------
    noise
        Noise of trips.
    field_std
        Deviation of the field, or None if there is none.
    cars_std
        (2,) deviations over cars.
    """

    noise: TripNoiseScale
    field_std: float | None
    cars_std: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """All that a fit of the scales depends on beside the trips.

    Parameters
    ----------
    mean, std
        (p,) prior moments of the columns.
    column
        (p,) kind of each column.
    level
        Column of the level, or None.
    noise, field_std
        Centres of the priors of noise and field.
    """

    mean: FloatArray
    std: FloatArray
    column: IntArray
    level: int | None
    noise: TripNoiseScale
    field_std: float

    def of(self, trips: KeptColumns, cars: CarEffects) -> Scales:
        """Return the scales of the greatest posterior density.

        Parameters
        ----------
        trips
            All trips learned.
        cars
            Effects of their cars, or empty for one car without a name.
        """
        rows = trips.rows
        fitted, of_roads = self.column == FIELD, self.column == ROAD
        fields = [(rows[:, fitted], self.field_std)] if fitted.any() else []
        scaled = (rows * self.std)[:, ~fitted & ~of_roads]
        if self.level is not None and np.ptp(trips.day) and not cars:
            months = features_by_month(rows[:, self.level], self.std[self.level], trips.day)
            scaled = np.hstack([np.delete(scaled, self.level, axis=1), months])
        given = (scaled, trips.energy_wh - rows @ self.mean, rows[:, KM], trips.known_wh2)
        driven = driven_cars(cars, trips) if cars else None
        fit = partial(noise_fit.fit_scales, *given, start=self.noise, cars=driven, fields=fields)
        if of_roads.any():
            features = rows[:, of_roads]
            roads = (DrivenRoads(features, trips.learned_km, share) for share in ROAD_SHARES)
            found = averaged([fit(roads=each) for each in roads])
        else:
            found = fit()
        return Scales(
            found.noise,
            found.fields[0] if fields else None,
            np.array(found.cars) if found.cars else cars.std,
        )


def averaged(fits: Sequence[FittedScales]) -> FittedScales:
    """Return the geometric means of scales, and the mean share of roads, by posterior density."""
    cost = np.array([fit.cost for fit in fits])
    weight = np.exp(cost.min() - cost)
    weight /= weight.sum()

    def mean(scales: Sequence[Sequence[float]]) -> list[float]:
        return np.exp(weight @ np.log(np.array(scales))).tolist()

    noises = [fit.noise for fit in fits]
    trip_wh, root_km_wh, km_wh = mean([astuple(each)[:3] for each in noises])
    share = float(weight @ [each.road_share for each in noises])
    return FittedScales(
        TripNoiseScale(trip_wh, root_km_wh, km_wh, share),
        tuple(mean([fit.fields for fit in fits])),
        float(cost.min()),
        tuple(mean([fit.cars for fit in fits])),
    )


def driven_cars(effects: CarEffects, trips: KeptColumns) -> DrivenCars:
    """Return the cars of trips. A car that was loosened counts as another one.

    Parameters
    ----------
    effects
        Effects of the cars.
    trips
        The trips.
    """
    both = zip(trips.car.tolist(), trips.loosened.tolist(), strict=True)
    numbers: dict[tuple[str, int], int] = {}
    group = np.array([numbers.setdefault(each, len(numbers)) for each in both])
    return DrivenCars(effects.features(trips.rows), group, STD_OF_CARS)
