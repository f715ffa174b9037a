"""Logs of LeafSpy and TeslaMate: dates, positions, temperatures and powers by hand."""

import csv
from pathlib import Path

import numpy as np
import pytest

from evroute.errors import EvrouteError
from evroute.learning.readers.clocks import DAY_FIRST, MONTH_FIRST, date_order, seconds
from evroute.learning.readers.formats import read_measured
from evroute.learning.readers.raw.degrees import degrees_of, without_minutes
from evroute.methods.setting import Setting, load_setting

EXAMPLES = Path(__file__).parents[3] / "data/examples"
SECONDS = (0, 43, 85, 128, 170, 213, 255, 298, 340, 383)
"""Times of the points of the examples since their start."""


def rows_of(name: str) -> list[dict[str, str]]:
    with (EXAMPLES / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def metered_wh(watts: list[float]) -> float:
    """Return the energy of powers at the points, Wh, by trapezoids."""
    return float(np.trapezoid(watts, SECONDS)) / 3600.0


@pytest.fixture(scope="module")
def zoe() -> Setting:
    return load_setting("denver", "renault-zoe")


@pytest.mark.parametrize(
    ("text", "degrees"),
    [
        ("51 28.6213", 51 + 28.6213 / 60),
        ("-3 10.55", -(3 + 10.55 / 60)),
        ("-0 10.55", -10.55 / 60),
        ("51°28.6213' N", 51 + 28.6213 / 60),
        ("3°10.55'W", -(3 + 10.55 / 60)),
        ("N 51 28 37.3", 51 + 28 / 60 + 37.3 / 3600),
        ("104:59,9262", 104 + 59.9262 / 60),
        ("51 61.0", None),
        ("51.4770", None),
        ("somewhere", None),
        ("", None),
    ],
)
def test_degrees_and_minutes(text, degrees) -> None:
    assert degrees_of(text) == (None if degrees is None else pytest.approx(degrees, abs=1e-9))


def test_numbers_of_degrees_times_hundred_are_degrees_and_minutes() -> None:
    """Cardiff: 51° 28.6213' N, 3° 10.55' W."""
    found = without_minutes(np.array([5128.6213, np.nan]), np.array([-310.55, -311.0]))
    assert found is not None
    np.testing.assert_allclose(found[0], [51 + 28.6213 / 60, np.nan])
    np.testing.assert_allclose(found[1], [-(3 + 10.55 / 60), -(3 + 11 / 60)])
    assert without_minutes(np.array([51.5, 52.0]), np.array([-3.1, -3.0])) is None
    assert without_minutes(np.array([5188.0]), np.array([-310.0])) is None  # 88 minutes
    assert without_minutes(np.array([np.nan]), np.array([np.nan])) is None


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["25/12/2025 07:30:00", "03/01/2026 07:30:00"], DAY_FIRST),
        (["12/25/2025 07:30:00", "01/03/2026 07:30:00"], MONTH_FIRST),
        (["03/04/2026 07:30:00", "04/04/2026 07:30:00"], DAY_FIRST),  # a day, or a month
        (["03/04/2026 07:30:00"], MONTH_FIRST),
        (["25/12/2025 07:30:00", "12/25/2025 07:30:00"], None),
        (["2026-05-04T07:30:00"], None),
        ([], None),
    ],
)
def test_the_order_of_day_and_month(texts, form) -> None:
    assert date_order(texts) == form


def test_dates_of_both_orders_are_refused_in_one_line(tmp_path) -> None:
    with pytest.raises(EvrouteError, match="row 1: time '25/12/2025 07:30:00' is neither"):
        seconds(tmp_path / "a.csv", ["25/12/2025 07:30:00", "12/25/2025 07:31:00"])


def test_a_log_with_day_first_and_minutes_equals_the_other_form(zoe) -> None:
    """`leafspy-uk.csv` is `leafspy.csv` in winter, with heater and a false start of two sensors."""
    here, there = (
        read_measured(EXAMPLES / name, zoe, ["renault-zoe"])
        for name in ("leafspy-uk.csv", "leafspy.csv")
    )
    (trip,), (other,) = here.trips, there.trips
    np.testing.assert_array_equal(trip.edge, other.edge)
    for each, name in ((trip, "leafspy-uk.csv"), (other, "leafspy.csv")):
        watts = [float(row["Pack Volts"]) * float(row["Pack Amps"]) for row in rows_of(name)]
        assert each.energy_wh.sum() == pytest.approx(metered_wh(watts), rel=0.02)
    assert trip.temperature_c == pytest.approx(5.0)  # 41 °F
    assert trip.auxiliary_w == 6 * 250.0 + 300.0
    assert trip.auxiliary_mean_w == pytest.approx(1800.0)
    assert other.auxiliary_w == 300.0
    assert not here.skipped
    assert any(
        "temperature_c of trip 'leafspy-uk' is left out: 2 of" in note and "95 °C" in note
        for note in here.notes
    )
    assert any("auxiliary_w of trip 'leafspy-uk' is left out: 1 of" in note for note in here.notes)


def test_the_epoch_of_a_log_goes_before_its_date(zoe, tmp_path) -> None:
    lines = (EXAMPLES / "leafspy.csv").read_text(encoding="utf-8").splitlines()
    start = 1_777_879_800  # 2026-05-04 07:30:00 UTC
    rows = [f"{lines[0]},epoch time"]
    for number, line in enumerate(lines[1:]):
        rows.append(f"{line.replace('05/04/2026', '04/05/2026')},{start + 43 * number}")
    path = tmp_path / "leafspy.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    (trip,) = read_measured(path, zoe, ["renault-zoe"]).trips
    assert trip.departed_s is not None
    assert trip.departed_s % 86_400 == 7.5 * 3600


def test_positions_of_teslamate_are_the_same_trip(zoe) -> None:
    measured = read_measured(EXAMPLES / "tesla.csv", zoe, ["renault-zoe"])
    (trip,) = measured.trips
    (other,) = read_measured(EXAMPLES / "obd.csv", zoe, ["renault-zoe"]).trips
    assert trip.trip == "41"
    np.testing.assert_array_equal(trip.edge, other.edge)
    watts = [1000.0 * float(row["power"]) for row in rows_of("tesla.csv") if row["power"]]
    assert trip.energy_wh.sum() == pytest.approx(metered_wh(watts), rel=0.02)
    assert (trip.temperature_c, trip.soc_percent) == (-3.5, 79.0)  # usable, not shown
    assert trip.departed_s is not None
    assert trip.departed_s % 86_400 == pytest.approx(13.5 * 3600 + 0.25)


def test_older_positions_have_the_shown_charge_and_only_drives_count(zoe, tmp_path) -> None:
    lines = (EXAMPLES / "tesla.csv").read_text(encoding="utf-8").splitlines()
    older = [line.rpartition(",")[0] for line in lines]
    path = tmp_path / "positions.csv"
    path.write_text("\n".join(older), encoding="utf-8")
    (trip,) = read_measured(path, zoe, ["renault-zoe"]).trips
    assert trip.soc_percent == 80.0
    path.write_text("\n".join([lines[0], lines[-1]]), encoding="utf-8")
    with pytest.raises(EvrouteError, match="has no position of a drive"):
        read_measured(path, zoe, ["renault-zoe"])


def test_drives_of_teslamate_are_a_notebook(zoe, tmp_path) -> None:
    path = EXAMPLES / "tesla_drives.csv"
    trips = read_measured(path, zoe, ["renault-zoe"]).trips
    noted = read_measured(EXAMPLES / "notebook.csv", zoe, ["renault-zoe"]).trips
    assert [trip.trip for trip in trips] == ["41", "42"]
    for trip, other in zip(trips, noted, strict=True):
        np.testing.assert_array_equal(trip.edge, other.edge)
        assert trip.temperature_c == -3.5
    assert [trip.energy_wh.sum() for trip in trips] == pytest.approx([1040.0, 520.0])  # 2 and 1 %
    bare = tmp_path / "drives.csv"
    bare.write_text("id,start_date,start_rated_range_km\n41,2026-05-04 13:30:00,300\n")
    with pytest.raises(EvrouteError, match="the table drives of TeslaMate has no places"):
        read_measured(bare, zoe, ["renault-zoe"])
