"""BatterySize: the usable capacity of a car's battery, where trips have both per cent and kWh.

A trip that takes E Wh uses ``k E / C`` of the battery, with C the capacity of the vehicle file and
k = 1 for a battery of that size. The display shows the share used with an error of its steps, so
the regression is of per cents on kWh, a Kalman filter of one number. Before any trip
``k ~ N(1, 0.1²)``. k grows with the age of the battery, by `AGEING` a year.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from evroute.learning.states import Kept, Table
from evroute.text import counted

STD = 0.1
"""Deviation of k before any trip."""
AGEING = 0.02
"""Growth of k in a year, and its deviation."""
STEP_PERCENT = 1.0
"""Step of a display of the charge, %."""
METER_SHARE = 0.02
"""Deviation of a meter of energy as a share of its reading."""
IMPLAUSIBLE_SD = 5.0
"""Deviations beyond which a trip teaches nothing, as one that was charged on its way."""
FEW_STEPS = 4
"""Number of steps of a display up to which single trips tell nothing."""
COARSE_PERCENT = 0.5
"""Step of a display from which on it is coarse."""
LEARNED = 0.8
"""Share of the deviation before any trip from which on the size is stated as learned."""
DAYS_A_YEAR = 365.0


class BatterySize(Kept):
    """Learned size of a battery.

    Attributes
    ----------
    used
        Mean of k.
    variance
        Variance of k.
    trips
        Number of trips that taught it.
    """

    STATE: ClassVar[Table] = {"moments": ("used", "variance"), "trips": "trips"}

    def __init__(self) -> None:
        self.used = 1.0
        self.variance = STD**2
        self.trips = 0

    def learn(
        self, energy_wh: float, drop_percent: float, battery_kwh: float, days: float = 0.0
    ) -> None:
        """Learn one trip.

        Parameters
        ----------
        energy_wh
            Measured energy, Wh.
        drop_percent
            Fall of the charge, %, or NaN if unknown.
        battery_kwh
            Usable capacity of the vehicle file.
        days
            Days since the trip before.
        """
        self.used += AGEING * days / DAYS_A_YEAR
        self.variance += AGEING**2 * days / DAYS_A_YEAR
        if not np.isfinite(drop_percent) or energy_wh <= 0.0:
            return
        share = energy_wh / (battery_kwh * 1000.0)
        noise = (STEP_PERCENT / 100.0) ** 2 / 6.0 + (METER_SHARE * share) ** 2
        error, total = drop_percent / 100.0 - self.used * share, share**2 * self.variance + noise
        if abs(error) > IMPLAUSIBLE_SD * np.sqrt(total):
            return
        gain = self.variance * share / total
        self.used += gain * error
        self.variance *= 1.0 - gain * share
        self.trips += 1

    def kwh(self, battery_kwh: float) -> float:
        """Return the learned size, kWh. Before any trip it is the vehicle file's size."""
        return battery_kwh / self.used if self.trips else battery_kwh

    @property
    def std_share(self) -> float:
        """Standard deviation of the size as a share of it. 0 before any trip."""
        return float(np.sqrt(self.variance)) / self.used if self.trips else 0.0

    def sentence(self, battery_kwh: float) -> str:
        """Return the learned size in words. Empty while its doubt is nearly the prior's."""
        if not self.trips or self.std_share > LEARNED * STD:
            return ""
        size_kwh = self.kwh(battery_kwh)
        return (
            f"usable battery {size_kwh:.1f} ± {size_kwh * self.std_share:.1f} kWh, "
            f"{1.0 / self.used:.0%} of the vehicle file's {battery_kwh:g} kWh, by "
            f"{counted(self.trips, 'trip')} with per cent and kWh"
        )


def coarse_words(step_percent: float, battery_kwh: float, trips_wh: Sequence[float]) -> str:
    """Return a sentence where single trips are few steps of a display, or an empty text.

    Parameters
    ----------
    step_percent, battery_kwh
        Step of the display, and usable battery of the vehicle file.
    trips_wh
        Energy of each trip, Wh.
    """
    step_wh = step_percent * battery_kwh * 10.0
    if step_percent < COARSE_PERCENT or not trips_wh:
        return ""
    least, middle, most = np.quantile(np.abs(trips_wh) / step_wh, (0.1, 0.5, 0.9)).round()
    if middle > FEW_STEPS:
        return ""
    steps = f"{least:.0f} to {most:.0f}" if most > least else f"{most:.0f}"
    percents = "whole per cents" if step_percent == 1.0 else f"steps of {step_percent:g} %"
    return (
        f"the charge is shown in {percents} of {battery_kwh:.2g} kWh, and a trip takes {steps} of "
        "them: single trips tell nothing"
    )
