"""Closed drives that charge the battery, searched in many beliefs (docs/how-to/check-model.md).

    python studies/conservation_figures.py 1000 --seconds 180

Beliefs of three kinds in turn (trips with either physics, and the exact model of edges) learn
random trips of worlds on Denver. Each is checked before its first trip and after 2, 5, 10, 20 and
40 trips. Where EVROUTE_DATA_DIR names a folder with ``drives/`` and ``ioniq5/``, the beliefs of
these logs are checked after each trip, too. The number of beliefs or the seconds of CPU end it.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from made_years import measured, world_of
from threadpoolctl import threadpool_limits

from evroute import Belief, check_model
from evroute.experiments.benchmark.data import load_data
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting, load_setting

WORLDS = ("physics", "rough", "drift", "cold", "wind", "payload", "congestion", "year")
VEHICLES = ("nissan-leaf-40", "renault-zoe", "tesla-model-3")
AFTER = (0, 2, 5, 10, 20, 40)


def belief_of(setting: Setting, number: int) -> Belief:
    """Return a belief of one of three kinds in turn, before any trip."""
    if number % 3 == 2:
        return LearnedBelief.of_method({"model": "exact", "index": "greedy"}, setting)
    return TripEnergies(setting, physics=("driving", "eq8")[number % 3])


def of_logs() -> Iterator[tuple[str, Belief]]:
    """Yield the beliefs of measured logs after each of their trips."""
    for data in load_data(Path(os.environ["EVROUTE_DATA_DIR"])):
        if not len(data.setting.network.turns):
            continue  # its network has no turns, and so no closed drive
        belief = TripEnergies(data.setting)
        for trip in data.trips:
            belief.learn(trip)
            yield data.name, belief


def of_worlds() -> Iterator[tuple[str, Belief]]:
    """Yield beliefs of worlds without end."""
    for number in count():
        world = WORLDS[number % len(WORLDS)]
        setting = load_setting("denver", VEHICLES[number % len(VEHICLES)])
        belief = belief_of(setting, number // len(WORLDS))
        trips = measured(setting, world_of(setting, world, number), AFTER[-1])
        for k in range(AFTER[-1] + 1):
            if k in AFTER:
                yield f"{world}, {type(belief).__name__}", belief
            if k < AFTER[-1]:
                belief.learn(trips[k])


def main() -> None:
    """Check beliefs, and print their numbers and each loop."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("beliefs", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    checked, failed, raised = Counter[str](), Counter[str](), Counter[str]()
    sources = [of_worlds()]
    if os.environ.get("EVROUTE_DATA_DIR"):
        sources.insert(0, of_logs())
    with threadpool_limits(1):
        for name, belief in (each for source in sources for each in source):
            if sum(checked.values()) >= options.beliefs or time.process_time() > options.seconds:
                break
            found = check_model(belief)
            checked[name] += 1
            raised[name] += found.raised > 0
            if not found.holds:
                failed[name] += 1
                print(f"{name}, {belief.trips} trips: {found.laws[0].detail}")
    for name, number in sorted(checked.items()):
        print(f"  {name}: {number}, {failed[name]} with a loop, {raised[name]} with raised arms")
    counts = (sum(each.values()) for each in (checked, failed, raised))
    print("{} beliefs, {} with a loop that gains, {} with raised arms".format(*counts))


if __name__ == "__main__":
    main()
