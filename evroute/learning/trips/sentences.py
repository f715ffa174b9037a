"""Sentences on what a belief of whole trips learned: coefficients, roads, noise and refusals."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from evroute.arrays import FloatArray
from evroute.energy.heating import COOLED_ABOVE_C, HEATED_BELOW_C
from evroute.energy.vehicle import Vehicle
from evroute.learning.trips.terms import (
    AUXILIARY,
    COOLING,
    DOWN,
    FADE,
    HEATING,
    NAMES,
    UP,
    WARM_UP,
)
from evroute.learning.trips.trip_belief import TripBelief
from evroute.learning.trips.usual import is_learned, usual_trip
from evroute.text import counted

COMPARED_TRIPS = 10
"""Trips on each of two routes after which they are compared."""
COMPARED_QUANTILE = 1.28
MANY_REFUSED = 3
"""Refused trips from which on the vehicle file or the table is doubted."""
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
    "heater",
    "heater",
    "auxiliary_w",
    "mass_kg or propulsion_efficiency",
    "mass_kg or recuperation_efficiency",
)
"""Fields of a vehicle file behind each coefficient, in the order of `terms.NAMES`."""


def sentences(
    belief: TripBelief,
    vehicle: Vehicle,
    trips: pa.Table,
    roads: str,
    places: int | None,
    changed_after: int,
) -> list[str]:
    """Return the sentences in the order in which they are printed. Empty ones hold nothing.

    Parameters
    ----------
    belief
        Coefficients after the trips.
    vehicle
        The vehicle.
    trips
        Rows of ``trips.parquet``.
    roads
        Deviation of single roads in words.
    places
        Number of places with a learned height, or None if the network has heights.
    changed_after
        Number of trips before the last detected change, or 0 if there was none.
    """
    km = np.array(trips["length_m"].to_pylist(), dtype=float) / 1000
    found = [
        *usual_words(belief, vehicle),
        coefficients(belief, vehicle),
        heating(belief),
        *contradictions(belief),
        roads,
        heights(belief, places),
        distinguishable(belief, km),
        *refusals(belief, trips["trip"].to_pylist()),
    ]
    if changed_after:
        found.append(f"errors grew since trip {changed_after}; the last trips count more now")
    return found


def usual_words(belief: TripBelief, vehicle: Vehicle) -> list[str]:
    """Return the consumption at the usual speed in words, or none without a usual trip.

    Parameters
    ----------
    belief
        Belief of the trips.
    vehicle
        The car.
    """
    usual = usual_trip(belief, vehicle)
    return [] if usual is None else [usual.words]


def learned_words(belief: TripBelief, words: Mapping[int, tuple[str, int, float]]) -> str:
    """Return the learned coefficients in words with their deviations, or empty if there is none.

    Parameters
    ----------
    belief
        Coefficients after the trips.
    words
        Text, digits and unit by the number of the coefficient.
    """
    b = belief.present
    sd = np.sqrt(np.diag(belief.regression.covariance))
    return ", ".join(
        text.format(f"{b[k] / unit:.{digits}f} ± {sd[k] / unit:.{digits}f}")
        for k, (text, digits, unit) in words.items()
        if is_learned(belief, k)
    )


def coefficients(belief: TripBelief, vehicle: Vehicle) -> str:
    """Return the learned coefficients that do not trade with others, in words.

    The coefficients of length, minutes, drag and stops trade with each other (`usual`).
    """
    full = f"above {vehicle.full_battery_percent:.0f} % of charge recuperation fades by"
    return learned_words(
        belief,
        {
            UP: ("{} Wh per metre up", 2, 1.0),
            DOWN: ("{} Wh back per metre down", 2, 1.0),
            AUXILIARY: ("a known power at departure counts {} times", 2, 1.0),
            FADE: (f"{full} {{}} % per 10 %", 0, 0.01),
        },
    )


def heating(belief: TripBelief) -> str:
    """Return the learned heating, warm-up and cooling in words. Empty if none was learned."""
    return learned_words(
        belief,
        {
            HEATING: (
                f"heating takes {{}} Wh per minute and kelvin below {HEATED_BELOW_C:.0f} °C",
                1,
                1.0,
            ),
            WARM_UP: ("a cold start {} Wh per kelvin", 1, 1.0),
            COOLING: (
                f"cooling {{}} Wh per minute and kelvin above {COOLED_ABOVE_C:.0f} °C",
                1,
                1.0,
            ),
        },
    )


def contradictions(belief: TripBelief) -> Iterator[str]:
    """Yield the coefficients that are far from the vehicle file, and the fields to change."""
    distance = (
        belief.coefficients[: len(belief.prior.mean)] - belief.prior.mean
    ) / belief.prior.std
    for k in np.flatnonzero(np.abs(distance) > FAR).tolist():
        yield (
            f"the coefficient of {NAMES[k]} is {abs(distance[k]):.0f} prior deviations "
            f"{'above' if distance[k] > 0 else 'below'} the vehicle file. Check its {FIELDS[k]}"
        )


def heights(belief: TripBelief, places: int | None) -> str:
    """Return the spread of unknown heights that was learned. Empty if the network has heights."""
    if places is None:
        return ""
    return (
        "the network has no heights: junctions have a learned potential of "
        f"± {belief.scales.heights:.0f} Wh at {places} places"
    )


def distinguishable(belief: TripBelief, km: FloatArray) -> str:
    """Return the least difference of two routes that ten trips on each reveal, Wh."""
    sd_wh = float(np.sqrt(belief.noise.variance(np.median(km, keepdims=True))[0]))
    least_wh = COMPARED_QUANTILE * sd_wh * float(np.sqrt(2 / COMPARED_TRIPS))
    return (
        f"two routes of {np.median(km):.1f} km can be told apart after {COMPARED_TRIPS} trips on "
        f"each if they differ by {least_wh:.0f} Wh or more"
    )


def refusals(belief: TripBelief, names: list[str]) -> Iterator[str]:
    """Yield sentences on refused trips."""
    if refused := [names[number] for number in belief.refused]:
        shown = ", ".join(refused[:5]) + (" and more" if len(refused) > 5 else "")
        yield (
            f"{counted(len(refused), 'trip')} not learned, with an energy over 8 deviations from "
            f"the expected one: {shown}. They are tested again after 10 more trips"
        )
        if len(refused) >= MANY_REFUSED:
            yield (
                "so many may be of another vehicle: 'evroute learn TABLE --vehicle NAME --out "
                "OTHER' learns them by its numbers"
            )
