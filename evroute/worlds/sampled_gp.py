"""SampledGP: the world of Sandberg et al., section 4, with energies drawn from the prior GP.

Noise is Gaussian. Worlds of equal seed are equal for every method: the expected energies, the
closures and the noise of round t on edge e have separate random streams and do not depend on the
chosen routes.
"""

from typing import Literal

from numpy.random import SeedSequence, default_rng
from pydantic import Field

from evroute.arms import Arms, Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.methods.setting import Setting
from evroute.planning.search import Search
from evroute.worlds.closures import Closures
from evroute.worlds.demand.trips import Trips
from evroute.worlds.environment import best_by_edges, edge_noise
from evroute.worlds.world import World


class SampledWorld(World):
    """Options of the world that is drawn from the learner's prior.

    Parameters
    ----------
    closed_share
        Share of the edges that are closed, drawn anew in each round.
    """

    kind: Literal["sampled-gp"] = "sampled-gp"
    closed_share: float = Field(0.0, ge=0, lt=1)

    def build(self, setting: Setting, trips: Trips, seeds: SeedSequence) -> "SampledGP":
        """Return the world of these seeds.

        Parameters
        ----------
        setting
            Network, vehicle and prior of the learner.
        trips
            Trips to drive.
        seeds
            Seeds of the world.
        """
        return SampledGP(
            arms=setting.arms,
            prior_factor=setting.prior_factor,
            noise_std_wh=setting.noise_std_wh,
            potential_wh=setting.potential_wh,
            time_s=setting.network.time_s,
            search=setting.search,
            trips=trips,
            closed_share=self.closed_share,
            seeds=seeds,
        )


class SampledGP:
    """One draw ``f = mean + L z`` of the expected energies, and trips in it.

    Parameters
    ----------
    arms
        All edges of the network.
    prior_factor
        (n, n) L with ``L L' = prior covariance``, Wh.
    noise_std_wh
        (n,) noise deviation of one measurement, Wh.
    potential_wh
        (n,) ``m g dz``, Wh.
    time_s
        (n,) travel times, s.
    search
        Search over all edges.
    trips
        Trips to drive.
    closed_share
        Share of the edges closed in each round (`Closures`).
    seeds
        Seeds of the world.
    """

    def __init__(
        self,
        *,
        arms: Arms,
        prior_factor: FloatArray,
        noise_std_wh: FloatArray,
        potential_wh: FloatArray,
        time_s: FloatArray,
        search: Search,
        trips: Trips,
        closed_share: float,
        seeds: SeedSequence,
    ) -> None:
        truth_seed, self._noise_seed, closure_seed = seeds.spawn(3)
        self.truth_wh = arms.prior_mean_wh + prior_factor @ default_rng(truth_seed).standard_normal(
            len(arms)
        )
        self.arms = arms
        self.noise_std_wh = noise_std_wh
        self.potential_wh = potential_wh
        self.time_s = time_s
        self.search = search
        self.trips = trips
        self._closures = Closures(closed_share, search, closure_seed) if closed_share else None

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` over its open edges.

        Raises
        ------
        NoRouteError
            If no draw of the closures leaves a route.
        """
        trip = self.trips.trip(t)
        arms = self.arms
        if self._closures is not None:
            arms = arms.take(self._closures.open_edges(t, trip.origin, trip.destination))
        return Round(
            t, arms, trip.origin, trip.destination, departed_s=trip.departed_s, vehicle=trip.vehicle
        )

    def drive(self, request: Round, route: Route) -> Feedback:
        """Measure every edge of a route: its expected energy plus noise, new for each passage."""
        noise = edge_noise(self._noise_seed, request.t, route, len(self.arms))
        return Feedback.of_route(
            request.arms,
            route,
            self.truth_wh[route.rows] + self.noise_std_wh[route.rows] * noise,
            trip_id=self.trips.trip(request.t).trip_id,
            vehicle=request.vehicle,
            departed_s=request.departed_s,
            travel_s=self.time_s[route.rows],
        )

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the true expected energies, (a,) Wh."""
        return self._of_arms(self.truth_wh, request)

    def travel_s(self, request: Round) -> FloatArray:
        """Return travel times, (a,) s."""
        return self._of_arms(self.time_s, request)

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the true expected energy of a whole route, Wh."""
        return float(self.truth_wh[route.rows].sum())

    def best_route(self, request: Round) -> Route:
        """Return the best route of the potential search on the true energies."""
        return best_by_edges(request, self.expected_wh(request), self.potential_wh, self.search)

    def _of_arms(self, values: FloatArray, request: Round) -> FloatArray:
        return values if request.arms is self.arms else values[request.arms.id]
