"""Measured trips: the values that readers return, and the checks that every format shares.

The readers of tables and logs are in `evroute.learning.readers`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evroute.arms import Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.methods.setting import Setting

if TYPE_CHECKING:
    import pyarrow as pa

WH_PER_KWH = 1000.0
DEPARTURE_RANGES = {
    "soc_percent": (0.0, 100.0),
    "auxiliary_w": (0.0, 50_000.0),
    "temperature_c": (-50.0, 50.0),
    "payload_kg": (0.0, 20_000.0),
    "known_variance_wh2": (0.0, np.inf),
}
"""Columns of which a trip keeps its first number, and the range of the number."""
AT_DEPARTURE = tuple(DEPARTURE_RANGES)[:-1]

JAM_WH = 500.0
"""Energy that any edge may take or return beyond the plausible multiples of eq. 8, Wh."""
FACTOR = 10.0
"""Largest plausible dissipated energy of a trip, as a multiple of eq. 8."""
SMALLEST_SHARE = 0.01
"""Smallest plausible sum of absolute edge energies, as a share of eq. 8's dissipated energy."""
JUDGED_M = 1000.0
"""Trips below this length are too short to judge their consumption."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTrip:
    """One trip: (k,) network rows in driving order, energies in Wh and times in s, NaN if missing.

    departed_s: since the midnight before the table's first trip; 0 if there are no times.
    soc_percent, auxiliary_w, temperature_c, payload_kg: charge, %, auxiliary power, W, outside
    temperature, °C, and payload, kg, at departure; NaN where unknown.  known_variance_wh2: variance
    of the reading of the trip's energy, Wh².  routes: number of plausible routes for which the
    trip stands on average, one after another in ``edge``; 1 where the route is known.
    """

    trip: str
    edge: IntArray
    energy_wh: FloatArray
    travel_s: FloatArray
    departed_s: float = 0.0
    soc_percent: float = np.nan
    auxiliary_w: float = np.nan
    temperature_c: float = np.nan
    payload_kg: float = np.nan
    known_variance_wh2: float = 0.0
    routes: int = 1

    @property
    def clock_s(self) -> float | None:
        """Departure, s since a midnight; None if the table has no times."""
        return self.departed_s or None

    def is_same(self, other: "MeasuredTrip") -> bool:
        """Return whether two trips have the same edges and energies."""
        return np.array_equal(self.edge, other.edge) and np.allclose(
            self.energy_wh, other.energy_wh, rtol=1e-9, atol=1e-9, equal_nan=True
        )

    def feedback(self, setting: Setting) -> Feedback:
        """Return the feedback of the trip on edges, in free-flow contexts."""
        return Feedback(
            id=self.edge,
            features=setting.arms.features[self.edge],
            prior_mean_wh=setting.arms.prior_mean_wh[self.edge],
            energy_wh=self.energy_wh,
            travel_s=self.travel_s,
            trip_id=self.trip,
            vehicle=setting.vehicle.name,
            departed_s=self.departed_s,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """The trips of a table in its order, and those set aside: trip and reason.

    notes: omitted parts of the trips kept, one sentence each.
    """

    trips: list[MeasuredTrip] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class ImpossibleTripError(EvrouteError):
    """An impossible trip; the message is the reason."""


def check_vehicle(table: "pa.Table", rows: IntArray, names: Sequence[str]) -> None:
    """Check that a trip is of the setting's vehicle.

    Parameters
    ----------
    table
        The table of trips.
    rows
        (k,) rows of the trip.
    names
        Names of the vehicle.

    Raises
    ------
    ImpossibleTripError
        If the column ``vehicle`` names none of ``names``; empty means any vehicle.
    """
    if "vehicle" not in table.column_names:
        return
    others = {str(each) for each in table["vehicle"].take(rows).to_pylist() if each} - set(names)
    if others:
        raise ImpossibleTripError(
            f"driven by vehicle '{min(others)}'; learn it with --vehicle into another folder"
        )


def at_departure(columns: Mapping[str, FloatArray], rows: IntArray) -> dict[str, float]:
    """Return the first number of each column on rows (k,) of a trip by name; NaN if it has none.

    Raises
    ------
    ImpossibleTripError
        If a value is out of its range; the message names both.
    """
    first: dict[str, float] = {}
    for name, column in columns.items():
        values, (low, high) = column[rows], DEPARTURE_RANGES[name]
        first[name] = float(next(iter(values[np.isfinite(values)]), np.nan))
        require(
            not (first[name] < low or first[name] > high),
            f"{name} is {first[name]:g} at departure; expected {low:g} to {high:g}",
            ImpossibleTripError,
        )
    return first


def check_trip(trip: MeasuredTrip, setting: Setting) -> None:
    """Check that a trip is possible.

    Raises
    ------
    ImpossibleTripError
        If a turn is not in the network, an energy is missing, or the energy of an edge or of the
        trip is impossible.
    """
    network, edge, energy_wh = setting.network, trip.edge, trip.energy_wh
    legal = network.has_turns(edge)
    if not legal.all():
        gap = int(legal.argmin())
        raise ImpossibleTripError(
            f"a gap: no turn leads from edge '{network.edge_id[edge[gap]]}' to "
            f"'{network.edge_id[edge[gap + 1]]}'"
        )
    if not np.isfinite(energy_wh).all():
        missing = edge[int(np.isfinite(energy_wh).argmin())]
        raise ImpossibleTripError(f"a gap: edge '{network.edge_id[missing]}' has no energy")
    dissipated_wh, climb_wh = setting.prior.dissipated_wh[edge], setting.potential_wh[edge]
    room_wh = JAM_WH + FACTOR * (dissipated_wh + np.abs(climb_wh))
    if np.any(np.abs(energy_wh) > room_wh):
        worst = int(np.argmax(np.abs(energy_wh) / room_wh))
        raise ImpossibleTripError(
            f"edge '{network.edge_id[edge[worst]]}' of {network.length_m[edge[worst]]:.0f} m takes "
            f"{energy_wh[worst] / WH_PER_KWH:,.3g} kWh, which is impossible; check the units"
        )
    length_m = float(network.length_m[edge].sum())
    expected_wh = float(dissipated_wh.sum())
    excess_wh = abs(float((energy_wh - climb_wh).sum()))
    turned_over_wh = float(np.abs(energy_wh).sum()) + trip.known_variance_wh2**0.5
    if length_m >= JUDGED_M and (
        excess_wh > JAM_WH + FACTOR * expected_wh or turned_over_wh < SMALLEST_SHARE * expected_wh
    ):
        per_km = float(energy_wh.sum()) / length_m * 1000
        raise ImpossibleTripError(
            f"it takes {per_km:,.3g} Wh/km, {float(energy_wh.sum()) / expected_wh:.2g} times the "
            "energy that eq. 8 dissipates, which is impossible; check the units"
        )


def check_times(times: FloatArray) -> None:
    """Check that times are possible.

    Raises
    ------
    ImpossibleTripError
        If one is missing or negative, or they do not increase.
    """
    require(np.isfinite(times).all(), "a gap: a row has no time", ImpossibleTripError)
    require(times.min() >= 0, f"a negative time, {times.min():g} s", ImpossibleTripError)
    if np.any(np.diff(times) < 0):
        raise ImpossibleTripError(
            f"times go back at its row {int(np.flatnonzero(np.diff(times) < 0)[0]) + 2}"
        )
