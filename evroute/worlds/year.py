"""Year: a world of trips over the seasons, whose heating follows a model of cabin and battery.

The energy of a trip is the energy in `Physics` at the temperature of its day and hour, plus the
electric energy of `Cabin` over its travel time. The car stands a few minutes or some hours before
each trip, so cold starts and warm ones occur in every season.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.energy.vehicle import Vehicle
from evroute.methods.setting import Setting
from evroute.worlds.cabin import STEP_S, drawn_cabin
from evroute.worlds.conditions import TEMPERATURES_C, Conditions
from evroute.worlds.demand.trips import S_PER_H, Trips
from evroute.worlds.environment import child
from evroute.worlds.physics import Physics, Truth

DAYS_A_YEAR = 365
LONGEST_DAYS = 3_660
"""Days of weather that a world draws. The years repeat afterwards."""
S_PER_DAY = 24 * S_PER_H
HOURS = (6.5, 21.5)
"""Departures lie between these hours."""
SHORT_STAND_S = (600.0, 3_000.0)
LONG_STAND_S = (4 * S_PER_H, 14 * S_PER_H)
CHAINED = 0.3
"""Share of trips that begin after a short stand."""


class Year(Conditions):
    """Options of the world of the seasons.

    Parameters
    ----------
    trips_a_year
        Number of trips in 365 days.
    first_day
        Day of the year of the first trip. 1 is 1 January. From 182 on, summer comes first.
    mean_c
        Mean temperature of the year, °C.
    season_c, day_c
        Half the difference between the warmest and the coldest day of the year, and hour of the
        day, K.
    weather_c
        Standard deviation of the temperature of a day around its season, K. 0.8 of a deviation
        stays until the next day.
    heat_pump
        The car heats with a heat pump.
    """

    environment: ClassVar[str] = "evroute.worlds.year:YearWorld"

    kind: Literal["year"] = "year"
    kinetic: bool = True
    from_standstill: bool = True
    turn_braking: bool = True
    noise_share: float = Field(0.1, ge=0)
    trip_std: float = Field(0.05, ge=0)
    time_std: float = Field(0.05, ge=0, le=1)
    trips_a_year: int = Field(400, ge=1)
    first_day: int = Field(182, ge=1, le=365)
    mean_c: float = Field(10.0, ge=-20, le=35)
    season_c: float = Field(11.0, ge=0, le=30)
    day_c: float = Field(4.0, ge=0, le=15)
    weather_c: float = Field(3.5, ge=0, le=15)
    heat_pump: bool = False

    def true_vehicle(self, assumed: Vehicle, temperature_c: float | None) -> Vehicle:
        """Return the vehicle with the true parameters of this world, without heating.

        Raises
        ------
        EvrouteError
            If a parameter is outside the range of a vehicle.
        """
        return super().true_vehicle(assumed, None)


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a trip.

    Parameters
    ----------
    departed_s
        Departure since the midnight before the first trip, s.
    temperature_c
        Outside temperature, °C.
    parked_s
        Time since the trip before, s.
    """

    departed_s: float
    temperature_c: float
    parked_s: float


class YearWorld(Physics):
    """Trips over the seasons with the setting's vehicle or those named by trips.

    Parameters
    ----------
    conditions
        Options.
    setting
        Network, vehicle and prior of the learner.
    trips
        Trips to drive. The world sets their departures.
    seeds
        Seeds of the world.

    Raises
    ------
    EvrouteError
        If a parameter is outside the range of a vehicle, or tail wind drives the vehicle.
    """

    conditions: Year

    def __init__(
        self, conditions: Year, setting: Setting, trips: Trips, seeds: np.random.SeedSequence
    ) -> None:
        # grandchildren of a key that the streams of `Physics` do not use
        cabin_seed, weather_seed, self._start_seed = child(seeds, 1_000).spawn(3)
        self.cabin = drawn_cabin(np.random.default_rng(cabin_seed), heat_pump=conditions.heat_pump)
        self._weather_k = _weather(conditions.weather_c, np.random.default_rng(weather_seed))
        super().__init__(conditions, setting, trips, seeds)

    def start(self, t: int) -> Start:
        """Return departure, temperature and stand of the trip of round ``t``, from 1."""
        options = self.conditions
        rng = np.random.default_rng(child(self._start_seed, t))
        day = (t - 1) * DAYS_A_YEAR // options.trips_a_year
        hour = rng.uniform(*HOURS)
        stand = SHORT_STAND_S if rng.uniform() < CHAINED else LONG_STAND_S
        season = np.cos(2 * np.pi * (options.first_day + day - 16) / DAYS_A_YEAR)
        temperature_c = (
            options.mean_c
            - options.season_c * season
            + options.day_c * np.cos(2 * np.pi * (hour - 15.0) / 24.0)
            + self._weather_k[day % LONGEST_DAYS]
        )
        return Start(
            departed_s=day * S_PER_DAY + hour * S_PER_H,
            temperature_c=float(np.clip(temperature_c, *TEMPERATURES_C)),
            parked_s=float(rng.uniform(*stand)),
        )

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` over its open edges, at the departure of the year.

        Raises
        ------
        NoRouteError
            If no draw of the closures leaves a route.
        """
        plain = super().observe(t)
        return Round(
            t,
            plain.arms,
            plain.origin,
            plain.destination,
            departed_s=self.start(t).departed_s,
            vehicle=plain.vehicle,
        )

    def drive(self, request: Round, route: Route) -> Feedback:
        """Measure every edge of a route, heating and cooling included."""
        plain = super().drive(request, route)
        heating_wh = self._heating_wh(request, self._truth(request).time_s[route.rows])
        return Feedback(
            id=plain.id,
            features=plain.features,
            prior_mean_wh=plain.prior_mean_wh,
            energy_wh=plain.energy_wh + heating_wh,
            trip_id=plain.trip_id,
            vehicle=plain.vehicle,
            departed_s=plain.departed_s,
            travel_s=plain.travel_s,
        )

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the true expected energy of each arm with the cabin warm, (a,) Wh."""
        last_wh = np.diff(self._profile_wh(request.t, S_PER_H))[-1]
        return super().expected_wh(request) + self.travel_s(request) * last_wh / STEP_S

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the true expected energy of a route, turn by turn, with its heating, Wh."""
        time_s = self._truth(request).time_s[route.rows]
        return super().route_wh(request, route) + float(self._heating_wh(request, time_s).sum())

    def best_route(self, request: Round) -> Route:
        """Return the route of least true expected energy.

        The energy of a route is its energy without heating plus a concave function of its travel
        time, so the least is a corner of the lower hull of both. The corners come from searches
        with a constant power, between the power at departure and the power of a warm cabin.
        """
        truth = self._truth(request)
        step_wh = np.diff(self._profile_wh(request.t, S_PER_H)) / STEP_S
        search = self.setting.search
        closed = np.full(self.setting.network.n_edges, np.inf)
        closed[request.arms.id] = 0.0
        entered = search.line_graph.indices

        def at_power(wh_per_s: float) -> Route:
            weights = truth.weight_wh + closed[entered] + wh_per_s * truth.time_s[entered]
            return search.by_turns.route(weights, request.origin, request.destination)

        def numbers(route: Route) -> tuple[float, float]:
            plain_wh = float(self._driven_wh(truth, route.rows).sum())
            return plain_wh, float(truth.time_s[route.rows].sum())

        corners = corners_between(at_power, numbers, float(step_wh[-1]), float(step_wh[0]))
        return min(corners, key=lambda route: self.route_wh(request, route))

    def _meet(self, t: int) -> None:
        temperature_c = self.start(t).temperature_c
        if temperature_c != self._temperature_c:
            self._temperature_c = temperature_c
            self._truths = {}

    def _truth(self, request: Round) -> Truth:
        self._meet(request.t)
        return super()._truth(request)

    def _profile_wh(self, t: int, duration_s: float) -> FloatArray:
        start = self.start(t)
        return self.cabin.energy_wh(start.temperature_c, start.parked_s, duration_s)

    def _heating_wh(self, request: Round, time_s: FloatArray) -> FloatArray:
        """Return the energy of heating and cooling on the edges of a route, (k,) Wh.

        Parameters
        ----------
        request
            The round.
        time_s
            (k,) travel times in driving order, s.
        """
        reached_s = np.append(0.0, np.cumsum(time_s))
        energy_wh = self._profile_wh(request.t, float(reached_s[-1]))
        at_s = STEP_S * np.arange(len(energy_wh))
        return np.diff(np.interp(reached_s, at_s, energy_wh))


def corners_between(
    at_power: Callable[[float], Route],
    numbers: Callable[[Route], tuple[float, float]],
    least: float,
    greatest: float,
) -> list[Route]:
    """Return the routes of least energy at every constant power between two.

    Parameters
    ----------
    at_power
        Returns the best route at a power, Wh/s.
    numbers
        Returns the energy of a route without power, Wh, and its travel time, s.
    least, greatest
        Powers, Wh/s.

    Returns
    -------
    list of Route
        The corners of the lower hull of (time, energy) between the two slopes. Between two known
        corners the search asks the power at which they cost the same.
    """
    first, last = at_power(least), at_power(greatest)
    found, waiting = [first, last], [(first, last)]
    while waiting:
        slow, fast = waiting.pop()
        (slow_wh, slow_s), (fast_wh, fast_s) = numbers(slow), numbers(fast)
        if slow_s - fast_s <= 1e-9:
            continue
        power = (fast_wh - slow_wh) / (slow_s - fast_s)
        between = at_power(power)
        between_wh, between_s = numbers(between)
        if between_wh + power * between_s < slow_wh + power * slow_s - 1e-9:
            found.append(between)
            waiting += [(slow, between), (between, fast)]
    return found


def _weather(std_k: float, rng: np.random.Generator) -> FloatArray:
    """Return the deviation of each day's temperature from its season, (days,) K."""
    shocks = rng.standard_normal(LONGEST_DAYS)
    deviation = np.empty(LONGEST_DAYS)
    deviation[0] = shocks[0]
    for day in range(1, LONGEST_DAYS):
        deviation[day] = 0.8 * deviation[day - 1] + 0.6 * shocks[day]
    return std_k * deviation
