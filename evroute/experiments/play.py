"""Playing one run: a method drives trips in a world, and the results go to the run folder."""

from collections.abc import Callable, Sequence
from zlib import crc32

import numpy as np
import scipy.linalg  # noqa: F401  brings its own BLAS, which can be limited only once it is loaded
from threadpoolctl import threadpool_limits

from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.battery_log import BatteryLog
from evroute.experiments.log import Log
from evroute.experiments.loop import run as run_loop
from evroute.experiments.random_route_probe import RandomRouteProbe
from evroute.experiments.runs import Run, RunFolder
from evroute.learning import belief
from evroute.learning.intervals import PastErrors
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.pace import Pace
from evroute.methods.parts import model_options
from evroute.methods.setting import load_setting
from evroute.model.refitting import Refitting
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.worlds.demand.demand import load_demand, vehicles_of


def play(run: Run, folder: RunFolder, on_round: Callable[[int], None]) -> None:
    """Play one run and write its files.

    The random streams depend on network, trip and seed only: methods are compared in the same
    worlds, and no method's draws depend on another's.

    Parameters
    ----------
    run
        Run to play.
    folder
        Run folder that receives its files.
    on_round
        Called with the number of each finished round.
    """
    method = run.method
    model_options(method.model)  # loads torch, whose threads can be limited once it is loaded
    with threadpool_limits(1):
        setting = load_setting(run.network, run.vehicle, run.assumed)
        names = (crc32(setting.network.name.encode()), crc32(run.trip.encode()))
        world_seeds, policy_seeds, model_seeds, trip_seeds, audit_seeds = np.random.SeedSequence(
            run.seed, spawn_key=names
        ).spawn(5)
        trips = load_demand(run.trip, setting, trip_seeds)
        world = run.world.build(setting, trips, world_seeds)
        vehicles = ("", *vehicles_of(trips))
        learners = make_learners(run, vehicles, policy_seeds, model_seeds)
        audit = RandomRouteProbe(
            search=setting.search, potential_wh=setting.potential_wh, seeds=audit_seeds
        )
        charge = None
        if run.soc is not None:
            cars = {vehicle: learner.setting.vehicle for vehicle, learner in learners.items()}
            batteries = {
                name: Battery.of_percent(car.battery_kwh, run.soc, run.reserve)
                for name, car in cars.items()
            }
            charge = BatteryLog(batteries)
        errors = {vehicle: PastErrors() for vehicle in vehicles}
        log = run_loop(
            {vehicle: learner.agent for vehicle, learner in learners.items()},
            world,
            make_scorers(run, vehicles),
            horizon=run.horizon,
            on_round=on_round,
            in_flight=run.in_flight,
            errors=errors,
            audit=audit if run.audit else None,
            charge=charge,
        )
        for vehicle, learner in learners.items():
            if (
                vehicle and run.share_belief
            ):  # what all share is kept once, as of the run's own vehicle
                continue
            learned = LearnedBelief(
                learner.model,
                learner.space,
                method,
                learner.setting,
                errors[vehicle],
                pace=_pace(log, setting.network, vehicles if run.share_belief else (vehicle,)),
            )
            belief.save(folder.belief_path(run.name, vehicle), learned)
        first = learners[""].model
        if isinstance(first, Refitting):
            folder.write_fits(run.name, first.fits)
        folder.write(run, log)


def _pace(log: Log, network: RoadNetwork, vehicles: Sequence[str]) -> Pace:
    """Return the pace learned from the trips of some vehicles."""
    pace, routes = Pace.of_network(network), log.routes
    first = np.searchsorted(routes["t"], log.rounds["t"])
    for vehicle, departed_s, edge, travel_s in zip(
        log.rounds["vehicle"],
        log.rounds["departed_s"].tolist(),
        np.split(routes["edge"], first[1:]),
        np.split(routes["travel_s"], first[1:]),
        strict=True,
    ):
        if vehicle in vehicles:
            pace.learn(edge, travel_s, departed_s)
    return pace
