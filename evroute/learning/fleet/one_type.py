"""OneType: the rows and coefficients of a belief of trips whose cars are all of one type."""

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.trips.cone import Physical
from evroute.learning.trips.regression import CoefficientPrior
from evroute.model.base import State


class OneType(Protocol):
    """Part of a belief of trips that is about the types of its cars.

    Attributes
    ----------
    prior
        Prior of the p coefficients.
    column
        Kinds of the columns of rows as they are kept.
    """

    prior: CoefficientPrior
    column: IntArray

    @property
    def coefficients(self) -> Physical:
        """Coefficients in force."""

    def state(self) -> State:
        """Return all that was learned, as arrays."""

    @property
    def kinds(self) -> IntArray:
        """Kinds of the columns of the row of a trip, (p + f,)."""
        return self.column

    def kept_row(self, row: FloatArray, car: str) -> FloatArray:
        """Return a trip's row in the form that the belief stores.

        Parameters
        ----------
        row
            (p + f,) terms of the trip by its type, and features of fields.
        car
            Name of the car, or empty.
        """
        return np.array(row, dtype=np.float64)

    def shared(self, car: str) -> FloatArray:
        """Return the coefficients that all cars of the type of a car share, (p,)."""
        return self.coefficients.coefficients[: len(self.prior.mean)]

    def reported(self) -> Self:
        """Return the belief of the first type, with the trips of this type alone."""
        return self

    def own_rows(self) -> State:
        """Return a state whose rows have the terms of the type of each trip."""
        return self.state()

    def types_of(self, numbers: Sequence[int]) -> IntArray:
        """Return the vehicle types of trips, (n,) numbers of types."""
        return np.zeros(len(numbers), dtype=np.int64)
