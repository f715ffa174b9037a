"""`benchmark`: entries on data sets, each trip expected from the trips before it alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from evroute.errors import EvrouteError, MissingPackageError, require
from evroute.experiments.benchmark.data import Data, load_data
from evroute.experiments.benchmark.entries import (
    Entry,
    Expectation,
    entry_class,
    trip_after,
    trip_before,
)
from evroute.experiments.benchmark.measures import (
    FIRST_TRIPS,
    MEASURES,
    Expected,
    Measure,
    paired,
)
from evroute.methods.setting import Setting

BASELINE = "regression"
DEFAULT_ENTRIES = (BASELINE, "physics", "evroute")
DIGITS = {"share": 5, "Wh": 2}
"""Digits of results after the point, by unit. Later digits differ between machines."""


@dataclass(frozen=True, slots=True)
class Row:
    """A measure of an entry on a data set.

    Parameters
    ----------
    data, entry, measure
        Names.
    unit
        ``share`` or ``Wh``.
    trips
        Number of trips that count.
    value
        The measure.
    difference, low, high
        Its difference from the regression, and the paired 90 % interval of that.
    """

    data: str
    entry: str
    measure: str
    unit: str
    trips: int
    value: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The results of entries on data sets.

    Parameters
    ----------
    data
        The data sets.
    rows
        The results.
    """

    data: tuple[Data, ...]
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """Return sources and results in plain values."""
        data = [
            {"name": each.name, **each.about}
            | {"sha256": dict(each.digests), "trips": len(each.trips)}
            for each in self.data
        ]
        return {"data": data, "rows": [asdict(row) for row in self.rows]}

    def table(self) -> pa.Table:
        """Return the results, a row each, with the digests of the data."""
        digest = {each.name: " ".join(each.digests.values()) for each in self.data}
        return pa.Table.from_pylist(
            [asdict(row) | {"sha256": digest[row.data]} for row in self.rows]
        )


def benchmark(
    folder: str | Path | None = None,
    entries: Sequence[str | Callable[[Setting], Entry]] = DEFAULT_ENTRIES,
    *,
    first: int | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Benchmark:
    """Let entries expect the energy of trips in order of time, and compare them.

    The regression takes part always: each result has its difference from that of the regression.

    Parameters
    ----------
    folder
        A folder with ``drives/`` or ``ioniq5/``, or None for the two made years that ship.
    entries
        Names of `ENTRIES`, ``module:Class`` of a module named to `plugins.use`, or classes. A class
        of your own runs twice, and is refused if its expectations differ.
    first
        Number of trips of each data set, its first ones, or None for all.
    on_progress
        Called with the number of runs done and in all.

    Returns
    -------
    Benchmark
        Data sets and results.

    Raises
    ------
    EvrouteError
        If the folder has no data set, an entry is unknown, or an entry returns no energy and
        interval or differs between two runs.

    Examples
    --------
    >>> from evroute.experiments.benchmark.run import benchmark
    >>> found = benchmark(entries=["physics"], first=20)
    >>> sorted({row.entry for row in found.rows})
    ['physics', 'regression']
    """
    classes: dict[str, Callable[[Setting], Entry]] = {BASELINE: entry_class(BASELINE)}
    for entry in entries:
        name = entry if isinstance(entry, str) else f"{entry.__module__}:{entry.__qualname__}"
        classes[name] = entry_class(entry) if isinstance(entry, str) else entry
    require(
        first is None or first > FIRST_TRIPS,
        f"{first} trips are too few. Give at least {FIRST_TRIPS + 1}",
    )
    found = load_data(None if folder is None else Path(folder))
    data = [replace(each, trips=each.trips[:first]) for each in found]
    rows: list[Row] = []
    for k, each in enumerate(data):
        require(
            len(each.trips) > FIRST_TRIPS,
            f"{each.name} has {len(each.trips)} trips. It needs {FIRST_TRIPS + 1}",
        )
        results: dict[str, Expected] = {}
        for name, of_class in classes.items():
            with threadpool_limits(1):  # sums in one order, and small products wait for no thread
                results[name] = expectations(each, name, of_class)
            on_progress(k * len(classes) + len(results), len(data) * len(classes))
        for name, result in results.items():
            rows += [
                _row(each.name, name, measure, result, results[BASELINE]) for measure in MEASURES
            ]
    return Benchmark(tuple(data), tuple(rows))


def expectations(data: Data, name: str, of_class: Callable[[Setting], Entry]) -> Expected:
    """Return the expectations of an entry for all trips of a data set.

    An entry that is not evroute's own runs a second time with other energies from the middle on.
    Its expectations up to there must be equal, so that it keeps nothing from the first run.

    Parameters
    ----------
    data
        Trips in order of departure.
    name, of_class
        The entry.

    Raises
    ------
    EvrouteError
        If it returns no energy and interval, or its expectations differ.
    """
    measured_wh = np.array([float(trip.energy_wh.sum()) for trip in data.trips])
    rows = _expected(data, name, of_class)
    if not of_class.__module__.startswith(f"{__package__}."):
        half = len(data.trips) // 2
        later = tuple(replace(trip, energy_wh=2.0 * trip.energy_wh) for trip in data.trips[half:])
        again = _expected(replace(data, trips=data.trips[:half] + later), name, of_class)
        differing = [k for k in range(half + 1) if rows[k] != again[k]]
        require(
            not differing,
            f"entry '{name}' expects trip {differing[0] + 1 if differing else 0} of '{data.name}' "
            "differently in a second run, whose later trips have other energies. It must start "
            "anew and draw nothing at random",
        )
    return Expected(measured_wh, *np.array(rows).T)


def _expected(data: Data, name: str, of_class: Callable[[Setting], Entry]) -> list[Expectation]:
    """Return the expectations of a new entry, trip by trip."""
    rows: list[Expectation] = []
    try:
        entry = of_class(data.setting)
        for number, trip in enumerate(data.trips, start=1):
            before = trip_before(data.setting, trip, number)
            rows.append(_checked(entry.expect(before)))
            entry.learn(trip_after(trip_before(data.setting, trip, number), trip))
    except MissingPackageError:
        raise
    except Exception as error:  # whatever the code of somebody else raises
        raise EvrouteError(
            f"entry '{name}', trip {len(rows) + 1} of '{data.name}': "
            f"{type(error).__name__}: {error}"
        ) from error
    return rows


def _checked(found: Any) -> Expectation:
    """Return an expectation, which must be three finite numbers in order."""
    energy_wh, low_wh, high_wh = map(float, found)
    if not (math.isfinite(energy_wh) and math.isfinite(high_wh - low_wh) and low_wh <= high_wh):
        raise ValueError(f"expect returned {found!r}. Return three finite numbers, low <= high")
    return energy_wh, low_wh, high_wh


def _row(data: str, entry: str, measure: Measure, result: Expected, baseline: Expected) -> Row:
    """Return a measure with its paired interval, rounded to digits that machines share."""
    trips = measure.trips(len(result.measured_wh))
    numbers = (float(measure.value(result, trips)), *paired(measure, result, baseline))
    rounded = [round(number, DIGITS[measure.unit]) + 0.0 for number in numbers]
    return Row(data, entry, measure.name, measure.unit, len(trips), *rounded)
