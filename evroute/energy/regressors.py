"""Regressors: derivatives of the energy of edges and turns by the coefficients of physics.

To first order the true energy of an edge is ``E + sum_j x_j b_j``, with ``x_j`` the derivative of
eq. 8 by one of

=================  =====  ====================================================  =========
coefficient        unit   factor of eq. 8                                       prior std
=================  =====  ====================================================  =========
mass               share  climb and rolling resistance                          0.15
rolling            share  rolling resistance                                    0.20
drag               share  drag: shape, frontal area, density of the air         0.15
auxiliary          kW     travel time                                           1
wind from east     m/s    drag: ``(v + h)² = v² + 2 v h`` for a head wind h     5
wind from north    m/s    likewise                                              5
=================  =====  ====================================================  =========

Each is divided by the efficiency that eq. 8 gives the edge, except auxiliary power. On turns the
mass also multiplies the energy of acceleration and braking. These have a further coefficient,
"kinetic", a share with prior deviation 0.5. It is 0 where speeds change as the prior assumes,
negative for drivers who let the car roll. At -1 changes of speed take no energy.

The prior deviations are ours: 15 % of 1.8 t are four people; rolling resistance changes by 0.8 %
per kelvin (ISO 28580), so 25 K are 20 %; air at 0 °C is 9 % denser than at 25 °C, and roof boxes
and open windows are added; heating and cooling take 0 to 5 kW, seldom much above 2 once the cabin
is warm; 5 m/s is a gentle breeze (Beaufort 3).
"""

from typing import Protocol

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.energy.driving import headwind_mps
from evroute.energy.longitudinal import (
    EnergyParts,
    at_battery,
    edge_energy,
    piece_energy,
    split_energy,
)
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import Vehicle
from evroute.network import context
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import ENTRY_SPEED, SPEED

NAMES = ("mass", "rolling", "drag", "auxiliary", "wind from east", "wind from north")
UNITS = ("share", "share", "share", "kW", "m/s", "m/s")
PRIOR_STD = (0.15, 0.20, 0.15, 1.0, 5.0, 5.0)

_W_PER_KW = 1000.0


class Derivatives(Protocol):
    """Derivatives of the energy of the arms of a space by p numbers."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    prior_std: tuple[float, ...]
    """Names, units and prior standard deviations of the p numbers."""

    def of(self, rows: IntArray, features: FloatArray) -> FloatArray:
        """Return the derivatives of arms (a,) in contexts (a, d), (a, p) Wh per unit."""


class Regressors:
    """Derivatives of eq. 8 on the edges of a network, at the speeds in their contexts.

    The speed of an edge changes with its context. Length, climb and direction, tail to head, come
    from the network.
    """

    names: tuple[str, ...] = NAMES
    units: tuple[str, ...] = UNITS
    prior_std: tuple[float, ...] = PRIOR_STD

    def __init__(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        self.network = network
        self.vehicle = vehicle
        self._speed_scale = context.build(network).scale[SPEED]
        self._direction = _directions(network)

    def speed_mps(self, features: FloatArray) -> FloatArray:
        """Return the (a,) speeds of contexts (a, d), m/s."""
        return features[:, SPEED] * self._speed_scale

    def parts(self, edge: IntArray, speed_mps: FloatArray) -> EnergyParts:
        """Evaluate eq. 8 on edges (a,) at speeds (a,)."""
        return edge_energy(self.network, self.vehicle, edge, speed_mps)

    def of(self, rows: IntArray, features: FloatArray) -> FloatArray:
        """Return the derivatives of edges (a,) in contexts (a, d), (a, 6) Wh per `UNITS`."""
        speed_mps = self.speed_mps(features)
        parts = self.parts(rows, speed_mps)
        return np.column_stack(
            [
                parts.climb_wh + parts.rolling_wh,
                parts.rolling_wh,
                parts.drag_wh,
                _W_PER_KW * self.network.length_m[rows] / speed_mps / J_PER_WH,
                (2.0 * parts.drag_wh / speed_mps)[:, np.newaxis] * self._direction[rows],
            ]
        )


class TurnRegressors:
    """Derivatives of the energy of turns and starts in still air, at the speeds of contexts."""

    names: tuple[str, ...] = (*NAMES, "kinetic")
    units: tuple[str, ...] = (*UNITS, "share")
    prior_std: tuple[float, ...] = (*PRIOR_STD, 0.5)

    def __init__(self, energy: TurnEnergy) -> None:
        self._energy = energy
        self._speed_scale = context.build(energy.network).scale[SPEED]
        self._direction = _directions(energy.network)

    def of(self, rows: IntArray, features: FloatArray) -> FloatArray:
        """Return the derivatives of turns (a,) in contexts (a, d), (a, 7) Wh per unit."""
        network, car = self._energy.network, self._energy.vehicle
        entered = self._energy.table.entered[rows]
        length_m = network.length_m[entered]
        speed_mps, entry_mps = (
            features[:, column] * self._speed_scale for column in (SPEED, ENTRY_SPEED)
        )
        gained_wh = 0.5 * car.mass_kg * (speed_mps**2 - entry_mps**2) / J_PER_WH
        pieces = piece_energy(network, self._energy.at_wheels, entered, speed_mps)
        taken, returned = split_energy(*pieces, len(rows))
        _, of_gain, of_taken, of_returned = at_battery(
            car, taken.total_wh, returned.total_wh, gained_wh
        )
        kinetic_wh = of_gain * gained_wh + self._energy.wasted_between_wh(
            rows, entry_mps, speed_mps
        )
        climb_wh, rolling_wh, drag_wh = (
            of_taken * getattr(taken, name) + of_returned * getattr(returned, name)
            for name in ("climb_wh", "rolling_wh", "drag_wh")
        )
        return np.column_stack(
            [
                climb_wh + rolling_wh + kinetic_wh,
                rolling_wh,
                drag_wh,
                _W_PER_KW * length_m / speed_mps / J_PER_WH,
                (2.0 * drag_wh / speed_mps)[:, np.newaxis] * self._direction[entered],
                kinetic_wh,
            ]
        )


def _directions(network: RoadNetwork) -> FloatArray:
    """Return the headwind of each edge in 1 m/s from the east and from the north, (n, 2)."""
    return np.column_stack([headwind_mps(network, 1.0, 90.0), headwind_mps(network, 1.0, 0.0)])
