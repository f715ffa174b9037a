"""TripBelief: expects the energy of each trip before it is driven, then learns it.

One call of `expect` before and one of `learn` after every trip, in order of departure: a regression
on the trip's terms (`trip_regression`), noise refitted on a schedule (`noise_fit`), the tail of the
errors (`tail`) and intervals (`intervals`). Rows are stored as they were at departure and never
recomputed, so what was expected of a trip depends on earlier trips alone.

A trip beyond `REFUSED_SD` predictive deviations is refused: it is kept, not learned, and judged
again after every `JUDGED_AGAIN` further trips. If `SUSPECT` of the last `RECENT` trips are refused,
the vehicle file is the suspect: the prior variances grow tenfold, at most `MAX_INFLATIONS` times,
and all refused trips are judged again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.arrays import FloatArray
from evroute.learning import cone, noise_fit, tail
from evroute.learning.intervals import ErrorSpread, TripPrediction
from evroute.learning.noise_fit import START, TripNoiseScale
from evroute.learning.trip_regression import CoefficientPrior, TripRegression

REFUSED_SD = 8.0
JUDGED_AGAIN = 10
RECENT = 10
SUSPECT = 3
INFLATION = 10.0
MAX_INFLATIONS = 3
KM = 0
"""Column of the rows with the trip's length, km, on which its noise depends."""


@dataclass(frozen=True, slots=True, eq=False)
class TripLearned:
    """Outcome of one trip.

    expected: prediction from before the trip.  refused: whether the trip was set aside.
    readmitted: numbers of trips refused earlier and learned now; trips are numbered from 0 as they
    came.  inflated: whether the prior variances grew tenfold.
    """

    expected: TripPrediction
    refused: bool
    readmitted: tuple[int, ...]
    inflated: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Trip:
    number: int
    row: FloatArray
    energy_wh: float
    known_wh2: float


class TripBelief:
    """Belief about whole trips of one car, p coefficients and the noise around them.

    prior: of the coefficients.  noise: in force; given at the start.
    seen: trips that came, refused ones included.  regression: posterior of the coefficients.
    """

    def __init__(self, prior: CoefficientPrior, noise: TripNoiseScale = START) -> None:
        self.prior = prior
        self.noise = noise
        self.seen = 0
        self.inflations = 0
        self.regression = TripRegression(prior.mean, prior.std)
        self._learned: list[_Trip] = []
        self._refused: list[_Trip] = []
        self._recent: list[bool] = []
        self._scores: list[float] = []
        self._tail = tail.no_errors()
        self._take()

    @property
    def trips(self) -> int:
        """Number of trips learned."""
        return len(self._learned)

    @property
    def refused(self) -> tuple[int, ...]:
        """Numbers of the trips refused so far and not learned since."""
        return tuple(trip.number for trip in self._refused)

    @property
    def coefficients(self) -> cone.Physical:
        """Coefficients in force: the constrained mode, and how far it is from the mean."""
        return self._mean

    def draw(self, rng: np.random.Generator) -> cone.Physical:
        """Draw coefficients from the posterior cut to the cone."""
        return cone.draw(self.regression.mean, self.regression.root, self.prior.cone, rng)

    def expect(self, row: FloatArray, known_wh2: float = 0.0) -> TripPrediction:
        """Predict the energy of a trip.

        Parameters
        ----------
        row
            (p,) terms of the trip.
        known_wh2
            Variance of the measurement itself, Wh²; 0 for the energy as it is.
        """
        noise = float(self.noise.variance(row[KM], known_wh2))
        return TripPrediction(
            mean_wh=float(row @ self._mean.coefficients),
            sd_wh=float(np.sqrt(self.regression.variance(row) + noise)),
            spread=self._spread,
            trips=self.trips,
            moved_wh=float(row @ self._mean.moved),
        )

    def learn(self, row: FloatArray, energy_wh: float, known_wh2: float = 0.0) -> TripLearned:
        """Learn one trip, or refuse it.

        Parameters
        ----------
        row
            (p,) terms of the trip as they were at departure.
        energy_wh
            Measured energy, Wh; may be negative.
        known_wh2
            Variance of the measurement itself, Wh².

        Raises
        ------
        ValueError
            If a number is not finite, the length is not positive or the variance is negative.
        """
        if not (np.isfinite([*row, energy_wh]).all() and row[KM] > 0 and 0 <= known_wh2 < np.inf):
            raise ValueError(
                f"a trip of {energy_wh} Wh ± {known_wh2} Wh² with terms {row}: expected finite "
                "numbers, a positive length in km first, and a variance of at least 0"
            )
        trip = _Trip(self.seen, np.array(row, dtype=np.float64), float(energy_wh), float(known_wh2))
        self.seen += 1
        expected = self.expect(trip.row, trip.known_wh2)
        refused = not self._admit(trip, expected)
        if refused:
            self._refused.append(trip)
        self._recent = [*self._recent, refused][-RECENT:]
        inflated = sum(self._recent) >= SUSPECT and self.inflations < MAX_INFLATIONS
        if inflated:
            self.inflations += 1
            self._recent = []
            self._rebuild()
        return TripLearned(expected, refused, self._judge_again(everyone=inflated), inflated)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that was learned, as arrays; rows only ever grow."""
        state: dict[str, npt.NDArray[Any]] = {
            "precision": self.regression.precision,
            "information": self.regression.information,
            "noise_wh": np.array([self.noise.trip_wh, self.noise.root_km_wh, self.noise.km_wh]),
            "tail": self._tail,
            "scores": np.array(self._scores),
            "recent": np.array(self._recent, dtype=np.bool_),
            "counts": np.array([self.seen, self.inflations]),
        }
        for name, trips in (("learned", self._learned), ("refused", self._refused)):
            rows, energy_wh, known_wh2 = self._arrays(trips)
            state[f"{name}_number"] = np.array([trip.number for trip in trips], dtype=np.int64)
            state[f"{name}_rows"] = rows
            state[f"{name}_energy_wh"], state[f"{name}_known_wh2"] = energy_wh, known_wh2
        return state

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state; later numbers are bit for bit those of the belief that returned it.

        Raises
        ------
        ValueError
            If the state has another number of coefficients.
        """
        p = len(self.prior.mean)
        if state["precision"].shape != (p, p):
            raise ValueError(f"a state of {len(state['precision'])} coefficients, expected {p}")
        self.noise = TripNoiseScale(*state["noise_wh"].tolist())
        self.seen, self.inflations = state["counts"].tolist()
        self._tail, self._scores = state["tail"], state["scores"].tolist()
        self._recent = state["recent"].tolist()
        names = ("number", "rows", "energy_wh", "known_wh2")
        self._learned, self._refused = (
            [
                _Trip(int(number), row, float(energy_wh), float(known_wh2))
                for number, row, energy_wh, known_wh2 in zip(
                    *(state[f"{kind}_{name}"] for name in names), strict=True
                )
            ]
            for kind in ("learned", "refused")
        )
        self.regression = TripRegression(self.prior.mean, self._prior_std)
        self.regression.set(state["precision"], state["information"])
        self._take()

    @property
    def _prior_std(self) -> FloatArray:
        std: FloatArray = self.prior.std * INFLATION ** (0.5 * self.inflations)
        return std

    def _admit(self, trip: _Trip, expected: TripPrediction) -> bool:
        """Learn a trip unless it is beyond belief; return whether it was learned."""
        z = (trip.energy_wh - expected.mean_wh) / expected.sd_wh
        if abs(z) > REFUSED_SD:
            return False
        self._tail = tail.add_error(self._tail, z)
        self._scores.append(abs(z))
        self._learned.append(trip)
        if noise_fit.is_refit_due(self.trips):
            self._rebuild(refit=True)
        else:
            noise_wh2 = float(self.noise.variance(trip.row[KM], trip.known_wh2))
            self.regression.update(trip.row, trip.energy_wh, noise_wh2)
        self._take()
        return True

    def _judge_again(self, *, everyone: bool) -> tuple[int, ...]:
        """Judge refused trips that are due, or all of them; return the numbers of those learned."""
        readmitted = []
        for trip in list(self._refused):
            waited = self.seen - 1 - trip.number
            due = everyone or (waited > 0 and waited % JUDGED_AGAIN == 0)
            if due and self._admit(trip, self.expect(trip.row, trip.known_wh2)):
                readmitted.append(trip.number)
                self._refused.remove(trip)
        return tuple(readmitted)

    def _rebuild(self, *, refit: bool = False) -> None:
        """Build the regression from the stored rows, after fitting the noise to them if asked."""
        rows, energy_wh, known_wh2 = self._arrays(self._learned)
        std = self._prior_std
        if refit:
            residual_wh = energy_wh - rows @ self.prior.mean
            self.noise = noise_fit.fit_noise(rows * std, residual_wh, rows[:, KM], known_wh2)
        self.regression = TripRegression(self.prior.mean, std)
        self.regression.rebuild(rows, energy_wh, self.noise.variance(rows[:, KM], known_wh2))
        self._take()

    def _take(self) -> None:
        """Put in force the mean and the spread that follow from the learned state."""
        self._mean = cone.constrained_mode(
            self.regression.mean, self.regression.root, self.prior.cone
        )
        self._spread = ErrorSpread(*tail.mode(self._tail), np.array(self._scores))

    def _arrays(self, trips: list[_Trip]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return rows (n, p), energies (n,) Wh and known variances (n,) Wh² of trips."""
        rows = np.array([trip.row for trip in trips]).reshape(-1, len(self.prior.mean))
        energy_wh = np.array([trip.energy_wh for trip in trips])
        return rows, energy_wh, np.array([trip.known_wh2 for trip in trips])
