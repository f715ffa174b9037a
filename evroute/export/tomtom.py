"""TomTom: the electric consumption model of its Routing API.

A route takes the consumption at its speeds, the power of other loads over its time, and the
potential and kinetic energy gained over an efficiency, less those lost times another one. The
efficiencies are pairs whose product is at most 1, and need ``vehicleWeight``. Source: TomTom,
*Common Routing Parameters*, the electric consumption model. What it takes for the speeds of roads
is its own. Here they are those of the belief.
"""

import numpy as np
from scipy.optimize import lsq_linear

from evroute.arrays import FloatArray
from evroute.energy.longitudinal import energy_parts
from evroute.export.base import Fitted, Target
from evroute.export.routes import Routes

SPEEDS_KMH = np.array([10.0, 20.0, 30.0, 40.0, 50.0, 70.0, 90.0, 110.0, 130.0])
"""Speeds of the table. TomTom takes up to 25."""
LEAST_KWH = 0.01
"""Least consumption per 100 km that TomTom takes."""
LEAST_EFFICIENCY = 0.2
EVEN, CLOSE = 0.5, 0.1
"""Weights of even and of small deviations from physics, for speeds that no route has."""
PAIRS = (
    ("uphillEfficiency", "downhillEfficiency"),
    ("accelerationEfficiency", "decelerationEfficiency"),
)
WH_PER_KM = 10.0
"""Wh per km of one kWh per 100 km."""


def fit(routes: Routes) -> Fitted:
    """Return the table and the efficiencies that fit routes, with equal weight for each.

    Parameters
    ----------
    routes
        The routes.
    """
    car = routes.vehicle
    kms = np.full(len(SPEEDS_KMH), 1000.0)
    steady = energy_parts(car, kms, 0.0 * kms, SPEEDS_KMH / 3.6)
    curve = (steady.total_wh - steady.auxiliary_wh) / WH_PER_KM
    usual = np.array([1.0 / car.propulsion_efficiency, car.recuperation_efficiency] * 2)
    start = np.concatenate([curve, np.maximum(usual, 1e-3)])
    least = np.concatenate([np.full(len(curve), LEAST_KWH), [1.0, 0.0, 1.0, 0.0]])
    most = np.concatenate([np.full(len(curve), np.inf), [1.0 / LEAST_EFFICIENCY, 1.0] * 2])
    terms = _terms(routes) / routes.scale_wh[:, np.newaxis]
    aim = (routes.energy_wh - _auxiliary_wh(routes)) / routes.scale_wh
    changes = np.diff(np.eye(len(start))[: len(curve)], axis=0)  # of neighbours in the table
    unknowns = terms * start, EVEN * changes, CLOSE * np.eye(len(start))
    aims = aim, np.zeros(len(changes)), np.full(len(start), CLOSE)
    bounds = least / start, most / start
    found = lsq_linear(np.concatenate(unknowns), np.concatenate(aims), bounds)
    # rounded as they are written, and the rounding keeps the limits
    numbers = found.x * start
    consumption = np.maximum(np.round(numbers[: len(curve)], 3), LEAST_KWH)
    gained, lost = numbers[len(curve) :: 2], numbers[len(curve) + 1 :: 2]
    gained, lost = np.floor(1e3 / gained) / 1e3, np.floor(lost * 1e3) / 1e3
    table = ":".join(f"{kmh:g},{kwh:g}" for kmh, kwh in zip(SPEEDS_KMH, consumption, strict=True))
    parameters: dict[str, str | float] = {
        "vehicleEngineType": "electric",
        "vehicleWeight": round(car.mass_kg),
        "constantSpeedConsumptionInkWhPerHundredkm": table,
        "auxiliaryPowerInkW": round(car.auxiliary_w / 1000.0, 3),
    }
    for (of_gained, of_lost), up, down in zip(PAIRS, gained, lost, strict=True):
        parameters |= {of_gained: float(up), of_lost: float(down)}
    written = np.concatenate([consumption, np.column_stack([1.0 / gained, lost]).ravel()])
    return Fitted(parameters, lambda others: _terms(others) @ written + _auxiliary_wh(others))


def _terms(routes: Routes) -> FloatArray:
    """Return what each number of the table and of the efficiencies counts on a route, (r, c) Wh."""
    speed_kmh, km = 3.6 * routes.speed_mps, routes.length_m / 1000.0
    knots = np.eye(len(SPEEDS_KMH))
    shares = np.column_stack([np.interp(speed_kmh, SPEEDS_KMH, knot) for knot in knots])
    signs = np.array([1.0, -1.0])
    by_speed = WH_PER_KM * routes.sums(km[:, np.newaxis] * shares)
    return np.hstack([by_speed, signs * routes.potential_wh, signs * routes.kinetic_wh])


def _auxiliary_wh(routes: Routes) -> FloatArray:
    """Return the energy of other loads, (r,) Wh."""
    return routes.vehicle.auxiliary_w * routes.minutes / 60.0


TARGET = Target(
    "Parameters of TomTom's Routing API (calculateRoute, calculateReachableRange). Its speeds of "
    "roads are its own: the errors are those with the speeds of the belief",
    fit,
)
