"""Pieces of a log, row by row by hand."""

import numpy as np
import pytest

from evroute.learning.readers.cuts import cut

STEP = 0.001  # of latitude: 111 m a row
BATTERY_WH = 50_000.0


def pieces(time_s, place, used_wh=None, gap_s=60.0) -> list[tuple[list[int], str]]:
    """Return first and last row and reason of each piece; ``place`` counts steps to the north."""
    used_wh = np.full(len(time_s), np.nan) if used_wh is None else np.array(used_wh, dtype=float)
    lat, lon = 49 + STEP * np.array(place, dtype=float), np.full(len(time_s), 6.0)
    time_s = np.array(time_s, dtype=float)
    found = cut(time_s, lat, lon, used_wh, battery_wh=BATTERY_WH, gap_s=gap_s)
    for piece in found:
        assert np.array_equal(piece.rows, np.arange(piece.rows[0], piece.rows[-1] + 1))
    return [([int(piece.rows[0]), int(piece.rows[-1])], piece.reason) for piece in found]


def test_a_gap_loses_no_row() -> None:
    time_s = [0, 10, 20, 30, 40, 340, 350, 360]
    assert pieces(time_s, range(8)) == [([0, 4], "5 min without rows"), ([5, 7], "")]


def test_a_gap_is_longer_than_its_limit() -> None:
    assert pieces([0, 60, 120], range(3)) == [([0, 2], "")]
    assert pieces([0, 60, 121], range(3)) == [([0, 1], "1.02 min without rows")]


def test_one_row_is_no_piece() -> None:
    assert pieces([0, 100, 110, 210], range(4)) == [([1, 2], "1.67 min without rows")]
    assert pieces([0], [0]) == []


@pytest.mark.parametrize(
    ("stood_s", "expected"),
    [
        (590.0, [([0, 5], "")]),
        (600.0, [([0, 2], "10 min of standing"), ([4, 5], "")]),
    ],
)
def test_a_stop_belongs_to_no_piece_but_for_its_ends(stood_s, expected) -> None:
    time_s = [0, 10, 20, 20 + stood_s / 2, 20 + stood_s, 30 + stood_s]
    assert pieces(time_s, [0, 1, 2, 2, 2, 3], gap_s=400.0) == expected


@pytest.mark.parametrize(
    ("stood_s", "charged_wh", "expected"),
    [
        (130, 740.0, [([0, 4], "")]),  # 1.5 % of the battery is 750 Wh
        (130, 1500.0, [([0, 2], "2.17 min of standing, charging 1.5 kWh"), ([3, 4], "")]),
        (110, 1500.0, [([0, 4], "")]),  # less than two minutes
        (130, 15_000.0, [([0, 4], "")]),  # more than 400 kW for 130 s
    ],
)
def test_a_short_stop_is_a_cut_if_it_charges(stood_s, charged_wh, expected) -> None:
    time_s, used_wh = [0, 10, 20, 20 + stood_s, 30 + stood_s], [0, 100, 200]
    used_wh += [200 - charged_wh, 300 - charged_wh]
    assert pieces(time_s, [0, 1, 2, 2, 3], used_wh, gap_s=300.0) == expected


def test_standing_is_within_fifty_metres() -> None:
    time_s = [0, 10, 500, 700, 710]
    assert pieces(time_s, [0, 1, 1.4, 1.4, 3], gap_s=600.0) == [
        ([0, 1], "11.5 min of standing"),
        ([3, 4], ""),
    ]
    assert pieces(time_s, [0, 1, 1.5, 1.5, 3], gap_s=600.0) == [([0, 4], "")]


def test_degrees_of_longitude_are_shorter_in_the_north() -> None:
    """0.0008 degrees of longitude are 89 m at the equator and 44 m at 60 degrees."""
    time_s = np.array([0.0, 10.0, 20.0, 320.0, 620.0, 630.0])
    lon = 6 + 0.001 * np.array([0.0, 1.0, 2.0, 2.8, 2.8, 4.0])
    used_wh = np.full(6, np.nan)
    reasons = []
    for latitude in (0.0, 60.0):
        lat = np.full(6, latitude)
        found = cut(time_s, lat, lon, used_wh, battery_wh=BATTERY_WH, gap_s=400.0)
        reasons.append([piece.reason for piece in found])
    assert reasons == [[""], ["10 min of standing", ""]]
