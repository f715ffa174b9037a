"""Trips as a belief keeps them: their rows as they were at departure, and their energies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior

NUMBERS = ("energy_wh", "known_wh2", "doubt_wh2", "day", "part_wh", "part_wh2")
_COLUMNS = {"number": np.int64, **dict.fromkeys(NUMBERS, np.float64), "car": np.str_}
_COLUMNS |= {"loosened": np.int64}
"""Columns beside the rows, and their kinds."""
KM = 0
"""Column of the rows with the trip's length, km, on which its noise depends."""
TERM, FIELD, ROAD = range(3)
"""Kinds of columns of the rows: terms of a trip, features of a field, and features of roads."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptTrip:
    """One trip.

    Parameters
    ----------
    number
        Number among all trips that came, from 0.
    row
        (p,) terms and features of fields.
    energy_wh
        Measured energy, Wh.
    known_wh2, doubt_wh2
        Variance of the measurement, and further variance of the forecast, Wh².
    day
        Days since the first trip, of the car where cars have names.
    part_wh, part_wh2
        Measured energy of the columns `CoefficientPrior.metered`, Wh, and its variance, Wh².
        0 where it was not measured.
    car
        Name of the car, or empty where cars have no names.
    loosened
        Number of times that the car had been loosened before (`fleet.car_effects`).

    Raises
    ------
    ValueError
        If a number is not finite, the length is not positive or the variance is negative.
    """

    number: int
    row: FloatArray
    energy_wh: float
    known_wh2: float
    doubt_wh2: float = 0.0
    day: float = 0.0
    part_wh: float = 0.0
    part_wh2: float = 0.0
    car: str = ""
    loosened: int = 0

    def __post_init__(self) -> None:
        numbers = [*self.row, self.energy_wh, self.doubt_wh2, self.day]
        finite = np.isfinite(numbers).all()
        if not finite or self.row[KM] <= 0 or not 0 <= self.known_wh2 < np.inf:
            raise ValueError(
                f"a trip of {self.energy_wh} Wh ± {self.known_wh2} Wh² with terms {self.row}: "
                "expected finite numbers, a positive length in km first, and a variance of at "
                "least 0"
            )

    def widened(self, columns: int) -> "KeptTrip":
        """Return the trip with further columns of its row, which are 0."""
        return replace(self, row=np.append(self.row, np.zeros(columns)))


@dataclass(frozen=True, slots=True, eq=False)
class KeptColumns:
    """Columns of n trips.

    Parameters
    ----------
    rows
        (n, p) terms and features.
    number, energy_wh, known_wh2, doubt_wh2, day, part_wh, part_wh2, car, loosened
        (n,) each, as in `KeptTrip`.
    """

    rows: FloatArray
    number: IntArray
    energy_wh: FloatArray
    known_wh2: FloatArray
    doubt_wh2: FloatArray
    day: FloatArray
    part_wh: FloatArray
    part_wh2: FloatArray
    car: npt.NDArray[np.str_]
    loosened: IntArray

    def noise_wh2(self, noise: TripNoiseScale) -> FloatArray:
        """Return the variances of the trips, (n,) Wh²."""
        return noise.variance(self.rows[:, KM], self.known_wh2)

    def parts(self, prior: CoefficientPrior) -> "Parts":
        """Return the measured parts of the trips as rows of a regression with this prior."""
        measured = self.part_wh2 > 0.0
        rows = np.zeros((int(measured.sum()), self.rows.shape[1]))
        if prior.metered is not None:
            own = self.rows[measured][:, prior.metered]
            rows[:, prior.metered] = own
            if prior.level is not None and prior.multiplied is not None:
                rows[:, prior.level] = own @ prior.multiplied[prior.metered]
        return Parts(rows, self.part_wh[measured], self.part_wh2[measured])


@dataclass(frozen=True, slots=True, eq=False)
class RoadsOfTrips:
    """Deviations of roads, as columns of trips (`roads.road_choice`).

    Parameters
    ----------
    choose
        Function that chooses the roads by all trips.
    features
        Function that returns the features of trips by their numbers, (n, m).
    deviation
        Centre of the prior of the deviation of their coefficients.
    """

    choose: Callable[[], None]
    features: Callable[[Sequence[int]], FloatArray]
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Rows (m, p), energies (m,) Wh and variances (m,) Wh² of measured parts of trips."""

    rows: FloatArray
    energy_wh: FloatArray
    noise_wh2: FloatArray


def columns_of(trips: Sequence[KeptTrip], width: int) -> KeptColumns:
    """Return the columns of trips.

    Parameters
    ----------
    trips
        The n trips.
    width
        Number of columns of the rows. Shorter rows have 0 in the others.
    """
    rows = np.zeros((len(trips), width))
    for i, trip in enumerate(trips):
        rows[i, : len(trip.row)] = trip.row
    columns: dict[str, npt.NDArray[Any]] = {
        name: np.array([getattr(trip, name) for trip in trips], dtype=kind)
        for name, kind in _COLUMNS.items()
    }
    return KeptColumns(rows, **columns)


def with_features(
    trips: Sequence[KeptTrip], stays: BoolArray, features: FloatArray
) -> list[KeptTrip]:
    """Return trips with other last columns.

    Parameters
    ----------
    trips
        The n trips.
    stays
        (p,) whether a column of their rows stays.
    features
        (n, m) features in the place of the others.
    """
    rows = np.hstack([columns_of(trips, len(stays)).rows[:, stays], features])
    return [replace(trip, row=row) for trip, row in zip(trips, rows, strict=True)]


def state_of(kind: str, trips: Sequence[KeptTrip], width: int) -> dict[str, npt.NDArray[Any]]:
    """Return trips as arrays for `trips_of`.

    Parameters
    ----------
    kind
        Kind of the trips, such as ``learned``. Each name begins with it.
    trips
        The n trips.
    width
        Number of columns of the rows. Shorter rows have 0 in the others.
    """
    columns = columns_of(trips, width)
    return {f"{kind}_{name}": getattr(columns, name) for name in ("rows", *_COLUMNS)}


def trips_of(state: Mapping[str, npt.NDArray[Any]], kind: str) -> list[KeptTrip]:
    """Return the trips of a state.

    Parameters
    ----------
    state
        Arrays of `state_of`, each name after the kind's name and ``_``.
    kind
        Kind of the trips, such as ``learned``.
    """
    columns = [state[f"{kind}_{name}"].tolist() for name in _COLUMNS]
    found = []
    for row, *numbers in zip(state[f"{kind}_rows"], *columns, strict=True):
        found.append(KeptTrip(row=row, **dict(zip(_COLUMNS, numbers, strict=True))))
    return found
