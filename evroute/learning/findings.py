"""Findings from learning measured trips: errors, intervals and coefficients, one sentence each.

Regression of trip energies on km, climb and descent: the baseline of every belief.

Pairs of routes between the same ends that were both driven: measured and believed difference.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pyarrow as pa

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.learning.base import Belief
from evroute.learning.measured import MeasuredTrip

FEWEST = 2
"""Trips on each route of a pair."""


def driven_pairs(belief: Belief, trips: Iterable[MeasuredTrip]) -> list[str]:
    """Return a sentence on each pair of routes with at least two trips each, most trips first.

    It has the difference of the mean measured energies, the second minus the first, with its
    standard error, and that of the expected energies, Wh. Routes are named by their newest trips.

    Parameters
    ----------
    belief
        Belief after the trips.
    trips
        Measured trips.
    """
    by_ends: dict[tuple[int, int], dict[tuple[int, ...], list[MeasuredTrip]]] = defaultdict(dict)
    for trip in (trip for trip in trips if trip.routes == 1):
        edges = tuple(trip.edge.tolist())
        by_ends[edges[0], edges[-1]].setdefault(edges, []).append(trip)
    day, pairs = belief.under(EQ8_CONDITIONS), []
    for routes in by_ends.values():
        often = [(edges, driven) for edges, driven in routes.items() if len(driven) >= FEWEST]
        for (one, first), (two, second) in combinations(often, 2):
            mean_wh, variance_wh2 = zip(*map(_mean, (first, second)), strict=True)
            believed_wh = [
                float(day.mean_wh[day.space.arms_of_route(Route(edges))].sum())
                for edges in (one, two)
            ]
            sentence = (
                f"the route of trip '{second[-1].trip}' against that of '{first[-1].trip}' "
                f"({len(second)} and {len(first)} trips): measured "
                f"{mean_wh[1] - mean_wh[0]:+.0f} ± {sum(variance_wh2) ** 0.5:.0f} Wh, expected "
                f"{believed_wh[1] - believed_wh[0]:+.0f} Wh"
            )
            pairs.append((min(len(first), len(second)), sentence))
    pairs.sort(key=lambda pair: -pair[0])
    return [sentence for _, sentence in pairs]


def _mean(trips: list[MeasuredTrip]) -> tuple[float, float]:
    """Return the mean energy of trips, Wh, and its variance, Wh²."""
    energy_wh: FloatArray = np.array([trip.energy_wh.sum() for trip in trips])
    return float(energy_wh.mean()), float(energy_wh.var(ddof=1) / len(energy_wh))


FEWEST_TRIPS = 3
"""Trips before the first expectation."""


def online_regression(
    km: FloatArray, climb_m: FloatArray, descent_m: FloatArray, energy_wh: FloatArray
) -> FloatArray:
    """Return the energy of each trip by a regression on the earlier ones, (n,) Wh.

    Weighted least squares without intercept, weights ``1/km``.

    Parameters
    ----------
    km
        (n,) lengths, km.
    climb_m, descent_m
        (n,) heights gained and lost, m.
    energy_wh
        (n,) measured energies, Wh.
    """
    rows = np.column_stack([km, climb_m, descent_m])
    weighted = rows / km[:, np.newaxis]
    gram = np.cumsum(weighted[:, :, np.newaxis] * rows[:, np.newaxis, :], axis=0)
    moments = np.cumsum(weighted * energy_wh[:, np.newaxis], axis=0)
    expected = np.full(len(km), np.nan)
    for i in range(FEWEST_TRIPS, len(km)):
        expected[i] = rows[i] @ np.linalg.lstsq(gram[i - 1], moments[i - 1])[0]
    return expected


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
    sentences += driven_pairs(learner, measured)[:SHOWN_PAIRS]
    return [sentence for sentence in sentences if sentence]


def recent(trips: pa.Table) -> str:
    """Return the forecast error and the intervals that held, of the newest trips, in words."""
    late = trips.slice(max(trips.num_rows - RECENT, 0))
    energy_wh, expected_wh, low, high = (
        np.array(late[name].to_pylist(), dtype=float)
        for name in ("energy_wh", "predicted_wh", "low90_wh", "high90_wh")
    )
    error = np.abs(energy_wh - expected_wh).sum() / max(np.abs(energy_wh).sum(), 1.0)
    held = ((low <= energy_wh) & (energy_wh <= high)).sum()
    n = late.num_rows
    return (
        f"forecasts are {100 * error:.0f} % off (last {n} trip{'s' * (n > 1)}); "
        f"90 % intervals held {held} of {n}"
    )


def errors(columns: dict[str, FloatArray]) -> str:
    """Return errors of the belief, a regression and eq. 8, in Wh and shares of all energy."""
    energy_wh = columns["energy_wh"]
    first = FEWEST_TRIPS if len(energy_wh) > FEWEST_TRIPS else 0
    expected = {"the belief": columns["predicted_wh"], "eq. 8": columns["eq8_wh"]}
    if first and {"climb_m", "descent_m"} <= columns.keys():
        expected["a regression on km, climb and descent"] = online_regression(
            columns["length_m"] / 1000, columns["climb_m"], columns["descent_m"], energy_wh
        )
    total_wh = float(np.abs(energy_wh[first:]).sum())
    parts = [
        f"{name} {off_wh.mean():.0f} Wh a trip, {off_wh.sum() / total_wh:.1%} of the energy"
        for name, each in expected.items()
        for off_wh in [np.abs(each - energy_wh)[first:]]
        if total_wh and np.isfinite(off_wh).all()
    ]
    span = f"trips {first + 1} to {len(energy_wh)}" if len(energy_wh) > first + 1 else "one trip"
    return f"errors of expectations made before learning, {span}: {'; '.join(parts)}"


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
        yield f"90 % intervals{of} held {held.sum()} of {len(held)} trips{last}; mean width {shown}"


def numbers_of(trips: pa.Table) -> dict[str, FloatArray]:
    """Return the columns of ``trips.parquet`` by name, without the names of the trips."""
    names = [name for name in trips.column_names if name != "trip"]
    return {name: np.array(trips[name].to_pylist(), dtype=float) for name in names}
