"""Battery energy of a driven trace, step by step, by SUMO's electric model on our inclines.

SUMO's model (Kurczveil, López and Schnieder 2014; ``HelpersEnergy::compute``) at speed v, with w
one step before:

    P = m g v sin(incline) + m (v² - w²) / (2 dt) + A c_w rho v³ / 2 + c_r m g v

divided by the propulsion efficiency where it is positive, times the recuperation efficiency where
it is negative, plus the constant load. No radial drag and no rotating mass. Here g and rho are
taken from eq. 8 or from the day, rolling is proportional to cos(incline), and drag includes the
headwind, as there.
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.constants import GRAVITY_MPS2, J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.network.road_network import RoadNetwork
from evroute.worlds.sumo_drive import STEP_S, Trace

MATCHED_M = 50.0


def energy_wh(
    trace: Trace,
    network: RoadNetwork,
    vehicle: Vehicle,
    headwind_mps: FloatArray,
    air_density_kgpm3: float,
) -> FloatArray:
    """Return the battery energy of each edge of a trace, (k,) Wh.

    Parameters
    ----------
    trace
        Speeds of a drive over k edges.
    network
        Road network of n edges.
    vehicle
        Vehicle that drives.
    headwind_mps
        (n,) headwind on every edge of the network, m/s.
    air_density_kgpm3
        Air density, kg/m³.
    """
    work_j = work_at_wheels_j(
        trace.speed_mps,
        incline_sin(trace, network),
        vehicle,
        air_mps=trace.speed_mps + headwind_mps[trace.rows[trace.place]],
        air_density_kgpm3=air_density_kgpm3,
    )
    return trace.by_edge(battery_j(work_j, vehicle) / J_PER_WH, network.length_m[trace.rows])


def battery_j(work_j: FloatArray, vehicle: Vehicle) -> FloatArray:
    """Return the battery energy of each step for work at the wheels and auxiliaries, (s,) J."""
    efficiency = np.where(
        work_j >= 0, 1 / vehicle.propulsion_efficiency, vehicle.recuperation_efficiency
    )
    return work_j * efficiency + vehicle.auxiliary_w * STEP_S


def work_at_wheels_j(
    speed_mps: FloatArray,
    incline: FloatArray,
    vehicle: Vehicle,
    *,
    air_mps: FloatArray,
    air_density_kgpm3: float,
) -> FloatArray:
    """Return the work of each step at the wheels, (s,) J.

    Parameters
    ----------
    speed_mps
        (s,) speed at the end of each step, m/s.
    incline
        (s,) sine of the incline.
    vehicle
        Vehicle that drives.
    air_mps
        (s,) speed relative to the air, m/s.
    air_density_kgpm3
        Air density, kg/m³.
    """
    before_mps = np.concatenate([[0.0], speed_mps[:-1]])
    level = np.sqrt(1 - incline**2)
    weight_n = vehicle.mass_kg * GRAVITY_MPS2
    drag_n = 0.5 * vehicle.drag * vehicle.front_m2 * air_density_kgpm3 * air_mps * abs(air_mps)
    steady_j = (weight_n * (incline + vehicle.rolling * level) + drag_n) * speed_mps * STEP_S
    return steady_j + 0.5 * vehicle.mass_kg * (speed_mps**2 - before_mps**2)


def incline_sin(trace: Trace, network: RoadNetwork) -> FloatArray:
    """Return the sine of the incline of each step, (s,), on our profile of heights.

    The car's position at the ends of edges is known within one step. So distances are matched to
    ours over groups of edges at least `MATCHED_M` long, and every route climbs exactly the sum of
    its edges' climbs.
    """
    step_m = trace.speed_mps * STEP_S
    odometer_m = np.cumsum(step_m)
    end_m = np.cumsum(np.bincount(trace.place, weights=step_m, minlength=len(trace.rows)))
    along_m = np.cumsum(network.length_m[trace.rows])
    matched = [0]
    for i in range(len(end_m) - 1):
        if (
            end_m[i] - (end_m[matched[-1] - 1] if matched[-1] else 0)
            >= MATCHED_M
            <= end_m[-1] - end_m[i]
        ):
            matched.append(i + 1)
    ends = np.array([*matched[1:], len(end_m)]) - 1
    place_m = np.interp(odometer_m, [0.0, *end_m[ends]], [0.0, *along_m[ends]])
    climbed_m = np.cumsum(network.climb_m[trace.rows])
    climb_m = np.diff(np.interp(place_m, [0.0, *along_m], [0.0, *climbed_m]), prepend=0.0)
    return np.clip(climb_m / np.where(step_m > 0, step_m, 1.0), -1.0, 1.0)
