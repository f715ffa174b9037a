"""TypedBelief: the belief about whole trips of a fleet with cars of several types.

It is a `TripBelief` of the coefficients of all types together (`joint_types`). It takes rows of the
type of each car, and gives beliefs of that type to expect trips and to plan with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self, cast

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.fleet.joint_types import JointTypes
from evroute.learning.trips.kept_trips import KM, SectionsOfTrips
from evroute.learning.trips.noise_fit import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.trip_belief import TripBelief
from evroute.model.base import State


def unknown_of(k: int) -> str:
    """Return a name for a car of type k that is not known, which no table can have."""
    return f"\0{k}"


class TypedBelief(TripBelief):
    """Belief about whole trips of cars of several types.

    Parameters
    ----------
    types
        The types.
    type_of
        Number of the type of each car.
    noise, field_std, roads
        As in `TripBelief`, for the first type.
    """

    def __init__(
        self,
        types: JointTypes,
        type_of: Mapping[str, int],
        noise: TripNoiseScale,
        *,
        field_std: float,
        roads: SectionsOfTrips | None,
    ) -> None:
        self.types = types
        unknown = {unknown_of(k): k for k in range(len(types.priors))}
        self.type_of = {**type_of, **unknown}
        super().__init__(types.prior(), noise, field_std=field_std, roads=roads)

    @property
    def kinds(self) -> IntArray:
        """Kinds of the columns of the row of a trip, (p + f,)."""
        return self.types.kinds(self.column)

    def of_car(self, car: str | None, days: float = 0.0) -> TripBelief:
        """Return the belief of a car, about the coefficients of its type.

        Parameters
        ----------
        car, days
            As in `TripBelief.of_car`.
        """
        k = self.type_of.get(car or "", 0)
        own = TripBelief.__new__(TripBelief)
        vars(own).update(vars(super().of_car(car, days)))
        own.prior, own.column = self.types.priors[k], self.kinds
        own.regression = self.types.regression(own.regression, k)
        own.noise = self.types.noise(self.noise, k)
        own.km_factor = 1.0 / float(self.types.ratio(k)[KM])
        own._take()
        return own

    def kept_row(self, row: FloatArray, car: str) -> FloatArray:
        """Return the row of a trip of a car with columns of all types.

        Parameters
        ----------
        row, car
            As in `OneType.kept_row`.
        """
        return self.types.wide(row, self.type_of.get(car, 0))

    def shared(self, car: str) -> FloatArray:
        """Return the coefficients that all cars of the type of a car share, (p,)."""
        k = self.type_of.get(car, 0)
        return self.types.narrow(self.coefficients.coefficients, k)[: self.types.p]

    def reported(self) -> Self:
        """Return the belief of the first type, with the trips of this type alone."""
        own = self.of_car(None)
        own._learned = [
            replace(trip, row=self._own(trip.row, 0))
            for trip in self._learned
            if self.type_of.get(trip.car, 0) == 0
        ]
        return cast(Self, own)  # a plain belief of trips

    def own_rows(self) -> State:
        """Return a state whose rows have the terms of the type of each trip."""
        state = dict(self.state())
        for kind in ("learned", "refused"):
            cars = state[f"{kind}_car"].tolist()
            rows = [
                self._own(row, self.type_of.get(car, 0))
                for row, car in zip(state[f"{kind}_rows"], cars, strict=True)
            ]
            state[f"{kind}_rows"] = np.array(rows).reshape(len(rows), len(self.kinds))
        return state | {"column": self.kinds}

    def types_of(self, numbers: Sequence[int]) -> IntArray:
        """Return the vehicle types of trips, (n,) numbers of types."""
        cars = {trip.number: trip.car for trip in (*self._learned, *self._refused)}
        return np.array([self.type_of.get(cars.get(n, ""), 0) for n in numbers], dtype=np.int64)

    def _own(self, row: FloatArray, k: int) -> FloatArray:
        return np.concatenate([row[self.types.block(k)], row[self.types.width :]])


def belief_of_types(
    priors: Sequence[CoefficientPrior],
    type_of: Mapping[str, int],
    noise: TripNoiseScale,
    *,
    field_std: float,
    roads: SectionsOfTrips | None,
) -> TripBelief:
    """Return the belief about whole trips of cars of one type or of several, before any trip.

    Parameters
    ----------
    priors
        Prior of the coefficients of each type alone.
    type_of
        Number of the type of each car.
    noise, field_std, roads
        As in `TripBelief`, for the first type.
    """
    if len(priors) == 1:
        return TripBelief(priors[0], noise, field_std=field_std, roads=roads)
    types = JointTypes(tuple(priors))
    return TypedBelief(types, type_of, noise, field_std=field_std, roads=roads)
