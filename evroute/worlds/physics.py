"""Physics: a world whose true energies are eq. 8 with other parameters (`Conditions`).

The energy of an edge may depend on the speed at which it is entered, so true energies are stored
by turn. With true mass m and the total-energy potential ``P(e) = m (g z_head + v_e²/2)`` no turn
costs less than the rise of P (without the kinetic part if speed changes are free). So one
Dijkstra search returns the best route.

Worlds of equal seed are equal for every method: zones, noise levels, closures and the noise of
round t have separate random streams and do not depend on the chosen routes.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np

from evroute.arms import Arms, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.driving import air_density_kgpm3, headwind_mps, temperature_feature
from evroute.energy.longitudinal import energy_parts
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.methods.setting import Setting
from evroute.network import context
from evroute.network.turn_table import TurnTable
from evroute.worlds.conditions import Conditions
from evroute.worlds.demand.trips import Trips
from evroute.worlds.environment import child, edge_noise, edges_in_zones, open_edges, vehicle_of

ROUNDING_WH = 1e-9
SPEED = context.NAMES.index("speed limit")


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """True energies and times of one vehicle on n edges and m turns at constant speeds.

    Parameters
    ----------
    time_s
        (n,) travel times, s.
    first_wh
        (n,) energy of an edge at the start of a trip, Wh.
    enter_wh
        (m,) energy of the edge that a turn enters, Wh.
    expected_wh
        (n,) mean of ``enter_wh`` over an edge's predecessors. ``first_wh`` without predecessors.
    dissipated_wh
        (n,) dissipated part of ``expected_wh``, Wh.
    weight_wh
        (m,) dissipated part of ``enter_wh``, Wh.
    """

    time_s: FloatArray
    first_wh: FloatArray
    enter_wh: FloatArray
    expected_wh: FloatArray
    dissipated_wh: FloatArray
    weight_wh: FloatArray


class Physics:
    """Trips under some conditions, with the setting's vehicle or those named by trips.

    Parameters
    ----------
    conditions
        Departures from eq. 8.
    setting
        Network, vehicle and prior of the learner.
    trips
        Trips to drive.
    seeds
        Seeds of the world.

    Raises
    ------
    EvrouteError
        If a parameter is outside the range of a vehicle, or tail wind drives the vehicle.
    """

    def __init__(
        self, conditions: Conditions, setting: Setting, trips: Trips, seeds: np.random.SeedSequence
    ) -> None:
        (
            zone_seed,
            level_seed,
            self._noise_seed,
            self._trip_seed,
            self._closure_seed,
            self._temperature_seed,
            rough_seed,
            self._time_seed,
        ) = seeds.spawn(8)
        network = setting.network
        self.conditions = conditions
        self.setting = setting
        self.trips = trips
        zone_rng = np.random.default_rng(zone_seed)
        inside = [
            edges_in_zones(network, conditions.zones, conditions.zone_radius_m, zone_rng)
            for _ in range(conditions.zone_sets)
        ]
        # (1 + zone_sets, n); row 0 is free flow
        self._speed_factor = np.ones((1 + len(inside), network.n_edges))
        self._speed_factor[1:][np.array(inside)] = conditions.zone_speed_factor
        self._dissipation_factor = conditions.dissipation_factor(
            network, np.random.default_rng(rough_seed)
        )
        spread = conditions.noise_spread
        levels = np.random.default_rng(level_seed).standard_normal(network.n_edges)
        self.noise_share = conditions.noise_share * np.exp(spread * levels - 0.5 * spread**2)
        self.headwind_mps = headwind_mps(network, conditions.wind_mps, conditions.wind_from_deg)
        self._truths: dict[tuple[str, int], Truth] = {}
        self._arms: dict[tuple[str, int], Arms] = {}
        self._temperature_c = conditions.temperature_c  # of the cached truths and arms
        self._truth_of("", 0)  # raises for impossible parameters

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` over its open edges.

        Raises
        ------
        NoRouteError
            If no draw of the closures leaves a route.
        """
        trip = self.trips.trip(t)
        self._meet(t)
        zones = self.conditions.congested_zones(t, trip.departed_s)
        arms = self._known_arms(trip.vehicle, zones if self.conditions.congestion_known else 0)
        if share := self.conditions.closed_share:
            ends = trip.origin, trip.destination
            arms = arms.take(open_edges(share, self.setting.search, self._closure_seed, t, ends))
        return Round(
            t, arms, trip.origin, trip.destination, departed_s=trip.departed_s, vehicle=trip.vehicle
        )

    def drive(self, request: Round, route: Route) -> Feedback:
        """Measure every edge of a route: ``y = f + b s + noise``, and scaled travel times."""
        truth, rows = self._truth(request), route.rows
        of_trip, of_times = self.conditions.trip_deviates(
            np.random.default_rng(child(self._trip_seed, request.t))
        )
        log_times = self.conditions.time_std * of_times + np.zeros(len(rows))
        if self.conditions.edge_time_std:
            log_times += self.conditions.edge_time_std * edge_noise(
                self._time_seed, request.t, route, len(self.noise_share)
            )
        noise = self.noise_share[rows] * edge_noise(
            self._noise_seed, request.t, route, len(self.noise_share)
        )
        deviation_wh = (self.conditions.trip_std * of_trip + noise) * truth.dissipated_wh[rows]
        return Feedback.of_route(
            request.arms,
            route,
            self._driven_wh(truth, rows) + deviation_wh,
            trip_id=self.trips.trip(request.t).trip_id,
            vehicle=request.vehicle,
            departed_s=request.departed_s,
            travel_s=truth.time_s[rows] * np.exp(log_times),
        )

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the true expected energy of each arm, (a,) Wh, mean over predecessors."""
        return self._of_arms(self._truth(request).expected_wh, request)

    def travel_s(self, request: Round) -> FloatArray:
        """Return the true travel time of each arm, (a,) s."""
        return self._of_arms(self._truth(request).time_s, request)

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the true expected energy of a route, turn by turn, Wh."""
        return float(self._driven_wh(self._truth(request), route.rows).sum())

    def best_route(self, request: Round) -> Route:
        """Return the route of least true expected energy: an exact search over turns."""
        weights = np.full(self.setting.network.n_edges, np.inf)
        weights[request.arms.id] = 0.0
        search = self.setting.search
        turn_weights = self._truth(request).weight_wh + weights[search.line_graph.indices]
        return search.by_turns.route(turn_weights, request.origin, request.destination)

    def _driven_wh(self, truth: Truth, rows: IntArray) -> FloatArray:
        """Return the true expected energy of the edges of a route, (k,) Wh, in driving order."""
        turn = self.setting.network.turn_rows(rows[:-1], rows[1:])
        return np.concatenate([truth.first_wh[rows[:1]], truth.enter_wh[turn]])

    def _of_arms(self, values: FloatArray, request: Round) -> FloatArray:
        return values if len(request.arms) == len(values) else values[request.arms.id]

    def _meet(self, t: int) -> None:
        """Set the air temperature of round ``t``."""
        if not self.conditions.tells_temperature:
            return
        temperature_c = self.conditions.temperature_of(child(self._temperature_seed, t))
        if temperature_c != self._temperature_c:
            self._temperature_c = temperature_c
            self._truths, self._arms = {}, {}

    def _known_arms(self, vehicle: str, zones: int) -> Arms:
        """Return all edges with the contexts and prior means that the learner has for a trip."""
        key = (vehicle, zones)
        if key not in self._arms:
            network = self.setting.network
            speed_mps = network.speed_mps * self._speed_factor[zones]
            parts = energy_parts(
                vehicle_of(self.setting, vehicle), network.length_m, network.climb_m, speed_mps
            )
            features = self.setting.arms.features[:, : len(context.NAMES)].copy()
            features[:, SPEED] *= speed_mps / network.speed_mps
            if self.conditions.tells_temperature:
                temperature = temperature_feature(cast(float, self._temperature_c))
                features = np.column_stack([features, np.full(len(features), temperature)])
            self._arms[key] = Arms(np.arange(network.n_edges), features, parts.total_wh)
        return self._arms[key]

    def _truth(self, request: Round) -> Truth:
        self._meet(request.t)
        departed_s = request.departed_s
        if departed_s is None:
            departed_s = self.trips.trip(request.t).departed_s
        zones = self.conditions.congested_zones(request.t, departed_s)
        return self._truth_of(request.vehicle, zones)

    def _truth_of(self, vehicle: str, zones: int) -> Truth:
        key = (vehicle, zones)
        if key not in self._truths:
            speed_mps = self.setting.network.speed_mps * self._speed_factor[zones]
            self._truths[key] = self._make_truth(vehicle_of(self.setting, vehicle), speed_mps)
        return self._truths[key]

    def _make_truth(self, assumed: Vehicle, speed_mps: FloatArray) -> Truth:
        conditions, network = self.conditions, self.setting.network
        vehicle = conditions.true_vehicle(assumed, self._temperature_c)
        density_kgpm3 = (
            AIR_DENSITY_KGPM3
            if self._temperature_c is None
            else air_density_kgpm3(self._temperature_c)
        )
        source, target = network.turns.T
        length_m, climb_m = network.length_m, network.climb_m
        level_m = np.sqrt(np.maximum(length_m**2 - climb_m**2, 0.0))
        weight_n = vehicle.mass_kg * GRAVITY_MPS2
        air_mps = speed_mps + self.headwind_mps
        drag = (
            0.5
            * vehicle.drag
            * vehicle.front_m2
            * density_kgpm3
            * length_m
            * air_mps
            * abs(air_mps)
        )
        steady_j = weight_n * climb_m + weight_n * vehicle.rolling * level_m + drag
        auxiliary_wh = vehicle.auxiliary_w * length_m / speed_mps / J_PER_WH
        kinetic_j = (
            0.5 * vehicle.mass_kg * speed_mps**2
            if conditions.kinetic
            else np.zeros(network.n_edges)
        )
        gained_j = kinetic_j[target] - kinetic_j[source]

        enter_wh = battery_wh(vehicle, steady_j[target] + gained_j) + auxiliary_wh[target]
        if conditions.turn_braking:
            enter_wh += TurnEnergy(network, vehicle, TurnTable.from_network(network)).wasted_wh(
                np.arange(len(target)), speed_mps
            )
        first_wh = (
            battery_wh(vehicle, steady_j + kinetic_j * conditions.from_standstill) + auxiliary_wh
        )
        potential_wh = weight_n * climb_m / J_PER_WH
        more = self._dissipation_factor - 1.0
        first_wh += more * (
            first_wh - potential_wh - kinetic_j * conditions.from_standstill / J_PER_WH
        )
        enter_wh += more[target] * (enter_wh - potential_wh[target] - gained_j / J_PER_WH)
        weight_wh = enter_wh - potential_wh[target] - gained_j / J_PER_WH
        if len(weight_wh) and weight_wh.min() < -ROUNDING_WH:
            raise EvrouteError(
                f"world {conditions.label}: a tail wind drives vehicle '{assumed.name}' on "
                f"{len(np.unique(target[weight_wh < -ROUNDING_WH]))} edges. Lower wind_mps"
            )
        predecessors = np.bincount(target, minlength=network.n_edges)
        mean_wh, mean_gained_j = (
            np.bincount(target, values, minlength=network.n_edges) / np.maximum(predecessors, 1)
            for values in (enter_wh, gained_j)
        )
        expected_wh = np.where(predecessors > 0, mean_wh, first_wh)
        return Truth(
            time_s=length_m / speed_mps,
            first_wh=first_wh,
            enter_wh=enter_wh,
            expected_wh=expected_wh,
            dissipated_wh=expected_wh - potential_wh - mean_gained_j / J_PER_WH,
            weight_wh=np.maximum(weight_wh, 0.0),
        )


def battery_wh(vehicle: Vehicle, work_j: FloatArray) -> FloatArray:
    """Return the battery energy for work at the wheels, J, negative if regenerated, Wh."""
    return (
        work_j
        * np.where(
            work_j >= 0, 1.0 / vehicle.propulsion_efficiency, vehicle.recuperation_efficiency
        )
        / J_PER_WH
    )
