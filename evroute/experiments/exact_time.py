"""Foretold time of exact models whose contexts vary: the square of the distinct arms a trip.

An arm in a new context joins the state of an exact model. So its time grows with the cube of the
trips, until the contexts return.
"""

import logging
from collections.abc import Iterable
from time import process_time

import numpy as np
from numpy.random import SeedSequence
from scipy.linalg.blas import dsymm

from evroute.experiments.runs import Run
from evroute.methods.method import is_sparse, make_space
from evroute.methods.parts import made_by, model_options
from evroute.methods.setting import load_setting
from evroute.model.exact import ExactGP
from evroute.planning.spaces.arm_space import least_energy_route
from evroute.worlds.demand.demand import load_demand

PROBED_TRIPS = 60
"""Trips whose routes of least energy by eq. 8 are counted."""
WARNED_S = 120.0
"""CPU time of a run from which a warning is given, s."""
_TIMED = 512

log = logging.getLogger(__name__)


def exact_time_s(run: Run) -> float:
    """Return the CPU time that an exact model needs for its predictions in a run, s.

    It is 0 for other models, where the sparse model takes its place, and in worlds without a
    temperature of each trip. The distinct arms of the first trips, on routes of least energy by
    eq. 8, are extrapolated by a power of the trips.
    """
    exact = issubclass(made_by(model_options(run.method.model)), ExactGP)
    if not exact or not run.world.tells_temperature or is_sparse(run.method, run.assumed):
        return 0.0
    setting = load_setting(run.network, run.vehicle, run.assumed)
    trips = load_demand(run.trip, setting, SeedSequence(0))
    world, space = run.world.build(setting, trips, SeedSequence(1)), make_space(run.method, setting)
    seen, distinct = set[tuple[int, bytes]](), []
    for t in range(1, PROBED_TRIPS + 1):
        request = world.observe(t)
        arms = space.arms(request)
        rows = arms.rows_of(
            space.arms_of_route(least_energy_route(space, arms.prior_mean_wh, request))
        ).tolist()
        seen |= {(row, arms.features[row].tobytes()) for row in rows}
        distinct.append(len(seen))
    growth = np.log2(distinct[-1] / distinct[PROBED_TRIPS // 2 - 1])
    at_trips = distinct[-1] * (np.arange(1, run.horizon + 1) / PROBED_TRIPS) ** growth
    return float(2.0 * setting.network.n_edges * np.sum(at_trips**2) * _flop_s())


def warn_of_exact_time(runs: Iterable[Run]) -> None:
    """Log a warning for each kind of run whose exact model would take minutes."""
    kinds = {(run.network, run.trip, run.method.name, run.world.label): run for run in runs}
    for run in kinds.values():
        if (foretold_s := exact_time_s(run)) > WARNED_S:
            log.warning(
                "run %s: contexts vary, and predictions of the exact model take about %.0f min of "
                "CPU, most of them in the last trips. The time of a trip of model 'svgp' does "
                "not grow",
                run.name,
                foretold_s / 60.0,
            )


def _flop_s() -> float:
    """Return the CPU time of one operation of a product with a symmetric matrix, s."""
    square = np.ones((_TIMED, _TIMED), order="F")
    started = process_time()
    dsymm(1.0, square, square)
    return (process_time() - started) / (2.0 * _TIMED**3)
