"""Trips: one for ever."""

from evroute.worlds.demand.trips import Repeated, Trip


def test_a_repeated_trip_departs_on_every_full_hour() -> None:
    trips = Repeated(3, 8)
    assert trips.trip(1) == Trip(3, 8, departed_s=0.0, trip_id="1")
    assert trips.trip(26) == Trip(3, 8, departed_s=25 * 3600.0, trip_id="26")
    assert trips.trip(1) == trips.trip(1)
