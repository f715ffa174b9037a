"""Consumption: energy models that are functions of speed and slope, and what physics asks of them.

Four laws hold for every vehicle. Energy per km rises with the slope at every speed. A descent
returns at most the potential energy, ``m g h``. Up and down one slope costs energy, and so does a
level road. They are checked on a grid of speeds and slopes of public roads.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from evroute import limits
from evroute.arrays import BoolArray, FloatArray
from evroute.energy.constants import GRAVITY_MPS2, J_PER_WH
from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, require
from evroute.text import cut, escaped

SPEEDS_KMH = np.arange(10.0, 131.0, 5.0)
SLOPES = np.arange(-12.0, 12.1, 0.5) / 100.0
"""Grid of the checks: km/h, and height gained by metre driven."""
TOLERANCE_WH = 1e-6
"""Differences of energies per km that are rounding, Wh."""
COLUMNS = ("speed_kmh", "slope_percent", "wh_per_km")
"""Columns of a table. It has a row for each pair of its speeds and slopes."""
METRES_OF_MILE = 1609.344
KWH_OF_GGE = 33.7
"""Energy of a gallon of gasoline (US EPA), kWh."""
FEATURES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "speed_kmh": lambda speed_mps, slope: 3.6 * speed_mps,
    "speed_mps": lambda speed_mps, slope: speed_mps,
    "speed_mph": lambda speed_mps, slope: speed_mps * 3600.0 / METRES_OF_MILE,
    "slope_percent": lambda speed_mps, slope: 100.0 * slope,
    "slope": lambda speed_mps, slope: slope,
}
"""Features of ONNX models, from speed in m/s and slope. A slope of 0.01 is 1 %."""
ENERGIES = {
    "wh_per_km": 1.0,
    "kwh_per_km": 1000.0,
    "kwh_per_100km": 10.0,
    "kwh_per_mile": 1e6 / METRES_OF_MILE,
    "gge_per_mile": KWH_OF_GGE * 1e6 / METRES_OF_MILE,
}
"""Energies of ONNX models by unit, each with its factor to Wh per km."""


@dataclass(frozen=True, slots=True)
class Consumption:
    """An energy model of speed and slope.

    Parameters
    ----------
    name
        Name in messages.
    wh_per_km
        Function of (k,) speeds, m/s, and (k,) slopes, height gained by metre driven, that returns
        (k,) energies from the battery, Wh per km.
    mass_kg
        Mass of the vehicle, kg, or None if it is not known.
    """

    name: str
    wh_per_km: Callable[[FloatArray, FloatArray], FloatArray]
    mass_kg: float | None


@dataclass(frozen=True, slots=True)
class Law:
    """The result of one check.

    Parameters
    ----------
    law
        What holds if it passes.
    holds
        Whether it passes, or None if it was not checked.
    detail
        The worst case, or the reason why it was not checked.
    """

    law: str
    holds: bool | None
    detail: str


def of_vehicle(vehicle: Vehicle) -> Consumption:
    """Return eq. 8 of a vehicle at constant speed."""

    def wh_per_km(speed_mps: FloatArray, slope: FloatArray) -> FloatArray:
        length_m = np.full(len(speed_mps), 1000.0)
        return energy_parts(vehicle, length_m, slope * length_m, speed_mps).total_wh

    return Consumption(f"vehicle '{vehicle.name}'", wh_per_km, vehicle.mass_kg)


def of_table(path: Path, mass_kg: float | None) -> Consumption:
    """Return a table of `COLUMNS`, interpolated linearly. Beyond its range its last value counts.

    Parameters
    ----------
    path
        A CSV file with a row for each pair of its speeds and slopes.
    mass_kg
        Mass of the vehicle, kg, or None if it is not known.

    Raises
    ------
    EvrouteError
        If it cannot be read, a column is missing, or the rows are not all pairs.
    """
    speed_kmh, slope_percent, energy = _columns(path)
    speeds, slopes = np.unique(speed_kmh), np.unique(slope_percent)
    order = np.lexsort((slope_percent, speed_kmh))
    pairs = np.array(np.meshgrid(speeds, slopes, indexing="ij")).reshape(2, -1)
    require(
        min(len(speeds), len(slopes)) > 1
        and np.array_equal(pairs, [speed_kmh[order], slope_percent[order]]),
        f"{path} has {len(energy)} rows of {len(speeds)} speeds and {len(slopes)} slopes. It needs "
        "one row for each pair of at least two speeds and two slopes",
    )
    at = RegularGridInterpolator((speeds, slopes), energy[order].reshape(len(speeds), len(slopes)))

    def wh_per_km(speed_mps: FloatArray, slope: FloatArray) -> FloatArray:
        inside = [
            np.clip(3.6 * speed_mps, speeds[0], speeds[-1]),
            np.clip(100.0 * slope, slopes[0], slopes[-1]),
        ]
        return np.asarray(at(np.column_stack(inside)))

    return Consumption(f"table {path.name}", wh_per_km, mass_kg)


def of_onnx(
    path: Path,
    mass_kg: float | None,
    features: tuple[str, ...],
    energy: str,
) -> Consumption:
    """Return a model in the ONNX format with one input of rows of features and one energy a row.

    Parameters
    ----------
    path
        The model.
    mass_kg
        Mass of the vehicle, kg, or None if it is not known.
    features
        Names of `FEATURES` in the order of the model's columns.
    energy
        One of `ENERGIES`.

    Raises
    ------
    EvrouteError
        If a name is unknown, onnxruntime is not installed, or the model does not take the features.
    """
    unknown = [each for each in features if each not in FEATURES]
    require(not unknown, f"unknown feature '{''.join(unknown[:1])}'. There are {_some(FEATURES)}")
    require(energy in ENERGIES, f"unknown energy '{energy}'. There are {_some(ENERGIES)}")
    try:
        from onnxruntime import InferenceSession
    except ModuleNotFoundError:
        raise EvrouteError("onnxruntime is not installed. Run: pip install onnxruntime") from None
    try:
        session = InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # errors of its own kinds
        raise EvrouteError(f"{path} is no ONNX model: {_words(error)}") from None

    def wh_per_km(speed_mps: FloatArray, slope: FloatArray) -> FloatArray:
        columns = [FEATURES[each](speed_mps, slope) for each in features]
        rows = np.column_stack(columns).astype(np.float32)
        try:
            found: Any = session.run(None, {session.get_inputs()[0].name: rows})[0]
        except Exception as error:
            raise EvrouteError(
                f"{path} does not take {len(features)} features in rows: {_words(error)}"
            ) from None
        values = np.asarray(found, dtype=np.float64).reshape(len(speed_mps), -1)
        return values[:, 0] * ENERGIES[energy]

    return Consumption(f"model {path.name}", wh_per_km, mass_kg)


def laws(model: Consumption) -> list[Law]:
    """Return the results of the four laws on the grid of `SPEEDS_KMH` and `SLOPES`."""
    speed, slope = (each.ravel() for each in np.meshgrid(SPEEDS_KMH, SLOPES, indexing="ij"))
    energy = model.wh_per_km(speed / 3.6, slope).reshape(len(SPEEDS_KMH), len(SLOPES))
    require(np.all(np.isfinite(energy)), f"{model.name} has energies that are not finite numbers")
    rise = np.diff(energy, axis=1)
    worst = np.unravel_index(np.argmin(rise), rise.shape)
    steps = f"{100 * SLOPES[worst[1]]:g} to {100 * SLOPES[worst[1] + 1]:g} % at"
    both = energy + energy[:, ::-1]
    least = np.unravel_index(np.argmin(both), both.shape)
    level = energy[:, np.argmin(abs(SLOPES))]
    return [
        Law(
            "energy rises with the slope at every speed",
            bool(rise[worst] > -TOLERANCE_WH),
            f"{_count(rise > -TOLERANCE_WH)}least rise {rise[worst]:.3g} Wh/km, "
            f"from {steps} {SPEEDS_KMH[worst[0]]:g} km/h",
        ),
        _descents(model, energy),
        Law(
            "up and down one slope costs energy at every speed",
            bool(both[least] > 0.0),
            f"{_count(both[:, SLOPES >= 0.0] > 0.0)}least {both[least]:.3g} Wh/km up and down, at "
            f"{SPEEDS_KMH[least[0]]:g} km/h and "
            f"{abs(100 * SLOPES[least[1]]):g} %",
        ),
        Law(
            "a level road costs energy at every speed",
            bool(level.min() > 0.0),
            f"{_count(level > 0.0)}least {level.min():.3g} Wh/km, "
            f"at {SPEEDS_KMH[np.argmin(level)]:g} km/h",
        ),
    ]


def _count(holds: BoolArray) -> str:
    """Return the number of cases that fail, in words. Empty if all hold."""
    failing = int(np.count_nonzero(~holds))
    return f"{failing:,} of {holds.size:,} fail, " if failing else ""


def _descents(model: Consumption, energy: FloatArray) -> Law:
    """Return whether no descent returns more than its potential energy.

    Parameters
    ----------
    model
        The model.
    energy
        (v, s) Wh per km on the grid.
    """
    law = "a descent returns at most m g h"
    if model.mass_kg is None:
        return Law(law, None, "not checked: the mass of the vehicle is not known (--mass)")
    down = SLOPES < 0.0
    potential = model.mass_kg * GRAVITY_MPS2 * SLOPES[down] * 1000.0 / J_PER_WH
    above = energy[:, down] - potential
    worst = np.unravel_index(np.argmin(above), above.shape)
    return Law(
        law,
        bool(above[worst] > -TOLERANCE_WH),
        f"{_count(above > -TOLERANCE_WH)}least loss {above[worst]:.3g} Wh/km, "
        f"at {SPEEDS_KMH[worst[0]]:g} km/h and {100 * SLOPES[down][worst[1]]:g} %",
    )


def _columns(path: Path) -> list[FloatArray]:
    """Return the columns of a table as numbers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            rows = list(csv.DictReader(limits.lines(handle, str(path))))
        return [np.array([float(row[name]) for row in rows]) for name in COLUMNS]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise EvrouteError(f"{path} cannot be read: {_words(error)}") from None
    except (KeyError, TypeError, ValueError):
        raise EvrouteError(
            f"{path} needs the columns {', '.join(COLUMNS)}, with a number in every row"
        ) from None


def _words(error: Exception) -> str:
    """Return the message of another program's error in one short line."""
    return cut(escaped(" ".join(str(error).split())), 200)


def _some(names: dict[str, Any]) -> str:
    return ", ".join(names)
