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
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.noise_fit import LATE_REFITS
from evroute.learning.trips.terms import AUXILIARY, DRAG, FADE, NAMES, TURNING
from evroute.learning.trips.trip_belief import TripBelief

FEWEST = 2
"""Trips on each route of a pair."""


def driven_pairs(belief: LearnedBelief | TripEnergies, trips: Iterable[MeasuredTrip]) -> list[str]:
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
COMPARED_TRIPS = 10
"""Trips on each of two routes after which they are compared."""
COMPARED_QUANTILE = 1.28
SHOWN_PAIRS = 3
FAR = 4.0
"""Prior deviations beyond which a coefficient contradicts the vehicle file."""
FIELDS = (
    "rolling or mass_kg",
    "mass_kg or propulsion_efficiency",
    "recuperation_efficiency",
    "auxiliary_w",
    "drag or front_m2",
    "full_battery_fade",
    "auxiliary_w",
    "mass_kg or recuperation_efficiency",
)
"""Fields of a vehicle file behind each coefficient."""


def findings(
    trips: pa.Table, measured: Iterable[MeasuredTrip], learner: LearnedBelief | TripEnergies
) -> list[str]:
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
    if isinstance(learner, TripEnergies):
        sentences += [coefficients(learner), *contradictions(learner.belief)]
        sentences += [roads(learner.belief), heights(learner)]
        sentences.append(distinguishable(learner.belief, columns["length_m"] / 1000))
        sentences += refusals(learner.belief, trips["trip"].to_pylist())
        if after := learner.changed_after:
            sentences.append(
                f"errors grew by trip {after}, as if roads had changed: their speeds and "
                "deviations, and the intervals, are learned anew since"
            )
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


def coefficients(learner: TripEnergies) -> str:
    """Return the coefficients in plain words, with their standard deviations."""
    vehicle, belief = learner.vehicle, learner.belief
    b = belief.coefficients.coefficients
    sd = np.sqrt(np.diag(belief.regression.covariance))
    km, up, down, minute = (
        f"{mean:.{digits}f} ± {std:.{digits}f} Wh"
        for mean, std, digits in zip(b[:4], sd[:4], (0, 2, 2, 1), strict=True)
    )
    drag, extra = (
        f"{b[k] / scale:.2f} ± {sd[k] / scale:.2f} times"
        for k, scale in ((DRAG, belief.prior.mean[DRAG]), (AUXILIARY, 1.0))
    )
    turns = (
        ""
        if len(belief.prior.mean) <= TURNING
        else (
            f"stops and turns {b[TURNING]:.2f} ± {sd[TURNING]:.2f} times their energy by physics; "
        )
    )
    return (
        f"{km} per km, {up} per metre up, {down} back per metre down, {minute} per minute; "
        f"air drag {drag} that of the vehicle file; {turns}heating and cooling {extra} their "
        f"power; above {vehicle.full_battery_percent:.0f} % of charge recuperation fades by "
        f"{b[FADE]:.0%} ± {sd[FADE]:.0%} per 10 %"
    )


def contradictions(belief: TripBelief) -> Iterator[str]:
    """Yield the coefficients that are far from the vehicle file, and the fields to change."""
    distance = (
        belief.coefficients.coefficients[: len(belief.prior.mean)] - belief.prior.mean
    ) / belief.prior.std
    for k in np.flatnonzero(np.abs(distance) > FAR).tolist():
        yield (
            f"the coefficient of {NAMES[k]} is {abs(distance[k]):.0f} prior deviations "
            f"{'above' if distance[k] > 0 else 'below'} the vehicle file; check its {FIELDS[k]}"
        )


def roads(belief: TripBelief) -> str:
    """Return the deviation of roads from the coefficients, in words."""
    if belief.trips < LATE_REFITS[0]:
        return f"roads beyond these terms: judged from {LATE_REFITS[0]} trips on"
    return (
        f"roads beyond these terms: they differ by {belief.late_std:.0f} Wh per km (sd)"
        if belief.late_std
        else "roads beyond these terms: nothing beyond noise"
    )


def heights(learner: TripEnergies) -> str:
    """Return the spread of unknown heights that was learned; empty if the network has heights."""
    return (
        "the network has no heights: junctions have a learned potential of "
        f"± {learner.belief.field_std:.0f} Wh at {len(learner.junctions)} places"
        if learner.junctions is not None
        else ""
    )


def distinguishable(belief: TripBelief, km: FloatArray) -> str:
    """Return the least difference of two routes that ten trips on each reveal, Wh."""
    sd_wh = float(np.sqrt(belief.noise.variance(np.median(km, keepdims=True))[0]))
    least_wh = COMPARED_QUANTILE * sd_wh * float(np.sqrt(2 / COMPARED_TRIPS))
    return (
        f"trips of {np.median(km):.1f} km on one route differ by {sd_wh:.0f} Wh (sd): "
        f"{COMPARED_TRIPS} trips on each of two routes show a difference from {least_wh:.0f} Wh on"
    )


def refusals(belief: TripBelief, names: list[str]) -> Iterator[str]:
    """Yield the number of refused trips, and of times that the prior was widened."""
    if refused := [names[number] for number in belief.refused]:
        shown = ", ".join(refused[:5]) + (" and more" if len(refused) > 5 else "")
        yield (
            f"{len(refused)} trips are not learned: their energies are over 8 deviations from "
            f"those expected: {shown}; they are tested again after 10 more trips"
        )
    if belief.inflations:
        yield (
            "3 of 10 consecutive trips were refused, so the prior of the coefficients was "
            f"widened {10**belief.inflations} times; check the vehicle file"
        )


def numbers_of(trips: pa.Table) -> dict[str, FloatArray]:
    """Return the columns of ``trips.parquet`` by name, without the names of the trips."""
    names = [name for name in trips.column_names if name != "trip"]
    return {name: np.array(trips[name].to_pylist(), dtype=float) for name in names}
