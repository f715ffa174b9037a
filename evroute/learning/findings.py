"""Findings from learning measured trips: errors, intervals and coefficients, one sentence each."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from evroute.arrays import FloatArray
from evroute.learning.base import Belief
from evroute.learning.baseline import FEWEST_TRIPS, online_regression
from evroute.learning.battery_size import coarse_words
from evroute.learning.measured import MeasuredTrip
from evroute.learning.readers.meters import display_step
from evroute.learning.route_pairs import driven_pairs
from evroute.text import counted

LAST = 50
"""Newest trips of which intervals are counted apart."""
RECENT = 20
"""Newest trips in the short summary of a car."""
SHOWN_PAIRS = 3


def findings(trips: pa.Table, measured: Iterable[MeasuredTrip], learner: Belief) -> list[str]:
    """Return the findings on all trips of a folder, in the order in which they are printed.

    Parameters
    ----------
    trips
        Rows of ``trips.parquet``.
    measured
        The same trips as measured.
    learner
        Belief after these trips.
    """
    columns = numbers_of(trips)
    sentences = [errors(columns), *intervals(columns)]
    sentences += learner.findings(trips)
    sentences += by_car(trips)
    measured = list(measured)
    sentences.append(learner.battery.sentence(learner.vehicle.battery_kwh))
    sentences.append(by_display(measured, learner.vehicle.battery_kwh))
    sentences += driven_pairs(learner, measured)[:SHOWN_PAIRS]
    return [sentence for sentence in sentences if sentence]


def by_display(measured: Iterable[MeasuredTrip], battery_kwh: float) -> str:
    """Return in words that a display of the charge is too coarse for single trips, or empty.

    Parameters
    ----------
    measured
        Trips, of which those with a total by the charge at both ends count.
    battery_kwh
        Usable battery of the vehicle file, kWh.
    """
    whole = [each for each in measured if each.whole and each.record is None]
    trips_wh = [float(each.energy_wh.sum()) for each in whole]
    shown = [0.0, *(each.soc_percent for each in whole)]
    step = display_step(np.append(shown, np.array(trips_wh) / (battery_kwh * 10.0)))
    return coarse_words(step, battery_kwh, trips_wh)


def by_car(trips: pa.Table) -> list[str]:
    """Return in words the lowest and highest share of 90 % intervals that held, by car.

    It is empty without cars that have enough trips.

    Parameters
    ----------
    trips
        Rows of ``trips.parquet``.
    """
    if "car" not in trips.column_names or "low90_wh" not in trips.column_names:
        return []
    columns = numbers_of(trips)
    energy_wh = columns["energy_wh"]
    held = (columns["low90_wh"] <= energy_wh) & (energy_wh <= columns["high90_wh"])
    cars, place, count = np.unique(
        np.array(trips["car"].to_pylist(), dtype=np.str_), return_inverse=True, return_counts=True
    )
    shares = np.bincount(place, weights=held) / count
    judged = np.flatnonzero(count >= LAST)
    if not len(judged):
        return []
    least, most = (judged[find(shares[judged])] for find in (np.argmin, np.argmax))
    return [
        f"90 % intervals by car, of {counted(len(judged), 'car')} with {LAST} trips or more, held "
        f"from {shares[least]:.0%} ({cars[least]}) to {shares[most]:.0%} ({cars[most]})"
    ]


def recent(trips: pa.Table) -> str:
    """Return errors of forecasts and of physics, and intervals that held, of the newest trips.

    They are in words. Errors are shares of the measured energy.
    """
    late = trips.slice(max(trips.num_rows - RECENT, 0))
    energy_wh, expected_wh, physics_wh, low, high = (
        np.array(late[name].to_pylist(), dtype=float)
        for name in ("energy_wh", "predicted_wh", "eq8_wh", "low90_wh", "high90_wh")
    )
    error, of_physics = (
        np.abs(energy_wh - each).sum() / max(np.abs(energy_wh).sum(), 1.0)
        for each in (expected_wh, physics_wh)
    )
    held = ((low <= energy_wh) & (energy_wh <= high)).sum()
    n = late.num_rows
    return (
        f"forecasts are {100 * error:.0f} % off, physics alone {100 * of_physics:.0f} % "
        f"(last {n} trip{'s' * (n > 1)}), 90 % intervals held {held} of {n}"
    )


def errors(columns: dict[str, FloatArray]) -> str:
    """Return errors of belief, physics and a regression, in Wh and shares of all energy."""
    energy_wh = columns["energy_wh"]
    first = FEWEST_TRIPS if len(energy_wh) > FEWEST_TRIPS else 0
    expected = {"": columns["predicted_wh"], "physics alone ": columns["eq8_wh"]}
    if first and {"climb_m", "descent_m"} <= columns.keys():
        expected["a regression on km, climb and descent "] = online_regression(
            columns["length_m"] / 1000, columns["climb_m"], columns["descent_m"], energy_wh
        )
    total_wh = float(np.abs(energy_wh[first:]).sum())
    several = len(energy_wh) > first + 1
    each_trip = " a trip" if several else ""
    span = f"trips {first + 1} to {len(energy_wh)}" if several else "the trip"
    parts = [
        f"{name}{off_wh.mean():.0f} Wh{each_trip}, {off_wh.sum() / total_wh:.1%} of the energy"
        for name, each in expected.items()
        for off_wh in [np.abs(each - energy_wh)[first:]]
        if total_wh and np.isfinite(off_wh).all()
    ]
    return f"forecast error before learning {span}: {'; '.join(parts)}"


def intervals(columns: dict[str, FloatArray]) -> Iterator[str]:
    """Yield how many 90 % intervals held, of all trips and of the last, and their mean width."""
    for of, unit, measured in (("", "wh", "energy_wh"), (" of minutes", "s", "travel_s")):
        if f"low90_{unit}" not in columns:
            continue
        low, high = columns[f"low90_{unit}"], columns[f"high90_{unit}"]
        known = np.isfinite(high - low + columns[measured])
        if not known.any():
            continue
        held = ((low <= columns[measured]) & (columns[measured] <= high))[known]
        last = f", {held[-LAST:].sum()} of the last {LAST}" if len(held) > LAST else ""
        width = float((high - low)[known].mean())
        shown = f"{width:.0f} Wh" if unit == "wh" else f"{width / 60:.1f} min"
        yield f"90 % intervals{of} held {held.sum()} of {len(held)} trips{last}, mean width {shown}"


def numbers_of(trips: pa.Table) -> dict[str, FloatArray]:
    """Return the columns of ``trips.parquet`` by name, without the names of the trips."""
    names = [name for name in trips.column_names if name not in ("trip", "car")]
    return {name: np.array(trips[name].to_pylist(), dtype=float) for name in names}
