"""Scales of a belief of trips: its noise, and the deviations of fields and of cars.

They are fitted together, now and then, to all trips learned (`trips.noise_fit`). The level counts
as constant within a month. The factor of a car counts as constant until the car is loosened.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.fleet.car_effects import CarEffects
from evroute.learning.fleet.car_noise import DrivenCars
from evroute.learning.trips import noise_fit
from evroute.learning.trips.kept_trips import FIELD, KM, LATE, KeptColumns
from evroute.learning.trips.level import features_by_month
from evroute.learning.trips.noise_fit import FittedScales, LateField, TripNoiseScale

STD_OF_CARS: FloatArray = np.array([0.08, 0.3])
"""Centres of the priors of the deviations of factor and heating over cars."""

EVIDENCE = 3.0
"""Least gain in log posterior density for which a late field joins."""


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
    late_std, late_fitted_std
        Deviation of the late field, 0 if it does not join, and as it was fitted.
    features
        (n, m) features of the late field of the trips, m = 0 if it does not join, or None if it was
        not due.
    """

    noise: TripNoiseScale
    field_std: float | None
    cars_std: FloatArray
    late_std: float = 0.0
    late_fitted_std: float = 0.0
    features: FloatArray | None = None


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
    late
        Field that joins when there is evidence for it, or None.
    """

    mean: FloatArray
    std: FloatArray
    column: IntArray
    level: int | None
    noise: TripNoiseScale
    field_std: float
    late: LateField | None

    def of(self, trips: KeptColumns, cars: CarEffects) -> Scales:
        """Return the scales of the greatest posterior density.

        Parameters
        ----------
        trips
            All trips learned.
        cars
            Effects of their cars; empty for one car without a name.
        """
        rows = trips.rows
        late = self.late if noise_fit.is_late_fit_due(len(rows)) else None
        fitted = self.column == FIELD
        fixed = ~fitted & ~((self.column == LATE) & (late is not None))
        fields = [(rows[:, fitted], self.field_std)] if fitted.any() else []
        scaled = (rows * self.std)[:, fixed]
        if self.level is not None and np.ptp(trips.day) and not cars:
            months = features_by_month(rows[:, self.level], self.std[self.level], trips.day)
            scaled = np.hstack([np.delete(scaled, self.level, axis=1), months])
        given = (scaled, trips.energy_wh - rows @ self.mean, rows[:, KM], trips.known_wh2)
        driven = driven_cars(cars, trips) if cars else None
        fit = partial(noise_fit.fit_scales, *given, start=self.noise, cars=driven)
        found = fit(fields=fields)
        own = partial(_scales, has_field=bool(fields), before=cars.std)
        scales = own(found)
        if late is None:
            return scales
        features = late.features(trips.number.tolist())
        joined = fit(fields=[*fields, (features, late.least_std)])
        late_std = joined.fields[-1]
        if found.cost - joined.cost < EVIDENCE or late_std < late.least_std:
            return replace(scales, late_fitted_std=late_std, features=features[:, :0])
        return replace(
            own(joined),
            late_std=late_std,
            late_fitted_std=late_std,
            features=features,
        )


def _scales(found: FittedScales, *, has_field: bool, before: FloatArray) -> Scales:
    """Return fitted scales without a late field. The deviations over no cars stay as before."""
    return Scales(
        found.noise,
        found.fields[0] if has_field else None,
        np.array(found.cars) if found.cars else before,
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
