"""Meters of a log: cumulative energy, the battery's volts and amps or its power, or its charge.

Cuts of a log into trips: at stops, at charging, and where the log has a gap.

Energy that a meter leaves unknown because it reads power only now and then.

Each trip is integrated twice, from its even and from its odd readings. The deviation of the
integral of all readings from the true energy is ``c sd(E_even - E_odd)``. For power that forgets
exponentially (Ornstein-Uhlenbeck), with rho the correlation of neighbouring readings and ``tau =
-1/log rho``,

    c² = ((1 + rho)/(1 - rho) - 2 tau) / (4 (1 - rho)/(1 + rho)).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.errors import EvrouteError, require
from evroute.learning.measured import ImpossibleTripError
from evroute.learning.readers.table import Log

STANDING_M = 50.0
STOP_S = 600.0
"""A vehicle that stays within `STANDING_M` for so long has ended its trip."""
CHARGING_S = 120.0
CHARGED_SHARE = 0.015
"""A charge that rises by more than this share of the battery while standing so long is charging."""
CHARGER_W = 400_000.0
"""Largest charging power; a meter that falls faster is wrong."""
EARTH_M = 6_371_000.0


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Rows of one trip within a log, (k,), and the reason for the cut, empty at the log's end."""

    rows: IntArray
    reason: str


def cut(
    time_s: FloatArray,
    lat: FloatArray,
    lon: FloatArray,
    used_wh: FloatArray,
    *,
    battery_wh: float,
    gap_s: float,
) -> list[Piece]:
    """Return the pieces of a log between its stops, charges and gaps.

    Parameters
    ----------
    time_s
        (p,) times in s, never decreasing.
    lat, lon
        (p,) positions in degrees; NaN where unknown.
    used_wh
        (p,) energy used up to each point, Wh; NaN where it was not read.
    battery_wh
        Usable energy of the battery, Wh.
    gap_s
        Time between two rows above which the log has a gap, s.

    Returns
    -------
    list of Piece
        Pieces with two rows or more, in order. The rows of a stop belong to none of them, but for
        its first and last row.
    """
    middle = float(np.median(lat[np.isfinite(lat)])) if np.isfinite(lat).any() else 0.0
    x_m = np.radians(lon) * EARTH_M * np.cos(np.radians(middle))
    y_m = np.radians(lat) * EARTH_M
    pieces: list[Piece] = []
    start = at = 0
    last = len(time_s) - 1

    def close(end: int, reason: str) -> None:
        if end > start:
            pieces.append(Piece(np.arange(start, end + 1), reason))

    while at < last:
        pause_s = time_s[at + 1] - time_s[at]
        if pause_s > gap_s:
            close(at, f"{pause_s / 60:.3g} min without rows")
            start = at = at + 1
            continue
        end = at
        while end < last and time_s[end + 1] - time_s[end] <= gap_s:
            if not np.hypot(x_m[end + 1] - x_m[at], y_m[end + 1] - y_m[at]) < STANDING_M:
                break
            end += 1
        stood_s = float(time_s[end] - time_s[at])
        charged_wh = -rise(used_wh[at : end + 1])
        charged = stood_s >= CHARGING_S and (
            CHARGED_SHARE * battery_wh < charged_wh < CHARGER_W * stood_s / J_PER_WH
        )
        if stood_s >= STOP_S or charged:
            close(
                at,
                f"{stood_s / 60:.3g} min of standing"
                + (f", charging {charged_wh / 1000:.3g} kWh" if charged else ""),
            )
            start = at = end
        else:
            at += 1
    close(last, "")
    return pieces


def rise(readings: FloatArray) -> float:
    """Return the last minus the first of the finite readings (k,); 0 if there are none."""
    read = readings[np.isfinite(readings)]
    return float(read[-1] - read[0]) if len(read) else 0.0


READINGS = ("energy_wh", "volts", "amps", "power_w", "soc_percent")
LARGEST_VOLTS, LARGEST_AMPS = 1500.0, 3000.0
"""Medians of volts and largest amps above these are thousandths."""
COARSE_PERCENT = 0.5
"""A display with steps from here on is read at the ends of a trip, a finer one where it changes."""


@dataclass(frozen=True, slots=True, eq=False)
class Meter:
    """The energy meter of a log.

    kind: ``energy``, ``power`` or ``charge``.  reading: (p,) Wh, W or %; NaN where not read.
    step_percent: steps of the charge's display, 0 for other kinds.  notes: one sentence each.
    """

    kind: str
    reading: FloatArray
    step_percent: float = 0.0
    notes: tuple[str, ...] = ()

    def variance_wh2(self, battery_wh: float) -> float:
        """Return the variance of a trip's energy by the steps of the display at both ends, Wh²."""
        return (self.step_percent / 100 * battery_wh) ** 2 / 6

    def used_wh(self, rows: IntArray, time_s: FloatArray, battery_wh: float) -> FloatArray:
        """Return the energy used up to each row of a trip, (k,) Wh; NaN where it was not read.

        Parameters
        ----------
        rows
            (k,) rows of the trip in the log.
        time_s
            (k,) their times in s.
        battery_wh
            Usable energy of the battery, Wh.

        Raises
        ------
        ImpossibleTripError
            If a charge is not within 0 to 100 %.
        """
        reading = self.reading[rows]
        if self.kind == "energy":
            return reading
        used_wh = np.full(len(reading), np.nan)
        read = np.flatnonzero(np.isfinite(reading))
        if self.kind == "power":
            power_w = reading[read]
            steps_wh = (power_w[1:] + power_w[:-1]) / 2 * np.diff(time_s[read]) / J_PER_WH
            used_wh[read[:1]] = 0.0
            used_wh[read[1:]] = np.cumsum(steps_wh)
            return used_wh
        percent = reading[read]
        require(
            np.all((percent >= 0) & (percent <= 100)),
            "a charge that is not within 0..100 %",
            ImpossibleTripError,
        )
        used_wh[read] = -percent / 100 * battery_wh
        return used_wh


def meter_of(log: Log) -> Meter:
    """Return the meter of a log; its energy goes before its power, its power before its charge.

    Raises
    ------
    EvrouteError
        If the log has none.
    """
    names = set(log.columns)
    if "energy_wh" in names:
        return Meter("energy", log.numbers("energy_wh"))
    if {"volts", "amps"} <= names:
        volts, volts_note = _scaled(log, "volts", "V", LARGEST_VOLTS)
        amps, amps_note = _scaled(log, "amps", "A", LARGEST_AMPS)
        return Meter(
            "power",
            volts * amps,
            notes=(f"energy is the integral of {volts_note} times {amps_note}",),
        )
    if "power_w" in names:
        column = log.columns["power_w"]
        unit = "kW" if column.factor > 1 else "W"
        return Meter(
            "power",
            log.numbers("power_w"),
            notes=(f"energy is the integral of '{column.header}' in {unit}",),
        )
    if "soc_percent" in names:
        percent = log.numbers("soc_percent")
        return Meter("charge", percent, display_step(percent))
    raise EvrouteError(
        f"trip table {log.path} needs one of the columns energy_wh, energy_kwh, power_w and "
        f"soc_percent, or volts and amps; it has {', '.join(log.table.column_names)}"
    )


def display_step(percent: FloatArray) -> float:
    """Return the step of a display by its readings (p,) %; 1 where all are equal."""
    steps = np.diff(np.unique(np.round(percent[np.isfinite(percent)], 6)))
    return float(steps.min()) if len(steps) else 1.0


def _scaled(log: Log, name: str, unit: str, largest: float) -> tuple[FloatArray, str]:
    """Return volts or amps, (p,), and the header with the unit found."""
    column, values = log.columns[name], log.numbers(name)
    read, milli = np.abs(values[np.isfinite(values)]), column.factor < 1
    if column.factor == 1 and len(read):
        milli = bool((np.median(read) if name == "volts" else read.max()) > largest)
        values = values * (1e-3 if milli else 1.0)
    return values, f"'{column.header}' in {'m' * milli}{unit}"


def meter_std_wh(time_s: Sequence[FloatArray], power_w: Sequence[FloatArray]) -> float:
    """Return the standard deviation of a trip's metered energy about the true one, Wh.

    time_s, power_w: readings of each trip, in order of time, at least four of them.
    """
    difference_wh = np.array(
        [even_minus_odd_wh(time, power) for time, power in zip(time_s, power_w, strict=True)]
    )
    return meter_factor(lag_one_correlation(power_w)) * float(np.sqrt(np.mean(difference_wh**2)))


def even_minus_odd_wh(time_s: FloatArray, power_w: FloatArray) -> float:
    """Return a trip's energy from its even readings minus that from its odd ones, Wh.

    Both halves are averages of power with the weights of the trapezoidal rule, times the duration.
    """
    step_s = np.diff(time_s)
    weight_s = np.append(step_s, 0.0) / 2 + np.insert(step_s, 0, 0.0) / 2
    even_w, odd_w = (np.average(power_w[half::2], weights=weight_s[half::2]) for half in (0, 1))
    return float((even_w - odd_w) * weight_s.sum() / J_PER_WH)


def lag_one_correlation(power_w: Sequence[FloatArray]) -> float:
    """Return the correlation of neighbouring readings about the mean of their trip, over all trips.

    Means taken from k readings lower it by ``(1 + rho)/k``, which is added back; 0 for constant
    power.
    """
    centred = [power - power.mean() for power in power_w]
    variance = sum(float(each @ each) for each in centred)
    if variance == 0.0:
        return 0.0
    rho = (
        sum(float(each[1:] @ each[:-1]) * len(each) / (len(each) - 1) for each in centred)
        / variance
    )
    return rho + (1.0 + rho) * len(centred) / sum(map(len, centred))


def meter_factor(rho: float) -> float:
    """Return c for a correlation below 1; 0.5 without correlation (``rho <= 0``)."""
    if rho <= 0.0:
        return 0.5
    ratio, tau = (1.0 + rho) / (1.0 - rho), -1.0 / np.log(rho)
    return float(np.sqrt(max(ratio - 2.0 * tau, 0.0) * ratio / 4.0))
