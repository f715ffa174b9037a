"""Entries of the benchmark: programs that expect the energy of a trip, and learn it afterwards.

An entry is made anew for each data set by ``Class(setting)``. `Entry` is its protocol. Its trips
are copies: the energy of one is not in them before `learn`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
from scipy.special import stdtrit

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.learning.baseline import FEWEST_TRIPS
from evroute.learning.measured import MeasuredTrip
from evroute.learning.records.history import measured_row
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.optional import Package
from evroute.plugins import named

lightgbm = Package("lightgbm", "benchmarks")

LEVEL = 0.9
"""Level of the intervals."""
FIRST_STD = 0.3
"""Deviation of the baselines as a share of the expectation, until they have some errors."""
TREES = {
    "objective": "regression",
    "learning_rate": 0.1,
    "num_leaves": 7,
    "min_data_in_leaf": 5,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbose": -1,
}
"""Parameters of LightGBM."""
ROUNDS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Trip:
    """A trip as an entry sees it.

    Parameters
    ----------
    number
        Its place in the order of time, from 1.
    km, climb_m, descent_m
        Length, km, and heights gained and lost along its route, m.
    map_minutes
        Time at the speeds of the map, minutes.
    physics_wh
        Energy by eq. 8 with the vehicle file at these speeds, Wh.
    departed_s
        Departure since 1970-01-01 UTC, s, or None if unknown.
    temperature_c
        Temperature at departure, °C. NaN if unknown.
    route
        The edges of the network, with the readings at departure. Its energies and times are NaN
        before the trip.
    energy_wh, travel_s
        Measured energy, Wh, and time, s. NaN before the trip.
    """

    number: int
    km: float
    climb_m: float
    descent_m: float
    map_minutes: float
    physics_wh: float
    departed_s: float | None
    temperature_c: float
    route: MeasuredTrip
    energy_wh: float = np.nan
    travel_s: float = np.nan


Expectation = tuple[float, float, float]
"""Expected energy of a trip, and the ends of the interval that holds it in 90 % of trips, Wh."""


class Entry(Protocol):
    """A program that expects energies of trips."""

    def expect(self, trip: Trip) -> Expectation:
        """Return the expected energy of the next trip and its 90 % interval, Wh."""

    def learn(self, trip: Trip) -> None:
        """Learn the trip that was expected last, now with its energy."""


class _Baseline:
    """An entry whose intervals follow from its own past errors.

    The error of a trip is normal with a variance in proportion to its km (Student t).

    Parameters
    ----------
    setting
        Network and vehicle.
    """

    def __init__(self, setting: Setting) -> None:
        self._trips: list[Trip] = []
        self._errors: list[float] = []

    def energy_wh(self, trip: Trip) -> float:
        """Return the expected energy of a trip, Wh."""
        raise NotImplementedError

    def expect(self, trip: Trip) -> Expectation:
        """Return the expected energy of the next trip and its 90 % interval, Wh."""
        energy_wh, n = self.energy_wh(trip), len(self._errors)
        std_wh, freedom = FIRST_STD * abs(energy_wh), np.inf
        if n >= FEWEST_TRIPS:
            std_wh, freedom = float(np.sqrt(np.mean(np.square(self._errors)) * trip.km)), n
        half_wh = float(stdtrit(freedom, (1.0 + LEVEL) / 2.0)) * std_wh
        return energy_wh, energy_wh - half_wh, energy_wh + half_wh

    def learn(self, trip: Trip) -> None:
        """Learn a trip and the error of its expectation."""
        error_wh = trip.energy_wh - self.energy_wh(trip)
        self._errors.append(error_wh / float(np.sqrt(trip.km)))
        self._trips.append(trip)


class Physics(_Baseline):
    """Eq. 8 with the vehicle file, which learns no energy. Its intervals follow from its errors."""

    def energy_wh(self, trip: Trip) -> float:
        """Return the energy by eq. 8, Wh."""
        return trip.physics_wh


class Regression(_Baseline):
    """Weighted least squares on km, climb and descent (`baseline.online_regression`).

    Its first expectations, before the fourth trip, are those of `Physics`.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._gram, self._moments = np.zeros((3, 3)), np.zeros(3)

    def energy_wh(self, trip: Trip) -> float:
        """Return the energy by the regression on the trips learned, Wh."""
        if len(self._trips) < FEWEST_TRIPS:
            return trip.physics_wh
        return float(_terms(trip) @ np.linalg.lstsq(self._gram, self._moments)[0])

    def learn(self, trip: Trip) -> None:
        """Learn a trip and the error of its expectation."""
        super().learn(trip)
        terms = _terms(trip)
        self._gram += np.outer(terms, terms) / trip.km
        self._moments += terms * trip.energy_wh / trip.km


def _terms(trip: Trip) -> FloatArray:
    """Return the terms of the regression, (3,)."""
    return np.array([trip.km, trip.climb_m, trip.descent_m])


class Trees(_Baseline):
    """Boosted trees of LightGBM on the energy per km, fitted after each trip.

    Features are km, climb and descent per km, speed of the map, eq. 8 per km, temperature, hour and
    day of the week. Its first expectations are those of `Physics`.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        lightgbm.train  # noqa: B018 - refuses before any work where it is not installed
        self._fitted: tuple[int, Any] = (0, None)

    def energy_wh(self, trip: Trip) -> float:
        """Return the energy by the trees, Wh."""
        n = len(self._trips)
        if n < FEWEST_TRIPS:
            return trip.physics_wh
        if self._fitted[0] != n:
            self._fitted = n, self._fit()
        return float(self._fitted[1].predict(np.array([_features(trip)]))[0]) * trip.km

    def _fit(self) -> Any:
        rows = np.array([_features(each) for each in self._trips])
        km = np.array([each.km for each in self._trips])
        wh_per_km = np.array([each.energy_wh for each in self._trips]) / km
        data = lightgbm.Dataset(rows, wh_per_km, weight=km, params=TREES)
        return lightgbm.train(TREES, data, num_boost_round=ROUNDS)


def _features(trip: Trip) -> list[float]:
    """Return the features of the trees."""
    hour, day = np.nan, np.nan
    if trip.departed_s is not None and np.isfinite(trip.departed_s):
        departed = datetime.fromtimestamp(trip.departed_s, UTC)
        hour, day = departed.hour + departed.minute / 60.0, float(departed.weekday())
    speed = 60.0 * trip.km / trip.map_minutes
    per_km = [each / trip.km for each in (trip.climb_m, trip.descent_m, trip.physics_wh)]
    return [trip.km, speed, trip.temperature_c, hour, day, *per_km]


class Evroute:
    """The default belief of ``evroute learn``."""

    def __init__(self, setting: Setting) -> None:
        self._belief = TripEnergies(setting)

    def expect(self, trip: Trip) -> Expectation:
        """Return the expected energy of the next trip and its 90 % interval, Wh."""
        found = self._belief.expected(trip.route)
        return found["predicted_wh"], found["low90_wh"], found["high90_wh"]

    def learn(self, trip: Trip) -> None:
        """Learn a trip."""
        self._belief.learn(trip.route)


ENTRIES = {
    "regression": f"{__name__}:Regression",
    "physics": f"{__name__}:Physics",
    "lightgbm": f"{__name__}:Trees",
    "evroute": f"{__name__}:Evroute",
}
"""Entries by name."""


def entry_class(name: str) -> Callable[[Setting], Entry]:
    """Return the class of an entry by its name, or by ``module:Class``.

    Raises
    ------
    UnknownNameError
        If there is none. The message lists the names.
    EvrouteError
        If the class has no ``expect`` and ``learn``.
    """
    found = named(ENTRIES, "entry", name)
    missing = [each for each in ("expect", "learn") if not callable(getattr(found, each, None))]
    if missing:
        raise EvrouteError(
            f"entry '{name}' has no {missing[0]}(trip). See docs/how-to/benchmark.md"
        )
    return found


def trip_before(setting: Setting, trip: MeasuredTrip, number: int) -> Trip:
    """Return the fields of a trip known at its beginning, in arrays of its own.

    Parameters
    ----------
    setting
        Network and vehicle.
    trip
        The measured trip.
    number
        Its place in the order of time, from 1.
    """
    row, network = measured_row(setting, trip), setting.network
    share = trip.share(network.length_m)
    unknown: FloatArray = np.full(len(trip.edge), np.nan)
    return Trip(
        number=number,
        km=row["length_m"] / 1000.0,
        climb_m=row["climb_m"],
        descent_m=row["descent_m"],
        map_minutes=float((share * network.time_s[trip.edge]).sum()) / 60.0 / trip.routes,
        physics_wh=row["eq8_wh"],
        departed_s=trip.departed_s,
        temperature_c=trip.temperature_c,
        route=replace(
            trip,
            edge=trip.edge.copy(),
            energy_wh=unknown,
            travel_s=unknown.copy(),
            soc_end_percent=np.nan,
            auxiliary_mean_w=np.nan,
            known_variance_wh2=0.0,
        ),
    )


def trip_after(before: Trip, trip: MeasuredTrip) -> Trip:
    """Return a trip with its measured energy and time, in arrays of its own.

    Parameters
    ----------
    before
        The trip when it began.
    trip
        The measured trip.
    """
    copied = {name: getattr(trip, name).copy() for name in ("edge", "energy_wh", "travel_s")}
    return replace(
        before,
        route=replace(trip, **copied),
        energy_wh=float(trip.energy_wh.sum()),
        travel_s=float(trip.travel_s.sum()),
    )
