"""Planner: plans requests on one network with one vehicle, and caches their common values.

It plans on physics, or on the means of a belief, which also gives each route an interval.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from evroute.arms import Belief, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy import defaults
from evroute.energy.constants import J_PER_WH
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import speed_factors
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, NoRouteError, require
from evroute.network.places.names import route_ends
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable
from evroute.planning.batch import Energies, cheapest, totals
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.stations import chargers_for, refuse_without_chargers, rows_of_plan
from evroute.planning.charge.stops import Charger, ChargingStop
from evroute.planning.forecasts.day_forecasts import DayForecasts
from evroute.planning.forecasts.day_profile import QUARTER_S, quarter_of
from evroute.planning.forecasts.learned import (
    Day,
    LearnedEnergies,
    PhysicsBelief,
    vehicle_of,
)
from evroute.planning.numbers import clock_s
from evroute.planning.places import different_rows
from evroute.planning.plan import Plan, PlannedRoute, streets_of
from evroute.planning.rows import PlanOptions
from evroute.planning.searches.cch import Contracted, pays
from evroute.planning.searches.legs import Legs
from evroute.planning.searches.search import shared_search
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.arm_states import ROUNDING_WH
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace
from evroute.planning.weights import DEFAULT_SEARCH

NO_BELIEF = "a risk needs a belief; without trips give uncertainty=evroute.physics_belief(...)"


class Planner:
    """Plans on one network with one vehicle.

    Parameters
    ----------
    network
        Roads. Energies and charges follow their profile where they have one
        (`profile.on_terrain`), with a belief that of the belief.
    vehicle
        A vehicle, its name, or a TOML file; None for that of the belief, or `defaults.VEHICLE`.
    belief
        Learned energies to plan on; physics if None.
    conditions
        Conditions of the day. They change physics; learned deviations from it are kept.
    physics
        For plans without a belief: ``driving``, kinetic energy, turns, stops and speeds as in
        `energy.free_flow`, or ``eq8``, steady speeds at the limits. `defaults.PHYSICS` if None.
    uncertainty
        Belief of the same physics whose forecasts of charge serve a limit of risk, in place of
        ``belief``; or `physics_belief` itself, which is then called once, for the first plan
        without a belief that needs it.
    single
        Whether only one plan is made. Compiled code is then not loaded for a small network, since
        loading takes as long as some 30 plans of a city.

    Raises
    ------
    EvrouteError
        If the belief is about another network or vehicle, or physics does not fit.
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
            physics is None or belief is None, "a belief has its own physics; leave physics out"
        )
        physics = defaults.check_physics(physics or defaults.PHYSICS)
        vehicle = vehicle_of(vehicle, belief)
        self.network = network
        self.vehicle = vehicle
        self.belief = belief
        self.conditions = conditions
        self.learned: Day | None = None
        self.space: SearchSpace
        usual_s = network.time_s
        if belief is None:
            self.space = edges = EdgeSpace(network, vehicle, conditions=conditions)
            if physics == defaults.PHYSICS:
                self.space = TurnSpace(edges, TurnTable.from_network(network), free_flow=True)
                usual_s = usual_s / speed_factors(network)
        else:
            belief.check(network, vehicle)
            self.learned = belief.under(conditions)
            self.space = self.learned.space
            self.network = network = self.space.edges.network
            usual_s = self.learned.time_s
        self.physics = physics
        self._uncertainty = uncertainty
        self.prior = self.space.prior()
        self.time_s: FloatArray = usual_s / conditions.speed_factor
        believed_wh, self.noise_std_wh = self.prior.mean_wh, self.prior.noise_std_wh
        if self.learned is not None:
            believed_wh, self.noise_std_wh = self.learned.mean_wh, self.learned.noise_std_wh
        states = self.space.states
        self.states = states if self.learned is None else states.under(believed_wh)
        self.mean_wh = np.maximum(believed_wh, self.states.head_wh - self.states.tail_wh)
        self.held_wh = self.mean_wh - believed_wh
        self.search = shared_search(
            network, turns=self.space is not self.space.edges, single=single
        )
        self._leaving = cache(
            lambda quarter_s: Planner(
                network,
                vehicle,
                belief,
                conditions=replace(conditions, departed_s=quarter_s),
                single=single,
            )
        )

    @cached_property
    def uncertainty(self) -> LearnedEnergies | None:
        """Belief of physics whose forecasts serve a limit of risk; None if there is none."""
        if callable(self._uncertainty):
            if self.belief is not None:
                return None
            return self._uncertainty(self.network, self.vehicle, self.physics)
        return self._uncertainty

    @cached_property
    def forecasts(self) -> DayForecasts:
        """Forecasts by the belief, or by the uncertainty; EvrouteError if there is neither."""
        day = self.learned
        if self.uncertainty is not None:
            day = self.uncertainty.under(self.conditions)
        if day is None:
            raise EvrouteError(NO_BELIEF)
        require(
            day.space.size == self.space.size,
            "the uncertainty is of other physics than the plan; give "
            "uncertainty=evroute.physics_belief(network, vehicle, physics)",
        )
        return DayForecasts(day, self.charge, self.space.arms_of_route, self.fading)

    @cached_property
    def charge(self) -> ChargeFunctions:
        """Charge functions of all arms."""
        if self.network.pieces is None:
            return ChargeFunctions.of_one_step(self.mean_wh)
        return ChargeFunctions.of_pieces(
            self.network.pieces, self.space.edges.piece_wh, self.states.edge, self.mean_wh
        )

    @property
    def edge_posterior(self) -> Belief | None:
        """Posterior of every edge under the conditions of the day, (n,) Wh; None if no belief."""
        if self.learned is None:
            return None
        return self.space.edge_belief(self.learned.posterior())

    def plan(
        self,
        origin: int | str,
        destination: int | str,
        *,
        search: str = DEFAULT_SEARCH,
        battery: Battery | None = None,
        max_extra_time: float | None = None,
        via: Sequence[int | str] = (),
        alternatives: int = 0,
        depart: str | None = None,
        price: float | None = None,
        time_value: float | None = None,
        risk: float | None = None,
        charge: bool = False,
    ) -> Plan:
        """Plan one request between two places.

        Parameters
        ----------
        origin, destination, via
            Places to drive from, to and, in this order, over: names, ``"lat,lon"``, ids or rows.
        depart
            Clock time, ``HH:MM``; adds times of arrival, and learned speeds of its quarter of day.
        search, battery, max_extra_time, alternatives, price, time_value, risk, charge
            As in `PlanOptions`.

        Raises
        ------
        UnknownNameError
            If there is no such rule or place.
        EvrouteError
            If a place follows itself, or the options contradict each other.
        NoRouteError
            If the destination cannot be reached, or not with this charge; the message states the
            missing charge.
        """
        battery = None if battery is None else self.fading(battery)
        options = PlanOptions(
            search, battery, max_extra_time, alternatives, price, time_value, risk, charge
        )
        if charge:
            refuse_without_chargers(self.network, self.vehicle, self.chargers)
        departed_s = None if depart is None else clock_s("depart", depart)
        planner = self.leaving(departed_s)
        places = different_rows(self.network, (origin, *via, destination))
        named = [self.network.edge_id[place] for place in places]
        titles = route_ends(self.network, places)
        problem = planner.problem(places)
        try:
            fastest = problem.legs.route(problem.time_s)
        except NoRouteError:
            raise NoRouteError(f"no legal way leads from {' to '.join(titles)}") from None
        unlimited, forecasts = None, None if risk is None else planner.forecasts
        rows = rows_of_plan(problem, fastest, options, self.chargers, forecasts)
        if risk is not None:
            without = replace(options, risk=None)
            usual = rows_of_plan(problem, fastest, without, self.chargers, None)
            route = usual.routes[usual.recommended]
            unlimited = planner.describe(route, battery, risky=True, stops=usual.stops)
        described = {
            route: planner.describe(route, battery, risky=risk is not None, stops=rows.stops)
            for route in set(rows.routes.values())
        }
        return Plan(
            network=self.network.name,
            vehicle=self.vehicle.name,
            origin=named[0],
            destination=named[-1],
            via=tuple(named[1:-1]),
            titles=titles,
            routes={name: described[route] for name, route in rows.routes.items()},
            proofs=rows.proofs,
            recommended=rows.recommended,
            options=options,
            minutes_from="map" if self.belief is None else self.belief.minutes_from,
            depart_s=departed_s,
            unlimited=unlimited,
            roads=self.network,
        )

    def leaving(self, departed_s: float | None) -> "Planner":
        """Return the planner of a departure, which differs only on the learned speeds of its hours.

        Parameters
        ----------
        departed_s
            Departure since a midnight, s; None for the mean of the day.
        """
        if departed_s is None or self.belief is None:
            return self
        quarter_s = quarter_of(departed_s) * QUARTER_S
        return self if quarter_s == self.conditions.departed_s else self._leaving(quarter_s)

    def energies(
        self, origins: Sequence[int] | IntArray, destinations: Sequence[int] | IntArray
    ) -> Energies:
        """Return the least-energy routes of many requests at once.

        Parameters
        ----------
        origins, destinations
            (q,) network rows of the first and the last edge of each request.

        Raises
        ------
        EvrouteError
            If a request ends where it begins.
        """
        origin, destination = (np.asarray(rows, dtype=np.int64) for rows in (origins, destinations))
        paid = pays(self.network, origin, destination, built="_contracted" in vars(self))
        problem, fast = self.problem(()), self._contracted if paid else None
        found = cheapest(self.search, problem.weights(), origin, destination, fast)
        return totals(problem, self.space.arms_of_routes, *found)

    @cached_property
    def _contracted(self) -> Contracted:
        return Contracted(self.network, self.search, self.problem(()).weights())

    @cached_property
    def chargers(self) -> tuple[Charger, ...]:
        """Sockets of the stations of the network that fit the car."""
        return chargers_for(self.network, self.vehicle)

    def describe(
        self,
        route: Route,
        battery: Battery | None = None,
        *,
        risky: bool = False,
        stops: tuple[ChargingStop, ...] = (),
    ) -> PlannedRoute:
        """Return energy, time, length and charge of any route.

        Parameters
        ----------
        route, battery
            Route, and the charge that it begins with.
        risky
            Whether the charge has a forecast without a belief, by the uncertainty of physics.
        stops
            Stops to charge.
        """
        rows, arms_of_route = route.rows, self.space.arms_of_route(route)
        edge_wh, held_wh = self.mean_wh[arms_of_route], self.held_wh[arms_of_route]
        parts = self.space.parts_wh(route)
        if self.belief is not None:
            # learned minutes move energy from the learned part to the auxiliary part
            auxiliary_w = self.space.edges.conditions.load(self.vehicle).auxiliary_w
            minutes_wh = auxiliary_w * self.time_s[rows].sum() / J_PER_WH - parts["auxiliary"]
            parts["auxiliary"] += float(minutes_wh)
            off_wh = ((edge_wh - held_wh) - self.space.reference.prior_mean_wh[arms_of_route]).sum()
            parts["learned"] = float(off_wh - minutes_wh)
        if (self.held_wh > ROUNDING_WH).any():
            parts["held"] = parts.get("held", 0.0) + float(held_wh.sum())
        charge = None
        if battery is not None:
            battery = self.fading(battery)
            charge = self.charge.follow_stops(
                battery, arms_of_route, [(s.after_edges, s.to_percent) for s in stops]
            )
            parts["lost"] = charge.lost_wh
        held_wh = held_wh + self.space.edges.parts.held_wh[rows]
        described = PlannedRoute(
            route=route,
            edges=tuple(self.network.edge_id[row] for row in route.edges),
            streets=streets_of(self.network, route.edges, edge_wh),
            edge_wh=edge_wh,
            energy_wh=float(edge_wh.sum()) + parts.get("lost", 0.0),
            parts_wh=parts,
            length_m=float(self.network.length_m[rows].sum()),
            time_s=float(self.time_s[rows].sum()) + sum(stop.time_s for stop in stops),
            ascent_m=float(self.network.ascent_m[rows].sum()),
            descent_m=float(self.network.descent_m[rows].sum()),
            held_arms=int((held_wh > ROUNDING_WH).sum()),
            held_wh=float(held_wh.sum()),
            charge=charge,
            stops=stops,
        )
        if self.learned is not None:
            energy = self.learned.forecast(arms_of_route, edge_wh, charge)
            described = replace(described, energy_forecast=energy)
        if battery is None or not (risky or self.learned):
            return described
        return replace(described, charge_forecast=self.forecasts.of_route(route, battery, stops)[1])

    def fading(self, battery: Battery) -> Battery:
        """Return a battery with the fade of regeneration of the vehicle, or as it was learned."""
        fade = (self.vehicle if self.learned is None else self.learned).full_battery_fade
        return replace(battery, full_percent=self.vehicle.full_battery_percent, fade=fade)

    def problem(self, stops: tuple[int, ...]) -> SearchProblem:
        """Return the searches of a request over edges ``stops``."""
        states = self.states
        return SearchProblem(
            Legs(self.search, stops, self.space.arms_of_route),
            self.time_s[states.edge],
            self.network.length_m[states.edge],
            self.charge,
            self.noise_std_wh,
            states.tail_wh,
            states.head_wh,
        )
