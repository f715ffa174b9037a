"""TripBelief: expects the energy of each trip before it is driven, then learns it.

One call of `expect` before and one of `learn` after every trip, in order of departure: a regression
on the trip's terms (`regression`), scales refitted on a schedule (`scales`), and the errors
of past trips (`intervals`). Rows are stored as they were at departure and never recomputed, so the
expectation of a trip depends on earlier trips alone.

A trip beyond `REFUSED_SD` predictive deviations is refused: it is kept, not learned, and judged
again after every `JUDGED_AGAIN` further trips.

A Gaussian process joins as a field (`fields`), with a column for each new place of trips.
Deviations of roads (`roads.road_choice`) have columns from the first trip on. They are chosen now
and then by all trips so far.

In a fleet each named car has an effect beside the shared coefficients, which drifts in the place of
the level, and errors of its own (`evroute.learning.fleet`).
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import astuple
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.learning.fleet.car_effects import STD_OF_CARS, CarEffects, CarTime
from evroute.learning.fleet.car_errors import CarErrors
from evroute.learning.intervals import TripPrediction
from evroute.learning.trips import kept_trips, scales
from evroute.learning.trips.cone import constrained_mode
from evroute.learning.trips.kept_trips import FIELD, KM, NUMBERS, ROAD, TERM, KeptTrip
from evroute.learning.trips.level import drift
from evroute.learning.trips.noise import START, TripNoiseScale
from evroute.learning.trips.rebuild import learn_again, learn_next, seen_of_cars
from evroute.learning.trips.regression import CoefficientPrior, TripRegression

REFUSED_SD = 8.0
JUDGED_AGAIN = 10


class TripBelief:
    """Belief about whole trips of one car or a fleet: p coefficients and the noise around them.

    Parameters
    ----------
    prior
        Prior of the coefficients.
    noise
        Noise at the start, the centre of its log-normal prior.
    heights
        Deviation of the potential of junctions at the start, the centre of its prior, Wh. 0 for
        none.
    roads
        Deviations of roads of the trips, or None for none.
    unit
        Noise by which the test for changes measures errors. The predicted deviation if None.

    Attributes
    ----------
    column
        Kinds of the columns of the row of a trip, (p + f,).
    seen, on_day
        Number of trips, refused ones included, and of the day of the next one, or NaN.
    regression
        Posterior of the coefficients and of the features of the fields.
    cars
        Effects of named cars, or empty.
    coefficients, moved
        (p + f,) coefficients in force, the constrained mode, and how far it is from the mean.
    """

    def __init__(
        self,
        prior: CoefficientPrior,
        noise: TripNoiseScale = START,
        *,
        heights: float = 0.0,
        roads: kept_trips.RoadsOfTrips | None = None,
        unit: TripNoiseScale | None = None,
    ) -> None:
        self.prior = prior
        self.roads, self.unit = roads, unit
        of_roads = 0.0 if roads is None else roads.deviation
        self.scales = self._centre = scales.Scales(noise, heights, of_roads)
        self.on_day = np.nan
        self.column: IntArray = np.zeros(len(prior.mean), dtype=np.int64)
        self.seen = 0
        self.regression = TripRegression(prior.mean, prior.std)
        self._learned: list[KeptTrip] = []
        self._refused: list[KeptTrip] = []
        self._errors, self._day = CarErrors(), 0.0
        of_cars = np.zeros((0, 2)) if prior.by_car is None else prior.by_car(prior.mean)
        self.cars = CarEffects(of_cars, STD_OF_CARS)
        self._car: str | None = None
        self._take()

    @property
    def trips(self) -> int:
        """Number of trips learned."""
        return len(self._learned)

    @property
    def kept(self) -> kept_trips.KeptColumns:
        """The trips learned, in their order."""
        return kept_trips.columns_of(self._learned, len(self.column))

    @property
    def noise(self) -> TripNoiseScale:
        """Noise of trips."""
        return self.scales.noise

    @property
    def unlearned_wh2(self) -> float:
        """Variance of a coefficient of roads without a column, Wh².

        0 up to the first fit: the noise before it is that of drives whose roads are not known.
        """
        fitted = self.trips >= scales.REFITS[0]
        return self.scales.roads**2 if fitted else 0.0

    @property
    def refused(self) -> tuple[int, ...]:
        """Numbers of the trips refused so far and not learned since."""
        return tuple(trip.number for trip in self._refused)

    @property
    def changed(self) -> bool:
        """Whether the errors of the trips became larger, by the test of `learning.change`."""
        return self._errors.changed

    @property
    def present(self) -> FloatArray:
        """Coefficients in force, the terms' own with the level's share of their prior means."""
        b = self.coefficients.copy()
        if self.prior.level is not None:
            b[: len(self.prior.mean)] += b[self.prior.level] * self.prior.multiplied
        return b

    def after(self, days: float) -> "TripBelief":
        """Return the belief some days after its last trip, to expect trips with."""
        if days <= 0.0 or self.prior.level is None or self.cars:
            return self
        later = copy(self)
        later.regression = copy(self.regression)
        later._drift(days)
        return later

    def of_car(self, car: str | None, days: float = 0.0) -> "TripBelief":
        """Return the belief of a car some days after its last trip, to expect trips with.

        Parameters
        ----------
        car
            Name of a car. Empty or None for one that is not known, or for the only car.
        days
            Days since its last trip.
        """
        if not (self.cars or car):
            return self.after(days)
        own = copy(self)
        own.regression, own._car = self.cars.of(self.regression, car, days), car
        own._take()
        return own

    def widen(self, columns: int) -> None:
        """Add columns of the field. Earlier trips have 0 in them."""
        if not columns:
            return
        self.column = np.append(self.column, np.full(columns, FIELD))
        self._refused = [trip.widened(columns) for trip in self._refused]
        self.cars.widen(columns)
        old = self.regression
        mean, std = self._moments()
        mean[:-columns] = old.mean
        self._set(mean, block_diag(old.root, np.diag(std[-columns:])))

    def expect(self, row: FloatArray, known_wh2: float = 0.0) -> TripPrediction:
        """Predict the energy of a trip.

        Parameters
        ----------
        row
            (p,) terms of the trip, then the features of the fields.
        known_wh2
            Variance of the measurement itself, Wh². 0 for the energy as it is.
        """
        noise = float(self.noise.variance(row[KM], known_wh2))
        return TripPrediction(
            mean_wh=float(row @ self.coefficients),
            sd_wh=float(np.sqrt(self.regression.variance(row) + noise)),
            spread=self._errors.spread(self._car),
            trips=self.trips,
            moved_wh=float(row @ self.moved),
        )

    def learn(
        self,
        row: FloatArray,
        energy_wh: float,
        known_wh2: float = 0.0,
        doubt_wh2: float = 0.0,
        *,
        after_days: float = 0.0,
        part_wh: float = 0.0,
        part_wh2: float = 0.0,
        car: str = "",
    ) -> None:
        """Learn one trip, or refuse it.

        Parameters
        ----------
        row
            (p,) terms of the trip as they were at departure.
        energy_wh
            Measured energy, Wh. May be negative.
        known_wh2, doubt_wh2
            Variance of the measurement itself, and further variance of the forecast, Wh².
        after_days
            Days since the trip before, of the same car, at least 0.
        part_wh, part_wh2
            Measured energy of the columns `CoefficientPrior.metered`, Wh, and variance, or 0.
        car
            Name of the car, or empty for the only one.

        Raises
        ------
        ValueError
            If a number is not finite, the length is not positive or the variance is negative.
        """
        time = self.cars.times.get(car, CarTime())
        day = (time.day if car else self._day) + after_days
        numbers = (energy_wh, known_wh2, doubt_wh2, day, part_wh, part_wh2)
        of_trip = dict(zip(NUMBERS, map(float, numbers), strict=True))
        terms = np.array(row, dtype=np.float64)
        trip = KeptTrip(self.seen, terms, car=car, loosened=time.loosened, **of_trip)
        self.seen += 1
        self._day += after_days * (not car)
        self._drift(after_days, car)
        if not self._admit(trip):
            self._refused.append(trip)
            expected = self._expect_kept(trip)
            unit_wh = self._unit_wh(trip) or expected.sd_wh
            self._errors.refuse(energy_wh - expected.mean_wh, unit_wh, car=car, day=self.on_day)
        for number in self.refused:
            waited = self.seen - 1 - number
            # a choice of roads replaces the rows of refused trips
            trip = next(each for each in self._refused if each.number == number)
            if waited > 0 and waited % JUDGED_AGAIN == 0 and self._admit(trip):
                self._refused = [each for each in self._refused if each.number != number]
        if self._errors.renew(car):
            self.cars.loosen(car)

    def test_anew(self) -> None:
        """Begin the test for changes anew. All that was learned stays."""
        self._errors.restart()

    def restart(self) -> None:
        """Begin the test anew, and choose the roads anew. All else stays."""
        self.test_anew()
        self._rebuild(choose=True)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that was learned, as arrays. Rows only ever grow."""
        return {
            "mean": self.regression.mean,
            "root": self.regression.root,
            "noise_wh": np.array(astuple(self.noise)),
            "deviations": np.array(astuple(self.scales)[1:]),
            **self._errors.state(),
            **self.cars.state(),
            "seen": np.array(self.seen),
            "column": self.column,
            "terms": np.array(self.prior.names, dtype=np.str_),
            "day": np.array(self._day),
            **kept_trips.state_of("learned", self._learned, len(self.column)),
            **kept_trips.state_of("refused", self._refused, len(self.column)),
        }

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state. Later numbers are bit for bit as without the interruption.

        Raises
        ------
        ValueError
            If the state has other coefficients.
        """
        names, p = tuple(state["terms"].tolist()), int((state["column"] == TERM).sum())
        require(
            names == self.prior.names and p == len(self.prior.mean),
            f"a state of {p} coefficients ({', '.join(names)}), expected "
            f"{len(self.prior.mean)} ({', '.join(self.prior.names)})",
            ValueError,
        )
        self.column = state["column"]
        noise = TripNoiseScale(*state["noise_wh"].tolist())
        self.scales = scales.Scales(noise, *state["deviations"].tolist())
        self.seen = int(state["seen"])
        self._errors.restore(state)
        self.cars.restore(state)
        self.cars.std = self.scales.of_cars
        self._day = float(state["day"])
        self._learned = kept_trips.trips_of(state, "learned")
        self._refused = kept_trips.trips_of(state, "refused")
        if self.cars:
            seen_of_cars(self.cars, self.kept, self.noise, self.prior)
        self._set(state["mean"], state["root"])

    def _set(self, mean: FloatArray, root: FloatArray) -> None:
        """Take over a posterior under the prior in force."""
        self.regression = TripRegression(*self._moments())
        self.regression.set(mean, root)
        self._take()

    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Return prior means and deviations of all columns, (p,) each."""
        mean, std = np.zeros((2, len(self.column)))
        own = self.column == TERM
        mean[own] = self.prior.mean
        std[own] = self.prior.std
        std[self.column == FIELD] = self.scales.heights
        std[self.column == ROAD] = self.scales.roads
        return mean, std

    def _admit(self, trip: KeptTrip) -> bool:
        """Learn a trip unless it is beyond belief. Return whether it was learned."""
        expected = self._expect_kept(trip)
        error_wh = trip.energy_wh - expected.mean_wh
        if abs(error_wh) > REFUSED_SD * expected.sd_wh:
            return False
        errors = error_wh, expected.sd_wh, self._unit_wh(trip)
        self._errors.add(*errors, car=trip.car, day=self.on_day)
        self._learned.append(trip)
        refit = scales.is_refit_due(self.trips)
        if refit or (self.roads is not None and scales.is_choice_of_roads_due(self.trips)):
            self._rebuild(refit=refit, choose=True)
        else:
            own = kept_trips.columns_of([trip], len(self.column))
            learn_next(self.regression, self.cars, own, self.noise, self.prior)
        self._take()
        return True

    def _expect_kept(self, trip: KeptTrip) -> TripPrediction:
        own = self.of_car(trip.car)
        return own.expect(trip.row, trip.known_wh2 + trip.doubt_wh2)

    def _unit_wh(self, trip: KeptTrip) -> float | None:
        return None if self.unit is None else float(np.sqrt(self.unit.variance(trip.row[KM])))

    def _drift(self, days: float, car: str = "") -> None:
        """Let some days pass: the level drifts, or the effect of a named car."""
        if car:
            self.cars.wait(car, days)
        elif self.prior.level is not None and days > 0.0:
            std = float(self.regression.prior_std[self.prior.level])
            drift(self.regression, self.prior.level, std, days)
            self._take()

    def _rebuild(self, *, refit: bool = False, choose: bool = False) -> None:
        """Build the regression from the stored rows, after choosing roads and fitting the noise."""
        if choose and self.roads is not None:
            self._choose_roads(self.roads)
        trips = self.kept
        if refit:
            self._refit(trips)
        self.regression = TripRegression(*self._moments())
        learn_again(self.regression, self.cars, trips, self.noise, self.prior, self._day)
        self._take()

    def _refit(self, trips: kept_trips.KeptColumns) -> None:
        """Fit the scales to all trips learned."""
        if self.prior.by_car is not None and self.cars:
            self.cars.weights = self.prior.by_car(self.present[: len(self.prior.mean)])
        self.scales = scales.refitted(
            self._centre,
            trips,
            self._moments(),
            self.column,
            level=self.prior.level,
            cars=self.cars,
        )
        self.cars.std = self.scales.of_cars

    def _choose_roads(self, roads: kept_trips.RoadsOfTrips) -> None:
        """Choose the roads that have columns from all trips, and give all trips their features."""
        roads.choose()
        stays, of_learned = self.column < ROAD, roads.features([t.number for t in self._learned])
        of_refused = roads.features([trip.number for trip in self._refused])
        self._learned = kept_trips.with_features(self._learned, stays, of_learned)
        self._refused = kept_trips.with_features(self._refused, stays, of_refused)
        self.column = np.append(self.column[stays], np.full(of_learned.shape[1], ROAD))

    def _take(self) -> None:
        """Put in force the mean that follows from the learned state."""
        cone = np.zeros((len(self.prior.cone), len(self.column)))
        cone[:, self.column == TERM] = self.prior.cone
        mode = constrained_mode(self.regression.mean, self.regression.root, cone)
        self.coefficients, self.moved = mode.coefficients, mode.moved
