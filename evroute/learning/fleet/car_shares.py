"""What each car of a fleet takes more or less than its type, as shares, and in words."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evroute.learning.fleet.car_effects import CarEffects
from evroute.learning.trips.regression import TripRegression
from evroute.text import counted

SHOWN = 5
"""Cars at each end of the ranking in the short report."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a car takes more than its type, as shares.

    Parameters
    ----------
    mean, std
        Of the energy without the change of height.
    heating, heating_std
        Of heating, warm-up and cooling, beyond the first.
    trips
        Number of its trips learned.
    """

    mean: float
    std: float
    heating: float
    heating_std: float
    trips: int

    def words(self, car: str) -> str:
        """Return the share in words."""
        more = "more" if self.mean >= 0 else "less"
        share = f"{100 * abs(self.mean):.0f} ± {100 * self.std:.0f} %"
        return f"{car} takes {share} {more} than its type"


def car_shares(
    effects: CarEffects, regression: TripRegression, trips: Mapping[str, int]
) -> dict[str, Share]:
    """Return the shares of cars by name.

    Parameters
    ----------
    effects, regression
        Effects of the cars, and the coefficients that they share.
    trips
        Number of the trips of each car.
    """
    found = {}
    for car, n in trips.items():
        mean, covariance = effects.moments(regression, car)
        std = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        found[car] = Share(float(mean[0]), float(std[0]), float(mean[1]), float(std[1]), n)
    return found


def ranking(shares: Mapping[str, Share]) -> list[str]:
    """Return the cars that take most and least, most first, a sentence each.

    Parameters
    ----------
    shares
        Shares of the cars by name.
    """
    ordered = sorted(shares, key=lambda car: (-shares[car].mean, car))
    if len(ordered) <= 2 * SHOWN:
        return [shares[car].words(car) for car in ordered]
    between = f"{len(ordered) - 2 * SHOWN} cars take between these"
    return [
        *(shares[car].words(car) for car in ordered[:SHOWN]),
        between,
        *(shares[car].words(car) for car in ordered[-SHOWN:]),
    ]


def resting(trips: int, car: str | None, own: int, *, of_fleet: bool) -> str:
    """Return how many trips intervals rest on, in words. Empty if there are none.

    Parameters
    ----------
    trips
        Number of all trips.
    car, own
        Name of the car, or None, and the number of its trips.
    of_fleet
        Whether the trips are of several cars.
    """
    if not trips:
        return ""
    if car:
        return f"intervals rest on {counted(own, 'trip')} of {car} and {trips - own} of other cars"
    whose = ", and the car is none of them" if of_fleet else ""
    return f"intervals rest on {counted(trips, 'trip')}{whose}"
