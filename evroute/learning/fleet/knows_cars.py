"""KnowsCars: the part of a belief that is about the single cars of a fleet."""

from typing import ClassVar, Protocol, Self

from evroute.learning.fleet.car_shares import Share
from evroute.learning.fleet.names import check_car


class KnowsCars(Protocol):
    """Cars of a belief. One without a name unless the belief learns fleets.

    Attributes
    ----------
    source
        File of the belief, for messages.
    """

    of_fleets: ClassVar[bool] = False
    """Whether it tells the cars of a fleet apart."""
    source: str

    @property
    def cars(self) -> tuple[str, ...]:
        """Names of the cars of a fleet, or empty for one car without a name."""
        return ()

    def of_car(self, car: str) -> Self:
        """Return the belief of one car of a fleet, to plan with. The fleet goes on learning.

        Parameters
        ----------
        car
            Name of the car.

        Raises
        ------
        UnknownNameError
            If the belief does not know the car. The message has similar names.
        """
        check_car(self.source, self.cars, car)
        return self

    def car_shares(self) -> dict[str, Share]:
        """Return what each car of a fleet takes more than its type, by name."""
        return {}
