"""Replay of simulated runs: the new tree learns from the old tree's choices and measurements.

One flipped tie ends the equality of two runs, so a replay compares every round on one history.
A tree's interpreter runs this script with the arguments ``record TAPE COMMAND...`` or
``follow TAPE COMMAND...``. It carries out an ``evroute`` command and watches the class of agents.
Both modes keep the index, the posterior mean and deviation of all arms and the route of every
choice, and the forecast and the measured energies of every trip. ``record`` writes them to TAPE.
``follow`` takes the routes and the measurements from TAPE instead of its own, and writes its
numbers beside TAPE, with the ending ``.new.npz``.
"""

import sys
from collections import Counter
from dataclasses import replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from runpy import run_module
from typing import Any

import numpy as np

AGENTS = ("evroute.policy.agent:Agent",)
"""Places of the class of agents, the newest first; it has `propose`, `predict` and `tell`."""


class Tape:
    """Numbers of a run by kind and place, such as ``mean/12``; ``old``: those of the old tree."""

    def __init__(self, old: dict[str, Any] | None) -> None:
        self.old = old
        self.numbers: dict[str, Any] = {}
        self._counts: Counter[str] = Counter()

    def keep(self, kind: str, value: Any) -> Any:
        """Keep a value; return the old tree's value of that place, or the same while recording."""
        name = f"{kind}/{self._counts[kind]}"
        self._counts[kind] += 1
        self.numbers[name] = np.array(value)
        if self.old is None:
            return self.numbers[name]
        if name not in self.old:
            raise SystemExit(f"replay: the old tree's run has no {name}")
        return self.old[name]


def watch(agents: type, tape: Tape) -> None:
    """Record every agent on a tape; with an old tape, replace its choices and measurements."""
    propose, predict, tell = agents.propose, agents.predict, agents.tell

    @wraps(propose)
    def watched_propose(agent: Any, request: Any) -> Any:
        belief = agent.model.posterior(agent.space.arms(request))
        tape.keep("mean", belief.mean_wh)
        tape.keep("std", belief.std_wh)
        rule = agent.weight_rule

        def watched_rule(index_wh: Any, *others: Any) -> Any:
            tape.keep("index", index_wh)
            return rule(index_wh, *others)

        agent.weight_rule = watched_rule
        try:
            route = propose(agent, request)
        finally:
            agent.weight_rule = rule
        return replace(route, edges=tuple(tape.keep("route", route.edges).tolist()))

    @wraps(predict)
    def watched_predict(agent: Any, request: Any, route: Any) -> Any:
        forecast = predict(agent, request, route)
        tape.keep("forecast", forecast)
        return forecast

    @wraps(tell)
    def watched_tell(agent: Any, feedback: Any) -> None:
        measured = {
            name: tape.keep(name, getattr(feedback, name)) for name in ("energy_wh", "travel_s")
        }
        tell(agent, replace(feedback, **measured))

    agents.propose, agents.predict, agents.tell = watched_propose, watched_predict, watched_tell


def _found(places: tuple[str, ...]) -> type:
    for place in places:
        module, _, name = place.partition(":")
        try:
            found: type = getattr(import_module(module), name)
        except (ImportError, AttributeError):
            continue
        return found
    there = ", ".join(places)
    raise SystemExit(f"replay: no class of agents at {there}; name its place in {__file__}")


def main(mode: str, file: str, *command: str) -> None:
    """Carry out a command and write its tape."""
    path = Path(file)
    old = dict(np.load(path)) if mode == "follow" else None
    tape = Tape(old)
    watch(_found(AGENTS), tape)
    sys.argv = ["evroute", *command]
    try:
        run_module("evroute", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        if stop.code:
            raise
    if not any(name.startswith("index/") for name in tape.numbers):
        raise SystemExit("replay: no index went through the agents' rule of weights; see `watch`")
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path if mode == "record" else path.with_suffix(".new.npz")).open("wb") as target:
        np.savez(target, **tape.numbers)


if __name__ == "__main__":
    main(*sys.argv[1:])
