"""One step of charge, forwards and backwards, and the arms that are made of steps.

`Battery`, the charge functions and all compiled loops call these. numba compiles a cached loop anew
if the file that defines the loop changes, and does not look at this one: change the loops with it.
"""

import math
from typing import NamedTuple

from evroute.arrays import FloatArray, IntArray

NEAR_WH = 1e-9
"""Charge above the capacity that is rounding, Wh."""


class Charges(NamedTuple):
    """A battery as numbers.

    Parameters
    ----------
    first_wh, capacity_wh
        Charge at the start and usable capacity, Wh. The capacity may be infinite.
    least_wh, reserve_wh
        Least charge allowed and the reserve, Wh. The first is lower by a rounding.
    lossless_wh, fade
        Charge up to which no regeneration is lost, Wh, and the share of it lost per Wh above.
    """

    first_wh: float
    capacity_wh: float
    least_wh: float
    reserve_wh: float
    lossless_wh: float
    fade: float


class Steps(NamedTuple):
    """The charge functions of a arms: first steps, (a + 1,), and energies, (r,) Wh."""

    start: IntArray
    step_wh: FloatArray


def after_step(charges: Charges, charge_wh: float, energy_wh: float) -> float:
    """Return the charge after a step, Wh. Negative if the charge is too low.

    Parameters
    ----------
    charges
        The battery.
    charge_wh, energy_wh
        Charge before the step, and its energy where nothing is lost, Wh.
    """
    left_wh = charge_wh - energy_wh
    if left_wh > charges.lossless_wh:
        if charges.fade > 0.0 and left_wh > charge_wh:
            full_wh = max(charge_wh, charges.lossless_wh)
            taken = max(1.0 - charges.fade * (full_wh - charges.lossless_wh), 0.0)
            risen = math.expm1(-charges.fade * (left_wh - full_wh))
            left_wh = full_wh - taken / charges.fade * risen
        left_wh = min(left_wh, charges.capacity_wh)
    return left_wh


def before_step(charges: Charges, charge_wh: float, energy_wh: float) -> float:
    """Return the least charge before a step that leaves a charge, Wh.

    The inverse of `after_step`. No descent leads above the charge at which all regeneration is
    lost: a higher charge is needed before it.

    Parameters
    ----------
    charges
        The battery.
    charge_wh, energy_wh
        Charge after the step, and its energy where nothing is lost, Wh.
    """
    above_wh = charge_wh - charges.lossless_wh
    if energy_wh >= 0.0 or above_wh <= 0.0 or charges.fade == 0.0:
        return charge_wh + energy_wh
    lost = charges.fade * above_wh
    if lost >= 1.0:
        return charge_wh
    # energy of the descent from the threshold on
    faded_wh = -math.log1p(-lost) / charges.fade
    if faded_wh <= -energy_wh:
        return charges.lossless_wh + energy_wh + faded_wh
    return charge_wh - (1.0 - lost) / charges.fade * math.expm1(-charges.fade * energy_wh)


def drive(
    steps: Steps, charges: Charges, charge_wh: float, arm: int, drawn_wh: float
) -> tuple[float, float]:
    """Return the charge after an arm and the lowest on it after its beginning, Wh.

    Parameters
    ----------
    steps, charges
        Charge functions of the arms, and the battery.
    charge_wh
        Charge before the arm, Wh.
    arm
        Row of the arm.
    drawn_wh
        Energy of the warm-up on it, Wh, which joins its first step.
    """
    left_wh = charge_wh
    low_wh = math.inf
    for step in range(steps.start[arm], steps.start[arm + 1]):
        left_wh = after_step(charges, left_wh, steps.step_wh[step] + drawn_wh)
        drawn_wh = 0.0
        low_wh = min(low_wh, left_wh)
    return left_wh, low_wh


def before_arm(steps: Steps, charges: Charges, end_wh: float, arm: int) -> float:
    """Return the least charge before an arm that keeps the reserve on it, Wh. Infinite for none.

    Parameters
    ----------
    steps, charges
        Charge functions of the arms, and the battery.
    end_wh
        Least charge after the arm, Wh.
    arm
        Row of the arm.
    """
    need_wh = end_wh
    for step in range(steps.start[arm + 1] - 1, steps.start[arm] - 1, -1):
        need_wh = max(charges.reserve_wh, before_step(charges, need_wh, steps.step_wh[step]))
        if need_wh > charges.capacity_wh + NEAR_WH:
            return math.inf
    return need_wh
