"""Recorded terms of trips, also by other numbers of their vehicle, by their physical parts.

Drag is in proportion to drag coefficient times frontal area, the energy of stops and turns to mass
times the share that braking loses, the loss of a full battery to weight times recuperation. A known
auxiliary power counts beyond the power of the vehicle and its heating. All other terms are of the
trip alone. So is the factor by which the heater's limit reduces heating on short trips in great
cold.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.heating import heating_coefficients
from evroute.energy.vehicle import Vehicle
from evroute.errors import require
from evroute.learning.roads.trip_record import TripRecord
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import BY_TEMPERATURE, with_level


def learned_terms(
    state: Mapping[str, Any], names: Sequence[str], numbers: Sequence[int]
) -> list[dict[str, float]]:
    """Return the terms of trips by name, for files of measured trips.

    Parameters
    ----------
    state
        Of a `TripBelief` that learned or refused them.
    names
        (p,) names of the terms.
    numbers
        Numbers of the trips.
    """
    own = state["column"] == 0
    rows: dict[int, FloatArray] = {}
    for kind in ("learned", "refused"):
        rows |= dict(zip(state[f"{kind}_number"].tolist(), state[f"{kind}_rows"], strict=True))
    return [dict(zip(names, rows[number][own].tolist(), strict=True)) for number in numbers]


def recorded_terms(
    record: TripRecord, physics: str, prior: CoefficientPrior, vehicle: Vehicle
) -> FloatArray:
    """Return the recorded terms of a trip by the numbers of its vehicle now, (p,).

    Parameters
    ----------
    record
        Record of the trip.
    physics
        Physics of the terms.
    prior
        Prior of the p coefficients. Terms that were not recorded are 0.
    vehicle
        The vehicle now.

    Raises
    ------
    EvrouteError
        If no terms by this physics were recorded.
    """
    require(
        physics in record.terms,
        "this network does not have all its roads, and its terms were not recorded with it. Learn "
        "it on its own network: evroute learn --repair FOLDER --network NAME",
    )
    row = np.array([record.terms[physics].get(name, 0.0) for name in prior.names])
    terms = restated(row, prior.names, Vehicle(**record.vehicle), vehicle)
    return with_level(terms[np.newaxis], prior)[0]


def restated(rows: FloatArray, names: Sequence[str], before: Vehicle, after: Vehicle) -> FloatArray:
    """Return the terms of trips by other numbers of their vehicle.

    Parameters
    ----------
    rows
        (..., p) terms by the numbers before.
    names
        (p,) names of the terms.
    before, after
        The vehicle with its numbers before and after.
    """
    if before == after:
        return rows
    factor_of = {
        "drag": after.drag * after.front_m2 / (before.drag * before.front_m2),
        "stops and turns": _braking(after) / _braking(before),
        "full battery": _ratio(
            after.mass_kg * after.recuperation_efficiency,
            before.mass_kg * before.recuperation_efficiency,
        ),
    }
    terms = rows * np.array([factor_of.get(name, 1.0) for name in names])
    power, minutes = names.index("auxiliary power"), names.index("minutes")
    known = rows[..., power] != 0.0
    added_wh = (before.auxiliary_w - after.auxiliary_w) * rows[..., minutes] / 60.0
    heating_wh = heating_coefficients(before) - heating_coefficients(after)
    added_wh = added_wh + rows[..., BY_TEMPERATURE] @ heating_wh
    terms[..., power] += np.where(known, added_wh, 0.0)
    return terms


def _braking(vehicle: Vehicle) -> float:
    """Return the cost of a change of speed over the square of the speed, kg."""
    lost = 1.0 / vehicle.propulsion_efficiency - vehicle.recuperation_efficiency
    return vehicle.mass_kg * lost


def _ratio(after: float, before: float) -> float:
    """Return a ratio. 1 where nothing was there before."""
    return after / before if before else 1.0
