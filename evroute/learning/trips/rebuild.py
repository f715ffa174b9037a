"""Learning of kept trips in their order, with the parts of them that were measured."""

from collections.abc import Iterator

import numpy as np

from evroute.arrays import FloatArray
from evroute.learning.fleet.car_effects import CarEffects, CarTime, Seen
from evroute.learning.trips.kept_trips import KeptColumns, Parts
from evroute.learning.trips.level import drift
from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior, TripRegression


def _in_turn(
    trips: KeptColumns, noise: TripNoiseScale, prior: CoefficientPrior
) -> Iterator[list[tuple[FloatArray, float, float]]]:
    """Yield row, energy and variance of each trip, and then of its part if it has one."""
    noise_wh2 = trips.noise_wh2(noise)
    parts, has_part = trips.parts(prior), trips.part_wh2 > 0.0
    part = zip(parts.rows, parts.energy_wh.tolist(), parts.noise_wh2.tolist(), strict=True)
    whole = zip(trips.rows, trips.energy_wh.tolist(), noise_wh2.tolist(), strict=True)
    for trip, also in zip(whole, has_part.tolist(), strict=True):
        yield [trip, next(part)] if also else [trip]


def seen_of_cars(
    effects: CarEffects, trips: KeptColumns, noise: TripNoiseScale, prior: CoefficientPrior
) -> Parts:
    """Learn the effects of the cars of trips in turn, with what passed between their trips.

    Parameters
    ----------
    effects
        Effects, which take over the trips.
    trips, noise, prior
        As in `learn_again`.

    Returns
    -------
    Parts
        Rows of the shared coefficients: one for each trip, and for each measured part.
    """
    width, seen = trips.rows.shape[1], list[Seen]()
    walk = zip(trips.car.tolist(), _in_turn(trips, noise, prior), strict=True)
    for place, (car, measured) in enumerate(walk):
        time = CarTime(float(trips.day[place]), int(trips.loosened[place]))
        effects.catch_up(car, width, time)
        seen += [effects.learn(car, *each) for each in measured]
    return Parts(
        np.array([each.row for each in seen]).reshape(len(seen), width),
        np.array([each.energy_wh for each in seen]),
        np.array([each.noise_wh2 for each in seen]),
    )


def _evidence(
    effects: CarEffects, trips: KeptColumns, noise: TripNoiseScale, prior: CoefficientPrior
) -> Parts:
    """Return the rows of the shared coefficients of trips and of their measured parts.

    Parameters
    ----------
    effects
        Effects of the cars, which learn the trips, or empty for one car without a name.
    trips, noise, prior
        As in `learn_again`.
    """
    if effects:
        return seen_of_cars(effects, trips, noise, prior)
    parts = trips.parts(prior)
    return Parts(
        np.vstack([trips.rows, parts.rows]),
        np.append(trips.energy_wh, parts.energy_wh),
        np.append(trips.noise_wh2(noise), parts.noise_wh2),
    )


def learn_next(
    regression: TripRegression,
    effects: CarEffects,
    trips: KeptColumns,
    noise: TripNoiseScale,
    prior: CoefficientPrior,
) -> None:
    """Learn further trips of one day in turn.

    Parameters
    ----------
    regression, effects, trips, noise, prior
        As in `learn_again`.
    """
    seen = _evidence(effects, trips, noise, prior)
    regression.learn_in_turn(seen.rows, seen.energy_wh, seen.noise_wh2)


def learn_again(
    regression: TripRegression,
    effects: CarEffects,
    trips: KeptColumns,
    noise: TripNoiseScale,
    prior: CoefficientPrior,
    today: float,
) -> None:
    """Replace all that was learned by the same trips under other scales.

    Parameters
    ----------
    regression
        Regression that learns. It has learned none of the trips.
    effects
        Effects of the cars, or empty for one car without a name.
    trips
        The trips.
    noise
        Noise of the trips.
    prior
        Prior of the coefficients.
    today
        Day since the first trip, where cars have no names.
    """
    effects.forget()
    if not effects and prior.level is not None and today:
        _learn_by_days(regression, trips, noise, prior, today)
        return
    seen = _evidence(effects, trips, noise, prior)
    regression.rebuild(seen.rows, seen.energy_wh, seen.noise_wh2)


def _learn_by_days(
    regression: TripRegression,
    trips: KeptColumns,
    noise: TripNoiseScale,
    prior: CoefficientPrior,
    today: float,
) -> None:
    """Learn trips in turn, with the drift of the level between them and until today.

    Parameters
    ----------
    regression, trips, noise, prior
        As in `learn_again`. The regression has learned none of them.
    today
        Day since the first trip.
    """
    level, then = prior.level, 0.0
    assert level is not None
    std = float(regression.prior_std[level])
    for day, measured in zip(trips.day.tolist(), _in_turn(trips, noise, prior), strict=True):
        drift(regression, level, std, day - then)
        then = max(then, day)
        for row, energy_wh, noise_wh2 in measured:
            regression.update(row, energy_wh, noise_wh2)
    drift(regression, level, std, today - then)
