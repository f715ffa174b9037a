"""Time zones of networks, against offsets that are known for places and dates."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from evroute.learning.readers.clocks import since_1970
from evroute.network.places.zones import local_s, nearest_zone, zone_of
from evroute.planning.forecasts.pace import Pace

JULY = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()
JANUARY = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


@pytest.fixture
def berlin(hill):
    """The hill, in Berlin."""
    return replace(hill, crs="+proj=tmerc +lat_0=52.5 +lon_0=13.4 +units=m +ellps=WGS84")


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
    ],
)
def test_clocks_of_places(make_network, lat, lon, winter_h, summer_h) -> None:
    crs = f"+proj=tmerc +lat_0={lat} +lon_0={lon} +units=m +ellps=WGS84"
    here = make_network([("a", 0, 1), ("b", 1, 0)], [(0, 0, 0), (300, 0, 0)])
    here = replace(here, crs=crs)
    for epoch_s, offset_h in ((JANUARY, winter_h), (JULY, summer_h)):
        assert local_s(epoch_s, here) == (12 + offset_h) * 3600.0 % 86_400.0
    assert zone_of(here).key == nearest_zone(lat, lon)


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


def test_a_pace_learns_by_the_local_quarter_of_the_day(berlin) -> None:
    """Passes at 5 and 7 h UTC in July are at 7 and 9 h in Germany: one quarter of the day."""
    dated, clocks = Pace.of_network(berlin), Pace.of_network(berlin)
    edge, slow = np.arange(3), 2.0 * berlin.time_s[:3]
    for day in range(4):
        for hour, factor in ((5, 2.0), (7, 2.0), (18, 1.0)):
            now_s = JULY + day * 86_400.0 + (hour - 12) * 3600.0
            dated.learn(edge, factor * slow, now_s)
            clocks.learn(edge, factor * slow, (hour + 2) * 3600.0)
    for hour in (3.0, 8.0, 13.0, 20.0):
        np.testing.assert_allclose(
            dated.times(edge, hour * 3600.0), clocks.times(edge, hour * 3600.0)
        )
    assert (dated.times(edge, 8 * 3600.0) > 1.5 * dated.times(edge, 20 * 3600.0)).all()
