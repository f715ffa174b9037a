"""TripBelief: expects the energy of each trip before it is driven, then learns it.

One call of `expect` before and one of `learn` after every trip, in order of departure: a regression
on the trip's terms (`trip_regression`), noise refitted on a schedule (`noise_fit`), and the errors
of past trips (`intervals`). Rows are stored as they were at departure and never recomputed, so the
expectation of a trip depends on earlier trips alone.

A trip beyond `REFUSED_SD` predictive deviations is refused: it is kept, not learned, and judged
again after every `JUDGED_AGAIN` further trips. If `SUSPECT` of the last `RECENT` trips are refused,
the vehicle file is the suspect: the prior variances grow tenfold, at most `MAX_INFLATIONS` times,
and all refused trips are judged again.

Gaussian processes join as fields (`fields`): further columns of the rows, whose standard
deviation is fitted with the noise. Columns of the first kind are there from the start and are added
as trips reach new places; earlier trips do not depend on them. A late field is fitted now and then
on the features of all trips so far; it has columns only while the evidence for it is strong.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from evroute.arrays import FloatArray, IntArray
from evroute.learning.intervals import PastErrors, TripPrediction
from evroute.learning.trips import noise_fit
from evroute.learning.trips.cone import Physical, constrained_mode
from evroute.learning.trips.earlier import with_later_terms
from evroute.learning.trips.kept_trips import (
    KM,
    KeptColumns,
    KeptTrip,
    columns_of,
    state_of,
    trips_of,
)
from evroute.learning.trips.level import drift, features_by_month
from evroute.learning.trips.noise_fit import EVIDENCE, START, LateField, TripNoiseScale
from evroute.learning.trips.rebuild import learn_at_once, learn_by_days, learn_in_turn
from evroute.learning.trips.regression import CoefficientPrior, TripRegression

REFUSED_SD = 8.0
JUDGED_AGAIN = 10
RECENT = 10
SUSPECT = 3
INFLATION = 10.0
MAX_INFLATIONS = 3
TERM, FIELD, LATE = range(3)
"""Kinds of columns of the rows: terms of a trip, features of fields, features of a late field."""


class TripBelief:
    """Belief about whole trips of one car: p coefficients and the noise around them.

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

    Attributes
    ----------
    late_std
        Standard deviation of the late field, 0 before it joins.
    late_fitted_std
        Standard deviation of the late field as last fitted, 0 before.
    seen
        Number of trips, refused ones included.
    regression
        Posterior of the coefficients and of the features of the fields.
    """

    def __init__(
        self,
        prior: CoefficientPrior,
        noise: TripNoiseScale = START,
        *,
        field_std: float = 0.0,
        late: LateField | None = None,
    ) -> None:
        self.prior = prior
        self.noise = self._noise_centre = noise
        self.field_std = self._field_centre = field_std
        self.late = late
        self.late_std = self.late_fitted_std = 0.0
        self.column: IntArray = np.zeros(len(prior.mean), dtype=np.int64)
        self.seen = 0
        self.inflations = 0
        self.regression = TripRegression(prior.mean, prior.std)
        self._learned: list[KeptTrip] = []
        self._refused: list[KeptTrip] = []
        self._recent: list[bool] = []
        self._errors = PastErrors(signed=True)
        self._day = 0.0
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
        if days <= 0.0 or self.prior.level is None:
            return self
        later = copy(self)
        later.regression = copy(self.regression)
        later._drift(days)
        later._take()
        return later

    def widen(self, columns: int) -> None:
        """Add columns of the field; earlier trips have 0 in them."""
        if not columns:
            return
        self.column = np.append(self.column, np.full(columns, FIELD))
        self._refused = [
            replace(trip, row=np.append(trip.row, np.zeros(columns))) for trip in self._refused
        ]
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
            spread=self._errors.spread,
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
    ) -> None:
        """Learn one trip, or refuse it.

        Parameters
        ----------
        row
            (p,) terms of the trip as they were at departure.
        energy_wh
            Measured energy, Wh; may be negative.
        known_wh2
            Variance of the measurement itself, Wh².
        doubt_wh2
            Further variance of the forecast that is no noise of the measurement, Wh².
        after_days
            Days since the trip before, at least 0.
        part_wh, part_wh2
            Measured energy of the columns `CoefficientPrior.metered`, Wh, and its variance, Wh²;
            0 where it was not measured. It teaches after the trip.

        Raises
        ------
        ValueError
            If a number is not finite, the length is not positive or the variance is negative.
        """
        terms = np.array(row, dtype=np.float64)
        day = self._day + after_days
        numbers = energy_wh, known_wh2, doubt_wh2, day, part_wh, part_wh2
        trip = KeptTrip(self.seen, terms, *map(float, numbers))
        self.seen += 1
        self._day = day
        if after_days > 0.0:
            self._drift(after_days)
            self._take()
        refused = not self._admit(trip)
        if refused:
            self._refused.append(trip)
            expected = self.expect(trip.row, trip.known_wh2 + trip.doubt_wh2)
            self._errors.refuse(energy_wh - expected.mean_wh, expected.sd_wh)
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

    def restart(self) -> None:
        """Begin the test anew, and take the features of the late field anew; all else stays."""
        self._errors.restart()
        self._recent = []
        if self.late_std and self.late is not None:
            numbers = [trip.number for trip in self._learned]
            self._replace_late(self.late, self.late.features(numbers))
            self._rebuild()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that was learned, as arrays; rows only ever grow."""
        state = {
            "mean": self.regression.mean,
            "root": self.regression.root,
            "noise_wh": np.array([self.noise.trip_wh, self.noise.root_km_wh, self.noise.km_wh]),
            **self._errors.state(),
            "recent": np.array(self._recent, dtype=np.bool_),
            "counts": np.array([self.seen, self.inflations]),
            "column": self.column,
            "terms": np.array(self.prior.names, dtype=np.str_),
            "field_std": np.array([self.field_std, self.late_std, self.late_fitted_std]),
            "day": np.array(self._day),
        }
        for kind, trips in (("learned", self._learned), ("refused", self._refused)):
            columns = state_of(trips, len(self.column))
            state |= {f"{kind}_{name}": values for name, values in columns.items()}
        return state

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
        self._recent = state["recent"].tolist()
        self._day = float(state["day"])
        self._learned, self._refused = trips_of(state, "learned"), trips_of(state, "refused")
        self._set(state["mean"], state["root"])

    def _set(self, mean: FloatArray, root: FloatArray) -> None:
        """Take over a posterior under the prior in force."""
        self.regression = TripRegression(*self._moments())
        self.regression.set(mean, root)
        self._take()

    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Return prior means and deviations of all columns, (p,) each."""
        mean, std = np.zeros(len(self.column)), np.zeros(len(self.column))
        own = self.column == TERM
        mean[own] = self.prior.mean
        std[own] = self.prior.std * INFLATION ** (0.5 * self.inflations)
        std[self.column == FIELD], std[self.column == LATE] = self.field_std, self.late_std
        return mean, std

    def _admit(self, trip: KeptTrip) -> bool:
        """Learn a trip unless it is beyond belief; return whether it was learned."""
        expected = self.expect(trip.row, trip.known_wh2 + trip.doubt_wh2)
        error_wh = trip.energy_wh - expected.mean_wh
        if abs(error_wh) > REFUSED_SD * expected.sd_wh:
            return False
        self._errors.add(error_wh, expected.sd_wh)
        self._learned.append(trip)
        if noise_fit.is_refit_due(self.trips):
            self._rebuild(refit=True)
        else:
            learn_in_turn(self.regression, self._columns([trip]), self.noise, self.prior)
        self._take()
        return True

    def _drift(self, days: float) -> None:
        """Let the level drift over some days."""
        if self.prior.level is not None:
            std = float(self.regression.prior_std[self.prior.level])
            drift(self.regression, self.prior.level, std, days)

    def _rebuild(self, *, refit: bool = False) -> None:
        """Build the regression from the stored rows, after fitting the noise to them if asked."""
        if refit:
            self._refit(self._columns(self._learned))
        trips = self._columns(self._learned)
        self.regression = TripRegression(*self._moments())
        if self.prior.level is None or not self._day:
            learn_at_once(self.regression, trips, self.noise, self.prior)
        else:
            learn_by_days(self.regression, trips, self.noise, self.prior, self._day)
        self._take()

    def _refit(self, trips: KeptColumns) -> None:
        """Fit the noise and the deviations of fields; those that join change the rows."""
        mean, std = self._moments()
        rows, level = trips.rows, self.prior.level
        late = self.late if noise_fit.is_late_fit_due(len(rows)) else None
        fitted = self.column == FIELD
        fixed = ~fitted & ~((self.column == LATE) & (late is not None))
        fields = [(rows[:, fitted], self._field_centre)] if fitted.any() else []
        scaled = (rows * std)[:, fixed]
        if level is not None and np.ptp(trips.day):
            months = features_by_month(rows[:, level], std[level], trips.day)
            scaled = np.hstack([np.delete(scaled, level, axis=1), months])
        given = (scaled, trips.energy_wh - rows @ mean, rows[:, KM], trips.known_wh2)
        start = self._noise_centre
        found = noise_fit.fit_scales(*given, start=start, fields=fields)
        if late is not None:
            features = late.features([trip.number for trip in self._learned])
            joined = noise_fit.fit_scales(
                *given, start=start, fields=[*fields, (features, late.least_std)]
            )
            self.late_fitted_std = joined.fields[-1]
            joins = (
                found.cost - joined.cost
            ) >= EVIDENCE and self.late_fitted_std >= late.least_std
            self.late_std = self.late_fitted_std if joins else 0.0
            found = joined if joins else found
            self._replace_late(late, features[:, : features.shape[1] * joins])
        self.noise = found.noise
        if fields:
            self.field_std = found.fields[0]

    def _replace_late(self, late: LateField, features: FloatArray) -> None:
        """Give all trips these features (n, m) of the late field, in the place of earlier ones."""
        stays = self.column != LATE
        learned, refused = (
            self._columns(trips).rows[:, stays] for trips in (self._learned, self._refused)
        )
        self.column = np.append(self.column[stays], np.full(features.shape[1], LATE))
        of_refused = np.zeros((len(refused), features.shape[1]))
        if len(refused) and features.shape[1]:
            of_refused = late.features([trip.number for trip in self._refused])
        self._learned, self._refused = (
            [replace(trip, row=row) for trip, row in zip(trips, np.hstack(parts), strict=True)]
            for trips, parts in (
                (self._learned, (learned, features)),
                (self._refused, (refused, of_refused)),
            )
        )

    def _take(self) -> None:
        """Put in force the mean that follows from the learned state."""
        cone = np.zeros((len(self.prior.cone), len(self.column)))
        cone[:, self.column == TERM] = self.prior.cone
        self._mean = constrained_mode(self.regression.mean, self.regression.root, cone)

    def _columns(self, trips: Sequence[KeptTrip]) -> KeptColumns:
        """Return the columns of trips."""
        return columns_of(trips, len(self.column))
