"""Planner: answers requests on one network with one vehicle, keeping what the requests share.

The energies it plans on are those of eq. 8, or the means of a belief, which then also gives every
route an interval.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evroute.arms import Arms, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS, all_arms, fit
from evroute.energy.vehicle import DEFAULT, Vehicle, load_vehicle
from evroute.errors import EvrouteError, NoRouteError
from evroute.model.base import EnergyModel, mean_of
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.batch import Energies, cheapest, summed
from evroute.planning.battery import Battery, BatterySearch, follow
from evroute.planning.forecast import forecast_charge
from evroute.planning.guarantee import Guarantee
from evroute.planning.places import stops
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.search import Search
from evroute.planning.search_problem import SearchProblem, keeping_reserve, keeps, within
from evroute.planning.steps import EdgeSteps, Steps, TurnSteps
from evroute.planning.tradeoff import LabelSearch, supported
from evroute.planning.turn_belief import TurnBelief
from evroute.planning.weights import WEIGHT_RULES, check_search

DEFAULT_SEARCH = "potential"
FORECAST_SEED = 0


class Planner:
    """Plans on one network with one vehicle.

    model: a belief to plan with, over the edges' reference contexts; eq. 8 if there is none.
    conditions: of the day; they change eq. 8, what a belief learned is added to it.
    guarantee: which bounds each route shall have, with a belief.
    inflation: of the deviations of its forecasts, such as `policy.conformal` calls for.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        model: EnergyModel | None = None,
        *,
        conditions: DrivingConditions = EQ8_CONDITIONS,
        guarantee: Guarantee | None = None,
        inflation: float = 1.0,
    ) -> None:
        self.network = network
        self.vehicle = vehicle
        self.model = model
        self.conditions = conditions
        self.guarantee = guarantee
        self.inflation = inflation
        self.prior = fit(network, vehicle, conditions=conditions)
        self.time_s: FloatArray = network.time_s / conditions.speed_factor
        self.arms: Arms = all_arms(network, self.prior)
        self.mean_wh = self.prior.mean_wh if model is None else mean_of(model, self.arms)
        self._steps: Steps
        if isinstance(model, TurnBelief):
            self._steps = TurnSteps(network, vehicle, model, conditions)
        else:
            self._steps = EdgeSteps(network, conditions.load(vehicle), self.prior, self.arms, model)
        self._plain = self._ground(())
        held = int((self._plain.mean_wh < self._plain.potential_wh).sum())
        what = "turns" if isinstance(model, TurnBelief) else "edges"
        believed = f"; {held} {what} are believed to take less than their climb: there the search counts the climb"
        self._caveat = believed if held else ""

    @property
    def search(self) -> Search:
        """A search over all edges."""
        return self._plain.search

    @property
    def battery_search(self) -> BatterySearch:
        """A search over the charge on all edges."""
        return self._plain.battery_search

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
        search
            A weight rule; all but ``potential`` are for comparison and go with neither battery nor
            time limit.
        battery
            Bounds the charge: each route is the best of those that keep the reserve all the way.
        max_extra_time
            Share by which the least-energy route may be slower than the fastest, >= 0.
        via
            Edge rows to drive on the way, in this order.
        alternatives
            At most so many routes between the fastest and that of least energy are told as well,
            ``alternative-1`` being the fastest of them; those on the convex hull of time and
            energy, that keep the reserve.

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
        start, end = self._steps.ends(origin, destination)
        ends, caveat = (start, end + len(via) * len(self._steps.nodes.edge)), self._caveat
        try:
            fastest = ground.search.route(ground.time_s, *ends)
        except NoRouteError:
            named = [f"'{self.network.edge_id[place]}'" for place in places]
            raise NoRouteError(
                f"no legal way leads from edge {' to '.join(named)} on network '{self.network.name}'"
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
                caveat += "; the fastest or shortest that keeps the reserve was not found, this route stands for it"
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
            between = supported(
                ground.search, ground.searchable_wh - ground.potential_wh, ground.time_s, *ends
            )
            kept = [each for each in between if battery is None or keeps(ground, battery, each)]
            told = [each for each in kept if each not in (least, fastest)]
            chosen = np.unique(
                np.linspace(0, len(told) - 1, alternatives).round().astype(int)
            ).tolist()
            routes |= {
                f"alternative-{rank}": told[i]
                for rank, i in enumerate(chosen if told else (), start=1)
            }
        return Plan(
            network=self.network.name,
            vehicle=self.vehicle.name,
            search=search,
            origin=self.network.edge_id[origin],
            destination=self.network.edge_id[destination],
            routes={
                name: self.describe(self._steps.driven(route), battery)
                for name, route in routes.items()
            },
            via=tuple(self.network.edge_id[place] for place in via),
            battery=battery,
            proof=proof + caveat,
        )

    def energies(
        self, origins: Sequence[int] | IntArray, destinations: Sequence[int] | IntArray
    ) -> Energies:
        """Answer many requests at once: their least-energy routes alone; EvrouteError if one ends where it begins."""
        origin, destination = (np.asarray(rows, dtype=np.int64) for rows in (origins, destinations))
        if isinstance(self.model, TurnBelief):
            raise EvrouteError(
                "many requests at once need a belief about edges; one about turns plans one by one"
            )
        if (origin == destination).any():
            raise EvrouteError(
                f"request {np.argmax(origin == destination)}: origin and destination are the same edge"
            )
        ground = self._plain
        weights = WEIGHT_RULES[DEFAULT_SEARCH](
            ground.mean_wh, ground.noise_std_wh, ground.potential_wh
        )
        edge, start = cheapest(ground.search, weights, origin, destination)
        wh, metres, seconds = (
            summed(e, edge, start) for e in (ground.mean_wh, ground.length_m, ground.time_s)
        )
        return Energies(wh, metres, seconds, edge, start)

    def describe(self, route: Route, battery: Battery | None = None) -> PlannedRoute:
        """Put any route into a user's numbers."""
        rows = route.rows
        edge_wh, prior_wh = self._steps.mean_wh(route), self._steps.prior_wh(route)
        parts = {
            name.removesuffix("_wh"): float(getattr(self.prior.parts, name)[rows].sum())
            for name in self.prior.parts.__slots__
        }
        if isinstance(self.model, TurnBelief):
            parts["turning"] = float((prior_wh - self.prior.mean_wh[rows]).sum())
        if self.model is not None:
            parts["learned"] = float((edge_wh - prior_wh).sum())
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
        if self.model is None:
            return described
        if self.guarantee is not None:
            described = replace(described, guarantee=self._steps.guarantee(route, self.guarantee))
        energy = self._steps.forecast(route).inflated(self.inflation)
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
                f"a battery or a time limit goes with search '{DEFAULT_SEARCH}', not with '{search}'"
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
        """Return what searches need on the nodes, or on a layer of them for each leg of a trip."""
        nodes, legs = self._steps.nodes, len(via) + 1
        heights_wh = np.tile(nodes.tail_wh, legs), np.tile(nodes.head_wh, legs)
        search = Search(self._steps.line_graph(via))
        return SearchProblem(
            search=search,
            battery_search=BatterySearch(search, *heights_wh),
            label_search=LabelSearch(search, *heights_wh),
            time_s=np.tile(nodes.share * self.time_s[nodes.edge], legs),
            length_m=np.tile(nodes.share * self.network.length_m[nodes.edge], legs),
            mean_wh=np.tile(nodes.mean_wh, legs),
            noise_std_wh=np.tile(nodes.noise_std_wh, legs),
            potential_wh=np.tile(nodes.head_wh - nodes.tail_wh, legs),
        )


def energy_by_condition(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, route: Route
) -> dict[str, float]:
    """Return what each condition that departs from eq. 8 adds to the energy of a route, all others staying, Wh.

    The bearing of the wind goes with its speed. The prices do not add up to the whole: conditions
    act together.
    """
    neutral: dict[str, dict[str, Any]] = {
        "temperature_c": {"temperature_c": None},
        "wind_mps": {"wind_mps": 0.0},
        "speed_factor": {"speed_factor": 1.0},
        "payload_kg": {"payload_kg": 0.0},
    }

    def energy_wh(these: DrivingConditions) -> float:
        return float(fit(network, vehicle, conditions=these).mean_wh[route.rows].sum())

    total_wh = energy_wh(conditions)
    return {
        name: total_wh - energy_wh(replace(conditions, **without))
        for name, without in neutral.items()
        if getattr(conditions, name) != without[name]
    }


def energy_by_change(
    network: RoadNetwork,
    vehicle: Vehicle,
    usual: Vehicle,
    conditions: DrivingConditions,
    route: Route,
) -> dict[str, float]:
    """Return what each number in which a vehicle departs from ``usual`` adds to the energy of a route, Wh."""

    def energy_wh(this: Vehicle) -> float:
        return float(fit(network, this, conditions=conditions).mean_wh[route.rows].sum())

    total_wh, before = energy_wh(vehicle), asdict(usual)
    return {
        name: total_wh - energy_wh(replace(vehicle, **{name: before[name]}))
        for name, value in asdict(vehicle).items()
        if value != before[name]
    }


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
    return Planner(roads, car, conditions=conditions).plan(
        origin,
        destination,
        search=search,
        battery=battery,
        max_extra_time=max_extra_time,
        via=via,
        alternatives=alternatives,
    )
