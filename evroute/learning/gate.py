"""The gate that every number of a measured trip passes before it is learned or recorded.

`LIMITS` is the table of plausible values. A time or a reading outside becomes unknown, and the
energy of the trip is still learned. A trip of an impossible length or energy is set aside. Trips of
all formats (`evroute.learning.readers`) pass it, and recorded ones again when they are learned
(`evroute.learning.records.history`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.energy.driving import LEAST_C, MOST_C, DrivingConditions
from evroute.energy.heating import heater_max_w
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.learning.measured import AT_DEPARTURE, ImpossibleTripError, Measured, MeasuredTrip
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork


@dataclass(frozen=True, slots=True)
class Limit:
    """Plausible values of a number.

    low, high: in ``unit``.  instead: the value that stands for one outside, the unknown one. None
    sets the trip aside.
    """

    low: float
    high: float
    unit: str
    instead: float | None


LIMITS = {
    "departed_s": Limit(0.0, 4_102_444_800.0, "s", np.nan),  # seconds since 1970 of the year 2100
    "soc_percent": Limit(0.0, 100.0, "%", np.nan),
    "auxiliary_w": Limit(0.0, 50_000.0, "W", np.nan),
    "temperature_c": Limit(LEAST_C, MOST_C, "°C", np.nan),
    "payload_kg": Limit(0.0, 20_000.0, "kg", np.nan),
    "parked_minutes": Limit(0.0, 5_256_000.0, "min", np.nan),  # ten years
    "auxiliary_mean_w": Limit(0.0, 50_000.0, "W", np.nan),
    "soc_end_percent": Limit(0.0, 100.0, "%", np.nan),
    "known_variance_wh2": Limit(0.0, 1e12, "Wh²", 0.0),
    "speed_mps": Limit(1 / 3.6, 70.0, "m/s", np.nan),
    "length_m": Limit(1.0, 3_000_000.0, "m", None),
    "energy_factor": Limit(0.01, 10.0, "times physics", None),
}
"""Plausible values by field of `MeasuredTrip`, and of three quantities of its edges.

``speed_mps`` is the speed on an edge, which decides on its ``travel_s`` (`implausible_times`).
``length_m`` is the length of the trip. ``energy_factor`` bounds the energy of edges and of the
trip, as a multiple of that by eq. 8 (`check_energy`).
"""
SINGLE = (
    "departed_s",
    *AT_DEPARTURE,
    "auxiliary_mean_w",
    "soc_end_percent",
    "known_variance_wh2",
)
"""Fields with one number a trip."""
FILTERED = ("temperature_c", "auxiliary_w")
"""Readings that are ignored one by one where they are not plausible."""

MOST_SPREAD_C = 25.0
"""Spread of the outside temperature of a trip, K. Cabins, batteries and motors warm up by more."""
STANDING_S = 600.0
"""Time on an edge beyond that at the slowest speed. A vehicle that stands longer is parked, s."""
CLOCK_S = 1.0
"""Step of a clock of whole seconds, s."""
PARKED_S = 6 * 3600.0
"""Longest standing of a trip whose heating or cooling counts as plausible energy, s."""
JAM_WH = 500.0
"""Energy that any edge may take or return beyond the plausible multiples of eq. 8, Wh."""
FACTOR = LIMITS["energy_factor"].high
"""Largest plausible dissipated energy, as a multiple of eq. 8."""
JUDGED_M = 1000.0
TOO_LONG = 1e-6
"""Share by which a trip may end behind the end of its last edge, by rounding."""
"""Trips below this length are too short to judge their consumption."""
WH_PER_KWH = 1000.0


@dataclass(frozen=True, slots=True)
class Passed:
    """A trip behind the gate, and its values that became unknown, in words by field."""

    trip: MeasuredTrip
    unknown: dict[str, str]


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings of a trip, each as one number by field, and those ignored, in words by field."""

    values: dict[str, Any]
    ignored: dict[str, str]


def readings(columns: Mapping[str, FloatArray], rows: IntArray) -> Readings:
    """Return the readings of a trip, or NaN where it has none.

    The temperature is the median of its plausible readings, for sensors may start with a false one,
    and the power is the first plausible one. All others are the first reading.

    Parameters
    ----------
    columns
        Columns of a table by field.
    rows
        (k,) rows of the trip.
    """
    found = Readings({}, {})
    for name, column in columns.items():
        limit, values = LIMITS[name], column[rows]
        finite = values[np.isfinite(values)]
        false = (finite < limit.low) | (finite > limit.high)
        plausible = finite[~false]
        chosen = [*finite, *values[np.isinf(values)], np.nan]
        if name == "temperature_c" and len(plausible) and np.ptp(plausible) > MOST_SPREAD_C:
            found.ignored[name] = (
                f"readings from {plausible.min():.3g} to {plausible.max():.3g} °C within one trip, "
                "which is no air outside"
            )
            chosen = [np.nan]
        elif name in FILTERED and len(plausible):
            chosen = [np.median(plausible) if name == "temperature_c" else plausible[0]]
            if false.any():
                found.ignored[name] = (
                    f"{false.sum()} of {len(finite)} readings, such as {finite[false][0]:g} "
                    f"{limit.unit}, expected {limit.low:g} to {limit.high:.10g}"
                )
        found.values[name] = float(chosen[0])
    return found


def mean_reading(auxiliary_w: FloatArray) -> float:
    """Return the mean of the plausible readings of a power (k,) W. NaN if they are fewer than 2."""
    limit = LIMITS["auxiliary_w"]
    plausible = auxiliary_w[(auxiliary_w >= limit.low) & (auxiliary_w <= limit.high)]
    return float(plausible.mean()) if len(plausible) > 1 else np.nan


def admit(
    measured: Measured,
    trip: MeasuredTrip,
    setting: Setting,
    ignored: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add a trip to others as it is behind the gate, or set it aside.

    Parameters
    ----------
    measured
        Trips of a table or a folder.
    trip
        Next trip of it.
    setting
        Network and vehicle.
    ignored
        Readings of the trip that are ignored, in words by field.
    """
    try:
        passed = gated(trip, setting)
    except ImpossibleTripError as error:
        measured.skipped[trip.trip] = str(error)
        return
    measured.trips.append(passed.trip)
    for name, text in {**ignored, **passed.unknown}.items():
        measured.unknown.setdefault(name, {})[trip.trip] = text


def gated(trip: MeasuredTrip, setting: Setting) -> Passed:
    """Return a trip with its implausible times and readings unknown.

    Raises
    ------
    ImpossibleTripError
        If no turn joins two of its edges, an energy is missing, or its length or an energy is
        impossible.
    """
    network = setting.network
    check_way(trip, network)
    unknown: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name in SINGLE:
        value, limit = _number(getattr(trip, name)), LIMITS[name]
        if value < limit.low or value > limit.high:
            unknown[name] = f"{value:g} {limit.unit}, expected {limit.low:g} to {limit.high:.10g}"
            value = np.nan
        values[name] = float(limit.instead or 0.0) if np.isnan(value) else value
    if np.isnan(values["departed_s"]):
        values["departed_s"] = None
    if text := _overload(values, setting.vehicle):
        unknown["payload_kg"], values["payload_kg"] = text, np.nan
    implausible = implausible_times(trip, network)
    if implausible.any():
        unknown["travel_s"] = _in_words(trip, implausible, network)
    passed = replace(trip, travel_s=np.where(implausible, np.nan, trip.travel_s), **values)
    check_energy(passed, setting, standing_s(trip, network))
    return Passed(passed, unknown)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _overload(values: dict[str, Any], vehicle: Vehicle) -> str:
    """Return the problem of a payload that no such vehicle carries, or empty if there is none."""
    payload_kg = float(np.nan_to_num(values["payload_kg"]))
    try:
        DrivingConditions(payload_kg=payload_kg).load(vehicle)
    except EvrouteError as error:
        return f"{payload_kg:g} kg, {error}"
    return ""


def check_way(trip: MeasuredTrip, network: RoadNetwork) -> None:
    """Check that legal turns join the edges of a trip, and that its length is plausible.

    Between the plausible routes of a trip without a known route there is no turn.

    Raises
    ------
    ImpossibleTripError
        If a turn is missing or the length is impossible. The message names it.
    """
    edge = trip.edge
    gaps = np.flatnonzero(~network.has_turns(edge))
    if len(gaps) >= trip.routes:
        raise ImpossibleTripError(
            f"a gap: no turn leads from edge '{network.edge_id[edge[gaps[0]]]}' to "
            f"'{network.edge_id[edge[gaps[0] + 1]]}'"
        )
    share = trip.share(network.length_m)
    if share.min() <= 0.0 or share.max() > 1.0 + TOO_LONG:
        first_m, last_m = network.length_m[edge[[0, -1]]].tolist()
        raise ImpossibleTripError(
            f"it begins at {trip.start_m:g} m of an edge of {first_m:.1f} m and ends at "
            f"{trip.end_m:g} m of one of {last_m:.1f} m. The "
            "places start_m and end_m lie along these edges"
        )
    length_m = float((share * network.length_m[edge]).sum()) / trip.routes
    limit = LIMITS["length_m"]
    if not limit.low <= length_m <= limit.high:
        raise ImpossibleTripError(
            f"it is {length_m:g} m long, expected {limit.low:g} to {limit.high:,.0f} m"
        )


def implausible_times(trip: MeasuredTrip, network: RoadNetwork) -> BoolArray:
    """Return where the times of a trip cannot be driving times of its edges, (k,).

    A time is too short if the edge is faster than the greatest speed. Whole seconds may be rounded
    down. It is too long if the edge is slower than the least speed by more than the time of a stop.
    All times are implausible if more than half of the way has such times, or if the others together
    are faster than the greatest speed: then they are no seconds.

    Parameters
    ----------
    trip
        Measured trip.
    network
        Its roads.
    """
    length_m = trip.share(network.length_m) * network.length_m[trip.edge]
    limit = LIMITS["speed_mps"]
    travel_s, measured = trip.travel_s, ~np.isnan(trip.travel_s)
    least_s = length_m / limit.high
    is_rounded = (travel_s >= 0.0) & (np.floor(travel_s) == travel_s)
    too_short = travel_s < np.where(is_rounded, least_s - CLOCK_S, least_s)
    too_long = travel_s > length_m / limit.low + STANDING_S
    odd = measured & (too_short | too_long)
    rest = measured & ~odd
    measured_m, rest_m = length_m[measured].sum(), length_m[rest].sum()
    if rest_m < measured_m / 2 or travel_s[rest].sum() < rest_m / limit.high:
        return measured
    return odd


def standing_s(trip: MeasuredTrip, network: RoadNetwork) -> FloatArray:
    """Return the time on each edge beyond that at the speed limit, (k,) s. 0 where unknown.

    It is 0 on all edges if it sums to more than `PARKED_S`: then it explains no energy.
    """
    most_s = 2 * PARKED_S
    driven_s = np.nan_to_num(np.minimum(trip.travel_s, most_s))
    moving_s = trip.share(network.length_m) * network.time_s[trip.edge]
    stood_s = np.maximum(driven_s - moving_s, 0.0)
    return stood_s * (stood_s.sum() <= PARKED_S)


def _in_words(trip: MeasuredTrip, implausible: BoolArray, network: RoadNetwork) -> str:
    first = int(np.flatnonzero(implausible)[0])
    edge = trip.edge[first]
    return (
        f"{implausible.sum()} of {len(implausible)} times, such as {trip.travel_s[first]:.3g} s on "
        f"edge '{network.edge_id[edge]}' of {network.length_m[edge]:.0f} m"
    )


def check_energy(trip: MeasuredTrip, setting: Setting, stood_s: FloatArray) -> None:
    """Check that the energies of a trip are possible.

    An edge may take or return `FACTOR` times its energy by eq. 8, `JAM_WH`, and the greatest
    heating or cooling while the vehicle stood. The trip may differ as much from its climb, and
    turns over at least a hundredth of its energy by eq. 8.

    Parameters
    ----------
    trip
        Measured trip.
    setting
        Network, vehicle and eq. 8.
    stood_s
        (k,) standing on each edge (`standing_s`), s.

    Raises
    ------
    ImpossibleTripError
        If an energy is missing, or the energy of an edge or of the trip is impossible.
    """
    network, edge = setting.network, trip.edge
    energy_wh = trip.energy_wh
    if np.isnan(energy_wh).any():
        missing = edge[int(np.isnan(energy_wh).argmax())]
        raise ImpossibleTripError(f"a gap: edge '{network.edge_id[missing]}' has no energy")
    power_w = setting.vehicle.auxiliary_w + heater_max_w(setting.vehicle)
    standing_wh = power_w / J_PER_WH * stood_s
    share = trip.share(network.length_m)
    climb_wh = share * setting.potential_wh[edge]
    dissipated_wh = share * setting.prior.mean_wh[edge] - climb_wh
    room_wh = JAM_WH + FACTOR * (dissipated_wh + np.abs(climb_wh)) + standing_wh
    if np.any(np.abs(energy_wh) > room_wh):
        worst = int(np.argmax(np.abs(energy_wh) / room_wh))
        raise ImpossibleTripError(
            f"edge '{network.edge_id[edge[worst]]}' of {network.length_m[edge[worst]]:.0f} m takes "
            f"{energy_wh[worst] / WH_PER_KWH:,.3g} kWh, which is impossible. Check the units"
        )
    length_m = float((share * network.length_m[edge]).sum()) / trip.routes
    expected_wh = float(dissipated_wh.sum()) / trip.routes
    climbed_wh = float(climb_wh.sum()) / trip.routes
    excess_wh = abs(float(energy_wh.sum()) - climbed_wh)
    most_wh = JAM_WH + FACTOR * expected_wh + float(standing_wh.sum())
    turned_over_wh = float(np.abs(energy_wh).sum()) + trip.known_variance_wh2**0.5
    least_wh = LIMITS["energy_factor"].low * expected_wh
    if length_m >= JUDGED_M and (excess_wh > most_wh or turned_over_wh < least_wh):
        per_km = float(energy_wh.sum()) / length_m * 1000
        raise ImpossibleTripError(
            f"it takes {per_km:,.3g} Wh/km, {float(energy_wh.sum()) / expected_wh:.2g} times the "
            "energy that physics dissipates, which is impossible. Check the units"
        )
