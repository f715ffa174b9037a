"""A Better Routeplanner: one reference consumption at 110 km/h.

The planner has a curve of each car, and scales it so that it takes the reference consumption at a
steady 110 km/h on the level. Here the curve is the physics of the vehicle file.
"""

import numpy as np

from evroute.energy.longitudinal import energy_parts
from evroute.export.base import Fitted, Target
from evroute.export.routes import Routes

REFERENCE_KMH = 110.0


def fit(routes: Routes) -> Fitted:
    """Return the reference consumption that fits routes, with equal weight for each.

    Parameters
    ----------
    routes
        The routes.
    """
    physics, energy = routes.physics_wh / routes.scale_wh, routes.energy_wh / routes.scale_wh
    factor = float(physics @ energy / (physics @ physics))
    one_km = np.array([1000.0]), np.zeros(1), np.array([REFERENCE_KMH / 3.6])
    steady_wh = float(energy_parts(routes.vehicle, *one_km).total_wh[0])
    parameters = {"ref_consumption": round(factor * steady_wh, 1)}
    return Fitted(parameters, lambda others: factor * others.physics_wh)


TARGET = Target(
    "Reference consumption, Wh/km at 110 km/h: settings of the car in A Better Routeplanner, or "
    "ref_consumption of its planning API. Its curve of the car is its own: the errors are those of "
    "the physics of the vehicle file as the curve",
    fit,
)
