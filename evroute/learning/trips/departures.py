"""Departures: the conditions of the trips of one car that were known when they began."""

from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.heating import season_wh2
from evroute.energy.vehicle import Vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.known_roads import Moved
from evroute.learning.states import Kept, Table
from evroute.learning.trips.terms import BY_TEMPERATURE, MINUTES
from evroute.network.places.zones import DATED_S

DAY_S = 86_400.0
UNKNOWN_S = -1.0
PLACE_DAYS = 365.0
"""Days for which the change to another place counts: half of the level belongs to the place."""
SEASON_TRIPS = 30.0
"""Number of trips without a temperature after which half the season's variance is in the noise."""


USUAL_STD_W = 150.0
"""Deviation of the power of lights and others, which a mean power includes, W."""
METER_SHARE = 0.15
"""Deviation of a mean power as a share of heating's."""


class MeasuredPart(NamedTuple):
    """A measured part of a trip's energy, Wh, and its variance, Wh². 0 where not measured."""

    energy_wh: float
    variance_wh2: float


UNMEASURED = MeasuredPart(0.0, 0.0)


class Departures(Kept):
    """The last end of a trip, and the number of trips in a known season.

    Attributes
    ----------
    ended_s
        End of the last trip, on the clock of its departure. Negative if unknown.
    known
        Number of trips with a known temperature or power.
    trips
        Number of trips.
    departed_s
        Latest departure. Negative if unknown.
    place_days
        Days for which the change to another place counts, until its first trip.
    """

    STATE: ClassVar[Table] = {
        "ended_s": "ended_s",
        "departed_s": "departed_s",
        "trips": ("known", "trips"),
        "place_days": "place_days",
    }

    def __init__(self) -> None:
        self.ended_s = UNKNOWN_S
        self.departed_s = UNKNOWN_S
        self.place_days = 0.0
        self.known = 0
        self.trips = 0

    def conditions(self, trip: MeasuredTrip) -> DrivingConditions:
        """Return the conditions of the next trip that are known at its departure."""
        return DrivingConditions(
            temperature_c=_or_none(trip.temperature_c),
            payload_kg=float(np.nan_to_num(trip.payload_kg)),
            auxiliary_w=_or_none(trip.auxiliary_w),
            departed_s=trip.departed_s,
            parked_minutes=self.parked_minutes(trip),
        )

    def parked_minutes(self, trip: MeasuredTrip) -> float | None:
        """Return the time that the car stood before the next trip, minutes. None for a long time.

        An unknown time counts as long for the first trip of a day, else as short.
        """
        if np.isfinite(trip.parked_minutes):
            return trip.parked_minutes
        if trip.departed_s is None:
            return 0.0
        stood_s = trip.departed_s - self.ended_s
        if self.ended_s < 0 or abs(stood_s) > DAY_S:
            return None
        return max(stood_s / 60.0, 0.0)

    @property
    def undated(self) -> bool:
        """Whether there are trips, and none has a date."""
        return self.trips > 0 and self.departed_s < DATED_S

    def days_before(self, departed_s: float | None) -> float:
        """Return the days since the departure of the last trip, 0 if they are unknown.

        Another place counts for `PLACE_DAYS` more.

        Parameters
        ----------
        departed_s
            Departure of the next trip, s, or None if unknown.
        """
        if departed_s is None or self.departed_s < 0.0:
            return self.place_days
        if (departed_s < DATED_S) != (self.departed_s < DATED_S):  # only one of them has a date
            return self.place_days
        return self.place_days + max(departed_s - self.departed_s, 0.0) / DAY_S

    def arrive(self, moved: Moved) -> None:
        """Begin in another place if most roads driven are elsewhere."""
        if moved.is_new_place is not None:
            self.place_days = PLACE_DAYS if moved.is_new_place else 0.0

    def days_until(self, date: str | None) -> float:
        """Return the days from the last trip until the midnight of a date, at least 0.

        Parameters
        ----------
        date
            As ``YYYY-MM-DD``, or None for the day of the last trip.
        """
        if date is None or self.departed_s < DATED_S:
            return self.place_days
        midnight = datetime.fromisoformat(date).replace(tzinfo=UTC)
        return self.days_before(midnight.timestamp())

    def end(self, trip: MeasuredTrip, expected_s: float) -> None:
        """Count a trip and note its end.

        Parameters
        ----------
        trip
            The trip.
        expected_s
            Its expected travel time, which stands for one that was not measured, s.
        """
        self.trips += 1
        self.place_days = 0.0
        self.known += not self.season_unknown(trip)
        measured_s = float(trip.travel_s.sum())
        took_s = expected_s if np.isnan(measured_s) else measured_s
        self.ended_s = UNKNOWN_S if trip.departed_s is None else trip.departed_s + took_s
        if trip.departed_s is not None:
            self.departed_s = max(self.departed_s, trip.departed_s)

    def season_wh_per_minute(
        self, conditions: DrivingConditions, coefficients: FloatArray
    ) -> float:
        """Return the deviation of a trip's energy in an unknown season, Wh per minute, else 0.

        The noise that is fitted to trips without a temperature includes it, so it falls with their
        number.

        Parameters
        ----------
        conditions
            Conditions of the trip.
        coefficients
            (p,) coefficients of trips, of which the terms by temperature count.
        """
        if not conditions.season_unknown:
            return 0.0
        share = (SEASON_TRIPS + self.known) / (SEASON_TRIPS + self.trips)
        return float(np.sqrt(share * season_wh2(1.0, coefficients[BY_TEMPERATURE])))

    def season_wh2(self, trip: MeasuredTrip, row: FloatArray, coefficients: FloatArray) -> float:
        """Return the variance of the next trip's energy from an unknown season, Wh², else 0.

        Parameters
        ----------
        trip
            Next trip.
        row
            (p,) its terms.
        coefficients
            (p,) coefficients of trips.
        """
        if not self.season_unknown(trip):
            return 0.0
        std_wh = self.season_wh_per_minute(self.conditions(trip), coefficients) * row[MINUTES]
        return float(std_wh) ** 2

    @staticmethod
    def season_unknown(trip: MeasuredTrip) -> bool:
        """Return whether neither the temperature nor the power of a trip is known."""
        return bool(np.isnan(trip.temperature_c) and np.isnan(trip.auxiliary_w))

    def heating_wh(self, trip: MeasuredTrip, vehicle: Vehicle, minutes: float) -> MeasuredPart:
        """Return the measured energy of heating and cooling of a trip, by its mean power.

        Parameters
        ----------
        trip
            Measured trip.
        vehicle
            The car. Its auxiliary power is no heating.
        minutes
            Expected duration, which stands for one that was not measured.
        """
        if np.isnan(trip.auxiliary_mean_w) or np.isnan(trip.temperature_c):
            return UNMEASURED
        measured_s = float(trip.travel_s.sum())
        hours = minutes / 60.0 if np.isnan(measured_s) else measured_s / 3600.0
        energy_wh = (trip.auxiliary_mean_w - vehicle.auxiliary_w) * hours
        std_wh = np.hypot(USUAL_STD_W * hours, METER_SHARE * abs(energy_wh))
        return MeasuredPart(energy_wh, float(std_wh) ** 2)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
