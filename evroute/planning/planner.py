"""Planner: all that the plans of one day have in common, on one network with one vehicle.

It is of physics, or of a belief as it was when the planner read it, which also gives each route an
interval. What depends on no trip is shared (`spaces.of_physics`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Self

from evroute.arms import Belief, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS, EnergyPrior
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, NoRouteError, require
from evroute.network.heights.profile import same_profile
from evroute.network.road_network import RoadNetwork
from evroute.planning.ahead import Ahead, ahead_of
from evroute.planning.batch import Energies
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.chargers import Charger, ChargingStop
from evroute.planning.charge.stations import chargers_for, rows_of_plan, why_no_charging
from evroute.planning.fields import day_of
from evroute.planning.forecasts.day_forecasts import DayForecasts, day_of_forecasts
from evroute.planning.forecasts.day_profile import QUARTER_S, quarter_of
from evroute.planning.forecasts.forecast import ChargeForecast
from evroute.planning.forecasts.heating import DayHeating
from evroute.planning.forecasts.learned import (
    Day,
    LearnedEnergies,
    PhysicsBelief,
    belief_of_car,
    note_of,
    vehicle_of,
)
from evroute.planning.forecasts.recovered import bounded, greatest_charge_wh
from evroute.planning.forecasts.route_risks import RouteRisks
from evroute.planning.places import Places, places_of
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.request import PlanRequest
from evroute.planning.route_numbers import RouteNumbers, Routes, expected_saving
from evroute.planning.searches.between import problem_between, problem_over_edges
from evroute.planning.searches.halt_roads import HaltRoads
from evroute.planning.searches.halts import Halt
from evroute.planning.searches.least_energies import LeastEnergies
from evroute.planning.searches.search import shared_search
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.spaces.arm_numbers import ArmNumbers
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.day_energies import DayEnergies
from evroute.planning.spaces.of_physics import space_of_physics
from evroute.planning.track import Track
from evroute.threads import one_thread
from evroute.validation.forms import clock_s

MOST_DAYS = 16
"""Number of other days that are kept."""
MOST_CLOSED = 4
"""Number of sets of roads to avoid, and of halts, that are kept."""


class Planner:
    """Plans on one network with one vehicle.

    Parameters
    ----------
    network
        Roads. Energies and charges follow their profile where they have one
        (`profile.on_terrain`), with a belief the belief's.
    vehicle
        A vehicle, its name, or a TOML file, or None for the belief's, or `defaults.VEHICLE`.
    belief
        Learned energies of the car to plan on, or physics if None.
    conditions
        Conditions of the day. They change physics. Learned deviations from it are kept.
    physics
        For plans without a belief: ``driving``, kinetic energy, turns, stops and speeds as in
        `energy.free_flow`, or ``eq8``, steady speeds. If None, the one that fits the speeds of the
        network (`defaults.physics_of`).
    uncertainty
        Belief of the same physics whose forecasts serve plans without a belief, and limits of risk
        in place of ``belief``, or `physics_belief` itself, which is then called once, for the first
        plan without a belief. With neither this nor a belief there are no probabilities: a request
        that names no risk is planned with ``risk="mean"``, as its plan states.
    single
        Whether only one plan is made. Compiled code is then not loaded for a small network, since
        loading takes as long as some 30 plans of a city.

    Attributes
    ----------
    network
        The roads, with the profile of the belief.
    vehicle
        The car, with the size of its battery as it was learned.
    belief
        The belief on the network, or None for physics.
    learned, space
        Energies of the day by the belief, None without one, and the arms.
    heating
        Heating and cooling of the day.
    time_s
        (n,) travel time of each edge, s.
    states
        States between the arms, with their potentials.
    mean_wh
        (a,) expected energy of each arm, Wh.
    search
        The search over the arms.

    Raises
    ------
    EvrouteError
        If the belief is about another vehicle or of edges elsewhere, or physics does not fit.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle | str | Path | None = None,
        belief: LearnedEnergies | None = None,
        *,
        conditions: DrivingConditions = EQ8_CONDITIONS,
        physics: str | None = None,
        uncertainty: LearnedEnergies | PhysicsBelief | None = None,
        single: bool = False,
    ) -> None:
        require(
            physics is None or belief is None, "a belief has its own physics. Leave physics out"
        )
        self.physics = defaults.check_physics(physics or defaults.physics_of(network))
        self.conditions = conditions
        self._named = str(vehicle) if isinstance(vehicle, Path) else vehicle
        self._roads, self._given = network, belief
        self._single = single
        self._car = vehicle_of(vehicle, belief)
        self._follows = belief is not None and self._car == belief.car
        self._uncertainty = uncertainty
        self._like = partial(type(self), network, uncertainty=uncertainty, single=single)
        self._asked = vars(self).copy()
        self._read()

    def _read(self) -> None:
        """Read the belief as it is now, and the day by it."""
        network, conditions = self._roads, self.conditions
        self.belief: LearnedEnergies | None = None
        self.learned: Day | None = None
        self.space: SearchSpace
        self.network, car = network, self._car
        if self._given is None:
            self.vehicle = car
            self.space, usual_s = space_of_physics(network, car, conditions, self.physics)
        else:
            self._trips = self._given.trips
            car = self._given.car if self._follows else car
            self.belief = self._given.on(network, car)
            self.learned = self.belief.under(conditions)
            self.space = self.learned.space
            if not same_profile(network, self.space.edges.network):
                self.network = self.space.edges.network
            self.vehicle, usual_s = self.belief.car, self.learned.time_s
        self.heating = DayHeating.of(car, conditions, self.learned)
        self.time_s: FloatArray = usual_s / conditions.speed_factor
        self._energies = DayEnergies(self.space, self.learned)
        self.states, self.mean_wh = self._energies.states, self._energies.mean_wh
        turns = self.space is not self.space.edges
        self.search = shared_search(network, turns=turns, single=self._single)
        self._without = lru_cache(MOST_CLOSED)(self.search.without)
        self._leaving = lru_cache(None)(
            lambda quarter_s: self._new_day(replace(conditions, departed_s=quarter_s))
        )
        self._on_day = lru_cache(MOST_DAYS)(self._new_day)
        self._of_car = lru_cache(MOST_DAYS)(self._new_car)

    def follow(self) -> Self:
        """Read the belief anew if it learned a trip since, and return the planner.

        Plans, ranges, needs and planners of other days do so by themselves. Nothing of the belief
        before is left.
        """
        if self._given is not None and self._given.trips != self._trips:
            asked = self._asked
            vars(self).clear()
            vars(self).update(asked, _asked=asked)
            self._read()
        return self

    def __repr__(self) -> str:
        """Return network, vehicle and belief or physics in one line."""
        basis = f"physics {self.physics!r}" if self.belief is None else repr(self.belief)
        return f"Planner({self.network.name!r}, {self.vehicle.name!r}, {basis})"

    @cached_property
    def uncertainty(self) -> LearnedEnergies | None:
        """Belief of physics whose forecasts serve plans, or None if there is none."""
        if callable(self._uncertainty):
            if self.belief is not None:
                return None
            return self._uncertainty(self.network, self.vehicle, self.physics)
        return self._uncertainty

    @property
    def edge_posterior(self) -> Belief | None:
        """Posterior of every edge under the conditions of the day, (n,) Wh. None if no belief."""
        if self.learned is None:
            return None
        return self.space.edge_belief(self.learned.posterior())

    def under(self, conditions: DrivingConditions) -> "Planner":
        """Return the planner of a day and a departure. The last `MOST_DAYS` days are kept."""
        if conditions == self.follow().conditions:
            return self
        mean = replace(conditions, departed_s=None)
        day = self if mean == self.conditions else self._on_day(mean)
        return day.leaving(conditions.departed_s)

    def _new_day(self, conditions: DrivingConditions) -> "Planner":
        own = self.physics if self.belief is None else None
        day = self._like(self.vehicle, self.belief, conditions=conditions, physics=own)
        day._named = self._named
        return day

    def of_car(self, car: str | None) -> "Planner":
        """Return the planner of a car of the belief's fleet, or itself without a car."""
        return self.follow() if car is None else self.follow()._of_car(car)

    def _new_car(self, car: str) -> "Planner":
        own = belief_of_car(self.belief, car)
        require(
            self._named is None or own.car.name == self.vehicle.name,
            f"car '{car}' is of type '{own.car.name}', not '{self.vehicle.name}'. Leave that out",
        )
        return self._like(None, own, conditions=self.conditions)

    @one_thread
    def plan(
        self,
        origin: PlanRequest | int | str,
        destination: int | str | None = None,
        *,
        battery: Battery | None = None,
        **wishes: Any,
    ) -> Plan:
        """Plan one request.

        Parameters
        ----------
        origin, destination
            Places to drive from and to: names, ``"lat,lon"``, edge ids, or rows of the network. In
            place of ``origin`` a whole `PlanRequest`.
        battery
            In place of the charge and reserve of the request, another battery.
        **wishes
            Further fields of the request, such as ``soc=40``. Its conditions are the planner's if
            they are left out.

        Raises
        ------
        UnknownNameError
            If there is no such place.
        EvrouteError
            If a place follows itself, the request is of another vehicle, or values contradict each
            other.
        NoRouteError
            If the destination cannot be reached, or not with this charge. The message states the
            missing charge.
        """
        request = origin
        if not isinstance(request, PlanRequest):
            ends, ids = (request, destination), self.network.edge_id
            request = PlanRequest.between(ends, ids, battery, wishes)
        named, _ = request.vehicle, self.follow()
        if named not in (None, self._named) and vehicle_of(named, self.belief) != self.vehicle:
            raise EvrouteError(
                f"the planner is of vehicle '{self.vehicle.name}', the request of another one. "
                "Make a Planner of that vehicle"
            )
        given = "conditions" in request.model_fields_set
        day = day_of(request.conditions if given else self.conditions, request.depart)
        return self.of_car(request.car).under(day)._planned(request, battery)

    @one_thread
    def after(self, plan: Plan, track: Track) -> Ahead:
        """Return what is left of a plan, by what the drive took so far. No belief is changed.

        Parameters
        ----------
        plan
            A plan of this planner.
        track
            The drive so far: fixes with times, and readings of energy or charge (`Track.at`).

        Raises
        ------
        EvrouteError
            If the plan has no forecast, the car never was on its route, or has arrived.
        NoRouteError
            If the route was left, and no legal way leads on, or not with this charge.
        """
        request = plan.request
        given = "conditions" in request.model_fields_set
        day = day_of(request.conditions if given else self.conditions, request.depart)
        return ahead_of(plan, track, self.of_car(request.car).under(day))

    def _planned(self, request: PlanRequest, battery: Battery | None) -> Plan:
        """Return the plan of a request on this day."""
        battery = self._battery(request, battery)
        if battery is not None and self.learned is None and self._uncertainty is None:
            request = request.on_average()
        if request.charge:
            reason = why_no_charging(self.network, self.vehicle, self.chargers)
            require(not reason, reason)
        places = places_of(self.network, request.trip, request.places)
        closed = request.closed(self.network)
        problem = self._reachable(places, closed)
        risky = battery is not None and request.most_risk is not None
        forecasts = self.forecasts if risky else None
        risks = None if battery is None or self.uncertain is None else self.forecasts.risks(battery)
        halting, chargers = partial(self.halting, places, closed), self.chargers
        given = problem, request, battery, chargers, forecasts, risks
        rows = rows_of_plan(*given, halting)
        describe = cache(
            partial(self.describe, battery=battery, arrive_wh=rows.arrive_wh, risks=risks)
        )
        unlimited = None
        if rows.unlimited is not None:
            route, stops = rows.unlimited
            unlimited = describe(route, stops=stops)
        shown = {name: rows.shown(name) for name in rows.routes}
        routes = Routes({name: describe(at, stops=stops) for name, (at, stops) in shown.items()})
        driven = rows.routes[rows.recommended]
        ids = [self.network.edge_id[row] for row in places.passed(driven.edges)]
        return Plan(
            network=self.network.name,
            vehicle=self.vehicle.name,
            origin=ids[0],
            destination=ids[-1],
            via=tuple(ids[1:-1]),
            titles=places.titles,
            routes=routes,
            proofs=rows.proofs,
            recommended=rows.recommended,
            request=request,
            battery=battery,
            minutes_from="map" if self.belief is None else self.belief.minutes_from,
            depart_s=None if request.depart is None else clock_s(request.depart),
            saving=expected_saving(self.learned, routes["time"], routes[rows.recommended]),
            unlimited=unlimited,
            assumed=self.heating.assumed(routes[rows.recommended].heating_wh),
            note=note_of(self.belief),
            roads=self.network,
            planner=self,
        )

    def _battery(self, request: PlanRequest, battery: Battery | None) -> Battery | None:
        """Return the battery of a request or the given one, as it fades. None without a charge."""
        if battery is None:
            battery = Battery.requested(self.vehicle.battery_kwh, request.soc, request.reserve)
        return None if battery is None else self.fading(battery)

    def _reachable(self, places: Places, closed: tuple[int, ...]) -> SearchProblem:
        """Return the searches between places. NoRouteError if no legal way leads there."""
        try:
            problem = self.between(places, closed)
            problem.fastest  # noqa: B018
        except NoRouteError:
            left = " without the roads to avoid" if closed else ""
            raise NoRouteError(f"no legal way leads from {places.words}{left}") from None
        return problem

    def leaving(self, departed_s: float | None) -> "Planner":
        """Return the planner of a departure, which differs only on the learned speeds of its hours.

        Parameters
        ----------
        departed_s
            Departure since a midnight, s, or None for the mean of the day.
        """
        if departed_s is None or self.belief is None:
            return self.follow()
        quarter_s = quarter_of(departed_s) * QUARTER_S
        return (
            self.follow() if quarter_s == self.conditions.departed_s else self._leaving(quarter_s)
        )

    def energies(
        self, origins: Sequence[int] | IntArray, destinations: Sequence[int] | IntArray
    ) -> Energies:
        """Return the least-energy routes of requests between whole edges (`LeastEnergies`).

        Parameters
        ----------
        origins, destinations
            (q,) network rows of the first and the last edge of each request.
        """
        return self.follow().least_energies.over_edges(origins, destinations)

    @cached_property
    def chargers(self) -> tuple[Charger, ...]:
        """Sockets of the stations of the network that fit the car."""
        return chargers_for(self.network, self.vehicle)

    def describe(
        self,
        route: Route,
        battery: Battery | None = None,
        *,
        stops: tuple[ChargingStop, ...] = (),
        arrive_wh: float = 0.0,
        risks: RouteRisks | None = None,
    ) -> PlannedRoute:
        """Return energy, time, length and charge of any route.

        Parameters
        ----------
        route, battery
            Route, and the charge that it begins with.
        stops
            Stops to charge.
        arrive_wh
            Least charge at the end where it is above the reserve, Wh.
        risks
            Forecasts of the routes of a request with a battery, or None for new ones.
        """
        driven = self.numbers.driven(route) if risks is None else risks.driven(route)
        left = None if battery is None else self.fading(battery)
        described = self.of_routes.of(route, driven, left, stops)
        uncertain = self.learned or self.uncertain
        if uncertain is None:
            return described
        energy = charges = None
        if left is not None:
            risks = self.forecasts.risks() if risks is None else risks
            energy, forecast = risks.of_route(route, left, stops, arrive_wh)
            charges = self._possible(described, left, forecast)
        if energy is None or self.forecasts.day is not uncertain:
            energy = uncertain.forecast(
                driven.arms, driven.energy_wh, described.charge, driven.stretches
            )
        return replace(described, energy_forecast=energy, charge_forecast=charges)

    def _possible(
        self, described: PlannedRoute, left: Battery, forecast: ChargeForecast
    ) -> ChargeForecast:
        """Return a forecast without charges that no car can reach, where heights are known."""
        if not self.network.climb_m.any() or described.charge is None:
            return forecast
        car = self.space.edges.conditions.load(self.vehicle)
        most_wh = greatest_charge_wh(self.network, car, described.stretches, left, described.stops)
        return bounded(forecast, most_wh, described.charge.charge_wh, left)

    def problem(self, stops: tuple[int, ...], closed: tuple[int, ...] = ()) -> SearchProblem:
        """Return the searches of a request over edges.

        Parameters
        ----------
        stops
            Edges to drive over in this order, or none for a problem without a request.
        closed
            Edges that are not driven.
        """
        return problem_over_edges(self.numbers, self._without(closed), stops)

    def between(self, places: Places, closed: tuple[int, ...] = ()) -> SearchProblem:
        """Return the searches between places, as `problem_between`.

        Parameters
        ----------
        places
            The places of a request.
        closed
            Edges that are not driven.
        """
        search = self._without(closed)
        return problem_between(self.numbers, search, places.starts, places.via, places.ends)

    def halting(
        self, places: Places, closed: tuple[int, ...], halts: tuple[Halt, ...]
    ) -> SearchProblem:
        """Return the searches between places where routes may stop at halts.

        Parameters
        ----------
        places, closed
            As in `between`.
        halts
            Positions at which routes may stop.
        """
        roads = self._with_halts(halts, closed)
        return roads.problem(places.starts, places.via, places.ends)

    @cached_property
    def _with_halts(self) -> Callable[..., HaltRoads]:
        numbers, without = self.numbers, self._without  # no reference to the planner
        return lru_cache(MOST_CLOSED)(
            lambda halts, closed: HaltRoads.of(numbers, without(closed), halts, closed)
        )

    @property
    def prior(self) -> EnergyPrior:
        """Prior of the arms."""
        return self._energies.prior

    @property
    def charge(self) -> ChargeFunctions:
        """Charge functions of all arms."""
        return self._energies.charge

    @cached_property
    def numbers(self) -> ArmNumbers:
        """Expected energy, time and charge of all arms."""
        return self._energies.numbers(self.network, self.time_s, self.heating.warm_up)

    @cached_property
    def least_energies(self) -> LeastEnergies:
        """Least energies of many requests at once."""
        return LeastEnergies(self.numbers, self.search)

    @cached_property
    def uncertain(self) -> Day | None:
        """Energies with their deviations, by the uncertainty or by the belief, None without one."""
        uncertainty = self.uncertainty
        return self.learned if uncertainty is None else uncertainty.under(self.conditions)

    @cached_property
    def forecasts(self) -> DayForecasts:
        """Forecasts by the belief, or by the uncertainty. EvrouteError if there is neither."""
        day = day_of_forecasts(self.uncertain, self.space)
        return DayForecasts(day, self.numbers, partial(_fading, self.vehicle, self.learned))

    @cached_property
    def of_routes(self) -> RouteNumbers:
        """Numbers of routes."""
        auxiliary_w = self.space.edges.conditions.load(self.vehicle).auxiliary_w
        learned_with_w = None if self.belief is None else auxiliary_w
        return RouteNumbers(self.numbers, self.heating, learned_with_w)

    def fading(self, battery: Battery) -> Battery:
        """Return a battery with the fade of regeneration of the vehicle, or as it was learned."""
        return _fading(self.vehicle, self.learned, battery)


def _fading(vehicle: Vehicle, learned: Day | None, battery: Battery) -> Battery:
    """Return a battery with the fade of a vehicle, or of a belief."""
    fade = (vehicle if learned is None else learned).full_battery_fade
    return replace(battery, full_percent=vehicle.full_battery_percent, fade=fade)
