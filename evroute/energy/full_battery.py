"""Recuperation that fades as the battery fills.

Above ``s0`` percent a share ``f (s - s0)/10`` of recuperation is lost, none of it below. Over a
descent that would return m Wh the charge s follows ``ds/dm = (1 - f (s - s0)/10) / W``, W in Wh per
percent: ``s' = s* - (s* - s) exp(-f m / (10 W))`` with ``s* = s0 + 10/f``, at most 100. The result
does not depend on how a descent is cut into edges, rises with the charge at the start, and never
exceeds ``s + m/W``: search labels stay exact.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FullBattery:
    """Charge over edges for one vehicle.

    threshold_percent: s0, at most 100.  fade: f, share lost per 10 % above it; 0 for none.
    wh_per_percent: W, energy of one percent of charge.
    """

    threshold_percent: float
    fade: float
    wh_per_percent: float

    def after(self, percent: float, energy_wh: float) -> float:
        """Return the charge after an edge, %; at most 100, negative if the charge is too low.

        percent: charge at the start.  energy_wh: energy of the edge without losses, Wh, negative if
        returned.
        """
        gain = -energy_wh / self.wh_per_percent
        if gain <= max(0.0, self.threshold_percent - percent):
            return percent + gain
        start = max(percent, self.threshold_percent)
        gain -= start - percent
        if self.fade > 0.0:
            taken = max(1.0 - self.fade * (start - self.threshold_percent) / 10.0, 0.0)
            gain = -taken * 10.0 / self.fade * math.expm1(-self.fade * gain / 10.0)
        return min(start + gain, 100.0)

    def before(self, percent: float, energy_wh: float) -> float:
        """Return the least charge at the start of an edge that leaves ``percent``, %.

        The inverse of `after`. No descent leads above ``s*``: a higher charge is needed at the
        start.
        energy_wh: energy of the edge without losses, Wh, negative if returned.
        """
        gain = -energy_wh / self.wh_per_percent
        above = percent - self.threshold_percent
        if gain <= 0.0 or above <= 0.0 or self.fade == 0.0:
            return percent - gain
        lost = self.fade * above / 10.0
        if lost >= 1.0:
            return percent
        above_gain = -10.0 / self.fade * math.log1p(-lost)
        if above_gain <= gain:
            return self.threshold_percent - (gain - above_gain)
        return percent - (1.0 - lost) * 10.0 / self.fade * math.expm1(self.fade * gain / 10.0)
