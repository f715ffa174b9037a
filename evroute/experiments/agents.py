"""Agents of a run: one per vehicle of its trips, with a belief of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

from numpy.random import SeedSequence, default_rng

from evroute.errors import EvrouteError
from evroute.experiments.regret import RegretScorer
from evroute.experiments.runs import Run
from evroute.methods.method import (
    corridor_of,
    make_index,
    make_model,
    make_space,
    setting_of,
)
from evroute.methods.setting import Setting, load_setting
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.corridor import Corridor
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.guard import DEFAULT_SHARE, Guard
from evroute.worlds.environment import child
from evroute.worlds.world import World


@dataclass(frozen=True, slots=True)
class Learner:
    """The agent of one vehicle and its parts.

    Parameters
    ----------
    agent
        The agent. Its model is over the same arms.
    space
        The arms of the model.
    setting
        Network, vehicle and prior of the model, over the same arms.
    """

    agent: Agent
    space: SearchSpace
    setting: Setting


def make_learners(
    run: Run, vehicles: Sequence[str], policy_seeds: SeedSequence, model_seeds: SeedSequence
) -> dict[str, Learner]:
    """Return a learner for each vehicle, by the vehicle names of the trips. The run's own is first.

    The run's own vehicle has the random streams of a run with one vehicle. The other
    vehicles have streams by their names.

    Parameters
    ----------
    run
        Run with method, networks and options.
    vehicles
        Names of the vehicles. The run's own is "".
    policy_seeds, model_seeds
        Seeds of the agents' draws and of the models' draws.
    """
    learners: dict[str, Learner] = {}
    for vehicle in vehicles:
        streams = (policy_seeds, model_seeds)
        if vehicle:
            key = crc32(vehicle.encode())
            streams = (child(policy_seeds, key), child(model_seeds, key))
        learners[vehicle] = _learner(run, vehicle, *streams)
    return learners


def make_scorers(run: Run, vehicles: Sequence[str]) -> dict[str, RegretScorer]:
    """Return the regret scorer of the routes of each vehicle."""
    scorers = {}
    for vehicle in vehicles:
        setting = _setting(run, vehicle)
        scorers[vehicle] = RegretScorer(
            network=setting.network,
            search=setting.search,
            weight_rule=WEIGHT_RULES[run.search],
            noise_std_wh=setting.noise_std_wh,
            potential_wh=setting.potential_wh,
        )
    return scorers


def check_vehicles(
    trip: str, vehicles: Sequence[str], run_vehicle: str, worlds: Sequence[World]
) -> None:
    """Check that worlds have several vehicles, and that the names of their beliefs are distinct.

    Parameters
    ----------
    trip
        Trips that name the vehicles, for messages.
    vehicles
        Names or files of the vehicles.
    run_vehicle
        Name or file of the run's own vehicle.
    worlds
        Worlds of the trips.

    Raises
    ------
    EvrouteError
        If two vehicle files have the same name, or a world has one vehicle only.
    """
    names = [Path(vehicle).stem for vehicle in (*vehicles, run_vehicle)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise EvrouteError(
            f"trips {trip} name two vehicles called '{twice[0]}'. Rename one of the files"
        )
    if single := [world.label for world in worlds if not world.several_vehicles]:
        raise EvrouteError(
            f"trips {trip} name vehicles ({', '.join(vehicles)}), and world '{single[0]}' "
            "has one only. Choose a world of kind physics or sumo, or omit the column"
        )


def _learner(
    run: Run, vehicle: str, policy_seeds: SeedSequence, model_seeds: SeedSequence
) -> Learner:
    method, setting = run.method, _setting(run, vehicle)
    believed = _setting(run, vehicle, method.lengthscale_factor or 1.0)
    model = make_model(method, believed, default_rng(model_seeds))
    space = make_space(method, setting)
    guard = None
    if method.guard:
        share = DEFAULT_SHARE if method.guard is True else method.guard
        guard = Guard(
            setting.edges,
            rng=default_rng(child(policy_seeds, 0)),
            share=share,
            start_wh=method.guard_wh,
        )
    factor = corridor_of(method, believed.assumed)
    agent = Agent(
        model=model,
        index=make_index(method, setting),
        weight_rule=WEIGHT_RULES[run.search],
        space=Corridor(space, factor) if factor else space,
        rng=default_rng(policy_seeds),
        guard=guard,
        restarts=bool(method.change_test),
    )
    return Learner(agent, space, setting_of(method, believed))


def _setting(run: Run, vehicle: str, lengthscale_factor: float = 1.0) -> Setting:
    assumed = run.assumed
    assumed = replace(assumed, lengthscale=assumed.lengthscale * lengthscale_factor)
    return load_setting(run.network, vehicle or run.vehicle, assumed)
