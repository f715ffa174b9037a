"""States of the cars of a fleet beside their energies: departures and the size of the battery."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.arrays import part_of
from evroute.learning.battery_size import BatterySize
from evroute.learning.roads.known_roads import Moved
from evroute.learning.trips.departures import Departures

PARTS = ("departures", "battery")


@dataclass(frozen=True, slots=True, eq=False)
class CarState:
    """Departures of the trips of one car, and the learned size of its battery."""

    departures: Departures = field(default_factory=Departures)
    battery: BatterySize = field(default_factory=BatterySize)


class CarStates:
    """States of named cars.

    Attributes
    ----------
    by_car
        State of each car that drove.
    """

    def __init__(self) -> None:
        self.by_car: dict[str, CarState] = {}

    def of(self, car: str) -> CarState:
        """Return the state of a car. One that has not driven yet has none so far."""
        return self.by_car.get(car) or CarState()

    def begin(self, car: str) -> CarState:
        """Return the state of a car that has driven, which is kept from now on."""
        return self.by_car.setdefault(car, CarState())

    def arrive(self, moved: Moved) -> None:
        """Begin in another place if most roads driven are elsewhere."""
        for each in self.by_car.values():
            each.departures.arrive(moved)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the numbers of all cars as arrays, or empty without cars."""
        if not self.by_car:
            return {}
        found = {"car": np.array(list(self.by_car), dtype=np.str_)}
        for name in PARTS:
            states = [getattr(each, name).state() for each in self.by_car.values()]
            for key in states[0]:
                found[f"{name}/{key}"] = np.array([state[key] for state in states])
        return found

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state. An empty one has no cars."""
        self.by_car = {}
        for place, car in enumerate(state["car"].tolist() if "car" in state else []):
            for name in PARTS:
                own = {key: values[place] for key, values in part_of(dict(state), name).items()}
                getattr(self.begin(car), name).restore(own)
