"""Level: a factor on the energy of all trips of a car, which drifts over the months.

The term of a trip is its energy by the prior, so the coefficient c is a share of it. Before any
trip ``c ~ N(0, 0.06²)``. Over d days without a measurement it returns towards 0 and loses
certainty, as an Ornstein-Uhlenbeck process with a half-life of a year:

.. code-block:: text

    c <- k c + N(0, 0.06² (1 - k²)),   k = 2^(-d/365)

Tyres, load and drivers change the consumption of a car over the months. After a long gap forecasts
are wider by what may have changed. What distinguishes a car for good is in the other coefficients.
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.learning.trips.regression import TripRegression

STD = 0.06
"""In spring and autumn e-Golf drivers record 142 Wh/km on winter and 134 on summer tyres."""
HALF_LIFE_DAYS = 365.0
FIT_DAYS = 30.0
"""Days within which a fit of the noise takes the level as constant."""


def kept(days: FloatArray | float) -> FloatArray:
    """Return the share of a deviation that is left after some days, (...)."""
    return np.asarray(0.5 ** (np.asarray(days) / HALF_LIFE_DAYS))


def step_variance(std: float, days: float) -> float:
    """Return the variance that some days add to the level.

    Parameters
    ----------
    std
        Deviation before any trip, to which it returns.
    days
        Days since the trip before.
    """
    return float(std**2 * (1.0 - kept(2.0 * days)))


def features_by_month(term: FloatArray, std: float, day: FloatArray) -> FloatArray:
    """Return whitened features of the level for trips, (n, m), m the number of months with trips.

    Their products between trips are the covariances of the term times the level.

    Parameters
    ----------
    term
        (n,) term of the trips, Wh.
    std
        Deviation of the level before any trip.
    day
        (n,) day of each trip.
    """
    months, place = np.unique(np.floor(day / FIT_DAYS), return_inverse=True)
    shares = kept(np.abs(np.subtract.outer(months, months)) * FIT_DAYS)
    root = std * np.linalg.cholesky(shares)
    return np.asarray(term[:, np.newaxis] * root[place])


def drift(regression: TripRegression, level: int, std: float, days: float) -> None:
    """Let the level of a regression drift over some days, or none if they are not positive.

    Parameters
    ----------
    regression
        Regression that has the level.
    level
        Its column.
    std
        Deviation before any trip.
    days
        Days that pass.
    """
    if days > 0.0:
        regression.step(level, float(kept(days)), step_variance(std, days))
