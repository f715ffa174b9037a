"""Playing one run: a method drives trips in a world, and the results go to the run folder.

`run_loop` is Algorithm 1: observe, choose, drive and learn for a number of rounds. Source:
Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian Process
Bandits*.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  brings its own BLAS, which can be limited only once it is loaded
from threadpoolctl import threadpool_limits

from evroute.arms import Feedback, Round
from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.log import BatteryLog, Log, Logbook, RandomRouteProbe
from evroute.experiments.regret import RegretScorer
from evroute.experiments.runs import Run, RunFolder
from evroute.experiments.streams import streams
from evroute.learning.change import learn_ended
from evroute.learning.edges.errors import add_errors
from evroute.learning.intervals import LEVELS, PastErrors
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.parts import model_options
from evroute.methods.setting import load_setting
from evroute.model.base import HasPendingBatch
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.forecasts.pace import Pace
from evroute.policy.agent import Agent
from evroute.worlds.demand.demand import load_demand, vehicles_of
from evroute.worlds.demand.in_flight import Flight, InFlight
from evroute.worlds.environment import Environment


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
        seeds = streams(run, setting)
        trips = load_demand(run.trip, setting, seeds.trips)
        world = run.world.build(setting, trips, seeds.world)
        vehicles = ("", *vehicles_of(trips))
        learners = make_learners(run, vehicles, seeds.policy, seeds.model)
        audit = RandomRouteProbe(
            search=setting.search, potential_wh=setting.potential_wh, seeds=seeds.audit
        )
        charge = (
            BatteryLog(
                {
                    vehicle: Battery.of_percent(
                        learner.setting.vehicle.battery_kwh, run.soc, run.reserve
                    )
                    for vehicle, learner in learners.items()
                }
            )
            if run.soc is not None
            else None
        )
        errors = {vehicle: PastErrors() for vehicle in vehicles}
        log = run_loop(
            {vehicle: learner.agent for vehicle, learner in learners.items()},
            world,
            make_scorers(run, vehicles),
            horizon=run.horizon,
            on_round=on_round,
            in_flight=run.in_flight,
            errors=errors,
            probes=Probes(audit if run.audit else None, charge),
        )
        for vehicle, learner in learners.items():
            learned = LearnedBelief(
                learner.agent.model,
                learner.space,
                method,
                learner.setting,
                errors[vehicle],
                pace=_pace(log, setting.network, vehicle),
                trips=int(np.sum(log.rounds["vehicle"] == vehicle)),
            )
            learned.save(folder.belief_path(run.name, vehicle))
        folder.write(run, log)


def _pace(log: Log, network: RoadNetwork, vehicle: str) -> Pace:
    """Return the pace learned from the trips of a vehicle."""
    pace, routes = Pace.of_network(network), log.routes
    first = np.searchsorted(routes["t"], log.rounds["t"])
    for driven_by, departed_s, edge, travel_s in zip(
        log.rounds["vehicle"],
        log.rounds["departed_s"].tolist(),
        np.split(routes["edge"], first[1:]),
        np.split(routes["travel_s"], first[1:]),
        strict=True,
    ):
        if driven_by == vehicle:
            pace.learn(edge, travel_s, departed_s)
    return pace


@dataclass(frozen=True, slots=True)
class Probes:
    """Further columns of the log of a run.

    Parameters
    ----------
    audit
        Random routes to drive as well, or None for none.
    charge
        Log of the battery, or None for none.
    """

    audit: RandomRouteProbe | None = None
    charge: BatteryLog | None = None

    def before(
        self, agent: Agent, environment: Environment, request: Round, widened: float
    ) -> dict[str, float]:
        """Return the columns of the random route of a round.

        Parameters
        ----------
        agent, environment, request
            As in `RandomRouteProbe.row`.
        widened
            Factor on the deviations of forecasts.
        """
        if self.audit is None:
            return {}
        return self.audit.row(agent, environment, request, self.charge, widened)


NO_PROBES = Probes()


@dataclass(frozen=True, slots=True, eq=False)
class _Driver:
    """The learner of one vehicle's trips: its agent, and the errors of its past trips."""

    agent: Agent
    errors: PastErrors

    @property
    def changed(self) -> bool:
        """Whether the errors became larger. Never if the agent does not restart."""
        return self.agent.restarts and self.errors.changed

    def take(self, trip: Feedback, expected: tuple[float, float]) -> None:
        """Learn a trip, its times, and the error of its expected energy and deviation, Wh."""
        add_errors(self.errors, self.agent.space, trip, *expected)
        self.agent.tell(trip)

    def restart(self) -> None:
        """Return the agent to its start, and begin the tests for changes anew."""
        self.agent.restart()
        self.errors.restart()


def run_loop(
    agents: Mapping[str, Agent],
    environment: Environment,
    judges: Mapping[str, RegretScorer],
    *,
    horizon: int,
    on_round: Callable[[int], None],
    in_flight: Flight = 1,
    errors: Mapping[str, PastErrors] | None = None,
    probes: Probes = NO_PROBES,
) -> Log:
    """Drive ``horizon`` trips and return the log.

    Parameters
    ----------
    agents
        Learners by the vehicle names of the trips. "" is the run's own vehicle.
    environment
        World in which trips are driven.
    judges
        Scorers of the regret of routes, by vehicle.
    horizon
        Number of trips.
    on_round
        Called with t after each round.
    in_flight
        Delay of feedback (`demand.in_flight`). The update of a round is logged with all feedback
        between it and the next round. A model that waits for its batch
        (``model.base.HasPendingBatch``) receives all pending trips.
    errors
        Errors of past trips by vehicle, to which every ended trip adds its own. Empty if None.
    probes
        Further columns of the log.

    Raises
    ------
    NoRouteError
        If the destination of a round cannot be reached.
    """
    logbook = Logbook()
    stopwatch = _Stopwatch()
    for model in {id(each.model): each.model for each in agents.values()}.values():
        stopwatch.attach(model, "posterior", "posterior_s")
    for space in {id(each.space): each.space for each in agents.values()}.values():
        stopwatch.attach(space, "route", "search_s")
    flight = InFlight(in_flight)
    past = errors or {vehicle: PastErrors() for vehicle in agents}
    drivers = {vehicle: _Driver(agent, past[vehicle]) for vehicle, agent in agents.items()}
    expected: dict[Feedback, tuple[float, float]] = {}

    def update(trips: Iterable[Feedback]) -> None:
        for ended in trips:
            learn_ended(drivers[ended.vehicle], ended, expected.pop(ended))

    for t in range(1, horizon + 1):
        request = environment.observe(t)
        update(flight.before(request))
        agent = agents[request.vehicle]
        if isinstance(agent.model, HasPendingBatch) and agent.model.waits:
            update(flight.rest())
        stopwatch.lap()
        started = perf_counter()
        route = agent.ask(request)
        asked = perf_counter()
        laps = stopwatch.lap()
        predicted_wh, predicted_sd_wh = agent.predict(request, route)
        widened = past[request.vehicle].inflation
        audited = probes.before(agent, environment, request, widened)
        feedback = environment.drive(request, route)
        expected[feedback] = predicted_wh, predicted_sd_wh
        spread = past[request.vehicle].spread
        halves_wh = {
            f"half{100 * level:.0f}_wh": spread.half_width(level) * predicted_sd_wh
            for level in LEVELS
        }
        charged = (
            probes.charge.row(
                agent, request, route, feedback, expected_wh=predicted_wh, widened=widened
            )
            if probes.charge
            else {}
        )
        drove = perf_counter()
        update(flight.after(feedback))
        laps["update_s"] = perf_counter() - drove
        laps["index_s"] = asked - started - laps["posterior_s"] - laps["search_s"]
        logbook.timed(laps)
        logbook.diagnosed(agent.model, agent.guard, agent)
        logbook.drove(
            request,
            route,
            feedback,
            judges[request.vehicle].score(environment, request, route),
            agent.index,
        )
        logbook.add(
            {"predicted_wh": predicted_wh, "predicted_sd_wh": predicted_sd_wh, **halves_wh}
            | charged
            | audited
        )
        on_round(t)
    update(flight.rest())
    return logbook.close()


class _Stopwatch:
    """Seconds spent in selected methods of objects, so that agents and models need no clocks."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def attach(self, owner: object, method: str, label: str) -> None:
        """Count the time of every call of a method of one object under a label."""
        untimed = getattr(owner, method)
        self._seconds[label] = 0.0

        def timed(*args: Any) -> Any:
            started = perf_counter()
            try:
                return untimed(*args)
            finally:
                self._seconds[label] += perf_counter() - started

        setattr(owner, method, timed)

    def lap(self) -> dict[str, float]:
        """Return the seconds by label since the last lap, and reset them."""
        seconds, self._seconds = self._seconds, dict.fromkeys(self._seconds, 0.0)
        return seconds
