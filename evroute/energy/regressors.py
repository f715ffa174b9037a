"""Regressors: how the energy of an edge changes with each number that eq. 8 takes for granted.

To first order the true energy of an edge is ``E + sum_j x_j b_j``, with ``x_j`` the derivative of
eq. 8 by one of

=================  =====  ====================================================  =========
coefficient        unit   what it multiplies in eq. 8                           prior std
=================  =====  ====================================================  =========
mass               share  climb and rolling resistance                          0.15
rolling            share  rolling resistance                                    0.20
drag               share  drag: shape, frontal area, density of the air         0.15
auxiliary          kW     travel time                                           1
wind from east     m/s    drag: ``(v + h)² = v² + 2 v h`` for a head wind h     5
wind from north    m/s    likewise                                              5
=================  =====  ====================================================  =========

Each carries the efficiency that eq. 8 gives the edge, auxiliary power none. The prior deviations
are ours: 15 % of
1.8 t are four people; rolling resistance changes by 0.8 % per kelvin (ISO 28580), so 25 K are 20 %;
air at 0 °C is 9 % denser than at 25 °C, and roof boxes and open windows come on top; heating and
cooling take 0 to 5 kW, seldom much above 2 once the cabin is warm; 5 m/s is a gentle breeze
(Beaufort 3).
"""

from typing import Protocol

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import headwind_mps
from evroute.energy.longitudinal import J_PER_WH, EnergyParts, energy_parts
from evroute.energy.vehicle import Vehicle
from evroute.network import context
from evroute.network.road_network import RoadNetwork

NAMES = ("mass", "rolling", "drag", "auxiliary", "wind from east", "wind from north")
UNITS = ("share", "share", "share", "kW", "m/s", "m/s")
PRIOR_STD = (0.15, 0.20, 0.15, 1.0, 5.0, 5.0)

_SPEED = context.NAMES.index("speed limit")
_W_PER_KW = 1000.0


class Derivatives(Protocol):
    """Derivatives of the energy of arms, whatever these are, by p numbers with names, units and prior deviations."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    prior_std: tuple[float, ...]

    def of(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the derivatives for arms (a,) in contexts (a, d), (a, p) Wh per unit."""


class Regressors:
    """Derivatives of eq. 8 on the edges of a network, at the speeds that their contexts tell.

    Only the speed of an edge changes with its context; its length, its climb and its direction,
    tail to head, are the network's.
    """

    names = NAMES
    units = UNITS
    prior_std = PRIOR_STD

    def __init__(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        self.network = network
        self.vehicle = vehicle
        self._speed_scale = context.build(network).scale[_SPEED]
        self._direction = np.column_stack(
            [headwind_mps(network, 1.0, 90.0), headwind_mps(network, 1.0, 0.0)]
        )

    def speed_mps(self, features: FloatArray) -> FloatArray:
        """Return the (a,) speeds of contexts (a, d), m/s."""
        speed: FloatArray = features[:, _SPEED] * self._speed_scale
        return speed

    def parts(self, edge: IntArray, speed_mps: FloatArray) -> EnergyParts:
        """Evaluate eq. 8 on edges (a,) at speeds (a,)."""
        return energy_parts(
            self.vehicle, self.network.length_m[edge], self.network.climb_m[edge], speed_mps
        )

    def of(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the derivatives by each of `NAMES` for edges (a,) in contexts (a, d), (a, 6) Wh per `UNITS`."""
        speed_mps = self.speed_mps(features)
        parts = self.parts(edge, speed_mps)
        by_wind_wh = 2.0 * parts.drag_wh / speed_mps
        return np.column_stack(
            [
                parts.climb_wh + parts.rolling_wh,
                parts.rolling_wh,
                parts.drag_wh,
                _W_PER_KW * self.network.length_m[edge] / speed_mps / J_PER_WH,
                by_wind_wh[:, np.newaxis] * self._direction[edge],
            ]
        )
