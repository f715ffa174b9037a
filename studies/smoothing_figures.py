"""Smoothing of learned speeds: energy that learned speeds save without a Gaussian process.

    python studies/smoothing_figures.py denver 24
    python studies/smoothing_figures.py monaco 12

Development worlds of `rough` from seed 100 on, with a random pair of ends 3 to 7 km apart. Speeds
are used as measured, smoothed along each trip (`speed_filter`), or smoothed along each trip
after averaging over passes, with less smoothing where an edge has more passes.
"""

import sys
from unittest.mock import patch
from zlib import crc32

import numpy as np

from evroute.arms import Feedback
from evroute.arrays import FloatArray
from evroute.energy.defaults import PAPER_VEHICLE as DEFAULT
from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.play import run_loop
from evroute.experiments.runs import Run
from evroute.methods.method import Method
from evroute.methods.setting import load_setting
from evroute.planning.forecasts.day_profile import DayProfile
from evroute.planning.spaces import driven_speeds, speed_filter
from evroute.planning.spaces.driven_speeds import PREFIX, DrivenSpeeds
from evroute.worlds.demand.demand import load_demand
from evroute.worlds.world import load_world

METHOD = Method(model="factor", index="greedy", arms="turns", learn_speeds=True, factor_std=1e-6)
FIRST_SEED, TRIPS, LAST, TRIP = 100, 200, 50, "random pair 3-7 km"
MODES = ("as measured", "smoothed", "smoothed by passes")


def learn_by_passes(speeds: DrivenSpeeds, feedback: Feedback, known_mps: FloatArray) -> None:
    """Learn the speeds of a trip, smoothed along it after averaging over passes."""
    edge = feedback.id
    driven_mps = speeds.length_m[edge] / feedback.travel_s
    measured = np.log(driven_mps / known_mps[edge])
    raw = vars(speeds).setdefault("raw", DayProfile(len(known_mps)))
    raw.add(edge, measured, 0.0)
    mean, passes = raw.mean()[edge], raw.moments[0, 0, edge]
    noise = np.median(np.abs(np.diff(measured))) / speed_filter.NORMAL_DIFFERENCE
    noises = noise * np.sqrt((1 / passes[:, np.newaxis] + 1 / passes) / 2)
    place = np.arange(len(edge))
    apart = np.subtract.outer(place, place) / speed_filter.SMOOTHED_EDGES
    differ = np.subtract.outer(mean, mean) / (speed_filter.SAME_SPEED * noises)
    weight = passes * np.exp(-0.5 * (apart**2 + differ**2))
    state = speeds.state()
    state[f"{PREFIX}passes"][edge] = 1.0
    slower = np.exp(-weight @ mean / weight.sum(axis=1))
    state[f"{PREFIX}seconds"][edge] = speeds.map_s[edge] * slower
    state[f"{PREFIX}totals"] = np.ones(3)
    speeds.restore(state)


def saved_wh(network: str, seed: int, mode: str) -> float:
    """Return the energy saved against the eq. 8 route in the last trips of a world, Wh a trip."""
    run = Run(
        network, TRIP, METHOD, "potential-rectified", seed, TRIPS, DEFAULT, load_world("rough")
    )
    setting = load_setting(network, DEFAULT, run.assumed)
    key = crc32(setting.network.name.encode()), crc32(TRIP.encode())
    worlds, policies, models, trips, _ = np.random.SeedSequence(seed, spawn_key=key).spawn(5)
    world = run.world.build(setting, load_demand(TRIP, setting, trips), worlds)
    agents = {"": make_learners(run, ("",), policies, models)[""].agent}
    learn = learn_by_passes if mode == MODES[2] else DrivenSpeeds.learn
    smooth = np.asarray if mode == MODES[0] else driven_speeds.smoothed
    with (
        patch.object(DrivenSpeeds, "learn", learn),
        patch.object(driven_speeds, "smoothed", smooth),
    ):
        log = run_loop(
            agents, world, make_scorers(run, ("",)), horizon=TRIPS, on_round=lambda t: None
        )
    return float((log.rounds["eq8_wh"] - log.rounds["true_wh"])[-LAST:].mean())


def main(network: str, worlds: int) -> None:
    """Print the energy saved by each way of smoothing, and paired differences."""
    seeds = range(FIRST_SEED, FIRST_SEED + worlds)
    saved = {mode: np.array([saved_wh(network, s, mode) for s in seeds]) for mode in MODES}
    for mode, each in saved.items():
        more = each - saved[MODES[1]]
        print(
            f"{mode}: saves {each.mean():.2f} Wh a trip, {more.mean():+.2f} ± "
            f"{1.96 * more.std(ddof=1) / np.sqrt(worlds):.2f} against smoothed, another route in "
            f"{np.mean(np.abs(more) > 0.05):.0%} of the worlds"
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
