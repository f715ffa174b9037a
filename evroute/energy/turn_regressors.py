"""TurnRegressors: how the energy of a turn changes with each number that it takes for granted (`energy.regressors`).

The mass multiplies what speeding up takes and what braking for the turn loses, too. These change
with a number of their own as well, "kinetic", 0 where speeds change as the prior has it: drivers
who let the car roll take less of them, and at -1 changes of speed take nothing. Its prior deviation
of 0.5 is ours.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import headwind_mps
from evroute.energy.longitudinal import J_PER_WH, energy_parts
from evroute.energy.regressors import NAMES, PRIOR_STD, UNITS
from evroute.energy.turn_prior import TurnEnergy
from evroute.network import context
from evroute.network.turn_table import ENTRY_SPEED, SPEED

_W_PER_KW = 1000.0


class TurnRegressors:
    """Derivatives of the energy of turns and starts in still air, at the speeds that their contexts tell."""

    names = (*NAMES, "kinetic")
    units = (*UNITS, "share")
    prior_std = (*PRIOR_STD, 0.5)

    def __init__(self, energy: TurnEnergy) -> None:
        network = energy.network
        self._energy = energy
        self._speed_scale = context.build(network).scale[SPEED]
        self._direction = np.column_stack(
            [headwind_mps(network, 1.0, 90.0), headwind_mps(network, 1.0, 0.0)]
        )

    def of(self, rows: IntArray, features: FloatArray) -> FloatArray:
        """Return the derivatives for rows (a,) of the table in contexts (a, d), (a, 7) Wh per unit."""
        network, car = self._energy.network, self._energy.vehicle
        entered = self._energy.table.entered[rows]
        length_m = network.length_m[entered]
        speed_mps, entry_mps = (
            features[:, column] * self._speed_scale for column in (SPEED, ENTRY_SPEED)
        )
        work = energy_parts(self._energy.at_wheels, length_m, network.climb_m[entered], speed_mps)
        gained_wh = 0.5 * car.mass_kg * (speed_mps**2 - entry_mps**2) / J_PER_WH
        driving = work.total_wh + gained_wh >= 0
        factor = np.where(driving, 1.0 / car.propulsion_efficiency, car.recuperation_efficiency)
        wasted_wh = self._energy.wasted_between_wh(rows, entry_mps, speed_mps)
        kinetic_wh = factor * gained_wh + wasted_wh
        rolling_wh, drag_wh = factor * work.rolling_wh, factor * work.drag_wh
        return np.column_stack(
            [
                factor * work.climb_wh + rolling_wh + kinetic_wh,
                rolling_wh,
                drag_wh,
                _W_PER_KW * length_m / speed_mps / J_PER_WH,
                (2.0 * drag_wh / speed_mps)[:, np.newaxis] * self._direction[entered],
                kinetic_wh,
            ]
        )
