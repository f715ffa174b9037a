"""RouteRisks: probabilities that the charge on routes of one request ever falls below the reserve.

Each takes a forecast of the whole route. Before that a route is judged by a lower bound: the
probability that it arrives below the reserve, and by an upper bound by pairs of points of the route
(`first_passage.passage_bounds`). The bounds of many routes are computed at once, where the belief
has them for many trips.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.planning.battery import Battery, ChargeTrace
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.forecasts.forecast import ChargeForecast, EnergyForecast, Legs
from evroute.planning.forecasts.learned import Day
from evroute.planning.forecasts.many_trips import ManyTrips, TripsTogether
from evroute.planning.spaces.arm_numbers import ArmNumbers, DrivenArms


class RouteRisks:
    """Forecasts and risks of the routes of one request, each computed once.

    Parameters
    ----------
    day
        Energies of the arms with their joint uncertainty.
    numbers
        Expected energies and charge functions of the arms.
    fading
        Function that returns a battery with the fade of regeneration of the day.
    car
        Battery of the car, of which others are larger ones. None if there are no others.
    """

    def __init__(
        self,
        day: Day,
        numbers: ArmNumbers,
        fading: Callable[[Battery], Battery],
        car: Battery | None = None,
    ) -> None:
        self._day, self._numbers, self._car = day, numbers, car
        self._fading = fading
        self._arms: dict[Route, tuple[DrivenArms, ChargeFunctions]] = {}
        self._followed: dict[Hashable, tuple[EnergyForecast, ChargeTrace]] = {}
        self._charges: dict[Hashable, ChargeForecast] = {}

    def of_route(
        self,
        route: Route,
        battery: Battery,
        stops: Sequence[ChargingStop] = (),
        arrive_wh: float = 0.0,
    ) -> tuple[EnergyForecast, ChargeForecast]:
        """Forecast the energy of a route, and the charge along it.

        Parameters
        ----------
        route, battery
            Route, and the charge that it begins with.
        stops
            Stops to charge, each of which ends a leg. One leg without.
        arrive_wh
            Least charge at the end where it is above the reserve, Wh.
        """
        pairs = tuple((stop.after_edges, stop.to_percent) for stop in stops)
        energy, trace = self._energy(route, battery, pairs)
        key = route, battery, pairs, arrive_wh
        if key not in self._charges:
            started = self._fading(battery)
            legs = Legs.of(started, len(trace.charge_wh) - 1, pairs, arrive_wh)
            self._charges[key] = energy.charge(started, trace, legs)
        return energy, self._charges[key]

    def risk_of(
        self,
        route: Route,
        battery: Battery,
        stops: Sequence[ChargingStop] = (),
        arrive_wh: float = 0.0,
    ) -> float:
        """Return the probability that the charge on a route ever falls below the least one.

        Parameters
        ----------
        route, battery, stops, arrive_wh
            As in `of_route`. After each stop the charge is known.
        """
        return 1.0 - self.of_route(route, battery, stops, arrive_wh)[1].never_below_reserve

    def driven(self, route: Route) -> DrivenArms:
        """Return the arms of a route."""
        return self._driven(route)[0]

    def _driven(self, route: Route) -> tuple[DrivenArms, ChargeFunctions]:
        if route not in self._arms:
            driven = self._numbers.driven(route)
            self._arms[route] = driven, self._numbers.warmed(driven)
        return self._arms[route]

    def _energy(
        self, route: Route, battery: Battery, pairs: tuple[tuple[int, float], ...] = ()
    ) -> tuple[EnergyForecast, ChargeTrace]:
        key = route, battery, pairs
        if key not in self._followed:
            given = *self._driven(route), self._fading(battery), pairs
            self._followed[key] = followed(self._day, *given, size=self._size(battery))
        return self._followed[key]

    def _size(self, battery: Battery) -> float:
        """Return the capacity of a battery over that of the car."""
        return 1.0 if self._car is None else battery.capacity_wh / self._car.capacity_wh

    def bounds_of(
        self, routes: Sequence[Route], battery: Battery
    ) -> tuple[list[float], list[float]]:
        """Return lower and upper bounds of the risks of routes.

        Parameters
        ----------
        routes, battery
            One or more routes, and the charge that each begins with.
        """
        if not isinstance(self._day, ManyTrips):
            least = [_least(*self._energy(route, battery), battery) for route in routes]
            return least, [1.0] * len(routes)
        driven, first = self._numbers.driven_by(routes)
        charge, started = self._numbers.warmed(driven, first), self._fading(battery)
        begin_wh, end_wh, low_wh = _follow_all(charge, first, started)
        of_arms = driven.arms, first, driven.stretches, begin_wh, end_wh, low_wh
        trips = TripsTogether(*of_arms, self._size(battery))
        low, high = self._day.passage_bounds(trips, battery.reserve_wh)
        return low.tolist(), high.tolist()

    def least_of(self, routes: Sequence[Route], battery: Battery) -> list[float]:
        """Return lower bounds of the risks of routes. That of one route is by its forecast."""
        if len(routes) < 2:
            return [_least(*self._energy(route, battery), battery) for route in routes]
        return self.bounds_of(routes, battery)[0]

    @property
    def bounded(self) -> bool:
        """Whether the belief bounds the risks of many routes at once."""
        return isinstance(self._day, ManyTrips)


def followed(
    day: Day,
    driven: DrivenArms,
    charge: ChargeFunctions,
    battery: Battery,
    stops: Sequence[tuple[int, float]] = (),
    *,
    size: float = 1.0,
) -> tuple[EnergyForecast, ChargeTrace]:
    """Return the forecast of the energy of a route, and the charge by expected energies.

    The legs between stops are one trip: the car, the driver and the day are the same on all.

    Parameters
    ----------
    day
        Energies of the arms with their joint uncertainty.
    driven
        The arms of a route.
    charge
        Their charge functions with the warm-up (`ArmNumbers.warmed`).
    battery
        Charge that it begins with.
    stops
        Number of arms driven before each stop, and charge after it, %.
    size
        Capacity over that of the car of the day, which loses regeneration above a share of it.
    """
    trace = charge.along(battery, stops)
    energy_wh, begun = expected_by(day, driven, charge), trace
    if stops:  # an arm after a stop begins with the charge after it
        charge_wh = trace.charge_wh.copy()
        charge_wh[[after for after, _ in stops]] = [
            battery.capacity_wh * (to / 100) for _, to in stops
        ]
        begun = replace(trace, charge_wh=charge_wh)
    if size != 1.0:
        begun = replace(begun, charge_wh=begun.charge_wh / size)
    return day.forecast(driven.arms, energy_wh, begun, driven.stretches), trace


def expected_by(day: Day, driven: DrivenArms, charge: ChargeFunctions) -> FloatArray:
    """Return the energies of arms that a day takes for its forecasts, (k,) Wh.

    A day with terms of heating adds the warm-up itself.

    Parameters
    ----------
    day, driven, charge
        As in `followed`.
    """
    return driven.energy_wh if day.heating_wh.any() else charge.energy_wh


def _least(energy: EnergyForecast, charge: ChargeTrace, battery: Battery) -> float:
    """Return a lower bound of the risk of a route: of arriving below the reserve."""
    left_wh = float(charge.charge_wh[-1]) - battery.reserve_wh
    return 0.0 if charge.lost_wh else energy.beyond(left_wh / energy.std_wh)


def _follow_all(charge: ChargeFunctions, first: IntArray, battery: Battery) -> FloatArray:
    """Return the charges along routes by expected energies.

    Parameters
    ----------
    charge
        Charge functions of the k arms of all routes, one route after the other.
    first
        (r,) position of the first arm of each route.
    battery
        Charge that each route begins with.

    Returns
    -------
    charges_wh
        (3, k) charge at the start and at the end of each arm, and the lowest after its start, Wh.
    """
    count = np.diff(np.append(first, len(charge.energy_wh)))
    used_wh = np.append(0.0, np.cumsum(charge.step_wh))
    before_wh = used_wh[charge.start[first]]
    started_wh = np.repeat(before_wh, count)
    most_wh = np.maximum.reduceat(used_wh[1:], charge.start[:-1])
    gone_wh = np.stack([used_wh[charge.start[:-1]], used_wh[charge.start[1:]], most_wh])
    charges_wh = battery.start_wh - (gone_wh - started_wh)
    least_wh = np.minimum.reduceat(used_wh[1:], charge.start[first]) - before_wh
    for row in np.flatnonzero(battery.start_wh - least_wh > battery.lossless_wh).tolist():
        arms = np.arange(first[row], first[row] + count[row])
        trace = charge.take(arms).along(battery)
        charges_wh[:, arms] = trace.charge_wh[:-1], trace.charge_wh[1:], trace.low_wh[1:]
    return charges_wh
