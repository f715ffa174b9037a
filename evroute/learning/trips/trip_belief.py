"""TripBelief: expects the energy of each trip before it is driven, then learns it.

One call of `expect` before and one of `learn` after every trip, in order of departure: a regression
on the trip's terms (`trip_regression`), noise refitted on a schedule (`noise_fit`), and the errors
of past trips (`intervals`). Rows are stored as they were at departure and never recomputed, so the
expectation of a trip depends on earlier trips alone.

A trip beyond `REFUSED_SD` predictive deviations is refused: it is kept, not learned, and judged
again after every `JUDGED_AGAIN` further trips. If `SUSPECT` of the last `RECENT` trips are refused,
the prior variances grow tenfold, at most `MAX_INFLATIONS` times, and all of them are judged again.

Gaussian processes join as fields (`fields`): further columns of the rows, whose standard
deviation is fitted with the noise. Columns of the first kind are there from the start and are added
as trips reach new places; earlier trips do not depend on them. A late field is fitted now and then
on the features of all trips so far. It has columns only while the evidence for it is strong.

Trips of named cars are those of a fleet: the coefficients are shared, and each car has an effect,
which drifts in the place of the level, and errors of its own (`evroute.learning.fleet`).
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from evroute.arrays import FloatArray, IntArray
from evroute.learning.fleet.car_effects import CarEffects
from evroute.learning.fleet.car_errors import CarErrors
from evroute.learning.fleet.scales import STD_OF_CARS, Fit
from evroute.learning.intervals import TripPrediction
from evroute.learning.trips import kept_trips, noise_fit
from evroute.learning.trips.cone import Physical, constrained_mode
from evroute.learning.trips.earlier import with_later_terms
from evroute.learning.trips.kept_trips import FIELD, KM, LATE, NUMBERS, TERM, KeptColumns, KeptTrip
from evroute.learning.trips.level import drift
from evroute.learning.trips.noise_fit import START, LateField, TripNoiseScale
from evroute.learning.trips.rebuild import learn_again, learn_next
from evroute.learning.trips.regression import CoefficientPrior, TripRegression

REFUSED_SD = 8.0
JUDGED_AGAIN = 10
RECENT = 10
SUSPECT = 3
INFLATION = 10.0
MAX_INFLATIONS = 3


class TripBelief:
    """Belief about whole trips of one car or a fleet: p coefficients and the noise around them.

    Parameters
    ----------
    prior
        Prior of the coefficients.
    noise
        Noise at the start, the centre of its log-normal prior.
    field_std
        Standard deviation of the field at the start, the centre of its prior; 0 for none.
    late
        Field that joins when there is evidence for it, or None.
    unit
        Noise by which the test for changes measures errors; the predicted deviation if None.

    Attributes
    ----------
    late_std, late_fitted_std
        Deviation of the late field, 0 before it joins, and as last fitted.
    seen
        Number of trips, refused ones included.
    regression
        Posterior of the coefficients and of the features of the fields.
    cars
        Effects of named cars; empty for one car without a name.
    """

    def __init__(
        self,
        prior: CoefficientPrior,
        noise: TripNoiseScale = START,
        *,
        field_std: float = 0.0,
        late: LateField | None = None,
        unit: TripNoiseScale | None = None,
    ) -> None:
        self.prior = prior
        self.noise = self._noise_centre = noise
        self.field_std = self._field_centre = field_std
        self.late, self.unit = late, unit
        self.late_std = self.late_fitted_std = 0.0
        self.column: IntArray = np.zeros(len(prior.mean), dtype=np.int64)
        self.seen = self.inflations = 0
        self.regression = TripRegression(prior.mean, prior.std)
        self._learned: list[KeptTrip] = []
        self._refused: list[KeptTrip] = []
        self._recent: list[bool] = []
        self._errors = CarErrors()
        self._day = 0.0
        of_cars = np.zeros((0, 2)) if prior.by_car is None else prior.by_car(prior.mean)
        self.cars = CarEffects(of_cars, STD_OF_CARS)
        self._car: str | None = None
        self._take()

    @property
    def trips(self) -> int:
        """Number of trips learned."""
        return len(self._learned)

    @property
    def kept_rows(self) -> FloatArray:
        """(n, p) rows of the trips learned, in their order."""
        return self._columns(self._learned).rows

    @property
    def refused(self) -> tuple[int, ...]:
        """Numbers of the trips refused so far and not learned since."""
        return tuple(trip.number for trip in self._refused)

    @property
    def changed(self) -> bool:
        """Whether the errors of the trips became larger, by the test of `learning.change`."""
        return self._errors.changed

    @property
    def coefficients(self) -> Physical:
        """Coefficients in force: the constrained mode, and how far it is from the mean."""
        return self._mean

    @property
    def present(self) -> FloatArray:
        """Coefficients in force, those of terms with the level's share of their prior means."""
        b = self._mean.coefficients.copy()
        if self.prior.level is not None:
            b[self.column == TERM] += b[self.prior.level] * self.prior.multiplied
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
            Name of a car; empty or None for one that is not known, or for the only car.
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
        """Add columns of the field; earlier trips have 0 in them."""
        if not columns:
            return
        self.column = np.append(self.column, np.full(columns, FIELD))
        self._refused = [trip.widened(columns) for trip in self._refused]
        self.cars.widen(columns)
        old = self.regression
        mean, std = self._moments()
        root = np.diag(std)
        mean[:-columns] = old.mean
        self._set(mean, block_diag(old.root, root[-columns:, -columns:]))

    def expect(self, row: FloatArray, known_wh2: float = 0.0) -> TripPrediction:
        """Predict the energy of a trip.

        Parameters
        ----------
        row
            (p,) terms of the trip, then the features of the fields.
        known_wh2
            Variance of the measurement itself, Wh²; 0 for the energy as it is.
        """
        noise = float(self.noise.variance(row[KM], known_wh2))
        return TripPrediction(
            mean_wh=float(row @ self._mean.coefficients),
            sd_wh=float(np.sqrt(self.regression.variance(row) + noise)),
            spread=self._errors.spread(self._car),
            trips=self.trips,
            moved_wh=float(row @ self._mean.moved),
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
            Measured energy, Wh; may be negative.
        known_wh2, doubt_wh2
            Variance of the measurement itself, and further variance of the forecast, Wh².
        after_days
            Days since the trip before, of the same car, at least 0.
        part_wh, part_wh2
            Measured energy of the columns `CoefficientPrior.metered`, Wh, and its variance, Wh²;
            0 where it was not measured. It teaches after the trip.
        car
            Name of the car; empty for the only one.

        Raises
        ------
        ValueError
            If a number is not finite, the length is not positive or the variance is negative.
        """
        terms = np.array(row, dtype=np.float64)
        effect = self.cars.after(car, len(terms))
        day = (effect.day if car else self._day) + after_days
        numbers = (energy_wh, known_wh2, doubt_wh2, day, part_wh, part_wh2)
        of_trip = dict(zip(NUMBERS, map(float, numbers), strict=True))
        trip = KeptTrip(self.seen, terms, car=car, loosened=effect.loosened, **of_trip)
        self.seen += 1
        self._day += after_days * (not car)
        self._drift(after_days, car)
        refused = not self._admit(trip)
        if refused:
            self._refused.append(trip)
            expected = self.of_car(car).expect(trip.row, trip.known_wh2 + trip.doubt_wh2)
            unit_wh = self._unit_wh(trip) or expected.sd_wh
            self._errors.refuse(energy_wh - expected.mean_wh, unit_wh, car=car)
        self._recent = [*self._recent, refused][-RECENT:]
        suspect = sum(self._recent) >= SUSPECT and not self.changed
        if inflated := suspect and self.inflations < MAX_INFLATIONS:
            self.inflations += 1
            self._recent = []
            self._rebuild()
        for number in self.refused:
            waited = self.seen - 1 - number
            # a fit of the late field replaces the rows of refused trips
            trip = next(each for each in self._refused if each.number == number)
            due = inflated or (waited > 0 and waited % JUDGED_AGAIN == 0)
            if due and self._admit(trip):
                self._refused = [each for each in self._refused if each.number != number]
        if self._errors.has_alarm(car):
            self._errors.begin_anew(car)
            self.cars.loosen(car)

    def test_anew(self) -> None:
        """Begin the test for changes anew. All that was learned stays."""
        self._errors.restart()

    def restart(self) -> None:
        """Begin the test anew, and take the features of the late field anew. All else stays."""
        self._errors.restart()
        self._recent = []
        if self.late_std and self.late is not None:
            numbers = [trip.number for trip in self._learned]
            self._replace_late(self.late, self.late.features(numbers))
            self._rebuild()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that was learned, as arrays; rows only ever grow."""
        return {
            "mean": self.regression.mean,
            "root": self.regression.root,
            "noise_wh": np.array([self.noise.trip_wh, self.noise.root_km_wh, self.noise.km_wh]),
            **self._errors.state(),
            **self.cars.state(),
            "recent": np.array(self._recent, dtype=np.bool_),
            "counts": np.array([self.seen, self.inflations]),
            "column": self.column,
            "terms": np.array(self.prior.names, dtype=np.str_),
            "field_std": np.array([self.field_std, self.late_std, self.late_fitted_std]),
            "day": np.array(self._day),
            **kept_trips.state_of("learned", self._learned, len(self.column)),
            **kept_trips.state_of("refused", self._refused, len(self.column)),
        }

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state; later numbers are bit for bit those of the belief that returned it.

        Raises
        ------
        ValueError
            If the state has another number of coefficients.
        """
        state = with_later_terms(state, self.prior)
        self.column = state["column"]
        self.field_std, self.late_std, self.late_fitted_std = state["field_std"].tolist()
        self.noise = TripNoiseScale(*state["noise_wh"].tolist())
        self.seen, self.inflations = state["counts"].tolist()
        self._errors.restore(state)
        self.cars.restore(state)
        self._recent = state["recent"].tolist()
        self._day = float(state["day"])
        self._learned = kept_trips.trips_of(state, "learned")
        self._refused = kept_trips.trips_of(state, "refused")
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
        std[own] = self.prior.std * INFLATION ** (0.5 * self.inflations)
        std[self.column == FIELD], std[self.column == LATE] = self.field_std, self.late_std
        return mean, std

    def _admit(self, trip: KeptTrip) -> bool:
        """Learn a trip unless it is beyond belief; return whether it was learned."""
        expected = self.of_car(trip.car).expect(trip.row, trip.known_wh2 + trip.doubt_wh2)
        error_wh = trip.energy_wh - expected.mean_wh
        if abs(error_wh) > REFUSED_SD * expected.sd_wh:
            return False
        self._errors.add(error_wh, expected.sd_wh, self._unit_wh(trip), car=trip.car)
        self._learned.append(trip)
        if noise_fit.is_refit_due(self.trips):
            self._rebuild(refit=True)
        else:
            own = self._columns([trip])
            learn_next(self.regression, self.cars, own, self.noise, self.prior)
        self._take()
        return True

    def _unit_wh(self, trip: KeptTrip) -> float | None:
        return None if self.unit is None else float(np.sqrt(self.unit.variance(trip.row[KM])))

    def _drift(self, days: float, car: str = "") -> None:
        """Let some days pass: the level drifts, or the effect of a named car."""
        if car:
            self.cars.wait(car, len(self.column), days)
        elif self.prior.level is not None and days > 0.0:
            std = float(self.regression.prior_std[self.prior.level])
            drift(self.regression, self.prior.level, std, days)
            self._take()

    def _rebuild(self, *, refit: bool = False) -> None:
        """Build the regression from the stored rows, after fitting the noise to them if asked."""
        if refit:
            self._refit(self._columns(self._learned))
        trips = self._columns(self._learned)
        self.regression = TripRegression(*self._moments())
        learn_again(self.regression, self.cars, trips, self.noise, self.prior, self._day)
        self._take()

    def _refit(self, trips: KeptColumns) -> None:
        """Fit the noise and the deviations of fields. Those that join change the rows."""
        if self.prior.by_car is not None and self.cars:
            self.cars.weights = self.prior.by_car(self.present[: len(self.prior.mean)])
        centres, late = (self._noise_centre, self._field_centre), self.late
        fit = Fit(*self._moments(), self.column, self.prior.level, *centres, late)
        found = fit.of(trips, self.cars)
        self.noise = found.noise
        if found.field_std is not None:
            self.field_std = found.field_std
        self.cars.std = found.cars_std
        if late is not None and found.features is not None:
            self.late_std, self.late_fitted_std = found.late_std, found.late_fitted_std
            self._replace_late(late, found.features)

    def _replace_late(self, late: LateField, features: FloatArray) -> None:
        """Give all trips these features (n, m) of the late field, in the place of earlier ones."""
        stays, of_refused = self.column != LATE, np.zeros((len(self._refused), features.shape[1]))
        if of_refused.size:
            of_refused = late.features([trip.number for trip in self._refused])
        self._learned = kept_trips.with_features(self._learned, stays, features)
        self._refused = kept_trips.with_features(self._refused, stays, of_refused)
        self.column = np.append(self.column[stays], np.full(features.shape[1], LATE))

    def _take(self) -> None:
        """Put in force the mean that follows from the learned state."""
        cone = np.zeros((len(self.prior.cone), len(self.column)))
        cone[:, self.column == TERM] = self.prior.cone
        self._mean = constrained_mode(self.regression.mean, self.regression.root, cone)

    def _columns(self, trips: Sequence[KeptTrip]) -> KeptColumns:
        """Return the columns of trips."""
        return kept_trips.columns_of(trips, len(self.column))
