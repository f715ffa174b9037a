"""Algorithm 1: observe, choose, drive and learn for a number of rounds.

Source: Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian
Process Bandits*.
"""

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import Any

from evroute.arms import Feedback
from evroute.experiments.battery_log import BatteryLog
from evroute.experiments.log import Log, Logbook
from evroute.experiments.random_route_probe import RandomRouteProbe
from evroute.experiments.regret import RegretScorer
from evroute.learning.intervals import LEVELS, PastErrors
from evroute.model.base import HasPendingBatch
from evroute.planning.arm_space import ExpectsTimes
from evroute.policy.agent import Agent
from evroute.worlds.demand.in_flight import Flight, InFlight
from evroute.worlds.environment import Environment


def run(
    agents: Mapping[str, Agent],
    environment: Environment,
    judges: Mapping[str, RegretScorer],
    *,
    horizon: int,
    on_round: Callable[[int], None],
    in_flight: Flight = 1,
    errors: Mapping[str, PastErrors] | None = None,
    audit: RandomRouteProbe | None = None,
    charge: BatteryLog | None = None,
) -> Log:
    """Drive ``horizon`` trips and return the log.

    Parameters
    ----------
    agents
        Learners by the vehicle names of the trips; "" is the run's own vehicle.
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
        Errors of past trips by vehicle, to which every ended trip adds its own; empty if None.
    audit
        Random routes to drive as well; None for none.
    charge
        Log of the battery; None for none.

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
    expected: dict[Feedback, tuple[float, float]] = {}

    def update(trips: Iterable[Feedback]) -> None:
        for ended in trips:
            agent, errors_of_car = agents[ended.vehicle], past[ended.vehicle]
            if isinstance(agent.space, ExpectsTimes):
                errors_of_car.add_time(agent.space.time_error(ended))
            agent.tell(ended)
            mean_wh, sd_wh = expected.pop(ended)
            errors_of_car.add(float(ended.energy_wh.sum()) - mean_wh, sd_wh)
            if errors_of_car.changed and agent.restart():
                errors_of_car.restart()

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
        audited = audit.row(agent, environment, request, charge, widened) if audit else {}
        feedback = environment.drive(request, route)
        expected[feedback] = predicted_wh, predicted_sd_wh
        spread = past[request.vehicle].spread
        halves_wh = {
            f"half{100 * level:.0f}_wh": spread.quantile(level) * predicted_sd_wh
            for level in LEVELS
        }
        charged = {}
        if charge:
            charged = charge.row(
                agent, request, route, feedback, expected_wh=predicted_wh, widened=widened
            )
        drove = perf_counter()
        update(flight.after(feedback))
        laps["update_s"] = perf_counter() - drove
        laps["index_s"] = asked - started - laps["posterior_s"] - laps["search_s"]
        logbook.timed(laps)
        logbook.diagnosed(agent.model, agent.guard, agent)
        score = judges[request.vehicle].score(environment, request, route)
        logbook.drove(request, route, feedback, score, agent.index)
        predicted = {"predicted_wh": predicted_wh, "predicted_sd_wh": predicted_sd_wh, **halves_wh}
        logbook.add(predicted | charged | audited)
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
