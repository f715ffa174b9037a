"""Effects of single cars on the energy of their trips, learned beside the shared coefficients.

The energy of a trip of car c with the terms x (p,) is the sum of a shared part, of what its car
takes more, and of noise:

.. code-block:: text

    y = x'(b + M a_c) + e,  a_c = (u_c, h_c) ~ N(0, diag(s_u², s_h²)),  b ~ N(m, R R'),  e ~ N(0, v)

The columns of M (p, 2) are the shared coefficients as they were at the last fit of the noise:
without the change of height for the factor ``u_c``, and the coefficients of heating, warm-up and
cooling alone for ``h_c``. So ``u_c`` counts times the energy that a car of the type is expected to
dissipate, and ``h_c`` times its heating. Between two fits M is constant, and all below is exact.

Given b, the cars are independent (arrowhead precision). The state therefore is the posterior of b,
and for each car:

.. code-block:: text

    a_c | b ~ N(f + B b, S),   f (2,), B (2, p), S (2, 2). Before any trip 0, 0 and diag(s_u², s_h²)

With ``g = M'x``, a trip of the car has one row of the shared regression, in which b alone is
unknown (`Seen`):

.. code-block:: text

    y - g'f = (x + B'g)' b + e',   e' ~ N(0, v + g'S g)

Then the car takes its Kalman update at a known b, with ``k = S g / (v + g'S g)``,
which is exact since b takes the row above:

.. code-block:: text

    f <- f + k (y - g'f),   B <- B - k (x + B'g)',   S <- S - k g'S

Both steps are exact, and neither depends on the number of cars. The effective row does not depend
on what b has become, so all trips of one car can be turned into rows before any of them is learned.
The coefficients of a car are ``b + M a_c``, with mean ``(I + M B) E b + M f`` and the root
``[(I + M B) R, M S^(1/2)]`` of their covariance (`CarEffects.of`).

``u_c`` is the level (`learning.trips.level`) by car: it drifts towards 0 with the same half-life.
A car whose errors grew is loosened: its ``u_c`` gets a further variance.

An effect is kept as it was after the last trip learned, beside the day and the loosenings since. So
it follows from the trips alone, and no file holds it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evroute.arrays import FloatArray
from evroute.learning.trips.level import kept, step_variance
from evroute.learning.trips.regression import TripRegression

STD_OF_CARS: FloatArray = np.array([0.08, 0.3])
"""Deviations of factor and heating over cars before any trip."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The evidence of a trip of a car on the shared coefficients.

    Parameters
    ----------
    row
        (p,) effective terms.
    energy_wh
        Energy less the part that the car alone explains, Wh.
    noise_wh2
        Variance of its noise and of the unknown effects of the car, Wh².
    """

    row: FloatArray
    energy_wh: float
    noise_wh2: float


class CarTime(NamedTuple):
    """A time of a car: days since its first trip, and the number of times that it was loosened."""

    day: float = 0.0
    loosened: int = 0


START = CarTime()
LOOSENED_STD = 0.15
"""Deviation that a loosened car may have changed by, as a share: a roof box, another driver."""


@dataclass(frozen=True, slots=True, eq=False)
class CarEffect:
    """Effect of one car, given the shared coefficients b: ``a | b ~ N(alone + shared @ b, cov)``.

    Parameters
    ----------
    alone
        (2,) f.
    shared
        (2, p) B.
    covariance
        (2, 2) S.
    time
        Time at which it holds.
    """

    alone: FloatArray
    shared: FloatArray
    covariance: FloatArray
    time: CarTime = START

    def at(self, time: CarTime, std: float) -> "CarEffect":
        """Return the effect at a later time. At an earlier one it stays.

        Parameters
        ----------
        time
            The time.
        std
            Deviation of the factor over all cars.
        """
        effect = self
        for loosened in range(self.time.loosened, time.loosened):
            effect = effect.moved(1.0, LOOSENED_STD**2, CarTime(self.time.day, loosened + 1))
        days = time.day - self.time.day
        if days <= 0.0:
            return effect
        end = effect.time._replace(day=time.day)
        return effect.moved(float(kept(days)), step_variance(std, days), end)

    def moved(self, kept_share: float, added: float, time: CarTime) -> "CarEffect":
        """Return the effect at another time: its factor times a share, with more variance.

        Parameters
        ----------
        kept_share
            Share of the factor that is left.
        added
            Variance that is added to it.
        time
            The time.
        """
        scale = np.array([kept_share, 1.0])
        covariance = self.covariance * np.outer(scale, scale)
        covariance[0, 0] += added
        shared = scale[:, np.newaxis] * self.shared
        return replace(
            self,
            alone=scale * self.alone,
            shared=shared,
            covariance=covariance,
            time=time,
        )


class CarEffects:
    """Effects of all cars of a belief.

    Parameters
    ----------
    weights
        (p, 2) M, for the p first columns of rows.
    std
        (2,) deviations of the factor and of heating over all cars.

    Attributes
    ----------
    times
        Time of each car that drove: its last trip.
    """

    def __init__(self, weights: FloatArray, std: FloatArray) -> None:
        self.weights, self.std = weights, std
        self.times: dict[str, CarTime] = {}
        self._by_car: dict[str, CarEffect] = {}  # after the last trip learned

    def __len__(self) -> int:
        """Return the number of cars."""
        return len(self.times)

    def features(self, rows: FloatArray) -> FloatArray:
        """Return dissipated energy and heating of trips with rows (..., p), (..., 2) Wh."""
        return np.asarray(rows[..., : len(self.weights)] @ self.weights)

    def before(self, width: int) -> CarEffect:
        """Return the effect of a car before its first trip, over rows of ``width`` columns."""
        return CarEffect(np.zeros(2), np.zeros((2, width)), np.diag(self.std**2))

    def after(self, car: str | None, width: int, days: float = 0.0) -> CarEffect:
        """Return the effect of a car some days after its last trip.

        Parameters
        ----------
        car
            Name of the car, or None for one that is not known.
        width
            Number of columns of rows.
        days
            Days since its last trip.
        """
        if car is None or car not in self.times:
            return self.before(width)
        day, loosened = self.times[car]
        found = self._by_car.get(car) or self.before(width)
        return found.at(CarTime(day + max(days, 0.0), loosened), float(self.std[0]))

    def learn(self, car: str, row: FloatArray, energy_wh: float, noise_wh2: float) -> Seen:
        """Learn one trip of a car at a known b, O(p), and return its evidence on b.

        The car has to be caught up with the trip.

        Parameters
        ----------
        car
            The car that drove.
        row
            (p,) terms of the trip.
        energy_wh
            Measured energy, Wh.
        noise_wh2
            Variance of the trip's noise, Wh².
        """
        effect, g = self._by_car[car], self.features(row)
        spread = effect.covariance @ g
        # no product of matrices, whose last digit depends on the number of columns
        seen = Seen(
            row + g[0] * effect.shared[0] + g[1] * effect.shared[1],
            energy_wh - float(g @ effect.alone),
            noise_wh2 + float(g @ spread),
        )
        gain = spread / seen.noise_wh2
        self._by_car[car] = replace(
            effect,
            alone=effect.alone + gain * seen.energy_wh,
            shared=effect.shared - np.outer(gain, seen.row),
            covariance=effect.covariance - np.outer(gain, spread),
        )
        return seen

    def wait(self, car: str, days: float) -> None:
        """Let some days pass since the last trip of a car."""
        day, loosened = self.times.get(car, CarTime())
        self.times[car] = CarTime(day + days, loosened)

    def catch_up(self, car: str, width: int, time: CarTime) -> None:
        """Bring the effect of a car to the time of a trip to learn. A later one stays.

        Parameters
        ----------
        car, width
            As in `after`.
        time
            Time of the trip.
        """
        known = self.times.setdefault(car, time)
        self.times[car] = CarTime(max(known.day, time.day), max(known.loosened, time.loosened))
        found = self._by_car.get(car) or self.before(width)
        self._by_car[car] = found.at(time, float(self.std[0]))

    def loosen(self, car: str) -> None:
        """Give the factor of a car the variance of a level, as its errors grew."""
        day, loosened = self.times[car]
        self.times[car] = CarTime(day, loosened + 1)

    def forget(self) -> None:
        """Forget all trips, but not their times."""
        self._by_car = {}

    def widen(self, columns: int) -> None:
        """Add columns to the rows, in which all earlier trips have 0."""
        self._by_car = {
            car: replace(effect, shared=np.pad(effect.shared, ((0, 0), (0, columns))))
            for car, effect in self._by_car.items()
        }

    def of(self, regression: TripRegression, car: str | None, days: float = 0.0) -> TripRegression:
        """Return the coefficients of a car, O(p²).

        Parameters
        ----------
        regression
            Posterior of the shared coefficients.
        car
            Name of the car, or None for one that is not known.
        days
            Days since its last trip.
        """
        width = len(regression.mean)
        effect = self.after(car, width, days)
        weights = np.zeros((width, 2))
        weights[: len(self.weights)] = self.weights
        mean = regression.mean + weights @ (effect.alone + effect.shared @ regression.mean)
        shared = regression.root + weights @ (effect.shared @ regression.root)
        found = TripRegression(regression.prior_mean, regression.prior_std)
        found.set(mean, np.hstack([shared, weights @ _root(effect.covariance)]))
        return found

    def moments(self, regression: TripRegression, car: str) -> tuple[FloatArray, FloatArray]:
        """Return mean (2,) and covariance (2, 2) of factor and heating of a car.

        Parameters
        ----------
        regression
            Posterior of the shared coefficients.
        car
            Name of the car.
        """
        effect = self.after(car, len(regression.mean))
        spread = effect.shared @ regression.root
        mean: FloatArray = effect.alone + effect.shared @ regression.mean
        return mean, effect.covariance + spread @ spread.T

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the times and the weights of the cars, as arrays. Empty without cars."""
        if not self.times:
            return {}
        return {
            "car_name": np.array(list(self.times), dtype=np.str_),
            "car_days": np.array(list(self.times.values()), dtype=np.float64),
            "car_weights": self.weights,
        }

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state, before the trips learned. One without cars has none."""
        self.times, self._by_car = {}, {}
        if "car_name" not in state:
            return
        self.weights = state["car_weights"]
        for name, (day, loosened) in zip(state["car_name"], state["car_days"], strict=True):
            self.times[str(name)] = CarTime(float(day), int(loosened))


def _root(covariance: FloatArray) -> FloatArray:
    """Return a root of a covariance (2, 2) that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
