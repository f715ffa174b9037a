"""A bounded battery: excess regeneration is lost, and the charge never falls below a reserve.

Driving an edge of energy E with charge x leaves ``min(capacity, x - E)``, and is not allowed if
that is below the reserve. So regeneration into a full battery is lost, and the actual energy of an
edge, ``max(E, x - capacity)``, depends on the charge.

Recuperation may fade as the battery fills: the charge after an edge still rises with the charge
before it and is never above the charge of a battery without this loss. Above ``s0`` percent
(`Battery.full_percent`) a share ``f (s - s0)/10`` of recuperation is lost, none of it below. Over a
descent that would return m Wh the charge s follows ``ds/dm = (1 - f (s - s0)/10) / W``, W in Wh per
percent: ``s' = s* - (s* - s) exp(-f m / (10 W))`` with ``s* = s0 + 10/f``, at most 100. The result
does not depend on how a descent is cut into edges, rises with the charge at the start, and never
exceeds ``s + m/W``: search labels stay exact.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze
from evroute.errors import require
from evroute.planning.searches.charge_steps import Charges, after_step, before_step

TOLERANCE_WH = 1e-9


@dataclass(frozen=True, slots=True)
class Battery:
    """Usable capacity, charge at the start and reserve, and the loss near a full charge.

    Parameters
    ----------
    capacity_wh, start_wh, reserve_wh
        Usable capacity, charge at the start, and reserve, Wh.
    full_percent
        Charge above which regeneration fades, %.
    fade
        Share of regeneration lost per 10 % above ``full_percent``, or 0 for none.

    Raises
    ------
    EvrouteError
        Unless ``0 <= reserve <= start <= capacity``.
    """

    capacity_wh: float
    start_wh: float
    reserve_wh: float
    full_percent: float = 100.0
    fade: float = 0.0

    def __post_init__(self) -> None:
        require(
            0 <= self.reserve_wh <= self.start_wh <= self.capacity_wh,
            f"the battery starts with {self.percent(self.start_wh):.4g} % and keeps a reserve "
            f"of {self.percent(self.reserve_wh):.4g} %, expected 0 <= reserve <= start <= 100",
        )

    @classmethod
    def of_percent(
        cls, capacity_kwh: float, start_percent: float, reserve_percent: float
    ) -> "Battery":
        """Return a battery from percentages of the usable capacity.

        Parameters
        ----------
        capacity_kwh
            Usable capacity, kWh.
        start_percent, reserve_percent
            Charge at the start, and the reserve, %.

        Raises
        ------
        EvrouteError
            Unless ``0 <= reserve <= start <= 100``.
        """
        capacity_wh = 1000.0 * capacity_kwh
        return cls(
            capacity_wh, capacity_wh * (start_percent / 100), capacity_wh * (reserve_percent / 100)
        )

    def started(self, percent: float) -> "Battery":
        """Return the battery with another charge at the start, at least the reserve.

        Parameters
        ----------
        percent
            The charge, %.
        """
        start_wh = max(self.capacity_wh * (percent / 100), self.reserve_wh)
        return replace(self, start_wh=start_wh)

    @classmethod
    def requested(
        cls, capacity_kwh: float, start_percent: float | None, reserve_percent: float | None
    ) -> "Battery | None":
        """Return the battery of a request, or None for a request without a charge.

        Parameters
        ----------
        capacity_kwh
            Usable capacity, kWh.
        start_percent, reserve_percent
            Charge at the start, and the reserve, %, or None where the request has none.

        Raises
        ------
        EvrouteError
            If there is a reserve without a charge at the start, and as `of_percent`.
        """
        if start_percent is not None:
            return cls.of_percent(capacity_kwh, start_percent, reserve_percent or 0.0)
        require(not reserve_percent, "a reserve needs the charge at the start, 'soc'")
        return None

    def percent(self, charge_wh: float) -> float:
        """Return a charge in percent of the usable capacity."""
        return charge_wh / self.capacity_wh * 100

    @property
    def lossless_wh(self) -> float:
        """Charge up to which no regeneration is lost, Wh."""
        return self.capacity_wh * (self.full_percent / 100) if self.fade else self.capacity_wh

    def charges(self, reserve_wh: float | None = None) -> Charges:
        """Return the battery as numbers.

        Parameters
        ----------
        reserve_wh
            A reserve that may be below its own, Wh, or None for its own.
        """
        reserve_wh = self.reserve_wh if reserve_wh is None else reserve_wh
        return Charges(
            float(self.start_wh),
            float(self.capacity_wh),
            float(reserve_wh - TOLERANCE_WH),
            float(reserve_wh),
            float(self.lossless_wh),
            float(self.fade / (10.0 * self.capacity_wh / 100.0)),
        )

    def after(self, charge_wh: float, energy_wh: float) -> float:
        """Return the charge after an edge, Wh. Negative if the charge is too low.

        charge_wh: before the edge.  energy_wh: of the edge where nothing is lost.
        """
        return after_step(self.charges(), charge_wh, energy_wh)

    def before(self, charge_wh: float, energy_wh: float) -> float:
        """Return the least charge before an edge that leaves ``charge_wh``, Wh.

        The inverse of `after`.
        """
        return before_step(self.charges(), charge_wh, energy_wh)


@dataclass(frozen=True, slots=True, eq=False)
class ChargeTrace:
    """The charge along one route.

    Parameters
    ----------
    charge_wh
        (k + 1,) at the start and after each edge, Wh. Negative below empty.
    low_wh
        (k + 1,) at the start, and the lowest on each edge after its beginning, Wh.
    step_wh
        (r,) energies where nothing is lost, between the points at which the charge turns, Wh.
    lost_wh
        Regeneration lost because the battery was full, Wh.
    """

    charge_wh: FloatArray
    low_wh: FloatArray
    step_wh: FloatArray
    lost_wh: float

    def __post_init__(self) -> None:
        for name in ("charge_wh", "low_wh", "step_wh"):
            values = getattr(self, name)
            freeze(self, **{name: (values, np.float64, (len(values),))})

    @property
    def lowest(self) -> int:
        """Number of edges driven at the first lowest charge, that on which it lies included."""
        return int(self.low_wh.argmin())


def follow(battery: Battery, step_wh: FloatArray, start: IntArray | None = None) -> ChargeTrace:
    """Return the charge along a route, also below the reserve.

    Parameters
    ----------
    battery
        Charge at the start, and capacity.
    step_wh
        (r,) energies in driving order, Wh.
    start
        (k + 1,) edge i has the steps ``start[i]`` to ``start[i + 1]``. None where each step is an
        edge.
    """
    lost_wh = 0.0
    charge_wh = low_wh = np.subtract.accumulate(np.append(battery.start_wh, step_wh))
    if charge_wh[1:].max(initial=-np.inf) > battery.lossless_wh:
        charges, reached_wh = battery.charges(), [battery.start_wh]
        for energy_wh in step_wh.tolist():
            left_wh = after_step(charges, reached_wh[-1], energy_wh)
            lost_wh += reached_wh[-1] - energy_wh - left_wh
            reached_wh.append(left_wh)
        charge_wh = low_wh = np.array(reached_wh)
    if start is not None and len(start) > 1:
        low_wh = np.minimum.reduceat(charge_wh, np.concatenate([[0], 1 + start[:-1]]))
        charge_wh = charge_wh[start]
    return ChargeTrace(charge_wh, low_wh, step_wh, lost_wh)


def greatest_start_wh(battery: Battery, step_wh: FloatArray) -> float:
    """Return the greatest start charge without lost regeneration over energies (r,) Wh, Wh."""
    return battery.lossless_wh - max(0.0, float((-np.cumsum(step_wh)).max(initial=0.0)))


def whole_percent(battery: Battery, need_wh: float) -> int:
    """Return the least whole per cent of a battery that holds a charge, Wh."""
    percent = math.ceil(battery.percent(need_wh) - 1e-9)
    while battery.capacity_wh * (percent / 100) < need_wh - TOLERANCE_WH / 2:
        percent += 1
    return percent
