"""Time zones of networks, against offsets that are known for places and dates."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from evroute.learning.readers.clocks import since_1970
from evroute.network.places.zones import local_s
from evroute.planning.forecasts.pace import Pace

JULY = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()
JANUARY = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


def at(network, lat, lon):
    """Return a network moved to a place."""
    return replace(network, crs=f"+proj=tmerc +lat_0={lat} +lon_0={lon} +units=m +ellps=WGS84")


@pytest.fixture
def berlin(hill):
    """The hill, in Berlin."""
    return at(hill, 52.5, 13.4)


@pytest.mark.parametrize(
    ("lat", "lon", "winter_h", "summer_h"),
    [
        (39.74, -104.99, -7, -6),  # Denver
        (49.61, 6.13, 1, 2),  # Luxembourg
        (43.73, 7.42, 1, 2),  # Monaco
        (34.02, -6.84, 1, 1),  # Rabat
        (-33.87, 151.21, 11, 10),  # Sydney, whose summer is in January
        (27.72, 85.32, 5.75, 5.75),  # Kathmandu
        (52.41, -4.08, 0, 1),  # Aberystwyth
        (-17.8, 177.4, 12, 12),  # Fiji, near the other edge of the map
        # places nearer to a zone's city across the border
        (38.88, -6.97, 1, 2),  # Badajoz
        (42.05, -8.64, 1, 2),  # Tui
        (48.62, 22.30, 2, 3),  # Uzhhorod
        (30.42, -87.20, -6, -5),  # Pensacola
        (41.68, -86.25, -5, -4),  # South Bend
        (41.59, -87.35, -6, -5),  # Gary
        (31.76, -106.49, -7, -6),  # El Paso
        (59.38, 28.19, 2, 3),  # Narva
        (47.56, 7.59, 1, 2),  # Basel
    ],
)
def test_clocks_of_places(make_network, lat, lon, winter_h, summer_h) -> None:
    here = at(make_network([("a", 0, 1), ("b", 1, 0)], [(0, 0, 0), (300, 0, 0)]), lat, lon)
    for epoch_s, offset_h in ((JANUARY, winter_h), (JULY, summer_h)):
        assert local_s(epoch_s, here) == (12 + offset_h) * 3600.0 % 86_400.0


def test_a_clock_without_a_date_stays(hill) -> None:
    assert local_s(None, hill) is None
    assert local_s(27_000.0, hill) == 27_000.0
    assert local_s(3 * 86_400.0 + 60.0, hill) == 3 * 86_400.0 + 60.0


def test_times_of_one_moment_are_one_number(berlin, tmp_path) -> None:
    """Local, with an offset, in UTC, in seconds and in milliseconds; summer in Berlin."""
    moment = datetime(2026, 7, 1, 12, tzinfo=UTC)
    for text in (
        "2026-07-01T14:00:00",
        "2026-07-01T07:00:00-05:00",
        "2026-07-01T12:00:00Z",
        str(moment.timestamp()),
        str(1000.0 * moment.timestamp()),
    ):
        (time_s,) = since_1970(tmp_path, [text], berlin)
        assert time_s == moment.timestamp(), text
    assert since_1970(tmp_path, ["", "90", None], berlin).tolist()[1] == 90.0


def test_two_tables_count_from_the_same_day(berlin, tmp_path) -> None:
    """A trip at eight o'clock in January and one in July, each in its own table."""
    days = [since_1970(tmp_path, [f"2026-0{m}-01T08:00:00"], berlin)[0] / 86_400 for m in (1, 7)]
    assert days[1] - days[0] == pytest.approx(181.0 - 1 / 24)  # less the hour of summer time


@pytest.mark.parametrize(
    ("lat", "lon", "ahead_h"), [(52.5, 13.4, 2), (38.88, -6.97, 2), (30.42, -87.20, -5)]
)
def test_a_log_in_utc_teaches_the_local_quarter_of_the_day(
    hill, tmp_path, lat, lon, ahead_h
) -> None:
    """Slow passes at 7 and 9 h on the clocks of Berlin, Badajoz and Pensacola in July."""
    here = at(hill, lat, lon)
    dated, clocks = Pace.of_network(here), Pace.of_network(here)
    edge, slow = np.arange(3), 2.0 * here.time_s[:3]
    for day in range(1, 5):
        for hour, factor in ((7, 2.0), (9, 2.0), (18, 1.0)):
            utc = f"2026-07-0{day}T{hour - ahead_h:02}:00:00Z"
            dated.learn(edge, factor * slow, float(since_1970(tmp_path, [utc], here)[0]))
            clocks.learn(edge, factor * slow, hour * 3600.0)
    for hour in (3.0, 8.0, 13.0, 20.0):
        np.testing.assert_allclose(
            dated.times(edge, hour * 3600.0), clocks.times(edge, hour * 3600.0)
        )
    assert (dated.times(edge, 8 * 3600.0) > 1.5 * dated.times(edge, 20 * 3600.0)).all()
