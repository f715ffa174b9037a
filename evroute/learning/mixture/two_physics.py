"""TwoPhysics: a belief of whole trips by two physics, weighed by the trips.

`TripEnergies` learns the same trips twice: with the driver's physics, where cars stop, turn and
slow down, and at steady speeds. Each has its own pace, drag, noise and cone. The belief is their
mixture, with weights by past predictive likelihood (`physics_weight`). Its intervals rest on the
errors of the mixture. ``physics="driving"`` or ``physics="eq8"`` keeps one of them alone.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from evroute.arrays import FloatArray, IntArray
from evroute.energy.defaults import PAPER_PHYSICS, PHYSICS
from evroute.energy.driving import DrivingConditions
from evroute.learning.base import Belief, Expected, Part
from evroute.learning.fleet.car_errors import CarErrors
from evroute.learning.fleet.car_shares import Share, mixed_shares
from evroute.learning.intervals import TripPrediction
from evroute.learning.measured import MeasuredTrip
from evroute.learning.mixture.mixed_day import MixedDay
from evroute.learning.mixture.physics_weight import PhysicsWeight, prior_weight
from evroute.learning.roads.trip_record import Terms
from evroute.learning.trips.energies import MODEL, TripEnergies
from evroute.learning.trips.times import START_S, measures_s
from evroute.learning.trips.trip_belief import REFUSED_SD, TripBelief
from evroute.learning.trips.usual import Weighed
from evroute.methods.setting import Setting
from evroute.planning.forecasts.pace import Pace

BOTH = "both"
"""Name of the mixture among the physics of beliefs."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedTwice(Expected):
    """Expectation of the mixture, and of each physics.

    Parameters
    ----------
    driving, steady
        Expectations by the driver's physics and at steady speeds.
    """

    driving: Expected | None = None
    steady: Expected | None = None


class TwoPhysics(Belief):
    """Belief of whole trips on a network by two physics. See `Belief`.

    Parameters
    ----------
    setting
        Network and vehicle.

    Attributes
    ----------
    driving, steady
        Beliefs by the driver's physics and at steady speeds.
    weight
        Weight of the first.
    errors, time_errors
        Errors of the mixture's energies and times.
    """

    travels = True
    of_fleets = True
    options = TripEnergies.options

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.source = "this"
        self.driving = TripEnergies(setting, physics=PHYSICS)
        self.steady = TripEnergies(setting, physics=PAPER_PHYSICS)
        self.battery = self.driving.battery
        self.weight = PhysicsWeight(prior_weight(setting.network))
        self.errors = CarErrors()
        self.time_errors = CarErrors()
        self._car: str | None = None

    @classmethod
    def of_method(cls, method: Mapping[str, Any], setting: Setting) -> "TwoPhysics":
        """Return the belief before any trip.

        Parameters
        ----------
        method, setting
            As in `Belief.of_method`.
        """
        return cls(setting)

    @property
    def method_table(self) -> dict[str, Any]:
        """Model and physics by name."""
        return {"model": MODEL, "physics": BOTH}

    @property
    def label(self) -> str:
        """Number of trips in words."""
        return self.driving.label

    @property
    def note(self) -> str:
        """Number of trips behind the forecasts, in words. Empty if there are none."""
        return self.driving.note

    @property
    def trips(self) -> int:
        """Number of trips that came, refused ones included."""
        return self.driving.trips

    @property
    def belief(self) -> TripBelief:
        """Coefficients by the driver's physics."""
        return self.driving.belief

    @property
    def pace(self) -> Pace:
        """Pace of the edges by the driver's physics."""
        return self.driving.pace

    @property
    def changed_after(self) -> int:
        """Number of trips before the last detected change, or 0 if there was none."""
        return self.driving.changed_after

    @property
    def learns_totals(self) -> bool:
        """True: it learns nothing else."""
        return True

    @property
    def parts(self) -> Mapping[str, Part]:
        """Both beliefs, their weight, and the errors of the mixture."""
        return {
            "driving": self.driving,
            "steady": self.steady,
            "weight": self.weight,
            "errors": self.errors,
            "time_errors": self.time_errors,
        }

    @property
    def changed(self) -> bool:
        """Whether the errors of energies or times became larger."""
        return self.errors.changed or self.time_errors.changed

    @property
    def members(self) -> tuple[Weighed, ...]:
        """The beliefs of both physics with their weights."""
        share = self.weight.first
        return (Weighed(share, self.driving.belief), Weighed(1.0 - share, self.steady.belief))

    def findings(self, trips: pa.Table) -> list[str]:
        """Return consumption, the sentences of the driver's physics, and both physics' weights.

        Parameters
        ----------
        trips
            Rows of ``trips.parquet``.
        """
        share = self.weight.first
        weights = (
            f"forecasts are by {share:.0%} from physics with stops and turns, whose numbers "
            f"these are, and by {1.0 - share:.0%} from physics at steady speeds, by the errors "
            "of both"
        )
        return [*self.driving.findings(trips, self.members, self.car_shares()), weights]

    def terms_of(self, numbers: Sequence[int]) -> list[Terms]:
        """Return the terms of trips by their numbers, by each physics."""
        of_each = (self.driving.terms_of(numbers), self.steady.terms_of(numbers))
        return [{**driving, **steady} for driving, steady in zip(*of_each, strict=True)]

    def expect(self, trip: MeasuredTrip) -> ExpectedTwice:
        """Return the expected energy and time of a trip, and by each physics."""
        trip = self.driving.placed(trip)
        driving, steady = self.driving.expect_energy(trip), self.steady.expect_energy(trip)
        time = self._expected_time(
            trip.edge, trip.departed_s, routes=trip.routes, share=self.driving.share(trip)
        )
        return ExpectedTwice(
            self.weight.predicted(driving.energy, steady.energy, self.errors.spread(trip.car)),
            measures_s(time),
            driving=driving,
            steady=steady,
        )

    def take(self, trip: MeasuredTrip, expected: Expected) -> None:
        """Learn the total energy of a trip, and its travel times, by each physics.

        Parameters
        ----------
        trip
            Measured trip.
        expected
            Its expectation by `expect`.
        """
        trip = self.driving.placed(trip)
        assert isinstance(expected, ExpectedTwice)
        assert expected.driving
        assert expected.steady
        energy_wh = float(trip.energy_wh.sum())
        _add_error(self.errors, energy_wh, expected.energy, car=trip.car)
        self.errors.renew(trip.car)  # each physics has loosened the car by its own test
        measured = np.isfinite(trip.travel_s)
        if measured.any():
            edge, share = trip.edge[measured], self.driving.share(trip)[measured]
            time = self._expected_time(edge, trip.departed_s, share=share)
            km = float(share @ self.driving.places.known.length_m[edge]) / 1000.0
            unit_s = float(np.sqrt(START_S.variance(np.array(km))))
            measured_s = float(trip.travel_s[measured].sum())
            _add_error(self.time_errors, measured_s, time, unit_s, car=trip.car)
            self.time_errors.renew(trip.car)
        self.weight.add(energy_wh, expected.driving.energy, expected.steady.energy)
        self.driving.take(trip, expected.driving)
        self.steady.take(trip, expected.steady)
        if not self.changed:
            self._overrule()

    def _overrule(self) -> None:
        """Begin the tests of the members anew that found a change which the mixture did not.

        The mixture makes the forecasts, so its errors decide. A member that stood at its alarm
        would never widen its prior.
        """
        tested = (
            each for one in (self.driving, self.steady) for each in (one.belief, one.times.errors)
        )
        for each in tested:
            if each.changed:
                each.test_anew()

    def restart(self) -> None:
        """Learn the paces and the deviations of roads anew. All else stays."""
        self.errors.restart()
        self.time_errors.restart()
        self.driving.restart()
        self.steady.restart()

    @property
    def cars(self) -> tuple[str, ...]:
        """Names of the cars of a fleet."""
        return self.driving.cars

    def of_car(self, car: str) -> "TwoPhysics":
        """Return the belief of one car. Parameters and errors as in `KnowsCars.of_car`."""
        own = copy(super().of_car(car))
        own.driving, own.steady = self.driving.of_car(car), self.steady.of_car(car)
        own._car, own.battery = car, own.driving.battery
        own.setting = own.driving.setting
        return own

    def of_type(self, k: int) -> "TwoPhysics":
        """Return the belief of an unknown car of a type, as `KnowsCars.of_type` does."""
        own = copy(self)
        own.driving, own.steady = self.driving.of_type(k), self.steady.of_type(k)
        own.setting = own.driving.setting
        return own

    def car_shares(self) -> dict[str, Share]:
        """Return what each car takes more than its type, by both physics."""
        return mixed_shares(self.driving.car_shares(), self.steady.car_shares(), self.weight.first)

    def under(self, conditions: DrivingConditions) -> MixedDay:
        """Return the energies of a day with these conditions."""
        return MixedDay(
            self.driving.under(conditions),
            self.steady.under(conditions),
            self.weight,
            self.errors.spread(self._car),
            lambda edges, share: self._expected_time(
                edges, conditions.departed_s, speed_factor=conditions.speed_factor, share=share
            ),
        )

    def _expected_time(
        self,
        edge: IntArray,
        departed_s: float | None,
        *,
        speed_factor: float = 1.0,
        routes: int = 1,
        share: FloatArray | float = 1.0,
    ) -> TripPrediction:
        """Return the prediction of a travel time, s. Parameters as in `TripTimes.expect`."""
        driving, steady = (
            each.times.predict(
                edge,
                departed_s=departed_s,
                speed_factor=speed_factor,
                routes=routes,
                share=share,
            )
            for each in (self.driving, self.steady)
        )
        return self.weight.predicted(driving, steady, self.time_errors.spread())


def _add_error(
    errors: CarErrors,
    measured: float,
    expected: TripPrediction,
    unit: float | None = None,
    *,
    car: str = "",
) -> None:
    """Add the error of an expectation. One beyond belief counts for the test of changes alone.

    Parameters
    ----------
    errors
        Errors of past trips.
    measured, expected
        Measured value and its expectation.
    unit
        Unit of the score that the test sees. With the unit of a fixed noise, a deviation that
        becomes smaller as it is learned makes no score larger. The predicted deviation if None.
    car
        The car that drove, or empty where cars have no names.
    """
    error = measured - expected.mean_wh
    if abs(error) > REFUSED_SD * expected.sd_wh:
        errors.refuse(error, unit or expected.sd_wh, car=car)
    else:
        errors.add(error, expected.sd_wh, unit, car=car)
