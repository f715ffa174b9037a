"""Prediction error on routes with few roads in common with the trips, by the number of trips.

    python studies/unseen_roads.py monaco --worlds wind,payload,cold --seeds 5

Trips and routes are eq. 8's between random edges; of the routes of the test, at most a fifth of the
edges is among those of the 20 trips. Printed is the mean absolute deviation of the prediction from
the true expected energy, Wh. ``trips`` is the default belief of `evroute learn`, which sees the
total energy of each trip and no other.
"""

import argparse
from collections import defaultdict

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.method import Method, make_model
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.planning.weights import potential
from evroute.worlds.demand.trips import Trip
from evroute.worlds.environment import Environment
from evroute.worlds.world import load_world

N_TRIPS, N_ASKED = 20, 150
LEARNED_AFTER = (0, 1, 5, 20)
SHARED = 0.2
MODELS = ("exact", "factor", "physics", "physics+gp")
METHODS = [(model, arms) for arms in (None, "turns") for model in MODELS]


class Errands:
    """Trips along given routes, all at eight o'clock."""

    def __init__(self, routes: list[Route]) -> None:
        self.routes = routes

    def trip(self, t: int) -> Trip:
        """Return the trip of a round."""
        route = self.routes[t - 1]
        return Trip(route.edges[0], route.edges[-1], departed_s=8 * 3600.0, trip_id=str(t))


def errands(setting: Setting, rng: Generator, n: int) -> list[Route]:
    """Return eq. 8's routes of ten edges or more between random edges."""
    weights = potential(
        setting.arms.prior_mean_wh, np.zeros(len(setting.arms)), setting.potential_wh
    )
    routes: list[Route] = []
    while len(routes) < n:
        origin, destination = rng.choice(len(setting.arms), 2, replace=False).tolist()
        route = setting.search.route(weights, origin, destination)
        routes += [route] * (len(route) >= 10)
    return routes


def errors(
    setting: Setting, world_name: str, seed: int
) -> tuple[dict[tuple[str, int], list[float]], list[float]]:
    """Return the errors by method and number of trips, and the true energies, in one world, Wh."""
    rng = default_rng(seed)
    driven = errands(setting, rng, N_TRIPS)
    known = set().union(*(route.edges for route in driven))
    asked = [
        r
        for r in errands(setting, rng, N_ASKED)
        if np.mean([e in known for e in r.edges]) <= SHARED
    ]
    conditions = load_world(world_name).model_copy(update={"closed_share": 0.0})
    world = conditions.build(setting, Errands(driven + asked), SeedSequence(seed))
    requests = [world.observe(N_TRIPS + 1 + i) for i in range(len(asked))]
    true_wh = [
        world.route_wh(request, route) for request, route in zip(requests, asked, strict=True)
    ]
    found = trip_belief_errors(setting, world, driven, asked, true_wh)
    for model_name, arms in METHODS:
        method = Method(model=model_name, index="greedy", arms=arms)
        model = make_model(method, setting, default_rng(seed))
        for t in range(N_TRIPS + 1):
            if t:
                feedback = world.drive(world.observe(t), driven[t - 1])
                model.update(setting.on_turns().space.feedback(feedback) if arms else feedback)
            if t in LEARNED_AFTER:
                space = setting.on_turns().space
                mean_wh = model.posterior(
                    space.arms(requests[0]) if arms else requests[0].arms
                ).mean_wh
                for route, truth_wh in zip(asked, true_wh, strict=True):
                    rows = space.arms_of_route(route) if arms else route.rows
                    found[f"{model_name} {arms or 'edges'}", t].append(
                        abs(mean_wh[rows].sum() - truth_wh)
                    )
    return found, true_wh


def trip_belief_errors(
    setting: Setting,
    world: Environment,
    driven: list[Route],
    asked: list[Route],
    true_wh: list[float],
) -> dict[tuple[str, int], list[float]]:
    """Return the errors of the trip-level belief as `errors` does."""
    belief, found = TripEnergies(setting, physics="eq8"), defaultdict(list)
    for t in range(N_TRIPS + 1):
        if t:
            feedback = world.drive(world.observe(t), driven[t - 1])
            trip = MeasuredTrip(
                str(t), feedback.id, feedback.energy_wh, feedback.travel_s, feedback.departed_s
            )
            belief.learn(trip)
        if t in LEARNED_AFTER:
            mean_wh = belief.edge_posterior.mean_wh
            found["trips", t] += [
                abs(mean_wh[route.rows].sum() - truth)
                for route, truth in zip(asked, true_wh, strict=True)
            ]
    return found


def main() -> None:
    """Print a table for each world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network")
    parser.add_argument("--worlds", default="free-flow,payload,wind,cold,congestion,everything")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    setting = Setting(on_terrain(load_network(options.network), "edge"), load_vehicle("reference"))
    for world_name in options.worlds.split(","):
        all_errors, all_true_wh = defaultdict(list), []
        for seed in range(options.seeds):
            found, true_wh = errors(setting, world_name, seed)
            all_true_wh += true_wh
            for key, values in found.items():
                all_errors[key] += values
        print(
            f"{options.network}, {world_name}: {len(all_true_wh)} routes of "
            f"{np.mean(all_true_wh):.0f} Wh"
        )
        for method in dict.fromkeys(name for name, _ in all_errors):
            row = "".join(f"{np.mean(all_errors[method, t]):9.1f}" for t in LEARNED_AFTER)
            print(f"  {method:20}{row}", flush=True)


if __name__ == "__main__":
    main()
