"""Logs as loggers write them: power, per cents, GPX, separators, times, stops and charging."""

import gzip
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.gate import gated
from evroute.learning.measured import ImpossibleTripError, MeasuredTrip
from evroute.learning.readers.clocks import seconds
from evroute.learning.readers.cuts import cut
from evroute.learning.readers.formats import read_measured
from evroute.learning.readers.headers import Column, recognised
from evroute.learning.readers.meter_noise import (
    even_minus_odd_wh,
    lag_one_correlation,
    meter_factor,
)
from evroute.methods.setting import Setting, load_setting
from evroute.network.catalog import read_any
from evroute.network.places.zones import local_s

VOLTS = 360.0

DENVER_SUMMER = timezone(timedelta(hours=-6))


def read(path, setting):
    return read_measured(path, setting, ["reference"])


def written(path, columns, separator=",", decimal="."):
    """Write a CSV file with numbers in fixed form."""
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    texts = [
        [f"{each:.6f}".replace(".", decimal) if isinstance(each, float) else each for each in row]
        for row in rows
    ]
    lines = [separator.join(map(str, row)) for row in [list(columns), *texts]]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def with_power(columns, sign=1.0, volts=1.0, amps=1.0):
    """Return the columns with volts and amps whose trapezoids integrate to the same energy.

    Every second row has no current, so that the trapezoids of a row are known: the energy between
    rows 2 i and 2 i + 2 is amps[2 i + 1] times volts times half the time between them.
    """
    used_wh = np.array(columns["energy_wh"])[: len(columns["trip"]) // 2 * 2 - 1]
    n = len(used_wh)
    columns = {name: list(column[:n]) for name, column in columns.items()}
    time_s = np.array(columns["time"])
    current = np.zeros(n)
    halves_s = (time_s[2::2] - time_s[:-2:2]) / 2
    current[1::2] = (used_wh[2::2] - used_wh[:-2:2]) * 3600 / halves_s / VOLTS
    del columns["energy_wh"]
    return columns | {"volts": np.full(n, VOLTS * volts), "amps": sign * amps * current}, used_wh


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_power_is_integrated_and_its_sign_found(setting, drive, tmp_path, sign) -> None:
    columns, _, _ = drive(setting, 0, 500)
    columns, used_wh = with_power(columns, sign)
    measured = read(written(tmp_path / "t.csv", columns), setting)
    (trip,) = measured.trips
    assert trip.energy_wh.sum() == pytest.approx(used_wh[-1] - used_wh[0], rel=0.02)
    assert "integral of 'volts' in V times 'amps' in A" in measured.notes[0]
    assert ("sign was changed" in " ".join(measured.notes)) == (sign < 0)
    power_w = np.array(columns["volts"]) * columns["amps"]
    rho = lag_one_correlation([power_w])
    unknown_wh = meter_factor(rho) * abs(even_minus_odd_wh(np.array(columns["time"]), power_w))
    assert measured.notes[-1].endswith(f"leaves ± {unknown_wh:.0f} Wh of a trip unknown")


def test_the_fall_of_the_charge_decides_the_sign(setting, drive, tmp_path) -> None:
    columns, _, _ = drive(setting, 0, 500)
    columns, used_wh = with_power(columns)
    percent = np.linspace(60, 61, len(used_wh))  # it returns energy: a descent without heights
    (trip,) = read(written(tmp_path / "t.csv", columns | {"soc": percent}), setting).trips
    assert trip.energy_wh.sum() == pytest.approx(used_wh[0] - used_wh[-1], rel=0.02)
    assert trip.soc_percent == pytest.approx(60.0, abs=0.1)


def test_units_come_from_headers_or_sizes(setting, drive, tmp_path) -> None:
    columns, _, _ = drive(setting, 0, 500)
    plain, used_wh = with_power(columns)
    sized, _ = with_power(columns, volts=1000, amps=1000)
    headed = dict(sized)
    headed["HV Battery Voltage [mV]"] = headed.pop("volts")
    headed["battery_current_mA"] = headed.pop("amps")
    power = dict(plain)
    power["Power (kW)"] = power.pop("volts") * power.pop("amps") / 1000
    for name, form in {"sized": sized, "headed": headed, "power": power}.items():
        (trip,) = read(written(tmp_path / f"{name}.csv", form), setting).trips
        assert trip.energy_wh.sum() == pytest.approx(used_wh[-1] - used_wh[0], rel=0.02)


def test_power_is_not_integrated_over_a_gap(setting, drive, tmp_path) -> None:
    columns, edges, _ = drive(setting, 0, 500)
    columns, used_wh = with_power(columns)
    half = len(used_wh) // 2
    columns["time"] = [t + 120.0 * (i > half) for i, t in enumerate(columns["time"])]
    measured = read(written(tmp_path / "t.csv", columns), setting)
    assert [trip.trip for trip in measured.trips] == ["a", "a/2"]
    assert "2.03 min without rows" in measured.notes[1]
    assert sum(len(trip.edge) for trip in measured.trips) == pytest.approx(len(edges), abs=1)


def test_a_leafspy_log_is_read_by_its_column_names(setting, drive, tmp_path) -> None:
    columns, edges, _ = drive(setting, 0, 500)
    columns, used_wh = with_power(columns)
    start = datetime(2026, 5, 4, 7, 30)
    leafspy = {
        "Date/Time": [
            f"{start + timedelta(seconds=round(each)):%m/%d/%Y %H:%M:%S}"
            for each in np.array(columns["time"]) * 5
        ],
        "Lat": columns["lat"],
        "Long": columns["lon"],
        "Gids": [300] * len(used_wh),
        "SOC": 800_000 - np.arange(len(used_wh)),
        "Pack Volts": columns["volts"],
        "Pack Amps": columns["amps"] / 5,
        "Aux Pwr(100w)": [7] * len(used_wh),
    }
    measured = read(written(tmp_path / "monday.csv", leafspy), setting)
    (trip,) = measured.trips
    assert (trip.trip, trip.soc_percent, trip.auxiliary_w) == ("monday", 80.0, 700.0)
    assert trip.departed_s == start.replace(tzinfo=DENVER_SUMMER).timestamp()
    assert trip.edge.tolist()[1:-1] == edges.tolist()[1 : len(trip.edge) - 1]
    assert trip.energy_wh.sum() == pytest.approx(used_wh[-1] - used_wh[0], rel=0.02)
    assert measured.notes[0] == "columns not read: Gids"


def test_whole_percents_are_read_at_the_ends_with_their_variance(setting, drive, tmp_path) -> None:
    columns, edges, _ = drive(setting, 0, 500)
    n, one_percent_wh = len(columns["trip"]), setting.vehicle.battery_kwh * 10
    del columns["energy_wh"]
    columns["soc_percent"] = np.repeat([70, 69, 68], [n // 3, n // 3, n - 2 * (n // 3)])
    (trip,) = read(written(tmp_path / "t.csv", columns), setting).trips
    assert trip.edge.tolist() == edges.tolist()
    assert trip.energy_wh.sum() == pytest.approx(2 * one_percent_wh, rel=1e-3)
    assert trip.known_variance_wh2 == pytest.approx(one_percent_wh**2 / 6)
    assert trip.soc_percent == 70


def test_semicolons_decimal_commas_and_columns_not_read(setting, drive, tmp_path) -> None:
    columns, _, edge_wh = drive(setting, 0, 500)
    columns |= {"auxiliary_w": [850.5] * len(columns["trip"]), "odd": ["x"] * len(columns["trip"])}
    measured = read(written(tmp_path / "t.csv", columns, ";", ","), setting)
    (trip,) = measured.trips
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum(), rel=1e-3)
    assert trip.auxiliary_w == 850.5
    assert measured.notes == ["columns not read: odd", "numbers are read with a decimal comma"]


def test_a_stop_ends_a_trip_and_charging_while_standing_too(setting, drive, tmp_path) -> None:
    columns, edges, _ = drive(setting, 0, 500)
    battery_wh, n = setting.vehicle.battery_kwh * 1000, len(columns["trip"])
    for stood_s, charged_wh, parts in (
        (700.0, 0.0, 2),
        (500.0, 0.0, 1),
        (500.0, 0.03 * battery_wh, 2),
    ):
        stopped = {
            name: np.insert(np.asarray(each), n // 2, each[n // 2])
            for name, each in columns.items()
        }
        stopped["time"][n // 2 + 1 :] += stood_s
        stopped["energy_wh"][n // 2 + 1 :] -= charged_wh
        pq.write_table(pa.table(stopped), tmp_path / "t.parquet")
        measured = read(tmp_path / "t.parquet", setting)
        assert len(measured.trips) == parts
        assert bool(measured.notes) == (parts > 1)
        assert sum(len(trip.edge) for trip in measured.trips) <= len(edges) + 1


def test_a_charge_that_rises_downhill_is_no_charging() -> None:
    time_s = np.arange(0.0, 600.0, 10.0)
    lat = 40 + time_s * 1e-4 / 1.11  # 10 m/s northwards
    falling_wh = -time_s * 4.0  # 2.4 kWh within 6 km
    (piece,) = cut(time_s, lat, np.zeros(60), falling_wh, battery_wh=50_000.0, gap_s=60.0)
    assert (len(piece.rows), piece.reason) == (60, "")
    # a small battery read in whole per cents every 3 s: two readings within 50 m, a step apart
    whole_wh = np.floor(falling_wh / 172.0) * 172.0
    (piece,) = cut(time_s * 0.3, lat, np.zeros(60), whole_wh, battery_wh=17_200.0, gap_s=60.0)
    assert (len(piece.rows), piece.reason) == (60, "")


def test_a_descent_with_negative_energy_is_a_trip(setting, drive, tmp_path) -> None:
    columns, edges, _ = drive(setting, 0, 500)
    used_wh = columns["energy_wh"]
    pq.write_table(
        pa.table(columns | {"energy_wh": 2 * used_wh[0] - used_wh}), tmp_path / "t.parquet"
    )
    measured = read(tmp_path / "t.parquet", setting)
    assert measured.trips[0].energy_wh.sum() < 0
    climb_wh = setting.potential_wh[edges].sum()
    assert any("Check the sign of their energies" in each for each in measured.notes) == (
        climb_wh >= 0
    )


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["10", "12.5"], [10.0, 12.5]),
        (["1777879800", "1777879810"], [26_600.0 + 400, 27_010.0]),
        (["1777879800000", "1777879810500"], [27_000.0, 27_010.5]),
        (["2026-05-04T07:30:00", None], [27_000.0, np.nan]),
        (["2026-05-04T23:59:00+02:00", "2026-05-04T22:01:00Z"], [86_340.0, 86_460.0]),
        (["05/04/2026 07:30:00"], [27_000.0]),
    ],
)
def test_times(tmp_path, texts, expected) -> None:
    np.testing.assert_allclose(seconds(tmp_path, texts), expected)


def test_an_exact_name_goes_before_a_loggers() -> None:
    found = recognised(["Latitude", "lat", "Speed (km/h)", "Pack Amps"], ("lat", "amps"))
    assert found == {"lat": Column("lat"), "amps": Column("Pack Amps")}
    found = recognised(["Temperature_C", "SOC_percent"], ("temperature_c", "soc_percent"))
    assert {name: each.header for name, each in found.items()} == {
        "temperature_c": "Temperature_C",
        "soc_percent": "SOC_percent",
    }


@pytest.mark.parametrize("header", ["speed ()", "()", "[]", " ()", "volts []", "amps ( )"])
def test_a_header_with_empty_brackets_has_no_unit(header) -> None:
    column = recognised([header], ("volts", "amps", "power_w"))
    name = header.split(" ")[0]
    assert column == ({name: Column(header)} if name in {"volts", "amps"} else {})


GPX = """<?xml version="1.0"?><gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"
xmlns:e="https://example.org/e"><trk><name>a</name><trkseg>{}</trkseg></trk></gpx>"""


def gpx(path, columns, readings=()):
    points = []
    for i, (lat, lon, time_s) in enumerate(
        zip(columns["lat"], columns["lon"], columns["time"], strict=True)
    ):
        time = datetime(2026, 5, 4, 6) + timedelta(seconds=float(time_s))
        texts = "".join(f"<e:{name}>{columns[name][i]}</e:{name}>" for name in readings)
        inner = f"<extensions><e:car>{texts}</e:car></extensions>" * bool(texts)
        points.append(
            f'<trkpt lat="{lat}" lon="{lon}"><time>{time.isoformat()}Z</time>{inner}</trkpt>'
        )
    path.write_text(GPX.format("".join(points)), encoding="utf-8")
    return path


def test_gpx_with_an_extension_or_a_table_beside_it(setting, drive, tmp_path) -> None:
    columns, edges, edge_wh = drive(setting, 0, 500)
    (trip,) = read(gpx(tmp_path / "in.gpx", columns, ["energy_wh"]), setting).trips
    assert (trip.trip, trip.departed_s) == ("a", datetime(2026, 5, 4, 6, tzinfo=UTC).timestamp())
    assert trip.edge.tolist() == edges.tolist()
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum(), rel=1e-3)
    beside = gpx(tmp_path / "beside.gpx", columns)
    with pytest.raises(
        EvrouteError, match=r"has no energy. Add the extension .* beside\.csv"
    ) as error:
        read(beside, setting)
    assert "\n" not in str(error.value)
    start = datetime(2026, 5, 4, 6)
    times = [f"{start + timedelta(seconds=float(each))}+00:00" for each in columns["time"]]
    written(tmp_path / "beside.csv", {"time": times, "energy_wh": columns["energy_wh"]})
    (trip,) = read(beside, setting).trips
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum(), rel=1e-3)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("energy_wh\n5000\n", "has no column 'time'"),
        ("time,energy_wh\n2026-05-04T06:00:00Z,\n", "needs one of the columns energy_wh"),
        (",energy_wh\n,1\n", "has no column 'time'"),
    ],
)
def test_a_table_beside_a_gpx_without_times_or_readings_is_refused_in_one_line(
    setting, drive, tmp_path, text, line
) -> None:
    columns, _, _ = drive(setting, 0, 500)
    beside = gpx(tmp_path / "beside.gpx", columns)
    (tmp_path / "beside.csv").write_text(text)
    with pytest.raises(EvrouteError, match=line) as error:
        read(beside, setting)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "<gpx", "no gpx", GPX.format("")])
def test_a_bad_gpx_is_refused_in_one_line(setting, tmp_path, text) -> None:
    path = tmp_path / "t.gpx"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvrouteError, match=r"GPX file .*t\.gpx") as error:
        read(path, setting)
    assert "\n" not in str(error.value)


ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "expected_wh", "tolerance_wh", "zone"),
    [
        ("points.csv", 385, 2, DENVER_SUMMER),
        ("track.gpx", 333, 2, UTC),
        ("obd.csv", 333, 25, timezone(timedelta(hours=2))),
        ("leafspy.csv", 340, 25, DENVER_SUMMER),
        ("percent.csv", 520, 3, DENVER_SUMMER),
    ],
)
def test_the_examples_are_one_trip(name, expected_wh, tolerance_wh, zone) -> None:
    zoe = load_setting("denver", "renault-zoe")
    measured = read_measured(ROOT / "data/examples" / name, zoe, ["renault-zoe"])
    (trip,) = measured.trips
    assert trip.energy_wh.sum() == pytest.approx(expected_wh, abs=tolerance_wh)
    assert trip.departed_s == datetime(2026, 5, 4, 7, 30, tzinfo=zone).timestamp()
    assert measured.skipped == {}


@pytest.mark.data
def test_measured_drives_of_a_small_car(tmp_path, data_dir) -> None:
    drives = data_dir / "drives"
    for name, source in {"twizy.csv": "twizy.csv.gz", "rabat.graphml": "rabat.graphml.gz"}.items():
        (tmp_path / name).write_bytes(gzip.decompress((drives / source).read_bytes()))
    twizy = replace(load_vehicle("reference"), battery_kwh=6.1, mass_kg=600.0)
    setting = Setting(read_any(tmp_path / "rabat.graphml", "rabat"), twizy)
    measured = read_measured(tmp_path / "twizy.csv", setting, ["reference"])
    road_m = setting.network.length_m
    length_m = sum(float(each.share(road_m) @ road_m[each.edge]) for each in measured.trips)
    energy_wh = sum(float(each.energy_wh.sum()) for each in measured.trips)
    by_edges = pyarrow.csv.read_csv(drives / "twizy_edges.csv.gz")
    edge_m = dict(zip(setting.network.edge_id, setting.network.length_m, strict=True))
    named_m = np.array([edge_m.get(edge, 0.0) for edge in by_edges["edge"].to_pylist()])
    reference = by_edges["energy_wh"].to_numpy()[named_m > 0].sum() / named_m.sum()
    assert length_m > 330_000
    assert energy_wh / length_m == pytest.approx(reference, rel=0.05)
    for each in measured.trips:
        assert each.known_variance_wh2 == pytest.approx((0.02 * 61) ** 2 / 6)
    first = measured.trips[0]
    assert 11 * 3600 < local_s(first.departed_s, setting.network) < 12 * 3600
    assert measured.notes[0].startswith("columns not read: altitude_m")


def test_values_at_departure_by_edges(setting, tmp_path) -> None:
    edges = setting.search.route(setting.network.length_m, 0, 500).rows
    n = len(edges)
    columns = {
        "trip": ["a"] * n,
        "edge": [setting.network.edge_id[edge] for edge in edges],
        "energy_wh": (1.1 * setting.prior.mean_wh[edges]).tolist(),
        "soc_percent": [81.5] + [80.0] * (n - 1),
        "payload_kg": [150.0] * n,
    }
    (trip,) = read(written(tmp_path / "t.csv", columns, ";"), setting).trips
    assert (trip.soc_percent, trip.payload_kg, trip.known_variance_wh2) == (81.5, 150.0, 0.0)
    assert np.isnan(trip.auxiliary_w)
    late = columns | {"soc_percent": ["", *columns["soc_percent"][1:]]}  # not read on every edge
    assert read(written(tmp_path / "t.csv", late, ";"), setting).trips[0].soc_percent == 80.0
    columns["soc_percent"][0] = 180.0
    measured = read(written(tmp_path / "t.csv", columns, ";"), setting)
    assert np.isnan(measured.trips[0].soc_percent)
    assert measured.trips[0].payload_kg == 150.0
    assert measured.notes == ["soc_percent of trip 'a' is left out: 180 %, expected 0 to 100"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("time,lat,lon,energy_wh\n0,,,1\n1,,,2\n", "no two points lie within 50 m"),
        ("time,lat,lon,energy_wh\ninf,39.7,-104.9,1\n", "a row has no time"),
        ("time,lat,lon,volts\n0,39.7,-104.9,360\n", "or volts and amps. It has time"),
        ("time,lat,lon,volts,amps\n0,39.7,-104.9,none,1\n", "column 'volts'"),
        ("time;lat;lon;SOC\n0;39,7;-104,9;140\n", "not within 0..100 %"),
        ("05/04/2026,lat\n1,2\n", "no column 'time'"),
    ],
)
def test_a_bad_log_is_refused_in_one_line(setting, tmp_path, text, line) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(EvrouteError, match=line) as error:
        read(tmp_path / "t.csv", setting)
    assert "\n" not in str(error.value)


def test_rows_without_a_position_keep_their_readings(setting, drive, tmp_path) -> None:
    columns, edges, edge_wh = drive(setting, 0, 500)
    tunnel = slice(40, 50)  # 200 m
    columns["lat"] = np.array(columns["lat"])
    columns["lat"][tunnel] = np.nan
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    (trip,) = read(tmp_path / "t.parquet", setting).trips
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum(), rel=1e-3)
    assert len(trip.edge) == pytest.approx(len(edges), abs=2)


def test_no_fall_of_a_coarse_charge_is_a_reading_and_no_energy_of_a_fine_meter_is_none(
    setting,
) -> None:
    edges = setting.search.route(setting.network.length_m, 0, 500).rows
    trip = MeasuredTrip("a", edges, np.zeros(len(edges)), np.full(len(edges), np.nan))
    gated(replace(trip, known_variance_wh2=520.0**2 / 6), setting)
    with pytest.raises(ImpossibleTripError, match="units"):
        gated(trip, setting)
