"""Planner: plans requests on one network with one vehicle, and keeps the values that they share.

It plans on the energies of eq. 8, or on the means of a belief, which also gives each route an
interval.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

from evroute.arms import Belief, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import DEFAULT, Vehicle, load_vehicle
from evroute.errors import EvrouteError, NoRouteError
from evroute.model.base import EnergyModel, mean_of
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.arm_space import SearchSpace
from evroute.planning.batch import Energies, cheapest, summed
from evroute.planning.battery import Battery, BatterySearch, follow
from evroute.planning.edge_space import EdgeSpace
from evroute.planning.forecast import forecast, forecast_charge
from evroute.planning.guarantee import Guarantee, guarantee_arms
from evroute.planning.places import stops
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.search import Search
from evroute.planning.search_problem import (
    SearchProblem,
    alternative_routes,
    keeping_reserve,
    within,
)
from evroute.planning.weights import WEIGHT_RULES, check_search

DEFAULT_SEARCH = "potential"
FORECAST_SEED = 0


class LearnedEnergies(Protocol):
    """The parts of a learned belief that a planner needs (`learning.learned_belief`)."""

    @property
    def model(self) -> EnergyModel:
        """Posterior of the energy of the arms."""

    @property
    def space(self) -> SearchSpace:
        """The arms."""

    @property
    def inflation(self) -> float:
        """Factor on the deviations of its forecasts."""

    def check(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        """Raise EvrouteError unless it is about this network and this vehicle."""


class Planner:
    """Plans on one network with one vehicle.

    Parameters
    ----------
    network, vehicle
        Roads, and the vehicle that drives them.
    belief
        Learned energies to plan on; eq. 8 if None.
    conditions
        Conditions of the day. They change physics; learned deviations from it are kept.
    guarantee
        Bounds of the expected energy that each route gets; needs a belief.

    Raises
    ------
    EvrouteError
        If the belief is about another network or vehicle.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        belief: LearnedEnergies | None = None,
        *,
        conditions: DrivingConditions = EQ8_CONDITIONS,
        guarantee: Guarantee | None = None,
    ) -> None:
        self.network = network
        self.vehicle = vehicle
        self.belief = belief
        self.conditions = conditions
        self.guarantee = guarantee
        self.space: SearchSpace
        if belief is None:
            self.space = EdgeSpace(network, vehicle, conditions=conditions)
        else:
            belief.check(network, vehicle)
            self.space = belief.space.under(conditions)
        self.prior = self.space.prior()
        self.time_s: FloatArray = network.time_s / conditions.speed_factor
        self.arms = self.space.reference
        self.mean_wh, self.noise_std_wh = self.prior.mean_wh, self.prior.noise_std_wh
        if belief is not None:
            self.mean_wh = mean_of(belief.model, self.arms)
            self.noise_std_wh = belief.model.noise_std(self.arms)
        self._plain = self._ground(())
        held = int((self._plain.mean_wh < self._plain.potential_wh).sum())
        believed = (
            f"; {held} {self.space.noun} are believed to take less than their climb: "
            "there the search counts the climb"
        )
        self._caveat = believed if held else ""

    @property
    def search(self) -> Search:
        """A search over all nodes of the space."""
        return self._plain.search

    @property
    def battery_search(self) -> BatterySearch:
        """A search over the charge on all nodes of the space."""
        return self._plain.battery_search

    @property
    def inflation(self) -> float:
        """Factor on the deviations of its forecasts; 1 without a belief."""
        return 1.0 if self.belief is None else self.belief.inflation

    @property
    def edge_posterior(self) -> Belief | None:
        """Posterior of every edge under the conditions of the day, (n,) Wh, if there is a belief."""
        if self.belief is None:
            return None
        return self.space.edge_belief(self.belief.model.posterior(self.arms))

    def plan(
        self,
        origin: int,
        destination: int,
        *,
        search: str = DEFAULT_SEARCH,
        battery: Battery | None = None,
        max_extra_time: float | None = None,
        via: Sequence[int] = (),
        alternatives: int = 0,
    ) -> Plan:
        """Plan one request between two edge rows.

        Parameters
        ----------
        origin, destination
            Network rows of the first and the last edge.
        search
            A weight rule; all but ``potential`` are for comparison and go with neither battery nor
            time limit.
        battery
            Start charge and reserve. Each route is the best of those that keep the reserve.
        max_extra_time
            Share by which the least-energy route may be slower than the fastest, at least 0.
        via
            Network rows of edges to drive on the way, in this order.
        alternatives
            Greatest number of further routes, as in `alternative_routes`.

        Raises
        ------
        UnknownNameError
            If there is no such rule.
        EvrouteError
            If a place follows itself, or the options contradict each other.
        NoRouteError
            If the destination cannot be reached, or not with this charge; the message says what is
            missing.
        """
        places = (origin, *via, destination)
        self._check(places, search, battery, max_extra_time)
        ground = self._ground(via) if via else self._plain
        start, end = self.space.ends(origin, destination)
        ends, caveat = (start, end + len(via) * len(self.space.nodes.edge)), self._caveat
        try:
            fastest = ground.search.route(ground.time_s, *ends)
        except NoRouteError:
            named = [f"'{self.network.edge_id[place]}'" for place in places]
            raise NoRouteError(
                f"no legal way leads from edge {' to '.join(named)} "
                f"on network '{self.network.name}'"
            ) from None
        shortest = ground.search.route(ground.length_m, *ends)
        if battery is not None:
            least = ground.battery_search.route(battery, ground.searchable_wh, *ends)
            proof = "exact: no route that keeps the reserve arrives with more charge"
            fastest, found_fastest = keeping_reserve(ground, battery, ground.time_s, fastest, least)
            shortest, found_shortest = keeping_reserve(
                ground, battery, ground.length_m, shortest, least
            )
            if not (found_fastest and found_shortest):
                caveat += (
                    "; the fastest or shortest that keeps the reserve was not found, "
                    "this route stands for it"
                )
        else:
            weights = WEIGHT_RULES[search](ground.mean_wh, ground.noise_std_wh, ground.potential_wh)
            least = ground.search.route(weights, *ends)
            exact = search == DEFAULT_SEARCH
            proof = (
                "exact: no route takes less" if exact else f"none: rule '{search}' discards energy"
            )
        if max_extra_time is not None:
            limit_s = (1 + max_extra_time) * float(ground.time_s[fastest.rows].sum())
            if ground.time_s[least.rows].sum() > limit_s:
                least, proof = within(ground, limit_s, battery, fastest)
        routes = {"energy": least, "time": fastest, "distance": shortest}
        if alternatives:
            between = alternative_routes(ground, battery, least, fastest, alternatives)
            routes |= {f"alternative-{rank}": each for rank, each in enumerate(between, start=1)}
        return Plan(
            network=self.network.name,
            vehicle=self.vehicle.name,
            search=search,
            origin=self.network.edge_id[origin],
            destination=self.network.edge_id[destination],
            routes={
                name: self.describe(self._driven(route), battery) for name, route in routes.items()
            },
            via=tuple(self.network.edge_id[place] for place in via),
            battery=battery,
            proof=proof + caveat,
        )

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
        if (origin == destination).any():
            raise EvrouteError(
                f"request {np.argmax(origin == destination)}: "
                "origin and destination are the same edge"
            )
        ground = self._plain
        weights = WEIGHT_RULES[DEFAULT_SEARCH](
            ground.mean_wh, ground.noise_std_wh, ground.potential_wh
        )
        node, start = cheapest(ground.search, weights, *self.space.ends(origin, destination))
        wh, metres, seconds = (
            summed(e, node, start) for e in (ground.mean_wh, ground.length_m, ground.time_s)
        )
        arms_before = np.concatenate(([0], np.cumsum(node < self.space.nodes.n_arms)))
        return Energies(wh, metres, seconds, self.space.edges_of(node), arms_before[start])

    def describe(self, route: Route, battery: Battery | None = None) -> PlannedRoute:
        """Return energy, time, length and charge of any route."""
        rows, passed = route.rows, self.space.arms_of_route(route)
        edge_wh = self.mean_wh[passed]
        parts = self.space.parts_wh(route)
        if self.belief is not None:
            parts["learned"] = float((edge_wh - self.arms.prior_mean_wh[passed]).sum())
        charge = None
        if battery is not None:
            charge = follow(battery, edge_wh)
            parts["lost"] = charge.lost_wh
        climb_m = self.network.climb_m[rows]
        described = PlannedRoute(
            route=route,
            edges=tuple(self.network.edge_id[row] for row in route.edges),
            edge_wh=edge_wh,
            energy_wh=float(edge_wh.sum()) + parts.get("lost", 0.0),
            parts_wh=parts,
            length_m=float(self.network.length_m[rows].sum()),
            time_s=float(self.time_s[rows].sum()),
            climb_m=float(np.maximum(climb_m, 0).sum()),
            descent_m=float(np.maximum(-climb_m, 0).sum()),
            charge=charge,
        )
        if self.belief is None:
            return described
        model = self.belief.model
        if self.guarantee is not None:
            bounds = guarantee_arms(model, self.arms, passed, self.guarantee)
            described = replace(described, guarantee=bounds)
        energy = forecast(model, self.arms, passed).inflated(self.inflation)
        if battery is None:
            return replace(described, energy_forecast=energy)
        trips = forecast_charge(
            energy,
            capacity_wh=battery.capacity_wh,
            start_wh=battery.start_wh,
            reserve_wh=battery.reserve_wh,
            rng=np.random.default_rng(FORECAST_SEED),
        )
        return replace(described, energy_forecast=energy, charge_forecast=trips)

    def _driven(self, walk: Route) -> Route:
        """Return the route over edges of a walk over nodes."""
        return Route(tuple(self.space.edges_of(walk.rows).tolist()))

    def _check(
        self,
        places: Sequence[int],
        search: str,
        battery: Battery | None,
        max_extra_time: float | None,
    ) -> None:
        check_search(search)
        if search != DEFAULT_SEARCH and (battery is not None or max_extra_time is not None):
            raise EvrouteError(
                f"a battery or a time limit goes with search '{DEFAULT_SEARCH}', "
                f"not with '{search}'"
            )
        if max_extra_time is not None and not (np.isfinite(max_extra_time) and max_extra_time >= 0):
            raise EvrouteError(f"the extra time is {max_extra_time:.0%}; it must be 0 % or more")
        for place, following in pairwise(places):
            if place == following:
                ends = "origin and destination" if len(places) == 2 else "two successive places"
                raise EvrouteError(
                    f"{ends} are the same edge, '{self.network.edge_id[place]}'; choose two places"
                )

    def _ground(self, via: Sequence[int]) -> SearchProblem:
        return SearchProblem.of_space(
            self.space,
            via,
            time_s=self.time_s,
            mean_wh=self.mean_wh,
            noise_std_wh=self.noise_std_wh,
        )


def plan(
    network: RoadNetwork | str | Path,
    *,
    trip: str | None = None,
    waypoints: Sequence[str] = (),
    vehicle: Vehicle | str | Path = DEFAULT,
    search: str = DEFAULT_SEARCH,
    soc_percent: float | None = None,
    reserve_percent: float = 0.0,
    max_extra_time: float | None = None,
    alternatives: int = 0,
    conditions: DrivingConditions = EQ8_CONDITIONS,
    belief: LearnedEnergies | None = None,
) -> Plan:
    """Plan one trip: a named one, or between two places.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    trip, waypoints
        A named trip of the network; or origin, places on the way if any, and destination, each an
        edge id or ``"lat,lon"``.
    vehicle
        A vehicle, its name, or a TOML file.
    soc_percent, reserve_percent
        Charge at the start, and the charge never to fall below, in percent of the usable battery.
    search, max_extra_time, alternatives
        As in `Planner.plan`.
    conditions
        Temperature, wind, payload and speeds of the day.
    belief
        Learned energies to plan on (`load_belief`), about this network and vehicle; eq. 8 if None.

    Raises
    ------
    EvrouteError
        If the request cannot be met; see `Planner.plan`, ``locate`` and `places.stops`.
    """
    roads = network if isinstance(network, RoadNetwork) else load_network(network)
    car = vehicle if isinstance(vehicle, Vehicle) else load_vehicle(vehicle)
    origin, *via, destination = stops(roads, trip, waypoints)
    battery = (
        None
        if soc_percent is None
        else Battery.of_percent(car.battery_kwh, soc_percent, reserve_percent)
    )
    return Planner(roads, car, belief, conditions=conditions).plan(
        origin,
        destination,
        search=search,
        battery=battery,
        max_extra_time=max_extra_time,
        via=via,
        alternatives=alternatives,
    )
