"""The gate: plausible numbers of a trip stay, others become unknown or set the trip aside."""

from dataclasses import fields, replace

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.learning.gate import (
    LIMITS,
    SINGLE,
    admit,
    gated,
    implausible_times,
    mean_reading,
    readings,
)
from evroute.learning.measured import ImpossibleTripError, Measured, MeasuredTrip
from evroute.methods.setting import Setting

KMH = 1 / 3.6


@pytest.fixture
def setting(make_network) -> Setting:
    """A road of 100 m, one of 1,000 m and one of 36 m, in a row."""
    places = [(0, 0, 0), (100, 0, 0), (1100, 0, 0), (1136, 0, 0)]
    edges = [("short", 0, 1), ("long", 1, 2), ("tiny", 2, 3)]
    return Setting(make_network(edges, places), load_vehicle("reference"))


def trip_of(setting, edges=("short", "long", "tiny"), travel_s=None, **known) -> MeasuredTrip:
    rows = np.array([setting.network.row_of[edge] for edge in edges])
    times = np.full(len(rows), np.nan) if travel_s is None else np.array(travel_s, dtype=float)
    energy_wh = known.pop("energy_wh", 1.2 * setting.prior.mean_wh[rows])
    return MeasuredTrip("a", rows, np.array(energy_wh, dtype=float), times, **known)


def test_the_table_has_every_number_of_a_trip() -> None:
    others = {"trip", "edge", "energy_wh", "travel_s", "routes", "whole", "record"}
    others |= {"start_m", "end_m"}  # bounded by the lengths of their edges
    others |= {"car"}  # a name
    assert {each.name for each in fields(MeasuredTrip)} - others == set(SINGLE)
    assert set(LIMITS) == {*SINGLE, "speed_mps", "length_m", "energy_factor"}


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("departed_s", 0.0, 4_102_444_800.0),
        ("soc_percent", 0.0, 100.0),
        ("auxiliary_w", 0.0, 50_000.0),
        ("temperature_c", -50.0, 60.0),
        ("payload_kg", 0.0, 20_000.0),
        ("known_variance_wh2", 0.0, 1e12),
    ],
)
def test_the_limits_equal_the_page_on_own_trips(name, low, high) -> None:
    assert (LIMITS[name].low, LIMITS[name].high) == (low, high)


@pytest.mark.parametrize("name", SINGLE)
def test_a_number_within_its_limits_stays_and_one_outside_becomes_unknown(setting, name) -> None:
    limit = LIMITS[name]
    for value in (limit.low, (limit.low + limit.high) / 2, limit.high):
        passed = gated(trip_of(setting, **{name: value}), setting)
        assert getattr(passed.trip, name) == value
        assert passed.unknown == {}
    instead = None if name == "departed_s" else limit.instead
    beyond = [np.nextafter(limit.low, -np.inf), np.nextafter(limit.high, np.inf)]
    for value in [*beyond, -1e308, 1e308, -np.inf, np.inf]:
        passed = gated(trip_of(setting, **{name: value}), setting)
        np.testing.assert_equal(getattr(passed.trip, name), instead)
        assert list(passed.unknown) == [name]
    unread = gated(trip_of(setting, **{name: np.nan}), setting).trip
    np.testing.assert_equal(getattr(unread, name), instead)


def test_a_payload_that_makes_the_vehicle_too_heavy_is_unknown(make_network) -> None:
    heavy = replace(load_vehicle("reference"), mass_kg=45_000.0)
    network = make_network([("road", 0, 1)], [(0, 0, 0), (100, 0, 0)])
    trip = MeasuredTrip("a", np.array([0]), np.ones(1), np.ones(1) * 9, payload_kg=15_000.0)
    assert gated(trip, Setting(network, heavy)).trip.payload_kg == 15_000.0
    passed = gated(replace(trip, payload_kg=15_001.0), Setting(network, heavy))
    assert np.isnan(passed.trip.payload_kg)
    assert passed.unknown["payload_kg"].startswith("15001 kg, vehicle 'reference' as loaded")


@pytest.mark.parametrize(
    ("travel_s", "unknown"),
    [
        ([9, 90, 3], [False, False, False]),  # 40 km/h
        ([180, 1800, 65], [False, False, False]),  # a jam at 2 km/h
        ([2, 20, 0.72], [False, False, False]),  # 180 km/h
        ([9, 90, 0], [False, False, False]),  # 36 m within a whole second
        ([1, 90, 3], [False, False, False]),  # 100 m within two
        ([0, 90, 3], [True, False, False]),
        ([9, 90, 0.4], [False, False, True]),
        ([9, 90, 5e-324], [False, False, True]),
        ([9, 90, 600 + 36 / KMH], [False, False, False]),  # ten minutes of standing
        ([9, 90, 600.1 + 36 / KMH], [False, False, True]),
        ([9, 90, 10_800], [False, False, True]),  # three hours
        ([9, 90, -1], [False, False, True]),
        ([9, np.nan, 3], [False, False, False]),
        ([9, 90, np.inf], [False, False, True]),
        ([9, 1e6, 3], [True, True, True]),  # most of the way
        ([9, 13, 3], [True, True, True]),
        ([0.009, 0.09, 0.003], [True, True, True]),  # thousands of seconds
        ([9000, 90_000, 3000], [True, True, True]),  # milliseconds
        ([1.7e308, 1.7e308, 1.7e308], [True, True, True]),
        ([5e-324, 5e-324, 5e-324], [True, True, True]),
        ([0, 0, 0], [True, True, True]),
        ([np.nan, np.nan, np.nan], [False, False, False]),
    ],
)
def test_times_of_driving_stay(setting, travel_s, unknown) -> None:
    trip = trip_of(setting, travel_s=travel_s)
    assert implausible_times(trip, setting.network).tolist() == unknown
    passed = gated(trip, setting)
    np.testing.assert_array_equal(passed.trip.travel_s, np.where(unknown, np.nan, travel_s))
    np.testing.assert_array_equal(passed.trip.energy_wh, trip.energy_wh)
    assert list(passed.unknown) == ["travel_s"] * any(unknown)


def test_short_edges_within_the_step_of_a_clock_cannot_all_take_no_time(setting) -> None:
    trip = trip_of(setting, ["tiny"], travel_s=[0.0])
    assert implausible_times(trip, setting.network).tolist() == [True]
    rounded_up = replace(trip, travel_s=np.array([1.0]))
    assert implausible_times(rounded_up, setting.network).tolist() == [False]


def test_a_note_names_field_trip_value_and_limits(setting) -> None:
    measured = Measured()
    for name, celsius in (("cold", -60.0), ("fine", 20.0), ("hot", 1e9)):
        trip = trip_of(setting, travel_s=[0, 90, 3], temperature_c=celsius)
        admit(measured, replace(trip, trip=name), setting)
    assert list(measured.unknown_notes({"cold", "fine", "hot"})) == [
        "temperature_c of trip 'cold' and of 1 more is left out: -60 °C, expected -50 to 60",
        "travel_s of trip 'cold' and of 2 more is left out: 1 of 3 times, such as 0 s on edge "
        "'short' of 100 m",
    ]
    assert next(measured.unknown_notes({"hot"})) == (
        "temperature_c of trip 'hot' is left out: 1e+09 °C, expected -50 to 60"
    )
    assert list(measured.unknown_notes(())) == []
    admit(measured, trip_of(setting, energy_wh=[0, 0, 0]), setting)
    assert [trip.trip for trip in measured.trips] == ["cold", "fine", "hot"]
    assert list(measured.skipped) == ["a"]


@pytest.mark.parametrize(
    ("energy_wh", "reason"),
    [
        ([1, np.nan, 1], "edge 'long' has no energy"),
        ([1, 150, 5e3], "edge 'tiny' of 36 m takes 5 kWh, which is impossible"),
        ([1, 150, -5e3], "edge 'tiny' of 36 m takes -5 kWh, which is impossible"),
        ([1, 150, 1.7e308], "edge 'tiny' of 36 m takes 1.7e+305 kWh"),
        ([1, 150, np.inf], "edge 'tiny' of 36 m takes inf kWh"),
        ([0.001, 0.15, 0.005], "it takes 0.137 Wh/km"),
        ([0, 0, 0], "it takes 0 Wh/km"),
    ],
)
def test_an_impossible_energy_sets_the_trip_aside(setting, energy_wh, reason) -> None:
    with pytest.raises(ImpossibleTripError) as refused:
        gated(trip_of(setting, energy_wh=energy_wh), setting)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("short_s", "long_s", "more_wh"),
    [
        (np.nan, 100, 0),
        (10 + 3600, 100, 5_000),  # at 10 m/s the edge takes 10 s
        (10 + 6 * 3600, 100, 30_000),
        (11 + 6 * 3600, 100, 0),
        (10 + 3600, 101 + 5 * 3600, 0),  # together too long
        (-np.inf, 100, 0),
        (np.inf, 100, 0),
        (1.7e308, 1.7e308, 0),
    ],
)
def test_the_room_of_an_edge_by_hand(setting, short_s, long_s, more_wh) -> None:
    """Ten times eq. 8, 500 Wh, and 5 kW while the vehicle stood, for at most six hours a trip."""
    rows = [setting.network.row_of[edge] for edge in ("short", "long")]
    short_wh, long_wh = setting.prior.dissipated_wh[rows]
    most_wh = 500 + 10 * short_wh + more_wh
    for wh, possible in ((most_wh - 1, True), (1 - most_wh, True), (most_wh + 1, False)):
        trip = trip_of(setting, ["short", "long"], [short_s, long_s], energy_wh=[wh, long_wh])
        if possible:
            gated(trip, setting)
        else:
            with pytest.raises(ImpossibleTripError, match="edge 'short' of 100 m takes"):
                gated(trip, setting)


def test_a_length_outside_the_limits_sets_the_trip_aside(make_network) -> None:
    corners = [(0, 0, 0), (400_000, 0, 0), (200_000, 346_410, 0), (200_000.5, 346_410, 0)]
    edges = [("a", 0, 1), ("b", 1, 2), ("c", 2, 0), ("door", 2, 3), ("step", 3, 2)]
    lengths = [400_000, 400_000, 400_000, 0.5, 1.0]
    network = make_network(edges, corners, length_m=lengths)
    setting = Setting(network, load_vehicle("reference"))
    gated(trip_of(setting, ["step"]), setting)
    rounds = ["a", "b", "c"] * 3
    gated(trip_of(setting, rounds[:7]), setting)  # 2,800 km
    gated(replace(trip_of(setting, rounds[:6]), routes=2), setting)
    with pytest.raises(ImpossibleTripError, match=r"it is 3\.2e\+06 m long, expected 1 to 3,000,0"):
        gated(trip_of(setting, rounds[:8]), setting)
    with pytest.raises(ImpossibleTripError, match=r"it is 0\.5 m long"):
        gated(trip_of(setting, ["door"]), setting)


def test_a_gap_between_edges_sets_a_trip_aside_and_one_between_plausible_routes_does_not(
    setting,
) -> None:
    trip = trip_of(setting, ["short", "long", "short", "long"])
    with pytest.raises(ImpossibleTripError, match="no turn leads from edge 'long' to 'short'"):
        gated(trip, setting)
    assert gated(replace(trip, routes=2), setting).trip.routes == 2
    three = trip_of(setting, ["short", "short", "short"])
    with pytest.raises(ImpossibleTripError, match="a gap"):
        gated(replace(three, routes=2), setting)


def test_a_trip_of_several_routes_is_judged_by_their_mean(setting) -> None:
    """Two routes of 1,136 m: their mean is above 1 km; two of 100 m are not."""
    far = trip_of(setting, ["short", "long", "tiny"] * 2, energy_wh=[0.01] * 6)
    with pytest.raises(ImpossibleTripError, match=r"it takes 0\.0528 Wh/km"):
        gated(replace(far, routes=2), setting)
    near = trip_of(setting, ["short"] * 11, energy_wh=[0.0] * 11)
    assert gated(replace(near, routes=11), setting).trip.routes == 11


def test_trips_are_judged_from_a_kilometre_on(setting) -> None:
    gated(trip_of(setting, ["short"], energy_wh=[0.0]), setting)
    with pytest.raises(ImpossibleTripError, match="it takes 0 Wh/km"):
        gated(trip_of(setting, ["long"], energy_wh=[0.0]), setting)


def test_the_deviation_of_a_meter_counts_as_energy_turned_over(setting) -> None:
    trip = trip_of(setting, energy_wh=[0.0] * 3)
    least_wh = 0.01 * setting.prior.dissipated_wh[trip.edge].sum()
    gated(replace(trip, known_variance_wh2=(1.01 * least_wh) ** 2), setting)
    with pytest.raises(ImpossibleTripError, match="it takes 0 Wh/km"):
        gated(replace(trip, known_variance_wh2=(0.99 * least_wh) ** 2), setting)


def test_several_routes_share_the_room_of_one(setting) -> None:
    trip = replace(trip_of(setting, ["short", "long", "tiny"] * 2), routes=2)
    one_wh = setting.prior.dissipated_wh[trip.edge[:3]].sum()
    for total_wh, possible in ((10 * one_wh + 499, True), (10 * one_wh + 501, False)):
        shared = replace(trip, energy_wh=np.full(6, total_wh / 6))
        if possible:
            gated(shared, setting)
        else:
            with pytest.raises(ImpossibleTripError, match=r"times the energy that physics"):
                gated(shared, setting)


def test_an_impossible_variance_of_a_meter_counts_as_none(setting) -> None:
    assert gated(trip_of(setting, known_variance_wh2=-1.0), setting).trip.known_variance_wh2 == 0.0


def test_readings_of_a_trip_are_its_median_temperature_and_its_first_plausible_values() -> None:
    columns = {
        "temperature_c": np.array([95.0, 95.0, np.nan, 4.0, 6.0, 7.0]),  # 203 °F at the start
        "auxiliary_w": np.array([63_750.0, 2_000.0, 1_000.0, 500.0, 500.0, np.inf]),
        "soc_percent": np.array([np.nan, 80.0, 79.0, 79.0, 79.0, 79.0]),
        "payload_kg": np.array([-5.0, np.nan, np.nan, np.nan, np.nan, np.nan]),
    }
    read = readings(columns, np.arange(6))
    assert read.values == {
        "temperature_c": 6.0,
        "auxiliary_w": 2_000.0,
        "soc_percent": 80.0,
        "payload_kg": -5.0,
    }
    assert read.ignored == {
        "temperature_c": "2 of 5 readings, such as 95 °C, expected -50 to 60",
        "auxiliary_w": "1 of 5 readings, such as 63750 W, expected 0 to 50000",
    }
    assert mean_reading(columns["auxiliary_w"]) == 1_000.0
    assert np.isnan(mean_reading(np.array([200.0, np.nan])))


def test_a_false_reading_is_reported_in_one_line_and_the_trip_is_kept(setting) -> None:
    measured = Measured()
    trip = trip_of(setting, travel_s=[9, 90, 3], temperature_c=6.0)
    ignored = {"temperature_c": "2 of 5 readings, such as 95 °C, expected -50 to 60"}
    admit(measured, trip, setting, ignored)
    assert [each.temperature_c for each in measured.trips] == [6.0]
    assert list(measured.unknown_notes({"a"})) == [
        "temperature_c of trip 'a' is left out: 2 of 5 readings, such as 95 °C, expected -50 to 60"
    ]
