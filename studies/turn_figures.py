"""Tables of docs/figures/turns.md: arms on turns against arms on edges, one table per command.

    python studies/turn_figures.py prior CITY [WORLD ...]      # error per edge before any
    trip python studies/turn_figures.py learning CITY [WORLD ...]   # energy, error and
    coverage while learning python studies/turn_figures.py speed CITY                  #
    milliseconds of a round

WORLD is a kind, a name of data/worlds or a file. ``EVROUTE_DATA_DIR`` names the data folder.
"""

import sys
from statistics import NormalDist
from time import perf_counter

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arms import Round, Route
from evroute.arrays import FloatArray
from evroute.errors import NoRouteError
from evroute.methods.method import Method, make_index, make_model, make_space
from evroute.methods.setting import Prior, Setting, load_setting
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.environment import Environment
from evroute.worlds.world import load_world

WORLDS = ("judged-free", "judged-congestion")
N_ROUTES, N_TRIPS, N_LAST, N_WORLDS = 200, 60, 40, 4
METHODS = [
    {"model": model, "index": "ts", "arms": arms}
    for model in ("independent", "exact", "physics", "physics+gp")
    for arms in ("edges", "turns")
]
HALF_90 = NormalDist().inv_cdf(0.95)


def rms(values: FloatArray) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def eq8_route(setting: Setting, request: Round) -> Route:
    """Return the route of least prior mean."""
    weights = np.full(setting.network.n_edges, np.inf)
    arms = request.arms
    weights[arms.id] = WEIGHT_RULES["potential"](
        arms.prior_mean_wh, np.ones(len(arms)), setting.potential_wh[arms.id]
    )
    return setting.search.route(weights, request.origin, request.destination)


def world_of(name: str, setting: Setting, origin: int, destination: int, seed: int) -> Environment:
    """Build a world for one repeated trip."""
    return load_world(name).build(setting, Repeated(origin, destination), SeedSequence(seed))


def prior(city: str, worlds: list[str]) -> None:
    """Drive eq. 8 routes between random edges once each; compare measured and expected energy."""
    setting = load_setting(city, "reference", Prior("dissipation"))
    space, rng = setting.on_turns().space, default_rng(0)
    pairs = rng.integers(setting.network.n_edges, size=(N_ROUTES, 2)).tolist()
    print(
        "| world | passages | edges: RMSE Wh | correlation | turns: RMSE Wh | correlation | turns "
        "without bends |"
    )
    for name in worlds:
        measured, by_edges, by_turns, wasted = [], [], [], []
        for origin, destination in pairs:
            world = world_of(name, setting, origin, destination, 0)
            request = world.observe(1)
            try:
                route = eq8_route(setting, request)
            except NoRouteError:
                continue
            feedback = world.drive(request, route)
            told = space.feedback(feedback)
            measured.append(feedback.energy_wh)
            by_edges.append(feedback.prior_mean_wh)
            by_turns.append(told.prior_mean_wh)
            wasted.append(space.energy.wasted_wh(told.id, setting.network.speed_mps))
        y, e, t, w = (np.concatenate(each) for each in (measured, by_edges, by_turns, wasted))
        print(
            f"| {name} | {len(y):,} | {rms(y - e):.1f} | {np.corrcoef(y, e)[0, 1]:.3f} "
            f"| {rms(y - t):.1f} | {np.corrcoef(y, t)[0, 1]:.3f} | {rms(y - t + w):.1f} |"
        )


def learning(city: str, worlds: list[str]) -> None:
    """Learn on repeated random trips; the last rounds of all worlds together."""
    setting = load_setting(city, "reference", Prior("dissipation"))
    rng = default_rng(1)
    trips = []
    while len(trips) < N_WORLDS:
        origin, destination = rng.integers(setting.network.n_edges, size=2).tolist()
        if (
            origin != destination
            and len(setting.search.route(setting.network.time_s, origin, destination)) > 20
        ):
            trips.append((origin, destination))
    print(
        "| world | method | Wh against eq. 8 | best against eq. 8 | RMSE per edge Wh | of routes "
        "Wh | 90 % hold |"
    )
    for name in worlds:
        for parts in METHODS:
            method = Method(**parts)
            true, best, eq8, edge_errors, route_errors, inside = ([] for _ in range(6))
            for seed, trip in enumerate(trips):
                world = world_of(name, setting, *trip, seed)
                agent = agent_of(method, setting)
                for t in range(1, N_TRIPS + 1):
                    request = world.observe(t)
                    route = agent.ask(request)
                    mean_wh, std_wh = agent.predict(request, route)
                    feedback = world.drive(request, route)
                    if t > N_TRIPS - N_LAST:
                        arms, passed = (
                            agent.space.arms(request),
                            agent.space.arms_of_route(route),
                        )
                        edge_errors.append(
                            feedback.energy_wh - agent.model.posterior(arms).mean_wh[passed]
                        )
                        route_errors.append(feedback.energy_wh.sum() - mean_wh)
                        inside.append(abs(route_errors[-1]) < HALF_90 * std_wh)
                        true.append(world.route_wh(request, route))
                        best.append(world.route_wh(request, world.best_route(request)))
                        eq8.append(world.route_wh(request, eq8_route(setting, request)))
                    agent.tell(feedback)
            base_wh = np.mean(eq8)
            print(
                f"| {name} | {method.label} | {np.mean(true) - base_wh:+.1f} | "
                f"{np.mean(best) - base_wh:+.1f} "
                f"| {rms(np.concatenate(edge_errors)):.1f} | {rms(np.array(route_errors)):.1f} "
                f"| {np.mean(inside):.0%} |",
                flush=True,
            )


def agent_of(method: Method, setting: Setting) -> Agent:
    """Return an untaught agent."""
    return Agent(
        model=make_model(method, setting, default_rng(2)),
        index=make_index(method, setting),
        weight_rule=WEIGHT_RULES["potential-rectified"],
        space=make_space(method, setting),
        rng=default_rng(3),
    )


def speed(city: str) -> None:
    """Time rounds on trips that differ every time, so that new arms are met in each."""
    setting = load_setting(city, "reference", Prior("dissipation"))
    print("| arms | arms visited | ask ms: median, 95 % | tell ms: median, 95 % |")
    for arms in ("edges", "turns"):
        agent, rng = agent_of(Method(model="exact", index="ts", arms=arms), setting), default_rng(4)
        asked, told, visited = [], [], set()
        while len(asked) < 100:
            origin, destination = rng.integers(setting.network.n_edges, size=2).tolist()
            world = world_of("judged-free", setting, origin, destination, 0)
            request = world.observe(len(asked) + 1)
            started = perf_counter()
            route = agent.ask(request)
            asked.append(perf_counter() - started)
            feedback = world.drive(request, route)
            started = perf_counter()
            agent.tell(feedback)
            told.append(perf_counter() - started)
            visited.update(agent.space.feedback(feedback).id.tolist())
        numbers = [
            f"{q * 1e3:.0f}" for each in (asked, told) for q in np.quantile(each, [0.5, 0.95])
        ]
        count = len(agent.space.arms(request))
        print(
            f"| {arms}: {count:,} | {len(visited):,} | {numbers[0]}, {numbers[1]} | {numbers[2]}, "
            f"{numbers[3]} |"
        )


if __name__ == "__main__":
    command, city, *chosen = sys.argv[1:]
    tables = {"prior": prior, "learning": learning}
    if command == "speed":
        speed(city)
    else:
        tables[command](city, chosen or list(WORLDS))
