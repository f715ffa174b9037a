"""Measured trips: the values that readers return, and the parts that every format shares.

The readers of tables and logs are in `evroute.learning.readers`. The plausible values are in
`evroute.learning.gate`.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evroute.arms import Feedback, Route
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.learning.roads.trip_record import TripRecord
from evroute.methods.setting import Setting
from evroute.network.heights.stretches import Stretches
from evroute.network.places.zones import local_s
from evroute.network.road_network import RoadNetwork

if TYPE_CHECKING:
    import pyarrow as pa

AT_DEPARTURE = ("soc_percent", "auxiliary_w", "temperature_c", "payload_kg", "parked_minutes")
"""Readings of which a trip keeps one number. `gate.readings` chooses it."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTrip:
    """One trip: (k,) network rows in driving order, energies in Wh and times in s, NaN if missing.

    departed_s: since 1970-01-01 UTC, or a local clock where the date is unknown. None if unknown.
    soc_percent, auxiliary_w, temperature_c, payload_kg, parked_minutes: charge, %, auxiliary power,
    W, outside temperature, °C, payload, kg, at departure, and time since the trip before, minutes.
    NaN where unknown.  soc_end_percent: charge at the end, %, of a trip whose energy a meter
    measured, which teaches the size of the battery.  auxiliary_mean_w: mean auxiliary power over
    the trip, W, which teaches heating and cooling and is in no forecast of the trip.
    known_variance_wh2: variance
    of the reading of the trip's energy, Wh².  routes: number of plausible routes for which the
    trip stands on average, one after another in ``edge``. 1 where the route is known.  whole:
    whether only the total energy was measured. The energies of edges are then shares of it.
    car: name of the car in a fleet, or empty where cars have no names.
    start_m, end_m: metres along the first edge at which the trip begins, and along the last at
    which it ends, NaN for its end.  Energies and times of both edges are for the parts driven.
    record: line and terms of a recorded trip of which the network does not have all roads, or of a
    total, whose way is unknown. The rows of those that it lacks are beyond its last one.  None for
    a trip on the network.
    """

    trip: str
    edge: IntArray
    energy_wh: FloatArray
    travel_s: FloatArray
    departed_s: float | None = None
    soc_percent: float = np.nan
    auxiliary_w: float = np.nan
    temperature_c: float = np.nan
    payload_kg: float = np.nan
    parked_minutes: float = np.nan
    auxiliary_mean_w: float = np.nan
    soc_end_percent: float = np.nan
    known_variance_wh2: float = 0.0
    routes: int = 1
    whole: bool = False
    car: str = ""
    start_m: float = 0.0
    end_m: float = np.nan
    record: TripRecord | None = None

    @property
    def cut(self) -> bool:
        """Whether it begins or ends inside an edge."""
        return self.start_m > 0.0 or bool(np.isfinite(self.end_m))

    def share(self, length_m: FloatArray) -> FloatArray:
        """Return the share of each of its edges that was driven, (k,).

        Parameters
        ----------
        length_m
            Lengths of all edges by their rows, m.
        """
        share = np.ones(len(self.edge))
        if not (self.cut and len(share)):
            return share
        if np.isfinite(self.end_m):
            share[-1] = self.end_m / length_m[self.edge[-1]]
        share[0] -= self.start_m / length_m[self.edge[0]]
        return share

    def stretches(self, network: RoadNetwork) -> Stretches | None:
        """Return the parts of its edges that were driven, or None for whole edges.

        Parameters
        ----------
        network
            The roads, which have all its edges.
        """
        if not self.cut:
            return None
        end_m = self.end_m if np.isfinite(self.end_m) else None
        return Stretches.of_route(network, Route(tuple(self.edge.tolist()), self.start_m, end_m))

    def is_same(self, other: "MeasuredTrip") -> bool:
        """Return whether two trips have the same edges and energies.

        Only the totals are compared if one of them was recorded on another map.
        """
        if self.record is not None or other.record is not None:
            totals_wh = float(self.energy_wh.sum()), float(other.energy_wh.sum())
            return bool(np.isclose(*totals_wh, rtol=1e-9, atol=1e-9, equal_nan=True))
        one, two = (
            np.concatenate([each.energy_wh, [each.start_m, each.end_m]]) for each in (self, other)
        )
        return np.array_equal(self.edge, other.edge) and np.allclose(
            one, two, rtol=1e-9, atol=1e-9, equal_nan=True
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
            departed_s=local_s(self.departed_s, setting.network),
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """The trips of a table in its order, and those set aside: trip and reason.

    notes: omitted parts of the trips kept, one sentence each.  unknown: values of the trips kept
    that were implausible and became unknown, in words by field and trip.
    """

    trips: list[MeasuredTrip] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unknown: dict[str, dict[str, str]] = field(default_factory=dict)

    def unknown_notes(self, trips: Collection[str]) -> Iterator[str]:
        """Yield a sentence for each field with values that became unknown in some of the trips."""
        for name, texts in self.unknown.items():
            if found := [trip for trip in texts if trip in trips]:
                more = f" and of {len(found) - 1} more" if len(found) > 1 else ""
                yield f"{name} of trip '{found[0]}'{more} is left out: {texts[found[0]]}"


class ImpossibleTripError(EvrouteError):
    """An impossible trip. The message is the reason."""


def car_of(table: "pa.Table", rows: IntArray, names: Sequence[str]) -> str:
    """Return the car of a trip by the column ``car``. Check that it is of the setting's vehicle.

    Parameters
    ----------
    table
        The table of trips.
    rows
        (k,) rows of the trip.
    names
        Names of the vehicle.

    Returns
    -------
    str
        Name of the car, or empty if the table names no cars.

    Raises
    ------
    ImpossibleTripError
        If the column ``vehicle`` names none of ``names``. Empty means any vehicle. Or if a trip
        has no car among others that have, or several.
    """
    others = _texts(table, "vehicle", rows) - set(names)
    if others:
        raise ImpossibleTripError(
            f"driven by vehicle '{min(others)}'. Learn it with --vehicle into another folder"
        )
    if "car" not in table.column_names:
        return ""
    cars = _texts(table, "car", rows)
    require(cars, "it names no car, as other trips of the table do", ImpossibleTripError)
    require(
        len(cars) == 1,
        f"it names several cars, {', '.join(sorted(cars)[:3])}. A trip is of one",
        ImpossibleTripError,
    )
    return cars.pop()


def _texts(table: "pa.Table", name: str, rows: IntArray) -> set[str]:
    """Return the texts of some rows of a column, or none if the table lacks it."""
    if name not in table.column_names:
        return set()
    return {str(each) for each in table[name].take(rows).to_pylist() if each}


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
