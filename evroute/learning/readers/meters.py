"""Meters of a log: cumulative energy, the battery's volts and amps or its power, or its charge."""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.errors import require
from evroute.learning.measured import ImpossibleTripError
from evroute.learning.readers.table import Log, MissingColumnError, names_of

READINGS = ("energy_wh", "volts", "amps", "power_w", "soc_percent")
LARGEST_VOLTS, LARGEST_AMPS = 1500.0, 3000.0
"""Medians of volts and largest amps above these are thousandths."""
COARSE_PERCENT = 0.5
"""A display with steps from here on is read at the ends of a trip, a finer one where it changes."""


@dataclass(frozen=True, slots=True, eq=False)
class Meter:
    """The energy meter of a log.

    kind: ``energy``, ``power`` or ``charge``.  reading: (p,) Wh, W or %, or NaN where not read.
    step_percent: steps of the charge's display, 0 for other kinds.  notes: one sentence each.
    columns: names of its columns.
    """

    kind: str
    reading: FloatArray
    step_percent: float = 0.0
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def variance_wh2(self, battery_wh: float) -> float:
        """Return the variance of a trip's energy by the steps of the display at both ends, Wh²."""
        return (self.step_percent / 100 * battery_wh) ** 2 / 6

    def used_wh(self, rows: IntArray, time_s: FloatArray, battery_wh: float) -> FloatArray:
        """Return the energy used up to each row of a trip, (k,) Wh, or NaN where it was not read.

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


def meters_of(log: Log) -> list[Meter]:
    """Return the meters of a log. Its energy goes before its power, its power before its charge.

    Raises
    ------
    MissingColumnError
        If the log has none.
    """
    names, found = set(log.columns), list[Meter]()
    if "energy_wh" in names:
        found.append(Meter("energy", log.numbers("energy_wh"), columns=("energy_wh",)))
    if {"volts", "amps"} <= names:
        volts, volts_note = _scaled(log, "volts", "V", LARGEST_VOLTS)
        amps, amps_note = _scaled(log, "amps", "A", LARGEST_AMPS)
        note = f"energy is the integral of {volts_note} times {amps_note}"
        found.append(Meter("power", volts * amps, notes=(note,), columns=("volts", "amps")))
    if "power_w" in names:
        column = log.columns["power_w"]
        unit = "kW" if column.factor > 1 else "W"
        note = f"energy is the integral of '{column.header}' in {unit}"
        power_w = log.numbers("power_w")
        found.append(Meter("power", power_w, notes=(note,), columns=("power_w",)))
    if "soc_percent" in names:
        percent = log.numbers("soc_percent")
        found.append(Meter("charge", percent, display_step(percent), columns=("soc_percent",)))
    found = [meter for meter in found if np.isfinite(meter.reading).any()] or found
    if not found:
        raise MissingColumnError(
            f"trip table {log.path} needs one of the columns energy_wh, energy_kwh, power_w and "
            f"soc_percent, or volts and amps. It has {names_of(log.table.column_names)}"
        )
    return found


def by_catalogue(vehicle: Vehicle) -> str:
    """Return a sentence on energies that are per cents of the battery of a vehicle file."""
    return (
        f"kWh are per cents of the vehicle file's usable battery of {vehicle.battery_kwh:g} kWh. "
        "The log has no meter of energy, so the real size stays unknown"
    )


def display_step(percent: FloatArray) -> float:
    """Return the step of a display by its readings (p,) %. 1 where all are equal."""
    steps = np.diff(np.unique(np.round(percent[np.isfinite(percent)], 6)))
    return round(float(steps.min()), 6) if len(steps) else 1.0


def _scaled(log: Log, name: str, unit: str, largest: float) -> tuple[FloatArray, str]:
    """Return volts or amps, (p,), and the header with the unit found."""
    column, values = log.columns[name], log.numbers(name)
    read, milli = np.abs(values[np.isfinite(values)]), column.factor < 1
    if column.factor == 1 and len(read):
        milli = bool((np.median(read) if name == "volts" else read.max()) > largest)
        values = values * (1e-3 if milli else 1.0)
    return values, f"'{column.header}' in {'m' * milli}{unit}"
