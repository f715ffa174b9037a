"""Planner: answers requests on one network with one vehicle, keeping what the requests share.

The energies it plans on are those of eq. 8, or the means of a belief, which then also gives every route an interval.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evroute.arms import Arms, Route
from evroute.arrays import FloatArray
from evroute.energy.longitudinal import potential_wh
from evroute.energy.prior import all_arms, fit
from evroute.energy.vehicle import DEFAULT, Vehicle, load_vehicle
from evroute.errors import EvrouteError, NoRouteError, UnknownNameError
from evroute.model.base import EnergyModel
from evroute.network.catalog import load_network
from evroute.network.line_graph import LineGraph
from evroute.network.locate import locate
from evroute.network.road_network import RoadNetwork
from evroute.network.trips import load_trips
from evroute.planning.battery import TOLERANCE_WH, Battery, BatterySearch, follow
from evroute.planning.forecast import forecast, forecast_charge
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.search import Search
from evroute.planning.tradeoff import LabelSearch, hull
from evroute.planning.weights import WEIGHT_RULES, check_search

DEFAULT_SEARCH = "potential"
FORECAST_SEED = 0
NO_GAP_WH = 1e-6


class Planner:
    """Plans on one network with one vehicle.

    model: a belief to plan with, over the edges' reference contexts; eq. 8 if there is none.
    """

    def __init__(self, network: RoadNetwork, vehicle: Vehicle, model: EnergyModel | None = None) -> None:
        self.network = network
        self.vehicle = vehicle
        self.model = model
        self.prior = fit(network, vehicle)
        self.arms: Arms = all_arms(network, self.prior)
        self.mean_wh = self.prior.mean_wh if model is None else model.posterior(self.arms).mean_wh
        height_wh = potential_wh(vehicle, network.elevation_m)
        heights_wh = height_wh[network.tail], height_wh[network.head]
        self.search = Search(LineGraph.from_network(network))
        self.battery_search = BatterySearch(self.search, *heights_wh)
        self._label_search = LabelSearch(self.search, *heights_wh)
        # a learned mean may fall below the potential, where no search is exact: it is held there in searches
        self._searchable_wh = np.maximum(self.mean_wh, self.prior.potential_wh)
        held = int((self._searchable_wh > self.mean_wh).sum())
        self._caveat = f"; but {held} edges are believed to take less than their climb alone" if held else ""

    def plan(
        self,
        origin: int,
        destination: int,
        *,
        search: str = DEFAULT_SEARCH,
        battery: Battery | None = None,
        max_extra_time: float | None = None,
    ) -> Plan:
        """Plan one request between two edge rows.

        Parameters
        ----------
        search
            A weight rule; all but ``potential`` are for comparison and go with neither battery nor time limit.
        battery
            Bounds the charge: each route is the best of those that keep the reserve all the way.
        max_extra_time
            Share by which the least-energy route may be slower than the fastest, >= 0.

        Raises
        ------
        UnknownNameError
            If there is no such rule.
        EvrouteError
            If origin and destination are one edge, or the options contradict each other.
        NoRouteError
            If the destination cannot be reached, or not with this charge; the message says what is missing.
        """
        self._check(origin, destination, search, battery, max_extra_time)
        ends, caveat = (origin, destination), self._caveat
        try:
            fastest = self.search.route(self.network.time_s, *ends)
        except NoRouteError:
            raise NoRouteError(
                f"no legal way leads from edge '{self.network.edge_id[origin]}' to "
                f"'{self.network.edge_id[destination]}' on network '{self.network.name}'"
            ) from None
        shortest = self.search.route(self.network.length_m, *ends)
        if battery is not None:
            least = self.battery_search.route(battery, self._searchable_wh, *ends)
            proof = "exact: no route that keeps the reserve arrives with more charge"
            fastest, found_fastest = self._keeping_reserve(battery, self.network.time_s, fastest, least)
            shortest, found_shortest = self._keeping_reserve(battery, self.network.length_m, shortest, least)
            if not (found_fastest and found_shortest):
                caveat += "; the fastest or shortest that keeps the reserve was not found, this route stands for it"
        else:
            weights = WEIGHT_RULES[search](self.mean_wh, self.prior.noise_std_wh, self.prior.potential_wh)
            least = self.search.route(weights, *ends)
            exact = search == DEFAULT_SEARCH
            proof = "exact: no route takes less" if exact else f"none: rule '{search}' discards energy"
        if max_extra_time is not None:
            limit_s = (1 + max_extra_time) * float(self.network.time_s[fastest.rows].sum())
            if self.network.time_s[least.rows].sum() > limit_s:
                least, proof = self._within(limit_s, battery, fastest)
        routes = {"energy": least, "time": fastest, "distance": shortest}
        return Plan(
            network=self.network.name,
            vehicle=self.vehicle.name,
            search=search,
            origin=self.network.edge_id[origin],
            destination=self.network.edge_id[destination],
            routes={name: self.describe(route, battery) for name, route in routes.items()},
            battery=battery,
            proof=proof + caveat,
        )

    def describe(self, route: Route, battery: Battery | None = None) -> PlannedRoute:
        """Put any route into a user's numbers."""
        rows = route.rows
        edge_wh = self.mean_wh[rows]
        parts = {
            name.removesuffix("_wh"): float(getattr(self.prior.parts, name)[rows].sum())
            for name in self.prior.parts.__slots__
        }
        if self.model is not None:
            parts["learned"] = float((edge_wh - self.prior.mean_wh[rows]).sum())
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
            time_s=float(self.network.time_s[rows].sum()),
            climb_m=float(np.maximum(climb_m, 0).sum()),
            descent_m=float(np.maximum(-climb_m, 0).sum()),
            charge=charge,
        )
        if self.model is None:
            return described
        energy = forecast(self.model, self.arms, route)
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
        self, origin: int, destination: int, search: str, battery: Battery | None, max_extra_time: float | None
    ) -> None:
        check_search(search)
        if search != DEFAULT_SEARCH and (battery is not None or max_extra_time is not None):
            raise EvrouteError(f"a battery or a time limit goes with search '{DEFAULT_SEARCH}', not with '{search}'")
        if max_extra_time is not None and not (np.isfinite(max_extra_time) and max_extra_time >= 0):
            raise EvrouteError(f"the extra time is {max_extra_time:.0%}; it must be 0 % or more")
        if origin == destination:
            raise EvrouteError(
                f"origin and destination are the same edge, '{self.network.edge_id[origin]}'; choose two places"
            )

    def _keeping_reserve(
        self, battery: Battery, cost: FloatArray, best: Route, drivable: Route
    ) -> tuple[Route, bool]:
        """Return the route of least ``cost`` (n,) that keeps the reserve, and whether it is that one.

        best: the one without a battery.  drivable: one that keeps the reserve; it stands where the effort runs out.
        """
        if self._keeps(battery, best):
            return best, True
        ends = best.edges[0], best.edges[-1]
        found, _ = self._label_search.least_cost(battery, self._searchable_wh, cost, *ends)
        return found or drivable, found is not None

    def _within(self, limit_s: float, battery: Battery | None, fastest: Route) -> tuple[Route, str]:
        """Return the least-energy route within a time limit that ``fastest`` keeps, and how sure that is."""
        time_s, energy_wh, height_wh = self.network.time_s, self._searchable_wh, self.prior.potential_wh
        ends = fastest.edges[0], fastest.edges[-1]
        on_hull = hull(self.search, energy_wh - height_wh, time_s, limit_s, *ends)
        known = on_hull.route if battery is None or self._keeps(battery, on_hull.route) else fastest
        known_wh = float(energy_wh[known.rows].sum())
        if battery is not None:
            known_wh += follow(battery, energy_wh[known.rows]).lost_wh
        gap_wh = known_wh - on_hull.bound - float(height_wh[known.rows].sum())
        if gap_wh < NO_GAP_WH:
            return known, "exact: on the convex hull of time and energy"
        better, complete = self._label_search.least_energy(
            battery, energy_wh, time_s, limit_s, *ends, better_than_wh=known_wh
        )
        if complete:
            return better or known, "exact: what the convex hull of time and energy leaves open was searched"
        return known, f"on the convex hull of time and energy: another route could take up to {gap_wh:.0f} Wh less"

    def _keeps(self, battery: Battery, route: Route) -> bool:
        charge_wh = follow(battery, self._searchable_wh[route.rows]).charge_wh
        return bool(charge_wh.min() >= battery.reserve_wh - TOLERANCE_WH)


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
) -> Plan:
    """Plan one trip: a named one, or between two places.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    trip, waypoints
        A named trip of the network; or origin and destination, each an edge id or ``"lat,lon"``.
    vehicle
        A vehicle, its name, or a TOML file.
    soc_percent, reserve_percent
        Charge at the start, and the charge never to fall below, in percent of the usable battery.
    search, max_extra_time
        As in `Planner.plan`.

    Raises
    ------
    EvrouteError
        If the request cannot be met; see `Planner.plan`, ``locate`` and `endpoints`.
    """
    roads = network if isinstance(network, RoadNetwork) else load_network(network)
    car = vehicle if isinstance(vehicle, Vehicle) else load_vehicle(vehicle)
    ends = endpoints(roads, trip, waypoints)
    battery = None if soc_percent is None else Battery.of_percent(car.battery_kwh, soc_percent, reserve_percent)
    return Planner(roads, car).plan(*ends, search=search, battery=battery, max_extra_time=max_extra_time)


def endpoints(network: RoadNetwork, trip: str | None, waypoints: Sequence[str]) -> tuple[int, int]:
    """Return the edge rows of a named trip, or of origin and destination given as text.

    A place on a two-way street is left, or arrived at, in the direction that makes the fastest trip.

    Raises
    ------
    EvrouteError
        Unless exactly one of the two is given, or a place is not on the network.
    UnknownNameError
        If the network has no trip of that name.
    """
    if (trip is None) == (len(waypoints) == 0):
        raise EvrouteError("give either a named trip, or origin and destination")
    if trip is None:
        if len(waypoints) != 2:
            raise EvrouteError(f"give origin and destination; got {len(waypoints)} places")
        return _quickest_ends(network, locate(network, waypoints[0]), locate(network, waypoints[1]))
    trips = load_trips(network.name)
    if trip not in trips:
        known = f"it has {', '.join(trips)}" if trips else "none ship for it"
        raise UnknownNameError(f"network '{network.name}' has no trip '{trip}'; {known}; or give two places")
    return network.row_of[trips[trip].origin], network.row_of[trips[trip].destination]


def _quickest_ends(network: RoadNetwork, origins: Sequence[int], destinations: Sequence[int]) -> tuple[int, int]:
    """Choose the directions to leave and to arrive in, of streets where both are possible: those of the fastest trip.

    One choice serves all routes of a plan, so that they can be compared.
    """
    if len(origins) == len(destinations) == 1:
        return origins[0], destinations[0]
    search = Search(LineGraph.from_network(network))
    reached_s: dict[tuple[int, int], float] = {}
    for origin in origins:
        time_s = search.distances(network.time_s, origin)
        reached_s |= {(origin, destination): float(time_s[destination]) for destination in destinations}
    return min(
        (ends for ends in reached_s if ends[0] != ends[1]), key=reached_s.__getitem__, default=(origins[0],) * 2
    )
