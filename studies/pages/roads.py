"""Table of *real trips*: deviations of single roads by each option ``roads`` of the belief.

Each log is learned in order of departure with ``roads=sections``, ``kernel`` and ``none``, on the
same trips. Differences from sections have 90 % intervals by a paired block bootstrap. A way to
learn roads takes the place of sections unless the interval of error or score is wholly on the bad
side on two real logs. Made years: those of the benchmark, and two more of the world ``year``.
"""

from collections.abc import Iterator

import numpy as np

from evroute.experiments.benchmark.measures import Expected, paired
from evroute.learning.baseline import FEWEST_TRIPS
from evroute.learning.roads.road_choice import ROADS
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import load_setting
from studies.made_years import YEAR, measured, world_of
from studies.pages.ablation import ERROR, SCORE, Log, in_order, logs, words
from studies.pages.tables import store

MADE = {"monaco": ("renault-zoe", 12), "luxembourg": ("nissan-leaf-40", 14)}
"""Vehicle and seed of a made year by its network."""
MADE_TRIPS = 300
WORST = 2
"""Real logs on which a way may not be significantly worse."""


def all_logs() -> Iterator[Log]:
    """Yield the logs of the ablation, and made years in two more cities."""
    yield from logs()
    for network, (vehicle, seed) in MADE.items():
        setting = load_setting(network, vehicle)
        year = YEAR | {"noise_share": 0.2, "trip_std": 0.1}
        trips = in_order(measured(setting, world_of(setting, year, seed), MADE_TRIPS))
        yield Log(f"made year, {network}", setting, trips, "driving", real=False)


def play(log: Log, roads: str) -> Expected:
    """Return the expectations of a log with an option ``roads``."""
    energies, rows = TripEnergies(log.setting, physics=log.physics, roads=roads), []
    for trip in log.trips:
        expected = energies.expected(trip)
        rows.append([expected[name] for name in ("predicted_wh", "low90_wh", "high90_wh")])
        energies.learn(trip)
    measured_wh = np.array([trip.energy_wh.sum() for trip in log.trips])
    return Expected(measured_wh, *np.array(rows).T)


def roads() -> None:
    """Write error, share held and score of each way to learn roads, and the verdicts."""
    others = [name for name in ROADS if name != "sections"]
    worse: dict[str, list[str]] = {name: [] for name in others}
    rows: list[list[str]] = []
    for log in all_logs():
        played = {name: play(log, name) for name in ROADS}
        base = played["sections"]
        late = np.arange(FEWEST_TRIPS, len(base.measured_wh))
        for name in ("sections", *others):
            found = played[name]
            row = [f"{log.name}: {name}", f"{100 * float(found.error(late)):.2f} %"]
            row += [f"{100 * float(found.held(late)):.0f} %", f"{float(found.score_wh(late)):,.0f}"]
            changes = ["", ""]
            if name in others:
                error, score = (paired(each, found, base) for each in (ERROR, SCORE))
                changes = [words(error, 100, 2), words(score, 1, 0)]
                if log.real and (error[1] > 0.0 or score[1] > 0.0):
                    worse[name].append(log.name)
            rows.append(row + changes)
    for name, bad in worse.items():
        verdict = "refused" if len(bad) >= WORST else "not refused"
        listed = "; ".join(bad) or "none"
        rows.append([f"{name}: real logs significantly worse", listed, verdict, "", "", ""])
    columns = ["log: roads", "error from trip 4 on", "90 % held", "interval score, Wh"]
    columns += ["error over sections', points", "score over sections', Wh"]
    store("road-kernel", columns, rows, command="python -m studies.pages --run road-kernel")
