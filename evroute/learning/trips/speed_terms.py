"""Terms of a trip whose way is unknown, by its speeds.

Length, minutes and drag are sums over the steps between two readings of the speed. Stops and turns
are the energy that changes of speed add to steady driving: over windows of `WINDOW_S` the work at
the wheels, ``rolling + drag + change of kinetic energy``, is divided by the efficiency of
propulsion where it is positive and multiplied by that of recuperation where it is negative. A
window is longer than the steps of a speedometer of whole km/h, which would count as changes of
speed. Heights are unknown, so the trip counts as level.
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.learning.roads.trip_record import Terms
from evroute.learning.trips.terms import (
    DrivenEdges,
    coefficient_prior,
    departed,
    edge_numbers,
    joining,
)

WINDOW_S = 5.0
STANDING_M = 1e-6
"""Length that stands for a step without motion, which has minutes alone, m."""


def speed_terms(
    vehicle: Vehicle, time_s: FloatArray, speed_mps: FloatArray, known: DrivingConditions
) -> Terms:
    """Return the terms of a trip by physics and name.

    Parameters
    ----------
    vehicle
        The vehicle.
    time_s, speed_mps
        (p,) times, never decreasing, s, and speeds, m/s.
    known
        Conditions of the day.
    """
    steps = edge_numbers(vehicle, _steps(time_s, speed_mps), known).sum(axis=1)
    of_turns = np.append(steps, changes_wh(known.load(vehicle), time_s, speed_mps))
    found = {}
    for physics, numbers in (("driving", of_turns), ("eq8", steps)):
        prior = coefficient_prior(vehicle, driving=physics == "driving")
        row = numbers @ joining(vehicle, known, prior)
        row = departed(row, known.heating(vehicle), prior)
        found[physics] = dict(zip(prior.names, row.tolist(), strict=True))
    return found


def steady_wh(vehicle: Vehicle, time_s: FloatArray, speed_mps: FloatArray) -> float:
    """Return the energy of a level trip at its speeds without changes of speed, Wh.

    Parameters
    ----------
    vehicle
        The vehicle as loaded.
    time_s, speed_mps
        As in `speed_terms`.
    """
    resisted_j = _resisted_j(vehicle, time_s, speed_mps).sum()
    seconds = float(time_s[-1] - time_s[0])
    driven_j = resisted_j / vehicle.propulsion_efficiency
    return float(driven_j + vehicle.auxiliary_w * seconds) / J_PER_WH


def changes_wh(vehicle: Vehicle, time_s: FloatArray, speed_mps: FloatArray) -> float:
    """Return the energy that changes of speed add to steady driving, Wh, at least 0.

    Parameters
    ----------
    vehicle
        The vehicle as loaded.
    time_s, speed_mps
        As in `speed_terms`.
    """
    window = np.floor((time_s - time_s[0]) / WINDOW_S)
    first = np.flatnonzero(np.diff(window, prepend=-1.0))
    mean_mps = np.add.reduceat(speed_mps, first) / np.diff(first, append=len(speed_mps))
    if len(mean_mps) < 2:
        return 0.0
    middle_s = np.add.reduceat(time_s, first) / np.diff(first, append=len(time_s))
    gained_j = 0.5 * vehicle.mass_kg * np.diff(mean_mps**2)
    resisted_j = _resisted_j(vehicle, middle_s, mean_mps)
    work_j = resisted_j + gained_j
    driven_j = np.where(
        work_j >= 0.0,
        work_j / vehicle.propulsion_efficiency,
        work_j * vehicle.recuperation_efficiency,
    )
    added_j = float((driven_j - resisted_j / vehicle.propulsion_efficiency).sum())
    return max(added_j, 0.0) / J_PER_WH


def _resisted_j(vehicle: Vehicle, time_s: FloatArray, speed_mps: FloatArray) -> FloatArray:
    """Return the work of rolling resistance and drag over each step, (p - 1,) J."""
    mean_mps = (speed_mps[1:] + speed_mps[:-1]) / 2
    rolling_n = vehicle.mass_kg * GRAVITY_MPS2 * vehicle.rolling
    drag_n = 0.5 * AIR_DENSITY_KGPM3 * vehicle.drag * vehicle.front_m2 * mean_mps**2
    return (rolling_n + drag_n) * mean_mps * np.diff(time_s)


def _steps(time_s: FloatArray, speed_mps: FloatArray) -> DrivenEdges:
    """Return the steps of a trip as level edges. Those without time have no length."""
    step_s = np.diff(time_s)
    moving = step_s > 0
    step_s = step_s[moving]
    length_m = np.maximum(((speed_mps[1:] + speed_mps[:-1]) / 2)[moving] * step_s, STANDING_M)
    level = np.zeros(len(length_m))
    return DrivenEdges(length_m, level, level, step_s / length_m)
