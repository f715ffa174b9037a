"""SampledGP: the world of Sandberg et al., section 4, with energies drawn from the prior GP.

Noise is Gaussian. Worlds of equal seed are equal for every method: the expected energies, the
closures and the noise of round t on edge e have separate random streams and do not depend on the
chosen routes.
"""

from typing import ClassVar, Literal

from numpy.random import SeedSequence, default_rng
from pydantic import Field

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.methods.setting import Setting
from evroute.worlds.demand.trips import Trips
from evroute.worlds.environment import best_by_edges, edge_noise, open_edges
from evroute.worlds.world import World


class SampledWorld(World):
    """Options of the world that is drawn from the learner's prior.

    Parameters
    ----------
    closed_share
        Share of the edges that are closed, drawn anew in each round.
    """

    environment: ClassVar[str] = "evroute.worlds.sampled_gp:SampledGP"

    kind: Literal["sampled-gp"] = "sampled-gp"
    closed_share: float = Field(0.0, ge=0, lt=1)


class SampledGP:
    """One draw ``f = mean + L z`` of the expected energies, and trips in it.

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
    """

    def __init__(
        self, options: SampledWorld, setting: Setting, trips: Trips, seeds: SeedSequence
    ) -> None:
        truth_seed, self._noise_seed, self._closure_seed = seeds.spawn(3)
        arms = setting.arms
        self.truth_wh = arms.prior_mean_wh + setting.prior_factor @ default_rng(
            truth_seed
        ).standard_normal(len(arms))
        self.setting = setting
        self.trips = trips
        self._closed_share = options.closed_share

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` over its open edges.

        Raises
        ------
        NoRouteError
            If no draw of the closures leaves a route.
        """
        trip = self.trips.trip(t)
        arms = self.setting.arms
        if share := self._closed_share:
            ends = trip.origin, trip.destination
            arms = arms.take(open_edges(share, self.setting.search, self._closure_seed, t, ends))
        return Round(
            t, arms, trip.origin, trip.destination, departed_s=trip.departed_s, vehicle=trip.vehicle
        )

    def drive(self, request: Round, route: Route) -> Feedback:
        """Measure every edge of a route: its expected energy plus noise, new for each passage."""
        noise = edge_noise(self._noise_seed, request.t, route, len(self.truth_wh))
        return Feedback.of_route(
            request.arms,
            route,
            self.truth_wh[route.rows] + self.setting.noise_std_wh[route.rows] * noise,
            trip_id=self.trips.trip(request.t).trip_id,
            vehicle=request.vehicle,
            departed_s=request.departed_s,
            travel_s=self.setting.network.time_s[route.rows],
        )

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the true expected energies, (a,) Wh."""
        return self._of_arms(self.truth_wh, request)

    def travel_s(self, request: Round) -> FloatArray:
        """Return travel times, (a,) s."""
        return self._of_arms(self.setting.network.time_s, request)

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the true expected energy of a whole route, Wh."""
        return float(self.truth_wh[route.rows].sum())

    def best_route(self, request: Round) -> Route:
        """Return the best route of the potential search on the true energies."""
        setting = self.setting
        return best_by_edges(
            request, self.expected_wh(request), setting.potential_wh, setting.search
        )

    def _of_arms(self, values: FloatArray, request: Round) -> FloatArray:
        return values if request.arms is self.setting.arms else values[request.arms.id]
