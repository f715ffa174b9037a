"""Learning of kept trips in their order, with the parts of them that were measured."""

import numpy as np

from evroute.learning.trips.kept_trips import KM, KeptColumns
from evroute.learning.trips.level import drift
from evroute.learning.trips.noise_fit import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior, TripRegression


def learn_at_once(
    regression: TripRegression,
    trips: KeptColumns,
    noise: TripNoiseScale,
    prior: CoefficientPrior,
) -> None:
    """Replace all that a regression learned by trips of one day.

    Parameters
    ----------
    regression
        Regression that learns.
    trips
        The trips.
    noise
        Noise of the trips.
    prior
        Prior of the coefficients.
    """
    noise_wh2 = noise.variance(trips.rows[:, KM], trips.known_wh2)
    regression.rebuild(trips.rows, trips.energy_wh, noise_wh2)
    _learn_parts(regression, trips, prior)


def learn_in_turn(
    regression: TripRegression,
    trips: KeptColumns,
    noise: TripNoiseScale,
    prior: CoefficientPrior,
) -> None:
    """Learn trips of one day in turn, then their measured parts.

    Parameters
    ----------
    regression, trips, noise, prior
        As in `learn_at_once`.
    """
    noise_wh2 = noise.variance(trips.rows[:, KM], trips.known_wh2)
    regression.learn_in_turn(trips.rows, trips.energy_wh, noise_wh2)
    _learn_parts(regression, trips, prior)


def _learn_parts(regression: TripRegression, trips: KeptColumns, prior: CoefficientPrior) -> None:
    """Learn the measured parts of trips in turn."""
    parts = trips.parts(prior)
    regression.learn_in_turn(parts.rows, parts.energy_wh, parts.noise_wh2)


def learn_by_days(
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
        As in `learn_at_once`; the regression has learned none of them.
    today
        Day since the first trip.
    """
    level, then = prior.level, 0.0
    assert level is not None
    std = float(regression.prior_std[level])
    noise_wh2 = noise.variance(trips.rows[:, KM], trips.known_wh2)
    parts, measured = trips.parts(prior), trips.part_wh2 > 0.0
    part = np.cumsum(measured) - 1
    for place, day in enumerate(trips.day.tolist()):
        drift(regression, level, std, day - then)
        then = max(then, day)
        regression.update(trips.rows[place], trips.energy_wh[place], noise_wh2[place])
        if measured[place]:
            its = part[place]
            regression.update(parts.rows[its], parts.energy_wh[its], parts.noise_wh2[its])
    drift(regression, level, std, today - then)
