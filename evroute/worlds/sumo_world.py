"""SumoWorld: trips driven by SUMO, with starts, braking for turns and traffic lights beyond eq. 8.

True energies are measured by drives of fixed seeds: the energy of a route is the mean of several
drives, the energies of edges come from a survey. The best route is the best, by those drives, of
three: the survey's best, the eq. 8 route and the fastest.

Worlds of equal seed are equal for every method: zones, and the driver and the lights of round t,
have separate random streams and do not depend on the chosen routes.
"""

import hashlib
import json
import logging
import os
from dataclasses import asdict

import numpy as np

from evroute.arms import Arms, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.checked import read_arrays, write_arrays
from evroute.energy.turn_prior import TurnEnergy
from evroute.errors import DamagedFileError, EvrouteError
from evroute.files import inside
from evroute.methods.setting import Setting
from evroute.network.catalog import cache_dir
from evroute.network.turn_table import TurnTable
from evroute.planning.weights import potential
from evroute.worlds import sumo_survey
from evroute.worlds.demand.trips import Trips
from evroute.worlds.environment import best_by_edges, child, edges_in_zones, vehicle_of
from evroute.worlds.sumo_drive import simulation
from evroute.worlds.sumo_options import SumoOptions
from evroute.worlds.sumo_survey import Passages, Surveyed

TRUTH_SEED = 20_261_122
_log = logging.getLogger(__name__)


class SumoWorld:
    """Trips in SUMO with the setting's vehicle or those named by trips.

    Parameters
    ----------
    options
        Options of the world.
    setting
        Network, vehicle and prior of the learner.
    trips
        Trips to drive.
    seeds
        Seeds of the world.

    Raises
    ------
    EvrouteError
        If SUMO is missing or cannot drive the network, or a parameter is outside the range of a
        vehicle.
    """

    def __init__(
        self, options: SumoOptions, setting: Setting, trips: Trips, seeds: np.random.SeedSequence
    ) -> None:
        zone_seed, self._trip_seed = seeds.spawn(2)
        network = setting.network
        self.options = options
        self.setting = setting
        self.trips = trips
        self.in_zone = edges_in_zones(
            network, options.zones, options.zone_radius_m, np.random.default_rng(zone_seed)
        )
        self.speed_mps: FloatArray = network.speed_mps * np.where(
            self.in_zone, options.zone_speed_factor, 1.0
        )
        self._source = options.source(setting)
        self._table = TurnTable.from_network(network)
        self._arms = {"": setting.arms, setting.vehicle.name: setting.arms}
        self._surveyed: dict[str, Surveyed] = {}
        self._route_wh: dict[tuple[str, tuple[int, ...]], float] = {}
        simulation(network, self._source)  # raises for impossible parameters
        options.true_vehicle(setting.vehicle)

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` over all edges. The learner has limits, not zones."""
        trip = self.trips.trip(t)
        return Round(
            t,
            self._known_arms(trip.vehicle),
            trip.origin,
            trip.destination,
            departed_s=trip.departed_s,
            vehicle=trip.vehicle,
        )

    def drive(self, request: Round, route: Route) -> Feedback:
        """Drive a route with the driver and the lights of the round."""
        energy_wh, travel_s = self._driven(
            request.vehicle, route.rows, child(self._trip_seed, request.t)
        )
        return Feedback.of_route(
            request.arms,
            route,
            energy_wh,
            trip_id=self.trips.trip(request.t).trip_id,
            vehicle=request.vehicle,
            departed_s=request.departed_s,
            travel_s=travel_s,
        )

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the survey's energy of each edge, (n,) Wh, with equally likely predecessors."""
        return self._survey(request.vehicle).expected_wh

    def travel_s(self, request: Round) -> FloatArray:
        """Return the survey's mean time on each edge, (n,) s."""
        return self._survey(request.vehicle).time_s

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the mean energy of a route over drives of fixed seeds, Wh."""
        key = request.vehicle, route.edges
        if key not in self._route_wh:
            drives = (
                self._driven(
                    request.vehicle, route.rows, np.random.SeedSequence(TRUTH_SEED, spawn_key=(i,))
                )[0].sum()
                for i in range(self.options.truth_drives)
            )
            self._route_wh[key] = float(np.mean(list(drives)))
        return self._route_wh[key]

    def best_route(self, request: Round) -> Route:
        """Return the best of three routes: by the survey's turns, by eq. 8 and by travel time."""
        search, ends = self.setting.search, (request.origin, request.destination)
        surveyed, energy = self._survey(request.vehicle), self._energy(request.vehicle)
        rows = np.arange(self._table.n_turns)
        weights = potential(
            surveyed.turn_wh[rows], np.zeros(len(rows)), energy.potential_wh(rows, self.speed_mps)
        )
        routes = (
            search.by_turns.route(weights, *ends),
            best_by_edges(request, request.arms.prior_mean_wh, self.setting.potential_wh, search),
            search.route(surveyed.time_s, *ends),
        )
        return min(routes, key=lambda route: self.route_wh(request, route))

    def _driven(
        self, vehicle: str, rows: IntArray, seeds: np.random.SeedSequence
    ) -> tuple[FloatArray, FloatArray]:
        """Return the energies, Wh, and times, s, of the (k,) edges of one drive."""
        network = self.setting.network
        trace = simulation(network, self._source).drive(
            rows, self.speed_mps, self.options.speed_factor_std, seeds
        )
        return self.options.energy_wh(
            trace, network, vehicle_of(self.setting, vehicle)
        ), trace.travel_s(network.length_m[rows])

    def _known_arms(self, vehicle: str) -> Arms:
        if vehicle not in self._arms:
            own = Setting(self.setting.network, vehicle_of(self.setting, vehicle))
            self._arms[vehicle] = own.arms
        return self._arms[vehicle]

    def _energy(self, vehicle: str) -> TurnEnergy:
        equipped = self.options.equipped(vehicle_of(self.setting, vehicle))
        return TurnEnergy(self.setting.network, equipped, self._table, self.options.conditions)

    def _survey(self, vehicle: str) -> Surveyed:
        if vehicle not in self._surveyed:
            passages = self._passages(vehicle)
            found = sumo_survey.surveyed(passages, self._energy(vehicle), self.speed_mps)
            _log.info(
                "SUMO survey: %d of %d edges and %d of %d turns passed",
                found.passed.sum(),
                len(found.passed),
                np.count_nonzero(passages.count[: self._table.n_turns]),
                self._table.n_turns,
            )
            self._surveyed[vehicle] = found
        return self._surveyed[vehicle]

    def _passages(self, vehicle: str) -> Passages:
        """Return the passages of the survey, from the cache if it has been driven."""
        network, options = self.setting.network, self.options
        inputs = [
            network.digest,
            options.provenance(self.setting),
            options.model_dump(mode="json", exclude={"name", "net", "truth_drives"}),
            asdict(vehicle_of(self.setting, vehicle)),
            sumo_survey.SEED,
        ]
        total = hashlib.sha256(json.dumps(inputs).encode())
        total.update(self.speed_mps.tobytes())
        path = inside(cache_dir() / "sumo", f"{network.name}-{total.hexdigest()[:16]}.npz")
        if path.is_file():
            try:
                return Passages(**read_arrays(path))
            except DamagedFileError as error:
                _log.warning("%s, driving it again", error)
        _log.info("SUMO survey of network %s: up to %d trips", network.name, options.survey_trips)
        passages = sumo_survey.drive_everywhere(
            lambda rows, seeds: self._driven(vehicle, rows, seeds),
            self._table,
            self.setting.search,
            network.length_m / self.speed_mps,
            options.survey_trips,
        )
        try:
            write_arrays(path, {name: getattr(passages, name) for name in Passages.__slots__})
        except OSError as error:
            raise EvrouteError(
                f"cannot write {path}: {error.strerror or os.strerror(error.errno or 0)}"
            ) from error
        return passages
