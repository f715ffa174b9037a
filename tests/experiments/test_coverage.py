"""In the world of the prior, route intervals reach their level, on chosen routes too.

Conditional on what was driven the posterior is the truth's own distribution, and so it stays for
routes chosen by it; the share of trips inside an interval is then binomial. ``-s`` prints the
shares.
"""

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.model.exact import ExactGP
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.forecast import forecast
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.thompson import IndependentThompson
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.sampled_gp import SampledGP, SampledWorld

LEVELS = (0.5, 0.9)


@pytest.mark.parametrize(
    ("city", "trip", "n_worlds", "n_trips"),
    [
        ("denver", "A", 40, 15),
        pytest.param("monaco", "B", 60, 30, marks=[pytest.mark.data, pytest.mark.slow]),
    ],
)
def test_route_intervals_cover_at_their_level(
    city: str, trip: str, n_worlds: int, n_trips: int, request: pytest.FixtureRequest
) -> None:
    network: RoadNetwork = request.getfixturevalue(city)
    setting = Setting(network, load_vehicle("reference"))
    inside: dict[tuple[str, float], list[bool]] = {}

    def look(kind: str, agent: Agent, world: SampledGP, route: Route, t: int) -> None:
        drive = world.drive(world.observe(t), route)
        energy = forecast(agent.model, setting.arms, route.rows)
        for level in LEVELS:
            low, high = energy.interval_wh(level)
            inside.setdefault((kind, level), []).append(low <= drive.energy_wh.sum() <= high)

    for seed in range(n_worlds):
        world_seeds, policy_seed, pair_seed = SeedSequence(seed, spawn_key=(7,)).spawn(3)
        world = SampledWorld().build(setting, Repeated(*setting.ends(trip)), world_seeds)
        agent = Agent(
            model=ExactGP(setting.kernel, setting.arms, setting.noise_std_wh),
            index=IndependentThompson(),
            weight_rule=WEIGHT_RULES["potential-rectified"],
            space=EdgeSpace(setting.network, setting.vehicle),
            rng=default_rng(policy_seed),
        )
        for t in range(1, n_trips + 1):
            observed = world.observe(t)
            agent.tell(world.drive(observed, agent.ask(observed)))
        look("chosen", agent, world, agent.ask(world.observe(n_trips + 1)), n_trips + 1)
        for _ in range(3):
            pair = default_rng(pair_seed.spawn(1)[0]).choice(network.n_edges, 2, replace=False)
            route = setting.search.route(setting.prior.dissipated_wh, *(int(edge) for edge in pair))
            look("random", agent, world, route, n_trips + 2)

    for (kind, level), hits in inside.items():
        share, deviation = np.mean(hits), np.sqrt(level * (1 - level) / len(hits))
        print(
            f"{city} {trip}, {kind} routes: {share:.1%} of {len(hits)} in the {level:.0%} interval"
        )
        # random routes of one world share roads, so they count for fewer independent ones than
        # their number
        assert abs(share - level) < 4 * deviation * (np.sqrt(3) if kind == "random" else 1)
